"""Who waits for a scope to change is woken by this process, and finds what others changed."""

from __future__ import annotations

import asyncio

from memtree.background.runtime import SystemClock
from memtree.memories.ports import MemoryStore, ScopeState
from memtree.memories.saving import ScopeWatch
from memtree.memories.scope import Scope

SCOPE = Scope.of_chat("t", "c")


class CountedStore(MemoryStore):
    """The part of a store that is watched: a counter, and how often it was asked."""

    def __init__(self) -> None:
        self.changed: dict[Scope, int] = {}
        self.asked = 0

    async def state(self, scope: Scope) -> ScopeState:
        self.asked += 1
        await asyncio.sleep(0)
        return ScopeState(self.changed.get(scope, 0))


def watched(store: CountedStore, poll: float = 30.0) -> ScopeWatch:
    return ScopeWatch(store, SystemClock(), poll)


async def test_what_has_changed_already_is_told_at_once():
    store = CountedStore()
    store.changed[SCOPE] = 3
    assert (await watched(store).changed(SCOPE, 2, 30.0)).changed == 3


async def test_without_a_change_the_wait_ends_in_time():
    store = CountedStore()
    watch = watched(store)
    assert (await watch.changed(SCOPE, 0, 0.01)).changed == 0
    assert watch.watched == 0


async def test_a_change_of_this_process_wakes_all_who_wait_for_the_scope():
    store = CountedStore()
    watch = watched(store)
    waiting = [asyncio.create_task(watch.changed(SCOPE, 0, 30.0)) for _ in range(5)]
    await asyncio.sleep(0.01)
    store.changed[SCOPE] = 1
    watch.wake(SCOPE)
    assert [state.changed for state in await asyncio.gather(*waiting)] == [1] * 5
    assert watch.watched == 0


async def test_a_change_of_another_process_is_found_by_asking():
    store = CountedStore()
    watch = watched(store, poll=0.01)
    waiting = asyncio.create_task(watch.changed(SCOPE, 0, 30.0))
    await asyncio.sleep(0.03)
    store.changed[SCOPE] = 1
    assert (await waiting).changed == 1


async def test_many_who_wait_ask_the_store_once():
    store = CountedStore()
    watch = watched(store)
    waiting = [asyncio.create_task(watch.changed(SCOPE, 0, 0.05)) for _ in range(50)]
    await asyncio.gather(*waiting)
    assert store.asked == 1


async def test_another_scope_wakes_nobody():
    store = CountedStore()
    watch = watched(store)
    waiting = asyncio.create_task(watch.changed(SCOPE, 0, 0.05))
    await asyncio.sleep(0)
    other = Scope.of_chat("t", "d")
    store.changed[other] = 1
    watch.wake(other)
    assert (await waiting).changed == 0


async def test_a_change_during_the_look_is_not_missed():
    store = CountedStore()
    watch = watched(store)
    waiting = asyncio.create_task(watch.changed(SCOPE, 0, 30.0))
    await asyncio.sleep(0)  # it is asking now
    store.changed[SCOPE] = 1
    watch.wake(SCOPE)
    assert (await asyncio.wait_for(waiting, 300)).changed == 1


async def test_who_gives_up_leaves_nothing():
    store = CountedStore()
    watch = watched(store)
    waiting = asyncio.create_task(watch.changed(SCOPE, 0, 30.0))
    await asyncio.sleep(0.01)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    assert watch.watched == 0
