"""Cyclic garbage is found whether it is new, old or frozen, and a full collection looks only at
what came since the last one."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Iterator

import pytest

from memtree_proxy.server import serve
from memtree_proxy.server.serve import (
    FULL_COLLECTIONS,
    LONGEST_SECONDS,
    allocator_trim,
    collect_at_rest,
    collect_everything,
    full_collections,
    is_due,
    short_collections,
)

pytestmark = pytest.mark.slow  # each look at everything sees the objects of a whole test run

CYCLES = 20_000  # several times what the youngest generation holds


class Ring:
    """Refers to itself: only the collector can free it."""

    def __init__(self) -> None:
        self.self = self


@pytest.fixture(autouse=True)
def _enabled() -> Iterator[None]:
    was = gc.isenabled()
    gc.enable()
    yield
    if not was:
        gc.disable()


@pytest.fixture(scope="module")
def short() -> Iterator[None]:
    """Short collections for several tests: to enter them, all objects of the process are looked
    at, which takes a second among those of a whole test run."""
    with short_collections():
        yield


@pytest.mark.usefixtures("short")
def test_new_cycles_go_while_the_process_runs() -> None:
    alive = 0
    left = [weakref.ref(Ring()) for _ in range(CYCLES)]
    alive = sum(ref() is not None for ref in left)
    assert 0 < alive < CYCLES / 2


@pytest.mark.usefixtures("short")
def test_a_full_collection_looks_only_at_what_came_since_the_last_one() -> None:
    old = [Ring() for _ in range(1_000)]
    gc.collect()
    new = Ring()
    tracked = {id(each) for each in gc.get_objects()}
    assert id(new) in tracked
    assert not any(id(each) in tracked for each in old)


@pytest.mark.usefixtures("short")
def test_what_is_frozen_and_not_cyclic_goes_at_once() -> None:
    class Plain:
        pass

    kept = Plain()
    ref = weakref.ref(kept)
    gc.collect()
    del kept
    assert ref() is None


@pytest.mark.usefixtures("short")
def test_a_frozen_cycle_goes_when_everything_is_looked_at() -> None:
    ring = Ring()
    ref = weakref.ref(ring)
    gc.collect()
    del ring
    gc.collect()
    assert ref() is not None
    assert collect_everything() > 0
    assert ref() is None


def test_the_collector_is_left_as_it_was() -> None:
    usual = gc.get_threshold()
    gc.set_threshold(701, 11, 11)  # no others' own: `short` may be at work
    try:
        before = gc.get_threshold(), list(gc.callbacks)
        with short_collections():
            assert gc.get_threshold() == serve.THRESHOLDS
        assert (gc.get_threshold(), list(gc.callbacks)) == before
    finally:
        gc.set_threshold(*usual)


def test_everything_is_looked_at_in_rest_and_in_the_end_without() -> None:
    assert is_due(FULL_COLLECTIONS, 1, resting=True)
    assert not is_due(FULL_COLLECTIONS, LONGEST_SECONDS - 1, resting=False)
    assert is_due(FULL_COLLECTIONS, LONGEST_SECONDS, resting=False)
    assert not is_due(FULL_COLLECTIONS - 1, LONGEST_SECONDS, resting=True)


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("under_way", [0, 1])
async def test_a_server_that_rests_frees_its_frozen_cycles(under_way: int) -> None:
    looks = iter(range(3))
    looked = asyncio.Event()

    def requests() -> tuple[int, int]:
        if next(looks, None) is None:
            looked.set()
        return 3, under_way

    task = asyncio.create_task(collect_at_rest(requests, every=0))
    await asyncio.sleep(0)
    ring = Ring()
    ref = weakref.ref(ring)
    for _ in range(FULL_COLLECTIONS):
        gc.collect()
    del ring
    await looked.wait()
    task.cancel()
    assert (ref() is None) == (under_way == 0)


async def test_what_the_allocator_holds_is_given_back_once_in_each_rest() -> None:
    assert await given_back([1, 1, 2, 2, 2, 2, 3, 3], under_way=0) == 3
    allocator_trim()()


async def test_it_is_given_back_now_and_then_where_the_server_never_rests(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answered = [1, 1, 2, 2, 3, 4]
    assert await given_back(answered, under_way=1) == 0
    monkeypatch.setattr(serve, "GIVE_SECONDS", 0.0)
    assert await given_back(answered, under_way=1) == 4


async def given_back(answered: list[int], under_way: int) -> int:
    """How often that is done while the server has answered so many requests at each look."""
    looks, calls, ended = iter(answered), list[None](), asyncio.Event()

    def requests() -> tuple[int, int]:
        number = next(looks, None)
        if number is None:
            ended.set()
        return number or answered[-1], under_way

    task = asyncio.create_task(collect_at_rest(requests, 0, lambda: calls.append(None)))
    await ended.wait()
    task.cancel()
    return len(calls)


def test_full_collections_are_counted() -> None:
    before = full_collections()
    gc.collect()
    assert full_collections() == before + 1
