from __future__ import annotations

from memtree.memories.ports import ScopeState, SearchRow, SearchRows
from memtree.memories.scope import Scope
from memtree.memories.search.index.cache import IndexCache
from memtree.memories.search.index.scope_index import ScopeIndex


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
