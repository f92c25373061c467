"""Long and large histories: one request that works for hundreds of rounds."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest

from memtree.budget.packing import LEAST_MEMORY, least_memory
from memtree.context.context_memory import LONG_BYTES, CompressRequest
from memtree.errors import Unavailable
from memtree.history.message import Message
from memtree.jobs.growing import StageOne
from memtree.text import tokens
from tests.programs.sessions import chat
from tests.properties.process import World, assistant, begins, user

# ------------------------------------------------------------------------------------------------
# One request of a user, and hundreds of rounds of tools to fulfil it.


ROUNDS = 140
ASK = "Rename the parameter limit to ceiling in every module of the shop, then run all tests."


def tool_round(number: int, words: int) -> list[dict[str, Any]]:
    name = f"shop/module_{number}.py"
    call = {
        "id": f"c{number}",
        "type": "function",
        "function": {"name": "edit", "arguments": json.dumps({"path": name})},
    }
    told = chat(1, seed=number, words=words)[0]["content"]
    return [
        {"role": "assistant", "content": f"Next is {name}.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{number}", "content": f"edited {name}: {told}"},
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "hard"), [(60, False), pytest.param(60, True, marks=pytest.mark.long), (1_200, False)]
)
async def test_the_ask_and_the_last_rounds_stay_in_sight(words: int, hard: bool) -> None:
    world = World()
    posted = [user("Hello."), assistant("Hello, what is there to do?"), user(ASK)]
    rounds = ROUNDS if words < 1_000 else 40
    answers = []
    for number in range(rounds):
        posted += tool_round(number, words)
        answer = await world.ask(list(posted), hard=hard)
        if not answer.changed:
            continue
        answers.append(answer)
        assert answer.epoch
        raws = [Message.of(one).raw for one in posted]
        # Two rounds always, three where they are small: all but the ask's are tool rounds.
        kept = 6 if words < 1_000 else 4
        assert list(answer.messages[-kept:]) == raws[-kept:]
        assert ASK in "\n".join(Message(raw).text for raw in answer.messages)
        assert answer.recall_tokens == 0
    assert len(answers) > rounds // 4
    epochs = len({answer.epoch for answer in answers})
    assert 1 < epochs < len(answers) // 2
    assert all(begins(two, one) for one, two in pairwise(answers) if one.epoch == two.epoch)


# ------------------------------------------------------------------------------------------------
# A newest round that fills the target: memory, and the message that the round works for, stay.


LARGE_ROUNDS_ASK = (
    "Read the eight modules of the shop and tell me which of them uses the old currency table."
)
LONG_ASK = " ".join(f"requirement {n}: the column c{n} is kept." for n in range(400))


def reads(files: int, words: int) -> list[dict[str, Any]]:
    """One assistant message that reads files, and their contents."""
    calls = [
        {"id": f"r{n}", "type": "function",
         "function": {"name": "read", "arguments": json.dumps({"path": f"m{n}.py"})}}
        for n in range(files)
    ]  # fmt: skip
    results = [
        {"role": "tool", "tool_call_id": f"r{n}", "content": chat(1, n + 50, words)[0]["content"]}
        for n in range(files)
    ]
    return [{"role": "assistant", "content": "I read them.", "tool_calls": calls}, *results]


def session(ask: str, words: int) -> list[dict[str, Any]]:
    return [*chat(201, seed=4), assistant("What next?"), user(ask), *reads(8, words)]


def sizes(posted: list[dict[str, Any]], answer: Any) -> tuple[int, int]:
    """Tokens of the newest round, and of all that was sent."""
    newest = sum(tokens.count(Message.of(m).text) + 4 for m in posted[-9:])
    return newest, answer.sent_tokens


SIZES = [(8_000, 800), (8_000, 1_200), (2_000, 400)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "target", "words"),
    [
        pytest.param(mode, *size, marks=() if at == number else pytest.mark.long)
        for at, mode in enumerate(["fresh", "stable", "auto"])
        for number, size in enumerate(SIZES)
    ],
)
async def test_memory_and_the_ask_stand_beside_a_large_round(mode, target, words):
    posted = session(LARGE_ROUNDS_ASK, words)
    answer = await World(embedding=True).ask(posted, target=target, hard=True, mode=mode)
    newest, sent = sizes(posted, answer)
    assert newest > 0.75 * target
    texts = [Message(raw).text for raw in answer.messages]
    memory = next(text for text in texts if "<context_memory>" in text)
    assert LARGE_ROUNDS_ASK in "".join(texts)
    assert tokens.count(memory) > 0.6 * LEAST_MEMORY
    assert sent <= max(target, newest + least_memory(target)) + 40
    assert [Message(raw).raw for raw in answer.messages[-9:]] == [
        Message.of(message).raw for message in posted[-9:]
    ]


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["fresh", "stable"])
async def test_of_a_long_ask_the_first_tenth_of_the_target_is_shown(mode):
    posted = session(LONG_ASK, 1_200)
    answer = await World().ask(posted, target=8_000, hard=True, mode=mode)
    memory = next(t for t in (Message(r).text for r in answer.messages) if "<context_memory>" in t)
    shown = LONG_ASK[: len(LONG_ASK) // 12]
    while shown in memory and len(shown) < len(LONG_ASK):
        shown = LONG_ASK[: len(shown) + 20]
    assert tokens.count(shown) >= 800


@pytest.mark.slow
async def test_the_same_request_again_gets_the_same_bytes():
    world = World()
    posted = session(LARGE_ROUNDS_ASK, 1_200)
    first, again = [await world.ask(posted, target=8_000, hard=True) for _ in range(2)]
    assert first.epoch
    assert first.messages == again.messages


async def test_without_a_tree_the_ask_is_still_shown():
    class Broken:
        def warm(self) -> None:
            pass

        async def grow(self, *_: Any) -> Any:
            raise Unavailable("out of order")

    world = World()
    answer = await world.ask(
        session(LARGE_ROUNDS_ASK, 1_200),
        world.memory(Broken()),
        target=8_000,
        hard=True,
        mode="fresh",
    )
    assert LARGE_ROUNDS_ASK in "".join(Message(raw).text for raw in answer.messages)
    assert answer.state.startswith("degraded")


@pytest.mark.slow
async def test_a_small_window_leaves_memory_less():
    posted = session(LARGE_ROUNDS_ASK, 1_200)
    newest = sum(tokens.count(Message.of(m).text) + 4 for m in posted[-9:])
    window = int((newest + 1_000 + 4_096) / 0.95)
    answer = await World().ask(posted, target=8_000, hard=True, mode="fresh", window=window)
    assert newest < answer.sent_tokens <= newest + 1_100


# ------------------------------------------------------------------------------------------------
# Check what is begun for a long history before its tree can grow.


class WatchedBuilder(StageOne):
    def __init__(self) -> None:
        super().__init__(child=False)
        self.warmed = 0

    def warm(self) -> None:
        self.warmed += 1


async def test_stage_one_is_made_ready_while_a_long_history_is_read():
    builder = WatchedBuilder()
    memory = World().memory(builder)
    short = user("word " * (LONG_BYTES // 10))
    await memory.read(CompressRequest("t", (Message.of(short),)))
    assert builder.warmed == 0
    await memory.read(
        CompressRequest("t", (Message.of(short), Message.of(short), Message.of(short)))
    )
    assert builder.warmed == 1
