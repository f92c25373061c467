"""Epochs on a whole `Memory` over the store in memory: what goes on, what ends, what is kept."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from typing import Any

import pytest

from memtree.budget import epoch
from memtree.budget.prices import Prices
from memtree.context.answer_state import State
from memtree.dialects.openai_chat import with_text_before
from memtree.history.message import Message
from memtree.text import tokens
from memtree.unfolding import recall_block
from tests.properties.process import (
    NEEDLE,
    QUESTION,
    Clock,
    World,
    after,
    assistant,
    begins,
    block_of,
    size_of,
    story,
    text_of,
    user,
)

pytestmark = pytest.mark.slow  # some seconds in all


@pytest.fixture
def world() -> World:
    return World()


# ---------------------------------------------------------------- how an epoch goes on, and ends


@pytest.mark.parametrize("hard", [False, True])
async def test_an_epoch_goes_on_while_something_is_appended(world: World, hard: bool) -> None:
    posted, answers = story(), []
    for number in range(25):
        answers.append(await world.ask(posted, hard=hard))
        assert answers[-1].epoch
        assert answers[-1].messages[-1].endswith(Message.of(posted[-1]).raw[-20:])
        posted = after(posted, number)
    ends = [at for at in range(1, 25) if answers[at].epoch != answers[at - 1].epoch]
    assert not ends
    assert all(begins(two, one) for one, two in pairwise(answers))
    assert len({answer.cached_tokens for answer in answers}) == 1


@pytest.mark.parametrize("hard", [False, pytest.param(True, marks=pytest.mark.long)])
async def test_it_ends_at_its_high_water_mark_and_begins_with_a_fresh_cut(
    world: World, hard: bool
) -> None:
    posted, answers = story(), []
    for number in range(60):
        answers.append(await world.ask(posted, hard=hard))
        posted = after(posted, number, "many words of all kinds about the long summer " * 5)
    ends = [at for at in range(1, 60) if answers[at].epoch != answers[at - 1].epoch]
    assert 2 <= len(ends) <= 12
    assert len({answer.epoch for answer in answers}) == len(ends) + 1
    for at in range(1, 60):
        one, two = answers[at - 1], answers[at]
        if at in ends:
            assert two.cached_tokens > one.cached_tokens  # the cut moved
            assert two.sent_tokens < one.sent_tokens
            assert two.sent_tokens - two.recall_tokens < (0.9 if hard else 0.5) * 4_000
        else:
            assert begins(two, one)
    assert all(size_of(answer) <= 4_000 for answer in answers)


@pytest.mark.parametrize("leading", [[], [{"role": "system", "content": "Be kind."}]])
async def test_an_answer_says_which_messages_began_its_epoch(world: World, leading: list) -> None:
    """The indexes are those of the posted list: what a model said before that, it said to another
    prompt."""
    posted = [*leading, *story()]
    short = await world.ask(posted[:9])
    assert (short.messages, short.begun) == (tuple(Message.of(one).raw for one in posted[:9]), 0)
    began = len(posted)
    for number in range(3):
        answer = await world.ask(posted)
        assert answer.begun == began
        again = await world.ask(posted)
        assert again.begun == began
        posted = after(posted, number)
    world.clock.time += 4_000
    late = await world.ask(posted)
    assert late.begun == len(posted)
    other = await world.ask(posted, mode="fresh")
    assert (other.epoch, other.begun) == (None, len(posted))


async def test_an_epoch_goes_on_in_its_own_dialect_alone(world: World) -> None:
    posted = story()
    chat = await world.ask(posted)
    other = await world.ask(after(posted, 1), dialect="messages")
    assert other.epoch not in (None, chat.epoch)
    assert other.begun == len(posted) + 2
    third = await world.ask(after(after(posted, 1), 2), dialect="messages")
    assert (third.epoch, third.begun) == (other.epoch, other.begun)
    assert (await world.ask(after(posted, 1))).epoch == chat.epoch


async def test_a_new_epoch_drops_the_blocks_of_the_old_one(world: World) -> None:
    posted = after(story(), 1)
    await world.ask(posted)
    asked = [*posted, assistant("Well."), user(QUESTION)]
    before = await world.ask(asked)
    assert before.recall_tokens
    posted = after(asked, 2)
    assert (await world.ask(posted)).recall_tokens == before.recall_tokens
    world.clock.time += 4_000
    late = await world.ask(after(posted, 3))
    assert late.epoch != before.epoch
    assert late.recall_tokens == 0
    assert Message.of(user(QUESTION)).raw in late.messages


async def test_a_repeated_request_gives_the_same_bytes(world: World) -> None:
    posted = story()
    for number in range(3):
        asked = [*posted[:-1], user(QUESTION)] if number == 1 else posted
        first = await world.ask(asked)
        puts = world.store.calls.count("put_turn")
        again = await world.ask(asked)
        assert (again.messages, again.epoch) == (first.messages, first.epoch)
        assert world.store.calls.count("put_turn") == puts
        posted = after(posted, number)


async def test_after_the_cache_s_lifetime_a_new_epoch_begins(world: World) -> None:
    prices = Prices(lifetime=300.0)
    posted = story()
    first = await world.ask(posted, prices=prices)
    world.clock.time += 299
    second = await world.ask(after(posted, 1), prices=prices)
    world.clock.time += 300
    third = await world.ask(after(after(posted, 1), 2), prices=prices)
    assert first.epoch == second.epoch == third.epoch
    world.clock.time += 301
    late = await world.ask(after(after(posted, 1), 2), prices=prices)
    assert late.epoch not in (None, first.epoch)
    assert not begins(late, third)


async def test_repeating_a_request_keeps_its_epoch_alive(world: World) -> None:
    posted, prices = story(), Prices(lifetime=300.0)
    epochs = set()
    for _ in range(5):
        epochs.add((await world.ask(posted, prices=prices)).epoch)
        world.clock.time += 200
    assert len(epochs) == 1


async def test_a_branch_in_the_middle_of_an_epoch_goes_on_with_it(world: World) -> None:
    posted = story()
    first = await world.ask(posted)
    one, two = after(posted, 1), after(posted, 2, "Sidelight ALPHA")
    answers = [await world.ask(branch) for branch in (one, two, after(one, 3), after(two, 4))]
    assert {answer.epoch for answer in answers} == {first.epoch}
    assert all(begins(answer, first) for answer in answers)
    assert begins(answers[2], answers[0])
    assert begins(answers[3], answers[1])
    assert "ALPHA" not in text_of(answers[2])


async def test_another_target_has_epochs_of_its_own(world: World) -> None:
    posted = story()
    epochs = [
        (await world.ask(posted, **named)).epoch
        for named in ({}, {"target": 4_001}, {"hard": True}, {"window": 64_000}, {"query": "x"})
    ]
    assert len(set(epochs)) == 5
    assert (await world.ask(after(posted, 1))).epoch == epochs[0]


async def test_an_upgrade_of_the_text_s_form_ends_running_epochs_once(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A plan that another version kept cannot be rendered as it was sent: it is not gone on
    with."""
    now = epoch.PLAN_VERSION
    monkeypatch.setattr(epoch, "PLAN_VERSION", now - 1)
    former = await world.ask(story())
    monkeypatch.setattr(epoch, "PLAN_VERSION", now)
    posted = after(story(), 1)
    first = await world.ask(posted)
    assert first.epoch not in (None, former.epoch)
    second = await world.ask(after(posted, 2))
    assert second.epoch == first.epoch
    assert begins(second, first)
    assert not await world.store.check()


