"""Check what is stored under addresses of format 2 is found, and goes with those of today."""

from __future__ import annotations

from typing import Any

import pytest

from memtree.context.request import CompressRequest
from memtree.conversation.history import History, read
from memtree.conversation.message import Message, Volatile
from memtree.ports.store import IndexBatch
from tests.programs.sessions import chat
from tests.properties.process import World

EXPIRES = 2_000_000.0


def messages(posted: list[dict[str, Any]]) -> tuple[Message, ...]:
    return tuple(map(Message.of, posted))


async def stored_before(posted: list[dict[str, Any]], world: World) -> History:
    """The store of `world` as a release with format 2 left it."""
    other = World()
    await other.used.index(CompressRequest("t", messages(posted)))
    history = read("t", messages(posted), Volatile())
    former, _ = history.former_addresses()
    found = await other.store.frontiers("t", history.addresses[1:])
    pairs = zip(history.addresses, former, strict=True)
    frontiers = {old: found[new].frontier for new, old in pairs if new in found}
    nodes = await other.store.descendants(
        "t", [id_ for frontier in frontiers.values() for id_ in frontier.nodes]
    )
    await world.store.commit("t", IndexBatch(tuple(nodes.values()), frontiers, EXPIRES))
    return history


@pytest.mark.slow
@pytest.mark.parametrize("more", [0, 30])
async def test_an_index_of_before_is_found_and_goes_on(more):
    posted = chat(240, seed=3)
    world = World()
    history = await stored_before(posted, world)
    nodes = len(world.rows["nodes"])
    later = posted + chat(240 + more, seed=3)[240:]
    answer = await world.used.index(CompressRequest("t", messages(later)))
    assert answer.indexed_messages >= len(later) - 20
    assert len(world.rows["nodes"]) <= nodes + more, "nothing was made again"
    frontiers = await world.store.frontiers("t", read("t", messages(later), Volatile()).addresses)
    assert frontiers
    assert await world.store.frontiers("t", history.former_addresses()[0]), "kept until it expires"


@pytest.mark.slow
@pytest.mark.parametrize("by", ["history", "address"])
async def test_forgetting_takes_the_former_addresses(by):
    posted = chat(240, seed=3)
    world = World()
    history = await stored_before(posted, world)
    ask = CompressRequest("t", messages(posted))
    answer = await world.used.index(ask)
    if by == "history":
        await world.used.forget_history(ask)
    else:
        await world.used.forget_address("t", answer.address)
    assert not await world.store.frontiers("t", history.former_addresses()[0])
    assert not world.rows["nodes"]


@pytest.mark.slow
async def test_what_counts_in_another_text_is_indexed_anew():
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
    posted = chat(240, seed=3)
    posted[101] = {"role": "assistant", "content": None, "tool_calls": [call]}
    posted.insert(102, {"role": "tool", "tool_call_id": "c", "content": "done"})
    world = World()
    await stored_before(posted, world)
    await world.used.index(CompressRequest("t", messages(posted)))
    fresh = World()
    await fresh.used.index(CompressRequest("t", messages(posted)))
    history = read("t", messages(posted), Volatile())
    assert history.former_addresses()[1] == 101
    last = history.addresses[-1]
    kept, made = [(await w.store.frontiers("t", [last]))[last].frontier for w in (world, fresh)]
    assert kept == made
