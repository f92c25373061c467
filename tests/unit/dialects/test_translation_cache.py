"""The cache of translations: bounded in bytes, and no tenant meets another's entries."""

from __future__ import annotations

from memtree.conversation.message_cache import FragmentKeys
from memtree.dialects.translation_cache import ENTRY_BYTES, TranslationCache


def full(entries: int, size: int = 100) -> TranslationCache[bytes]:
    """A cache with room for that many entries of `size` bytes."""
    return TranslationCache(1, entries * (size + ENTRY_BYTES))


def kept(cache: TranslationCache[bytes], raws: list[bytes]) -> list[bytes]:
    return [raw for raw in raws if cache.get("a", raw) is not None]


def test_what_was_put_is_found_by_tenant_and_bytes():
    cache: TranslationCache[bytes] = TranslationCache(1)
    cache.put("a", b"raw", b"canonical", 9)
    assert cache.get("a", b"raw") == b"canonical"
    assert cache.get("a", b"raw ") is None
    assert cache.get("b", b"raw") is None


def test_a_request_that_began_before_a_deletion_keeps_nothing():
    cache: TranslationCache[bytes] = TranslationCache(1)
    began = cache.deletions
    cache.put("a", b"kept", b"canonical", 9, began)
    assert kept(cache, [b"kept"]) == [b"kept"]
    cache.forget()
    cache.put("a", b"late", b"canonical", 9, began)
    assert (kept(cache, [b"kept", b"late"]), cache.nbytes) == ([], 0)
    cache.put("a", b"new", b"canonical", 9, cache.deletions)
    assert kept(cache, [b"new"]) == [b"new"]


def test_the_oldest_go_when_it_is_full():
    cache = full(4)
    raws = [bytes([n]) for n in range(6)]
    for raw in raws:
        cache.put("a", raw, raw, 100)
    assert kept(cache, raws) == raws[2:]


def test_a_large_entry_takes_the_room_of_several():
    cache = full(4)
    raws = [bytes([n]) for n in range(4)]
    for raw in raws:
        cache.put("a", raw, raw, 100)
    cache.put("a", b"large", b"large", 3 * (100 + ENTRY_BYTES) - ENTRY_BYTES)
    assert kept(cache, [*raws, b"large"]) == [raws[3], b"large"]


def test_what_is_larger_than_all_may_be_is_not_kept_and_costs_nobody_a_place():
    cache = full(4)
    cache.put("a", b"raw", b"raw", 100)
    cache.put("a", b"huge", b"huge", 10_000_000)
    assert kept(cache, [b"raw", b"huge"]) == [b"raw"]


def test_an_entry_that_is_put_again_counts_once():
    cache = full(4)
    for _ in range(20):
        cache.put("a", b"raw", b"raw", 100)
    others = [bytes([n]) for n in range(3)]
    for raw in others:
        cache.put("a", raw, raw, 100)
    assert kept(cache, [b"raw", *others]) == [b"raw", *others]


def test_forgetting_leaves_nothing_and_all_the_room():
    cache = full(4)
    raws = [bytes([n]) for n in range(4)]
    for raw in raws:
        cache.put("a", raw, raw, 100)
    cache.forget()
    assert kept(cache, raws) == []
    for raw in raws:
        cache.put("a", raw, raw, 100)
    assert kept(cache, raws) == raws


def test_keys_depend_on_the_seed_of_the_process():
    """Or whoever finds two fragments with one key could pass the one off as the other."""
    first = FragmentKeys(1)
    assert first.of("a", b"raw") == FragmentKeys(1).of("a", b"raw")
    assert first.of("a", b"raw") != FragmentKeys(2).of("a", b"raw")
    assert first.of("a", b"raw") != first.of("b", b"raw")
