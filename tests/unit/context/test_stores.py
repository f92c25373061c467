"""Check what stores keep for answers: one for all dialects, and the answer that stands."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from memtree.config import Settings
from memtree.context.context_memory import ContextMemory
from memtree.context.turn_request import CompressRequest
from memtree.errors import Unavailable
from memtree.history import json_body
from memtree.history.message import Message
from memtree_proxy.dialects.messages_dialect import AnthropicMessages
from memtree_proxy.dialects.responses_dialect import OpenAIResponses
from tests.answered import Answered, answered, compressed
from tests.properties.process import QUESTION, World, after, an_ask, assistant, begins, story, user
from tests.wire.conversations import Step, as_chat, as_messages, as_responses, conversation

# ------------------------------------------------------------------------------------------------
# One store for all dialects: what a chat left there is found by the others, and goes with them.


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


# ------------------------------------------------------------------------------------------------
# The answer of the present epoch, for those who only count: nothing is kept of the question.


READS = {"latest", "nodes", "summaries"}


async def standing(
    world: World, history: list[dict[str, Any]], memory: ContextMemory | None = None, **named: Any
) -> Answered | None:
    ask = an_ask(history, **named)
    answer = await (memory or world.used).standing_answer(ask)
    return answered(answer, ask) if answer else None


@pytest.mark.slow
async def test_it_is_what_the_epoch_sends(world: World) -> None:
    history = story()
    first = await world.ask(history)
    again = await standing(world, history)
    assert again
    assert (again.messages, again.epoch, again.begun) == (first.messages, first.epoch, first.begun)
    assert again.sent_tokens == first.sent_tokens
    longer = await standing(world, after(history, 1))
    assert longer
    assert begins(longer, first)
    assert len(longer.messages) == len(first.messages) + 2
    # Recall blocks that were sent are sent again; the newest message gets none.
    asked = [*history, assistant("Well."), user(QUESTION)]
    assert not (await standing(world, asked)).recall_tokens  # type: ignore[union-attr]
    told = await world.ask(asked)
    assert told.recall_tokens
    with_block = await standing(world, after(asked, 2))
    assert with_block
    assert with_block.recall_tokens == told.recall_tokens
    assert begins(with_block, told)


@pytest.mark.slow
async def test_nothing_is_kept_of_it(world: World) -> None:
    history = story()
    await world.ask(history)
    await world.used.close()
    rows, world.clock.time = world.rows, world.clock.time + 1_000
    world.store.calls.clear()
    other = world.memory()  # another process, which has nothing at hand
    for asked in (history, after(history, 1), story(9, seed=2), story(seed=3)):
        await standing(world, asked, memory=other)
    await other.close()
    assert world.rows == rows
    assert world.store.calls
    assert READS.issuperset(world.store.calls)


@pytest.mark.slow
async def test_of_what_is_deleted_meanwhile_nothing_stays_at_hand(world: World) -> None:
    history = story()
    await world.ask(history)
    other = world.memory()
    began, go = world.store.hold("nodes")
    counted = asyncio.create_task(standing(world, history, memory=other))
    await began.wait()
    world.store.waiting.clear()
    await other.forget_tenant("t")
    go.set()
    await counted
    assert other.cached_tenants == set()


@pytest.mark.slow
async def test_where_nothing_is_folded_there_is_none(world: World) -> None:
    history = story()
    assert await standing(world, history) is None
    await world.ask(history)
    assert await standing(world, history, mode="fresh") is None
    assert await standing(world, history, dialect="messages") is None
    assert await standing(world, history[:9]) is None
    assert await standing(world, [{"role": "system", "content": "S"}]) is None
    assert await standing(world, history) is not None


@pytest.mark.slow
async def test_an_epoch_that_is_full_or_old_is_still_counted(world: World) -> None:
    """The next request begins another one, which is smaller: better too many than the whole."""
    history = story()
    first = await world.ask(history)
    world.clock.time += 4_000
    for number in range(40):
        history = after(history, number, "many words of all kinds about the long summer " * 5)
    answer = await standing(world, history)
    assert answer
    assert answer.epoch == first.epoch
    assert (await world.ask(history)).epoch != first.epoch


@pytest.mark.slow
async def test_without_a_store_nothing_stands(world: World) -> None:
    history = story()
    await world.ask(history)
    world.store.broken["latest"] = Unavailable("the store is down")
    assert await standing(world, history) is None


@pytest.mark.slow
async def test_after_a_deletion_there_is_none(world: World) -> None:
    history = story()
    await world.ask(history)
    await world.used.forget_tenant("t")
    assert await standing(world, history) is None
