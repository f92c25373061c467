"""One store for all dialects: what a chat left there is found by the others, and goes with them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from memtree.config import Settings
from memtree.context.request import CompressRequest
from memtree.conversation.message import Message
from memtree.wire import json_body
from memtree_proxy.dialects.anthropic_messages.dialect import AnthropicMessages
from memtree_proxy.dialects.openai_responses.dialect import OpenAIResponses
from tests.answered import Answered, compressed
from tests.properties.process import World, begins
from tests.wire.conversations import Step, as_chat, as_messages, as_responses, conversation

TALK = conversation(seed=5, turns=60, size=60)
DIALECTS = ("messages", "responses")


def read(dialect: str, talk: Any = TALK) -> Sequence[Message]:
    """The conversation as it is read where it was posted in that dialect; "": as a chat."""
    if dialect == "messages":
        body = json_body.split(json.dumps(as_messages(talk)).encode())
        return AnthropicMessages(Settings()).read(body, "t").messages
    if dialect == "responses":
        body = json_body.split(json.dumps(as_responses(talk)).encode())
        return OpenAIResponses(Settings()).read(body, "t").messages
    return tuple(map(Message.of, as_chat(talk)))


def ask(dialect: str, talk: Any = TALK) -> CompressRequest:
    return CompressRequest("t", read(dialect, talk), 4_000, mode="stable", dialect=dialect)


async def sent(world: World, dialect: str, talk: Any = TALK) -> Answered:
    return await compressed(world.used, ask(dialect, talk))


@pytest.fixture
def world() -> World:
    return World()


@pytest.mark.slow
async def test_what_a_chat_stored_is_not_made_again(world: World) -> None:
    chat = await sent(world, "")
    assert chat.epoch
    nodes, addresses = world.rows["nodes"], world.rows["addresses"]
    for dialect in DIALECTS:
        answer = await sent(world, dialect)
        assert answer.address == chat.address
        assert answer.epoch not in (None, chat.epoch)
        assert answer.indexed_messages == chat.indexed_messages
    assert world.rows["nodes"] == nodes
    assert world.rows["addresses"] == addresses
    beginnings = 1  # of each epoch; this history is too short for others behind its cut
    assert len(world.rows["turns"]) == 3 * (1 + beginnings)


@pytest.mark.slow
async def test_each_goes_on_with_its_own_epoch(world: World) -> None:
    answered = replace(TALK[-1], steps=(Step("", "It is done."),))
    longer = (*TALK[:-1], answered, *conversation(seed=6, turns=0, size=9))
    earlier = {dialect: await sent(world, dialect) for dialect in ("", *DIALECTS)}
    for dialect, before in earlier.items():
        again = await sent(world, dialect)
        assert (again.epoch, again.messages) == (before.epoch, before.messages)
        later = await sent(world, dialect, longer)
        assert later.epoch == before.epoch
        assert begins(later, before)
        assert later.begun == before.begun


@pytest.mark.slow
@pytest.mark.parametrize("by", ["", *DIALECTS])
async def test_what_one_forgets_is_forgotten_for_all(world: World, by: str) -> None:
    for dialect in ("", *DIALECTS):
        await sent(world, dialect)
    await world.used.forget_history(ask(by))
    assert world.empty
