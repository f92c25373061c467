"""How many texts one text is compared with."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memtree.memories.duplicates import MOST_CHARS, QUICK_CHARS, comparisons, is_quick

LONG = "a" * 16_000


def test_short_texts_are_compared_with_all():
    others = [f"The office is in room {number}" for number in range(200)]
    assert comparisons("The office is in Graz", others) == others
    assert is_quick("The office is in Graz", others[:8])


def test_long_ones_with_the_first_few():
    assert len(comparisons(LONG, [LONG] * 200)) == 3
    assert len(comparisons(LONG, ["short"] * 200)) == 6
    assert comparisons("short", [LONG, "b", *[LONG] * 20])[:2] == [LONG, "b"]
    assert not is_quick(LONG, ["b"])


def test_at_least_one_whatever_its_length():
    endless = "a" * MOST_CHARS
    assert comparisons(endless, [endless, endless]) == [endless]
    assert comparisons(endless, []) == []


@given(st.integers(0, 30_000), st.lists(st.integers(0, 30_000), max_size=20))
def test_the_sum_is_bounded(own: int, lengths: list[int]):
    text, others = "a" * own, ["b" * length for length in lengths]
    chosen = comparisons(text, others)
    assert chosen == others[: len(chosen)]
    total = sum(own + len(other) for other in chosen)
    assert total <= MOST_CHARS or len(chosen) == 1
    assert is_quick(text, chosen) is (total <= QUICK_CHARS)