async def test_fresh_answers_have_no_epoch_and_keep_nothing(world: World) -> None:
    answer = await world.ask(story(), mode="fresh")
    assert answer.changed
    assert answer.epoch is None
    assert not world.rows["turns"]


# ---------------------------------------------------------------- recall blocks


@pytest.mark.parametrize("embedding", [False, True])
@pytest.mark.parametrize("parts", [False, True])
async def test_a_question_gets_a_block_and_keeps_it(embedding: bool, parts: bool) -> None:
    world = World(embedding=embedding)
    posted = after(story(), 1)
    first = await world.ask(posted)
    assert NEEDLE not in text_of(first)
    content = [{"type": "text", "text": QUESTION}] if parts else QUESTION
    asked = [*posted, assistant("Well."), user(content)]
    second = await world.ask(asked)
    assert second.epoch == first.epoch
    assert NEEDLE in block_of(second.messages[-1])
    assert second.recall_tokens == tokens.count(
        block_of(second.messages[-1]) + f"{recall_block.CLOSING}\n\n"
    )
    assert second.messages[-1] == with_text_before(
        Message.of(asked[-1]).raw, f"{block_of(second.messages[-1])}{recall_block.CLOSING}\n\n"
    )
    for number in range(4):
        asked = after(asked, number)
        later = await world.ask(asked)
        assert begins(later, second)
        second = later


async def test_hashing_never_sees_a_block(world: World) -> None:
    posted = [*after(story(), 1), assistant("Well."), user(QUESTION)]
    await world.ask(posted[:-2])
    answer = await world.ask(posted)
    assert answer.recall_tokens
    bare = await World().ask(posted, mode="fresh")
    assert answer.address == bare.address


