from __future__ import annotations

from memtree.text.spans import Span, blanked, merged, outside, without


def test_spans_outside_of_cuts():
    cuts = merged([Span(2, 4), Span(3, 6), Span(12, 20), Span(9, 9)])
    assert cuts == [Span(2, 6), Span(12, 20)]
    assert outside([Span(0, 8), Span(10, 15), Span(18, 25)], cuts) == [
        Span(0, 2), Span(6, 8), Span(10, 12), Span(20, 25),
    ]  # fmt: skip
    assert outside([Span(13, 14)], cuts) == []
    assert outside([Span(0, 1), Span(1, 2)], [Span(0, 30)]) == []


def test_blanked_text_keeps_its_places_and_lines():
    assert blanked("ab\ncd ef", [Span(1, 5), Span(7, 8)]) == "a \n   e "


def test_a_text_without_cuts_that_overlap_or_reach_to_its_end():
    assert without("ab cd ef", [(0, 1), (2, 5), (3, 4), (7, 8)]) == "b e"
    assert without("ab", ()) == "ab"
