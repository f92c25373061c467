"""Rounds that load tools, in answers: whole, once, and at the same place while an epoch lasts."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from memtree.context.answer import KeptMessage, MemoryText
from memtree.context.request import CompressRequest
from memtree.conversation.message import Message
from memtree.text import tokens
from tests.answered import Answered, compressed
from tests.properties.process import World, after, begins, size_of, story, text_of, user

LOADED = "The Zebrafish tool is loaded and may be called from now on."
AT = 31  # where the round stands
CALL = {"id": "c", "type": "function", "function": {"name": "search", "arguments": '{"q":"z"}'}}
ROUND: list[dict[str, Any]] = [
    {"role": "assistant", "content": "", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c", "content": LOADED},
    user("<system-reminder>\nBe brief.\n</system-reminder>"),
]


@pytest.fixture
def world() -> World:
    return World()


def posted() -> list[dict[str, Any]]:
    history = story()
    return [*history[:AT], *ROUND, *history[AT:]]


async def ask(world: World, history: list[dict[str, Any]], **named: Any) -> Answered:
    messages = [
        Message(
            Message.of(one).raw,
            joined=at == AT + 2,
            loads=frozenset({"Zebrafish"}) if at == AT + 1 else frozenset(),
        )
        for at, one in enumerate(history)
    ]
    options = {"target": 4_000, "mode": "stable", "dialect": "messages", **named}
    return await compressed(world.used, CompressRequest("t", tuple(messages), **options))


def places(answer: Answered) -> list[int]:
    return [item.index for item in answer.items if isinstance(item, KeptMessage)]


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["fresh", "stable"])
@pytest.mark.parametrize("hard", [False, True])
async def test_it_stands_whole_behind_memory(world: World, mode: str, hard: bool) -> None:
    history = posted()
    answer = await ask(world, history, mode=mode, hard=hard)
    assert isinstance(answer.items[0], MemoryText)
    kept = places(answer)
    assert kept[:3] == [AT, AT + 1, AT + 2]
    assert kept[3:] == list(range(kept[3], len(history)))
    assert kept[3] > AT + 3
    assert answer.messages[1:4] == tuple(Message.of(one).raw for one in ROUND)
    assert LOADED not in answer.items[0].text.splitlines()  # quoted; a summary may name it
    assert answer.sent_tokens == pytest.approx(size_of(answer), abs=60)
    sizes = [tokens.count(Message.of(one).text) + 4 for one in history[kept[3] :]]
    assert answer.recent_tokens == sum(sizes)
    plain = await world.ask(history, mode=mode, hard=hard)
    assert LOADED.encode() not in b"".join(plain.messages[1:])
    assert not hard or answer.sent_tokens <= 4_000


@pytest.mark.slow
async def test_an_epoch_only_grows_and_asks_for_no_quote_of_it(world: World) -> None:
    history = posted()
    history[-1] = user("What was said of the Zebrafish tool, and may it be called?")
    answers = []
    for number in range(4):
        answers.append(await ask(world, history))
        history = after(history, number)
        history[-1] = user(f"And what of the Zebrafish tool, number {number}?")
    assert len({answer.epoch for answer in answers}) == 1
    assert all(begins(two, one) for one, two in pairwise(answers))
    for answer in answers:
        assert text_of(answer).splitlines().count(LOADED) == 1
        assert answer.cached_tokens == answers[0].cached_tokens
    assert not any(answer.stays > answer.sent_tokens for answer in answers)


@pytest.mark.slow
async def test_without_tools_to_load_nothing_is_pinned(world: World) -> None:
    answer = await world.ask(posted(), dialect="messages")
    kept = places(answer)
    assert kept == list(range(kept[0], len(posted())))