async def test_none_is_kept_too(world: World) -> None:
    """A message of the user that was never the newest gets no block: its bytes are cached."""
    posted = after(story(), 1)
    await world.ask(posted)
    skipped = [*posted, assistant("Well."), user(QUESTION), user("And the summer.")]
    first = await world.ask(skipped)
    assert first.messages[-2] == Message.of(user(QUESTION)).raw
    later = after(skipped, 2)
    assert begins(await world.ask(later), first)


async def test_going_back_to_a_message_does_not_change_what_was_sent_after_it(world: World) -> None:
    """The client posts two messages at once, goes back to the first, and returns."""
    posted = after(story(), 1)
    await world.ask(posted)
    back = [*posted, assistant("Well."), user(QUESTION)]
    ahead = [*back, user("And the summer.")]
    first = await world.ask(ahead)
    await world.ask(back)
    assert (await world.ask(ahead)).messages == first.messages
    assert begins(await world.ask(after(ahead, 2)), first)


async def test_beginning_anew_at_an_older_message_takes_nothing_from_a_longer_branch(
    world: World,
) -> None:
    posted = after(story(), 1)
    await world.ask(posted)
    asked = [*posted, assistant("Well."), user(QUESTION)]
    assert (await world.ask(asked)).recall_tokens
    longer = after(asked, 2)
    world.clock.time += 3_000
    first = await world.ask(longer)
    world.clock.time += 700  # the turn at `asked` is out of the cache by its own date
    await world.ask(asked)
    again = await world.ask(longer)
    assert again.epoch != first.epoch or again.messages == first.messages


def calls(name: str, arguments: str, result: str) -> list[dict[str, Any]]:
    call = {"id": "c", "type": "function", "function": {"name": name, "arguments": arguments}}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": result},
    ]


LINE = "limit_dn = seed"
FAILED = "FAILED tests/test_tank.py - src/tank.py:3: AssertionError"


def session() -> list[dict[str, Any]]:
    """A file is read before the newest messages."""
    posted = story()
    lines = "\n".join(f"limit_{one}{two} = seed" for one in "abcd" for two in "efghijklmnop")
    posted[80:80] = calls("read_file", '{"path": "src/tank.py"}', lines)
    return after(posted, 1)


@pytest.mark.parametrize("hard", [False, True])
async def test_a_result_that_names_a_file_gets_what_is_hidden_of_it(
    world: World, hard: bool
) -> None:
    posted = session()
    first = await world.ask(posted, hard=hard)
    assert LINE not in text_of(first)
    loop = [*posted, *calls("run_tests", "{}", FAILED)]
    second = await world.ask(loop, hard=hard)
    assert second.epoch == first.epoch
    assert begins(second, first)
    text = Message(second.messages[-1]).text
    assert text.startswith(f"{FAILED}\n\n{recall_block.OPENING}\n{recall_block.BEHIND}\n")
    assert text.endswith(recall_block.CLOSING)
    assert LINE in text
    assert second.recall_tokens == tokens.count(
        text.removeprefix(f"{FAILED}{recall_block.SEAM}") + recall_block.SEAM
    )
    for number in range(3):
        loop = [*loop, *calls("run_tests", "{}", f"{FAILED} again {number}")]
        later = await world.ask(loop, hard=hard)
        assert begins(later, second)
        assert LINE not in Message(later.messages[-1]).text  # it stands there already
        second = later
    other = await world.ask(loop, memory=world.memory(), hard=hard)
    assert other.messages == second.messages


@pytest.mark.parametrize(
    "result", [QUESTION, "FAILED src/other.py", 'src/tank.py: {"tank.py": 1.5}', "e.g. 1.5"]
)
async def test_results_that_name_no_hidden_file_get_no_block(world: World, result: str) -> None:
    posted = after(session(), 1)
    await world.ask(posted)
    loop = [
        *posted,
        *calls("read_file", '{"path": "src/tank.py"}', "CODE = 2"),
        *calls("run", "{}", result),
    ]
    answer = await world.ask(loop)
    assert (answer.recall_tokens, answer.messages[-1]) == (0, Message.of(loop[-1]).raw)


async def test_acknowledgements_get_no_block(world: World) -> None:
    posted = after(story(), 1)
    await world.ask(posted)
    answer = await world.ask([*posted, assistant(QUESTION), user("Ok, thanks.")])
    assert answer.recall_tokens == 0


# ---------------------------------------------------------------- two at once


