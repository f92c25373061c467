"""Instructions in the first user message stay in the prompt when that message is folded."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from memtree.context.request import CompressRequest
from memtree.conversation.message import Message
from tests.programs.sessions import chat
from tests.properties.process import World, begins

RULES = "<system-reminder>\nAlways use tabs, says CLAUDE.md.\n</system-reminder>"
DETAILS = "<environment_details>12:00</environment_details>"
AGENTS = "# AGENTS.md instructions for /p\n\n<INSTRUCTIONS>\nUse pnpm.\n</INSTRUCTIONS>"


def talk(first: Any, turns: int = 301) -> list[dict[str, Any]]:
    """Some 14,000 tokens behind a first message of the user with that content."""
    return [{"role": "user", "content": first}, *chat(turns)[1:]]


def memory_of(answer: Any) -> Any:
    """The content of the memory message."""
    contents = [json.loads(raw)["content"] for raw in answer.messages]
    return next(c for c in contents if "<context_memory>" in json.dumps(c))


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["fresh", "stable"])
async def test_a_string_gets_the_blocks_in_front(mode):
    world = World()
    answer = await world.ask(talk(f"{RULES}\n{DETAILS}\nGreet me."), mode=mode)
    content = memory_of(answer)
    assert content.startswith(f"{RULES}\n\n<context_memory>")
    assert DETAILS not in content


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["fresh", "stable"])
async def test_a_list_keeps_its_parts(mode):
    marked = {"type": "text", "text": RULES, "cache_control": {"type": "ephemeral"}}
    parts = [marked, {"type": "text", "text": AGENTS}, {"type": "text", "text": "Greet me."}]
    content = memory_of(await World().ask(talk(parts), mode=mode))
    assert [part["text"] for part in content[:2]] == [RULES, AGENTS]
    assert content[2]["text"].startswith("<context_memory>")
    assert len(content) == 3
    assert "cache_control" not in content[0], "markers stand where memory puts its own"


@pytest.mark.slow
async def test_it_counts_against_the_window_and_not_against_the_target():
    long = f"<system-reminder>{'Use tabs. ' * 3_000}</system-reminder>"
    plain = await World().ask(talk("Greet me."), mode="fresh")
    answer = await World().ask(talk(f"{long}Greet me."), mode="fresh")
    assert 9_000 - 400 < answer.sent_tokens - plain.sent_tokens < 9_000 + 400
    small = await World().ask(talk(f"{long}Greet me."), mode="fresh", window=16_000)
    assert small.sent_tokens < answer.sent_tokens
    assert long in memory_of(small)


@pytest.mark.slow
async def test_a_changed_block_changes_bytes_and_keeps_epoch_and_address():
    world = World()
    posted = talk(f"{RULES}Greet me.")
    first = await world.ask(posted)
    other = await world.ask(talk(f"{AGENTS}Greet me."))
    assert (first.epoch, first.address) == (other.epoch, other.address)
    assert memory_of(first).removeprefix(RULES) == memory_of(other).removeprefix(AGENTS)


@pytest.mark.slow
async def test_within_an_epoch_it_is_the_same():
    world = World()
    posted = talk(f"{RULES}Greet me.")
    answers = []
    for number in range(6):
        posted = [*posted, *chat(3, seed=number)[1:]]
        answers.append(await world.ask(list(posted)))
    same = [pair for pair in pairwise(answers) if pair[0].epoch == pair[1].epoch]
    assert same
    assert all(begins(later, earlier) for earlier, later in same)
    assert all(memory_of(answer).startswith(RULES) for answer in answers)


@pytest.mark.slow
async def test_a_first_message_that_goes_whole_is_not_told_twice():
    world = World()
    answer = await world.ask(talk(f"{RULES}Greet me."), mode="fresh", keep_first=True)
    text = "".join(json.dumps(json.loads(raw)["content"]) for raw in answer.messages)
    assert text.count("Always use tabs") == 1


@pytest.mark.slow
async def test_nothing_of_it_is_stored():
    world = World()
    await world.ask(talk(f"{RULES}Greet me."))
    rows = repr(world.rows)
    assert "tabs" not in rows
    assert world.rows["nodes"]


async def test_below_the_threshold_all_is_as_posted():
    request = CompressRequest("t", tuple(map(Message.of, talk(f"{RULES}Greet me.", 8))))
    answer = await World().used.compress(replace(request, mode="stable"))
    assert not answer.changed
