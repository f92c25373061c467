"""Check which histories go without their thinking from now on."""

from __future__ import annotations

from memtree_proxy.chat.retrying.thinking_marks import MAX_MARKS, MAX_TENANTS, ThinkingMarks

CHAIN = [b"root", b"1", b"2", b"3"]


def test_a_longer_history_goes_on_from_its_newest_mark():
    marks = ThinkingMarks()
    assert (marks.has_folded("a"), marks.any("a"), marks.length("a", CHAIN)) == (False, False, 0)
    marks.fold("a")
    assert (marks.has_folded("a"), marks.any("a"), marks.length("a", CHAIN)) == (True, False, 0)
    marks.mark("a", b"1")
    marks.mark("a", b"2")
    marks.mark("a", b"x")
    assert marks.length("a", CHAIN) == 2
    assert marks.length("a", CHAIN[:2]) == 1
    assert (marks.any("b"), marks.length("b", CHAIN)) == (False, 0)


def test_a_deletion_forgets_them():
    marks = ThinkingMarks()
    for tenant in "abc":
        marks.mark(tenant, b"2")
    marks.forget("a")
    assert [marks.any(tenant) for tenant in "abc"] == [False, True, True]
    marks.forget(None)
    assert not marks.has_folded("b")


def test_they_are_few():
    marks = ThinkingMarks()
    for number in range(MAX_MARKS + 1):
        marks.mark("a", b"%d" % number)
    assert marks.length("a", [b"", b"0"]) == 0
    assert marks.length("a", [b"", b"1"]) == 1
    for number in range(MAX_TENANTS):
        marks.fold(f"{number}")
    assert not marks.has_folded("a")
    assert marks.has_folded("0")