async def test_two_processes_agree(world: World) -> None:
    posted, other = story(), world.memory()
    for number in range(6):
        one, two = await world.ask(posted), await world.ask(posted, other)
        assert (one.messages, one.epoch) == (two.messages, two.epoch)
        posted = after(posted, number)
        world.used, other = other, world.used


@pytest.mark.parametrize("question", [pytest.param(False, marks=pytest.mark.long), True])
async def test_two_that_begin_at_once_send_the_same(world: World, question: bool) -> None:
    """Their clocks differ by a moment, so that their epochs would."""
    posted = [*after(story(), 1)[:-1], user(QUESTION)] if question else story()
    for _ in range(2):
        clocks = [Clock() for _ in range(4)]
        for at, clock in enumerate(clocks):
            clock.time += at
        memories = [world.memory(clock=clock) for clock in clocks]
        answers = await asyncio.gather(*[world.ask(posted, memory) for memory in memories])
        assert len({answer.messages for answer in answers}) == 1
        assert len({answer.epoch for answer in answers}) == 1
        assert answers[0].epoch
        assert len(world.rows["turns"]) == len({row.address for row in world.rows["turns"]})
        posted = [*posted, assistant("Well."), user(QUESTION)]
    assert len(world.rows["epochs"]) == 1


async def test_whoever_loses_sends_what_the_winner_sends(world: World) -> None:
    posted = story()
    began, go = world.store.hold("latest")
    loser = asyncio.create_task(world.ask(posted, query=None))
    await began.wait()
    world.store.waiting.clear()
    world.clock.time += 1
    winner = await world.ask([*posted], world.memory())
    go.set()
    lost = await loser
    assert (lost.messages, lost.epoch) == (winner.messages, winner.epoch)
    assert len(world.rows["epochs"]) == 1


# ---------------------------------------------------------------- passing


async def test_what_was_never_met_is_folded_at_once(world: World) -> None:
    for mode in ("auto", "stable"):
        answer = await World().ask(story(), mode=mode)
        assert answer.changed
        assert answer.epoch


async def first_fold(mode: str) -> tuple[list[State], int]:
    """States of a growing chat up to its first fold, and its tokens then."""
    world, made, states = World(), story(901), []
    for end in range(101, 901, 20):
        answer = await world.ask(made[:end], mode=mode, target=20_000)
        await world.used.close()
        states.append(answer.state)
        assert answer.changed == (answer.epoch is not None)
        if answer.changed:
            return states, answer.raw_tokens
        assert answer.messages == tuple(Message.of(one).raw for one in made[:end])
    raise AssertionError("never folded")


async def test_auto_passes_while_folding_costs_much_and_stable_folds_before() -> None:
    auto, auto_tokens = await first_fold("auto")
    kinds = [state for at, state in enumerate(auto) if at == 0 or auto[at - 1] != state]
    assert kinds == [State.BELOW_THRESHOLD, State.PASSED, State.PACKED]
    _, stable_tokens = await first_fold("stable")
    assert 20_000 < stable_tokens < auto_tokens < 40_000


async def test_a_chat_that_passes_is_told_why_and_where_it_will_fold() -> None:
    world, made, told = World(), story(901), []
    for end in range(101, 901, 20):
        answer = await world.ask(made[:end], mode="auto", target=20_000)
        await world.used.close()
        if answer.changed:
            break
        told.append((answer.state, answer.reason, answer.raw_tokens))
    short, middle = 10_000, 20_000
    for state, reason, size in told:
        if size < short:
            assert (state, reason) == (State.BELOW_THRESHOLD, "")
        elif size <= middle:
            assert state is State.PASSED
            assert reason.startswith("fits; folds-at=")
        else:
            assert state is State.PASSED
            assert reason.startswith("cheaper-whole; folds-at=")
    assert answer.reason == ""
    estimates = [int(reason.partition("=")[2]) for _, reason, size in told if size > middle]
    assert len(estimates) > 2
    step = answer.raw_tokens - told[-1][2]  # what the test adds between two requests
    for estimate in estimates:
        assert told[-1][2] < estimate + step
        assert abs(estimate - answer.raw_tokens) < 0.1 * answer.raw_tokens + 1_000


@pytest.mark.parametrize("mode", ["auto", pytest.param("stable", marks=pytest.mark.long)])
async def test_hard_targets_are_never_passed(world: World, mode: str) -> None:
    made, folded = story(401), 0
    for end in range(241, 401, 20):  # where a soft target would pass for a while
        answer = await world.ask(made[:end], mode=mode, hard=True, target=20_000)
        await world.used.close()
        assert answer.changed == (answer.raw_tokens > 20_000)
        assert size_of(answer) <= 20_000
        folded += answer.changed
    assert folded > 2
