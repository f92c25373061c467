"""Stage 1 gives the same wherever it runs, and a run that is under way is joined."""

from __future__ import annotations

import asyncio

import pytest

from indexer import build
from indexer.build import INLINE_TOKENS, THREAD_TOKENS, StageOne
from memtree.build import grow
from tests.properties.strategies import conversation, history_of, tail_of

SIZES = {"inline": INLINE_TOKENS, "thread": INLINE_TOKENS + 1, "child": THREAD_TOKENS + 1}


@pytest.fixture
def tail():
    return tail_of(history_of(conversation(1, 6_000)))


@pytest.mark.parametrize(
    "where", ["inline", "thread", pytest.param("child", marks=pytest.mark.slow)]
)
async def test_inline_in_a_thread_and_in_a_child_it_is_the_same(tail, where):
    builder = StageOne(child=True)
    try:
        assert await builder.grow(tail, SIZES[where]) == grow(tail)
        assert (builder._pool is not None) == (where == "child")
    finally:
        await builder.close()


async def test_without_a_child_a_thread_does_it(tail):
    builder = StageOne(child=False)
    assert await builder.grow(tail, SIZES["child"]) == grow(tail)
    assert builder._pool is None
    await builder.close()


async def test_a_run_that_is_under_way_is_joined(tail):
    builder = StageOne(child=False)
    one, other = await asyncio.gather(*(builder.grow(tail, SIZES["thread"]) for _ in range(2)))
    assert one is other
    assert await builder.grow(tail, SIZES["thread"]) is not one


async def test_tenants_do_not_join(tail):
    builder = StageOne(child=False)
    foreign = tail_of(history_of(conversation(1, 6_000), tenant="other"))
    one, other = await asyncio.gather(*(builder.grow(t, SIZES["thread"]) for t in (tail, foreign)))
    assert one.nodes == other.nodes
    assert not set(one.frontiers) & set(other.frontiers)


async def test_who_gives_up_waiting_does_not_stop_the_others(tail):
    builder = StageOne(child=False)
    patient = asyncio.create_task(builder.grow(tail, SIZES["thread"]))
    hasty = asyncio.create_task(builder.grow(tail, SIZES["thread"]))
    await asyncio.sleep(0)
    hasty.cancel()
    with pytest.raises(asyncio.CancelledError):
        await hasty
    assert await patient == grow(tail)


@pytest.mark.slow
async def test_a_killed_child_costs_nothing_but_time(tail):
    builder = StageOne(child=True)
    try:
        await builder.grow(tail, SIZES["child"])
        (child,) = builder._pool._processes.values()
        child.kill()
        assert await builder.grow(tail, SIZES["child"]) == grow(tail)
    finally:
        await builder.close()


def test_a_child_ends_with_its_parent(monkeypatch):
    ended = []

    class Parent:
        def join(self):
            ended.append("joined")

    monkeypatch.setattr(build.os, "_exit", ended.append)
    build._end_with(Parent())
    assert ended == ["joined", 1]
