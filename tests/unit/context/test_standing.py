"""The answer of the present epoch, for those who only count: nothing is kept of the question."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from memtree.context.context_memory import ContextMemory
from memtree.errors import Unavailable
from tests.answered import Answered, answered
from tests.properties.process import QUESTION, World, after, an_ask, assistant, begins, story, user

READS = {"latest", "nodes", "summaries"}


@pytest.fixture
def world() -> World:
    return World()


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
