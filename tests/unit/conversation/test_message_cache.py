"""The cache of facts: bounded, and no tenant meets another's entries."""

from __future__ import annotations

from dataclasses import replace

from memtree.conversation.day_marks import DayMark, MarkSource
from memtree.conversation.history import MessageInfo
from memtree.conversation.message_cache import MARK_BYTES, ROW_BYTES, MessageCache, row_bytes
from memtree.language.written_days import WrittenDay


def facts(n):
    return MessageInfo("user", bytes([n]) * 32, n, (), None)


def test_what_was_put_is_found_by_tenant_and_bytes():
    cache = MessageCache(1)
    cache.put("a", b"raw", facts(1))
    assert cache.get("a", b"raw") == facts(1)
    assert cache.get("a", b"raw ") is None
    assert cache.get("b", b"raw") is None


def test_those_that_were_used_least_lately_go_when_it_is_full():
    cache = MessageCache(1, most=4 * ROW_BYTES)
    for n in range(6):
        cache.put("a", bytes([n]), facts(n))
        assert cache.get("a", bytes([0]))
    assert [n for n in range(6) if cache.get("a", bytes([n]))] == [0, 3, 4, 5]
    assert cache.nbytes == 4 * ROW_BYTES


def test_many_tenants_do_not_pile_up():
    cache = MessageCache(1, most=4 * ROW_BYTES)
    for n in range(40):
        cache.put(f"tenant {n}", b"raw", facts(n))
        assert cache.get(f"tenant {n}", b"raw") == facts(n)
    assert cache.get("tenant 0", b"raw") is None


def test_keys_depend_on_the_seed_of_the_process():
    """Or whoever finds two fragments with one key could pass the one off as the other."""
    first, second = MessageCache(1), MessageCache(2)
    assert first.keys.of("a", b"raw") == MessageCache(1).keys.of("a", b"raw")
    assert first.keys.of("a", b"raw") != second.keys.of("a", b"raw")
    assert first.keys.of("a", b"raw") != first.keys.of("b", b"raw")


def test_a_day_mark_takes_room():
    mark = DayMark(WrittenDay(2023, 5, 8), MarkSource.HEAD)
    assert row_bytes(b"", replace(facts(1), day_mark=mark)) == row_bytes(b"", facts(1)) + MARK_BYTES
