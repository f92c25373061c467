"""How an index comes to be: reads of the store are counted, and one can be made to wait."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from memtree.errors import StoreUnavailable
from memtree.memories.memory import NewMemory
from memtree.memories.memory_store import ScopeState, SearchRow, SearchRows, StoredSegment
from memtree.memories.scope import Scope
from memtree.memories.search import scope_search
from memtree.memories.search.block_rows import ScopeIndex
from memtree.memories.search.scope_search import IndexCache, IndexLoader
from memtree.memories.search.vector_bytes import packed_terms

SCOPE, RECIPE = Scope.of_chat("acme", "c1"), "r"


class Rows:
    """Store of rows as a loader needs it. `reads`: counts from which rows were read."""

    def __init__(self, count: int = 0) -> None:
        self.rows: dict[int, tuple[int, SearchRow]] = {}
        self.changed = self.purges = 0
        self.kept: StoredSegment | None = None
        self.reads: list[int] = []
        self.refuses = False
        self.put(*range(1, count + 1))

    def put(self, *numbers: int, live: bool = True) -> None:
        self.changed += 1
        for number in numbers:
            row = SearchRow(number, live, None, packed_terms(f"port {number}"), bytes([1] * 8))
            self.rows[number] = self.changed, row

    async def search_rows(self, scope: Scope, recipe: str, after: int) -> SearchRows:
        self.reads.append(after)
        await asyncio.sleep(0)
        found = tuple(row for count, row in self.rows.values() if count > after)
        return SearchRows(ScopeState(self.changed, 0, self.purges), found)

    async def segment(self, scope: Scope, recipe: str) -> StoredSegment | None:
        return self.kept

    async def put_segment(self, scope: Scope, recipe: str, segment: StoredSegment) -> None:
        if self.refuses:
            raise StoreUnavailable("full")
        self.kept = segment

    async def add(self, scope: Scope, memory: NewMemory, **_: Any) -> None: ...

    async def get(self, scope: Scope, refs: Sequence[int]) -> list[Any]:
        return []


def opened(store: Rows, cache: int = 1 << 30) -> IndexLoader:
    return IndexLoader(store, cache)  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(scope_search, "SMALL", 20)


async def held(opened: IndexLoader) -> set[int]:
    index = await opened.index(SCOPE, RECIPE)
    return set(index.numbers[index.live(0)].tolist())


async def test_only_what_changed_is_read():
    store = Rows(5)
    loader = opened(store)
    assert await held(loader) == {1, 2, 3, 4, 5}
    store.put(6)
    store.put(2, live=False)
    assert await held(loader) == {1, 3, 4, 5, 6}
    assert store.reads == [0, 1]


async def test_searches_at_once_share_one_load():
    store = Rows(30)
    loader = opened(store)
    found = await asyncio.gather(*(held(loader) for _ in range(5)))
    assert found == [set(range(1, 31))] * 5
    assert store.reads == [0, 1, 1, 1, 1]
    await loader.close()


async def test_a_small_scope_gets_no_segment():
    store = Rows(19)
    loader = opened(store)
    await held(loader)
    await loader.settled()
    assert store.kept is None


async def test_a_restart_reads_the_segment_and_what_came_since():
    store = Rows(30)
    first = opened(store)
    await held(first)
    await first.settled()
    assert store.kept is not None
    assert store.kept.changed == 1
    store.put(31)
    store.put(4, live=False)
    again = opened(store)
    assert await held(again) == set(range(1, 32)) - {4}
    assert store.reads[-1] == 1
    assert await held(first) == await held(again)


async def test_segments_are_made_anew_when_enough_has_changed():
    store = Rows(30)
    loader = opened(store)
    for number in range(31, 61):
        await held(loader)
        await loader.settled()
        store.put(number)
    made = store.kept.changed
    assert 20 < made < store.changed
    assert len(store.kept.data) > 0
    assert await held(opened(store)) == set(range(1, 61))


@pytest.mark.parametrize(
    "spoil",
    [
        lambda kept: kept._replace(data=kept.data[:-1]),
        lambda kept: kept._replace(data=b""),
        lambda kept: kept._replace(data=bytes(len(kept.data))),
        lambda kept: kept._replace(purges=7),
        lambda kept: kept._replace(changed=99),
    ],
    ids=["cut", "empty", "zeros", "before a purge", "of another store"],
)
async def test_a_segment_that_does_not_fit_is_not_used(spoil):
    store = Rows(30)
    first = opened(store)
    await held(first)
    await first.settled()
    store.kept = spoil(store.kept)
    assert await held(opened(store)) == set(range(1, 31))
    assert store.reads[-1] == 0


async def test_the_segment_of_another_scope_is_not_used():
    store = Rows(30)
    first = opened(store)
    await held(first)
    await first.settled()
    other = await opened(store).index(Scope.of_chat("acme", "c2"), RECIPE)
    assert store.reads[-1] == 0
    assert len(other) == 30


async def test_after_a_purge_all_rows_are_read():
    store = Rows(5)
    loader = opened(store)
    await held(loader)
    del store.rows[3]
    store.purges, store.changed = 1, 2
    assert await held(loader) == {1, 2, 4, 5}
    assert store.reads == [0, 1, 0]


async def test_a_store_that_keeps_no_segment_is_asked_again_later():
    store = Rows(30)
    store.refuses = True
    loader = opened(store)
    await held(loader)
    await loader.settled()
    assert await held(loader) == set(range(1, 31))


async def test_a_tenant_forgotten_while_a_segment_is_made_stays_forgotten():
    store = Rows(30)
    loader = opened(store)
    await held(loader)
    loader.forget("acme")
    await loader.settled()
    assert loader.bytes == 0


async def test_closing_ends_what_runs():
    store = Rows(30)
    loader = opened(store)
    await held(loader)
    await loader.close()
    assert not [task for task in asyncio.all_tasks() if task.get_name() == "memory-segment"]


async def test_a_cache_that_is_too_small_costs_time_and_nothing_else():
    store = Rows(5)
    loader = opened(store, cache=10)
    assert await held(loader) == await held(loader) == {1, 2, 3, 4, 5}
    assert loader.bytes == 0


# --


def index_of(rows: int) -> ScopeIndex:
    made = tuple(SearchRow(i, True, None, b"", bytes(100)) for i in range(rows))
    return ScopeIndex.of(SearchRows(ScopeState(1), made))


SMALL, LARGE = index_of(10), index_of(100)


def chat(tenant: str, name: str) -> Scope:
    return Scope.of_chat(tenant, name)


def test_what_is_kept_comes_back_under_its_own_key():
    cache = IndexCache(1 << 20)
    cache.put(chat("a", "1"), "r", SMALL)
    assert cache.get(chat("a", "1"), "r") is SMALL
    assert cache.get(chat("a", "1"), "other") is cache.get(chat("b", "1"), "r") is None


def test_the_bytes_stay_within_the_bound_and_the_oldest_goes():
    cache = IndexCache(3 * SMALL.nbytes)
    for name in "123":
        cache.put(chat("a", name), "r", SMALL)
    cache.get(chat("a", "1"), "r")
    cache.put(chat("a", "4"), "r", SMALL)
    assert cache.get(chat("a", "2"), "r") is None
    assert all(cache.get(chat("a", name), "r") for name in "134")
    assert cache.bytes == 3 * SMALL.nbytes


def test_an_index_larger_than_the_cache_is_not_kept():
    cache = IndexCache(SMALL.nbytes)
    cache.put(chat("a", "1"), "r", LARGE)
    assert cache.get(chat("a", "1"), "r") is None
    assert cache.bytes == 0


def test_a_tenant_within_its_share_loses_nothing_to_another():
    cache = IndexCache(4 * SMALL.nbytes)
    cache.put(chat("small", "1"), "r", SMALL)
    for name in range(50):
        cache.put(chat("greedy", str(name)), "r", SMALL)
    assert cache.get(chat("small", "1"), "r") is SMALL
    assert cache.bytes <= cache.most_bytes


def test_an_index_that_grows_counts_once():
    cache = IndexCache(2 * LARGE.nbytes)
    for index in (SMALL, LARGE, SMALL):
        cache.put(chat("a", "1"), "r", index)
    assert cache.bytes == SMALL.nbytes


def test_a_tenant_is_forgotten_alone():
    cache = IndexCache(1 << 20)
    for tenant in "ab":
        for name in "12":
            cache.put(chat(tenant, name), "r", SMALL)
    cache.forget("a")
    cache.forget("never seen")
    assert cache.get(chat("a", "1"), "r") is None
    assert cache.get(chat("b", "2"), "r") is SMALL
    assert cache.bytes == 2 * SMALL.nbytes
