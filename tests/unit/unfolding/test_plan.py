"""Plans as values: spans, and what is stored of them."""

from __future__ import annotations

from memtree.unfolding.plan import RecallPlan, TextSpan, merge


def test_spans_that_touch_are_one():
    spans = [
        TextSpan(1, 0, 5),
        TextSpan(0, 5, 9),
        TextSpan(0, 0, 5),
        TextSpan(0, 8, 12),
        TextSpan(0, 13, 14),
    ]
    assert merge(spans) == [TextSpan(0, 0, 12), TextSpan(0, 13, 14), TextSpan(1, 0, 5)]


def test_a_recall_block_without_excerpts_is_none():
    assert not RecallPlan()
    assert RecallPlan((TextSpan(0, 0, 1),))
