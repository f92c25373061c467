"""Histories that clients rewrite: condensed, edited, cut at the beginning, changed at the end.

On a whole `ContextMemory` with its queue, over the store in memory and over SQLite.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from memtree.budget.first_fold import costs_little
from memtree.budget.prices import CAUTIOUS
from memtree.config import MODES
from memtree.context.answer_state import State
from memtree.context.context_memory import ContextMemory
from memtree.context.read_histories import MessageCache
from memtree.errors import NotFound
from memtree.history.message import Message
from memtree.jobs.embedding import InProcessQueue
from memtree.jobs.growing import StageOne
from memtree.ports.context_store import Store
from memtree.stores import open_store
from memtree.text import tokens
from memtree.tree.node import Summary
from tests.answered import Answered, compressed
from tests.fakes import HashingEmbedder
from tests.programs.sessions import chat, coding
from tests.properties.process import Clock, Watched, an_ask, assistant, begins, text_of, user
from tests.properties.strategies import history_of

pytestmark = pytest.mark.slow

Posted = list[dict[str, Any]]

TARGET = 8_000
ROO = "Roo: the first message, a summary, the last rounds"
CLAUDE_CODE = "Claude Code, Cline CLI: the summary of the user"
FACT = "The launch code of project Marigold is ZETA."
QUESTION = "What is the launch code of project Marigold?"
STEPS = " ".join(f"Step {n}: changed part{n}.py because of ticket T-{n}." for n in range(80))
SUMMARY = f"This session goes on from an earlier one. {STEPS[:2_000]} {FACT} {STEPS[2_000:]}"


class Desk:
    """One process of memory with its embeddings; `ask` waits until all background work is done."""

    def __init__(self, store: Store) -> None:
        self.clock, self.store, self.embedder = Clock(), store, HashingEmbedder()
        self.watched = Watched(store)
        self.queue = InProcessQueue(self.watched, self.embedder, self.clock)  # type: ignore[arg-type]
        self.memory = ContextMemory(
            self.watched,  # type: ignore[arg-type]
            StageOne(child=False),
            self.queue,
            self.clock,
            embedder=self.embedder,
            facts=MessageCache(7),
        )

    async def ask(self, posted: Posted, **named: Any) -> Answered:
        answer = await compressed(self.memory, an_ask(posted, **{"target": TARGET, **named}))
        await self.settle()
        self.clock.time += 20
        return answer

    async def settle(self) -> None:
        await self.memory.close()
        await self.queue.join()

    async def leaves(self, posted: Posted) -> list[bytes]:
        _, frontier, nodes = await self.memory.outline(an_ask(posted))
        await self.settle()
        del frontier
        return [id_ for id_, node in nodes.items() if node.is_leaf]

    async def rows(self) -> tuple[int, int, int]:
        """Nodes, addresses, vectors."""
        stats = await self.store.stats()
        return stats.nodes, stats.addresses, stats.vectors


@pytest.fixture(params=["memory", pytest.param("sqlite", marks=pytest.mark.long)])
async def desk(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Desk]:
    url = "memory:" if request.param == "memory" else f"sqlite:///{tmp_path / 'm.db'}"
    store = open_store(url)
    made = Desk(store)
    made.queue.start()
    yield made
    await made.queue.close()
    await store.close()


def session(size: int = 24_000, seed: int = 1) -> Posted:
    """A coding session that begins with the user and ends with the assistant."""
    return [one for one in coding(size, seed) if one["role"] != "system"]


def size_of(posted: Posted) -> int:
    return history_of([Message.of(one) for one in posted]).tokens


def newest(posted: Posted, size: int) -> Posted:
    """The last messages, from a user message on, of at least that many tokens."""
    totals = running_totals(posted)
    first = len(posted) - 1
    while posted[first]["role"] != "user" or totals[-1] - totals[first] < size:
        first -= 1
    return posted[first:]


def running_totals(posted: Posted) -> list[int]:
    """Return the tokens of the first i messages, for every i from 0 on."""
    return list(history_of([Message.of(one) for one in posted]).totals)


def condensed(how: str, full: Posted, kept: int = 12_000) -> Posted:
    """Return what clients post after their own compaction."""
    rest = newest(full, kept)
    return {
        ROO: [full[0], user(SUMMARY), *rest],
        "Cline: the first pair, a notice, the last rounds": [
            full[0],
            assistant(f"I will. {FACT}"),
            user("[NOTE] Some previous conversation history has been removed."),
            *rest,
        ],
        "opencode: a question, the summary as its answer": [
            user("What did we do so far?"),
            assistant(SUMMARY),
            *rest,
        ],
        CLAUDE_CODE: [user(SUMMARY), *rest],
        "gemini-cli: a snapshot and a nod": [
            user(f"<state_snapshot>{SUMMARY}</state_snapshot>"),
            assistant("Got it. Thanks for the additional context!"),
            *rest,
        ],
        "Continue: the summary of the assistant": [
            assistant(f"[COMPACTED HISTORY]\n{SUMMARY}"),
            *rest,
        ],
    }[how]


SHAPES = [
    ROO,
    "Cline: the first pair, a notice, the last rounds",
    "opencode: a question, the summary as its answer",
    CLAUDE_CODE,
    "gemini-cli: a snapshot and a nod",
    "Continue: the summary of the assistant",
]


async def used(desk: Desk, full: Posted, mode: str) -> Answered:
    """The session as its client posts it, turn by turn, up to its end."""
    await desk.ask(full[:1], mode=mode)
    asked = [at for at, one in enumerate(full) if one["role"] == "user"]
    for at in asked[len(asked) // 2 :: 4]:
        await desk.ask(full[: at + 1], mode=mode)
    return await desk.ask([*full, user("Go on.")], mode=mode)


# ---------------------------------------------------------------- condensed by the client


def conditions() -> Iterator[Any]:
    """Every shape in every mode, and each of both over either store: not all three with all. One
    mode of each shape is not `long`: each mode and each store is asked there too."""
    for number, shape in enumerate(SHAPES):
        for at, mode in enumerate(MODES):
            store = ("memory", "sqlite")[(number + at) % 2]
            marks = () if at == number % len(MODES) else pytest.mark.long
            yield pytest.param(store, shape, mode, marks=marks)


@pytest.mark.parametrize(("desk", "shape", "mode"), list(conditions()), indirect=["desk"])
async def test_the_first_answer_after_a_condensation(desk: Desk, shape: str, mode: str) -> None:
    full = session()
    before = await used(desk, full, mode)
    short = [*condensed(shape, full), assistant("Done."), user(QUESTION)]
    answer = await desk.ask(short, mode=mode)
    assert answer.changed
    assert answer.state in ("packed", "provisional")
    assert answer.sent_tokens < answer.raw_tokens
    assert FACT in text_of(answer), "the summary is not part of the history"
    assert answer.indexed_messages > 2
    assert answer.raw_tokens == size_of(short)
    if mode != "fresh":
        assert answer.epoch not in (None, before.epoch)
        later = await desk.ask([*short, assistant("ZETA."), user("Thanks.")], mode=mode)
        assert (later.state, later.epoch) == ("packed", answer.epoch)
        assert begins(later, answer)


@pytest.mark.parametrize(
    "shape",
    [
        shape if shape in (ROO, CLAUDE_CODE) else pytest.param(shape, marks=pytest.mark.long)
        for shape in SHAPES
    ],
)
async def test_nothing_equal_is_made_again(desk: Desk, shape: str) -> None:
    full = session()
    await used(desk, full, "stable")
    old, embedded = await desk.leaves([*full, user("Go on.")]), len(desk.embedder.embedded)
    _, _, vectors = await desk.rows()
    short = [*condensed(shape, full), assistant("Done."), user(QUESTION)]
    await desk.ask(short)
    new = [id_ for id_ in await desk.leaves(short) if id_ not in old]
    summary = tokens.count(SUMMARY) // 300 + 1
    assert len(new) <= summary + 12, "borders did not fall in step again"
    assert (await desk.rows())[2] - vectors == len(new)
    assert len(desk.embedder.embedded) == len(set(desk.embedder.embedded))
    again = len(desk.embedder.embedded)
    await desk.ask(short)
    assert len(desk.embedder.embedded) == again > embedded


async def test_later_summaries_are_found_in_the_condensed_history(desk: Desk) -> None:
    full = session()
    await used(desk, full, "fresh")
    short = [*condensed(CLAUDE_CODE, full), assistant("Done."), user(QUESTION)]
    shared = set(await desk.leaves([*full, user("Go on.")])) & set(await desk.leaves(short))
    assert len(shared) > 8
    written = {id_: Summary("A headline by a model", "A body.", (), 1) for id_ in shared}
    await desk.store.put_summaries("t", written)
    _, _, nodes = await desk.memory.outline(an_ask(short))
    assert {id_ for id_, node in nodes.items() if node.summary.version == 1} == shared


async def test_who_reverts_to_the_long_history_goes_on_with_its_epoch(desk: Desk) -> None:
    full = session()
    before = await used(desk, full, "stable")
    short = [*condensed(ROO, full), user(QUESTION)]
    await desk.ask(short)
    rows = await desk.rows()
    back = await desk.ask([*full, user("Go on."), assistant("Yes."), user("And then?")])
    assert back.epoch == before.epoch
    assert begins(back, before)
    assert (await desk.rows())[0] - rows[0] <= 1


async def test_both_are_deleted_apart(desk: Desk) -> None:
    full = session()
    long = [*full, user("Go on.")]
    await used(desk, full, "stable")
    short = [*condensed(ROO, full), user(QUESTION)]
    answer = await desk.ask(short)
    assert any((await desk.memory.forget_history(an_ask(long)))[:3])
    after = await desk.ask([*short, assistant("ZETA."), user("Thanks.")])
    assert after.epoch == answer.epoch
    assert begins(after, answer)
    assert not await desk.store.check()
    await desk.memory.forget_address("t", after.address)
    with pytest.raises(NotFound):
        await desk.memory.forget_address("t", after.address)
    # The first message alone, from which both went on, went with the long one.
    assert await desk.rows() == (0, 0, 0)


@pytest.mark.long
async def test_a_session_condensed_ten_times(desk: Desk) -> None:
    """The first message, a summary of all doors so far, the last rounds; then new work."""
    first, *posted = session(9_000)
    posted, leaves = [first, *posted], 0
    for number in range(10):
        told = f"Remember: the color of door {number} is teal{number}."
        for words in (told, *(f"Part {part} of {number}." for part in range(3))):
            posted = [*posted, user(words)]
            await desk.ask(posted, mode="auto")
            posted = [*posted, assistant("Noted.")]
        doors = " ".join(f"The color of door {n} is teal{n}." for n in range(number + 1))
        rest = newest(posted, 9_000)
        posted = [first, user(f"Summary {number}. {doors}"), *rest, *session(5_000, number + 2)]
        answer = await desk.ask([*posted, user("What is the color of door 0?")], mode="auto")
        assert answer.changed
        assert "teal0" in text_of(answer)
        assert answer.sent_tokens <= 1.5 * TARGET
        leaves += len(await desk.leaves(posted))
    assert len(desk.embedder.embedded) == len(set(desk.embedder.embedded))
    _, _, vectors = await desk.rows()
    assert vectors < 0.65 * leaves, "what was kept has leaves of its own in each of the ten"
    assert not await desk.store.check()


# ---------------------------------------------------------------- edited, or cut


async def test_an_edit_of_the_first_message(desk: Desk) -> None:
    """Qwen Code begins with a message that holds the date; resumed on another day, it differs."""
    full = [
        user("Context. Today's date is Monday, 2 March 2026."),
        assistant("Got it."),
        *session(),
    ]
    await used(desk, full, "stable")
    before, embedded = await desk.rows(), len(desk.embedder.embedded)
    edited = [user("Context. Today's date is Tuesday, 3 March 2026."), *full[1:], user("Go on.")]
    answer = await desk.ask(edited)
    assert answer.epoch
    nodes, _, vectors = (now - then for now, then in zip(await desk.rows(), before, strict=True))
    assert vectors <= 3, "leaves far behind the edit are new"
    assert nodes <= 8
    assert len(desk.embedder.embedded) - embedded <= 3
    assert answer.state == "packed"


async def test_a_window_that_drops_the_oldest_message_with_every_turn(desk: Desk) -> None:
    """Every request is a new chain. What is embedded is what is new, and each epoch is forgotten
    by the next request, since nothing that it sent begins as this one does."""
    posted, window = chat(460, 3, words=60), 12_000
    totals = running_totals(posted)
    first, turns = 0, 12
    states = []
    for turn in range(turns):
        end = 400 + 2 * turn + 1
        while totals[end] - totals[first] > window or posted[first]["role"] != "user":
            first += 1
        answer = await desk.ask(posted[first:end], mode="auto")
        states.append(answer.state)
        assert answer.sent_tokens <= TARGET
        if turn == 0:
            at_first, embedded = await desk.rows(), len(desk.embedder.embedded)
    nodes, addresses, vectors = (
        now - then for now, then in zip(await desk.rows(), at_first, strict=True)
    )
    assert set(states[1:]) <= {"packed", "provisional"}
    assert len(desk.embedder.embedded) == len(set(desk.embedder.embedded))
    assert len(desk.embedder.embedded) - embedded <= 2 * turns + 20
    assert nodes <= 5 * turns
    assert vectors <= 3 * turns
    assert addresses <= (end - first) * turns
    assert not await desk.store.check()


async def test_a_window_with_a_first_message_that_stays(desk: Desk) -> None:
    """The provider has only that one cached: sending the rest whole would be dearer."""
    posted, window = chat(460, 3, words=60), 12_000
    totals = running_totals(posted)
    first = 1
    await desk.ask(posted[:1], mode="auto")
    for turn in range(6):
        end = 400 + 2 * turn + 1
        while totals[end] - totals[first] > window or posted[first]["role"] != "assistant":
            first += 1
        answer = await desk.ask([posted[0], *posted[first:end]], mode="auto")
        assert answer.state in ("packed", "provisional")


def test_what_was_met_bounds_what_is_cached() -> None:
    posted = history_of([Message.of(one) for one in chat(161, 1, words=60)])
    asked = (8_000, posted, 0, CAUTIOUS, 0.02)
    assert not costs_little(*asked)
    assert not costs_little(*asked, len(posted))
    assert costs_little(*asked, 0)
    found = [costs_little(*asked, met) for met in range(len(posted))]
    assert found == sorted(found, reverse=True)


# ---------------------------------------------------------------- changed at the end


@pytest.mark.parametrize("mode", ["auto", "stable"])
async def test_what_was_in_the_newest_message_for_one_turn_only(desk: Desk, mode: str) -> None:
    """aider appends its rules to the newest message, Open WebUI the documents that it found."""
    posted, answers = chat(401, 3, words=60), []
    for turn in range(6):
        rules = " ".join(f"rule{turn}x{n}" for n in range(60))
        asked = {**posted[-1], "content": f"{rules}\n{posted[-1]['content']}"}
        answers.append(await desk.ask([*posted[:-1], asked], mode=mode))
        assert rules in Message(answers[-1].messages[-1]).text
        posted = [*posted, assistant(f"Answered {turn}."), user(f"Question {turn}, then?")]
    epochs = [answer.epoch for answer in answers]
    assert len(set(epochs[1:])) == 1, "every request began an epoch"
    assert None not in epochs
    for one, two in pairwise(answers[1:]):
        assert two.messages[: len(one.messages) - 1] == one.messages[:-1]


async def test_it_is_not_kept_twice_for_clients_that_change_nothing(desk: Desk) -> None:
    posted = chat(401, 3, words=60)
    for turn in range(4):
        await desk.ask(posted)
        posted = [*posted, assistant(f"Answered {turn}."), user(f"Question {turn}, then?")]
    beginnings = 3  # of the first: behind the cut, without one message and without three
    assert desk.watched.calls.count("put_turn") == 4 + beginnings


async def test_the_history_before_such_a_message_posted_alone(desk: Desk) -> None:
    """The turn that was kept for it is a turn like any other."""
    posted = chat(401, 3, words=60)
    for turn in range(3):
        asked = {**posted[-1], "content": f"Rules of turn {turn}.\n{posted[-1]['content']}"}
        last = await desk.ask([*posted[:-1], asked])
        before = posted[:-1]
        posted = [*posted, assistant(f"Answered {turn}."), user(f"Question {turn}, then?")]
    alone = await desk.ask(before)
    assert alone.epoch == last.epoch
    assert alone.messages == last.messages[:-1]


async def test_files_that_move(desk: Desk) -> None:
    """aider posts the files first, as they are now; what was said stands behind them."""
    told = session(16_000)
    files = [f"file{n}.py\n" + f"def f{n}(): return {n}\n" * 150 for n in range(4)]
    for turn in range(4):
        files[turn] += f"\n# changed in turn {turn}\n"
        shown = user("\n".join(files))
        posted = [shown, assistant("Ok."), *told, user(f"Question {turn}?")]
        answer = await desk.ask(posted, mode="auto")
        assert answer.state in ("packed", "provisional")
        told = [*told, user(f"Question {turn}?"), assistant(f"Answered {turn}.")]
    assert len(desk.embedder.embedded) == len(set(desk.embedder.embedded))


async def test_where_only_such_a_message_was_sent_as_it_is(desk: Desk) -> None:
    """All before it is in the memory message: nothing could follow the cut in a shorter history."""
    long = "many words of all kinds about the summer " * 200
    posted = [one for n in range(5) for one in (user(f"{n} {long}"), assistant(f"{n} {long}"))]
    for turn in range(3):
        last = await desk.ask([*posted, user(f"Rules of turn {turn}. What then?")], target=1_000)
        assert last.epoch
        alone = await desk.ask(posted, target=1_000)
        assert alone.messages[-1] == Message.of(posted[-1]).raw
        posted = [*posted, user("What then?"), assistant(f"{turn} {long}")]


async def test_another_process_knows_from_the_store_what_went_whole(desk: Desk) -> None:
    posted = chat(139, 3, words=60)
    assert (await desk.ask(posted, mode="auto")).state is State.BELOW_THRESHOLD
    posted = [*posted, *chat(20, 4, words=60)[1:], user("What then?")]
    assert (await desk.ask(posted, mode="auto")).state is State.PASSED
    other = Desk(desk.store)
    posted = [*posted, assistant("This."), user("And then?")]
    answer = await compressed(other.memory, an_ask(posted, mode="auto", target=TARGET))
    await other.memory.close()
    assert answer.state is State.PASSED
