"""Plans as values: spans, and what is stored of them."""

from __future__ import annotations

import msgspec

from memtree.tree.node import NodePlace
from memtree.unfolding.plan import OutlineNode, Plan, RecallPlan, TextSpan, merge


def test_spans_that_touch_are_one():
    spans = [
        TextSpan(1, 0, 5),
        TextSpan(0, 5, 9),
        TextSpan(0, 0, 5),
        TextSpan(0, 8, 12),
        TextSpan(0, 13, 14),
    ]
    assert merge(spans) == [TextSpan(0, 0, 12), TextSpan(0, 13, 14), TextSpan(1, 0, 5)]


def test_plans_of_an_earlier_version_can_be_read():
    """Rows of before an upgrade lie beside those of after it until they expire."""
    place = [0, 0, 2, 0]
    former = [7, [[b"n" * 16, 0, 1, place, True]], [[0, 0, 4]], [[1, 0, 4]], 1]
    plan = msgspec.msgpack.decode(msgspec.msgpack.encode(former), type=Plan)
    shown = OutlineNode(b"n" * 16, 0, 1, NodePlace(*place), True)
    assert plan == Plan(7, (shown,), (TextSpan(0, 0, 4),), (TextSpan(1, 0, 4),), 1)


def test_a_recall_block_without_excerpts_is_none():
    assert not RecallPlan()
    assert RecallPlan((TextSpan(0, 0, 1),))
