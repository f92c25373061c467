"""NFKC as Unicode has it, also for texts whose marks would take the square of their number."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.text.normal_form import MARKS, nfkc

ACUTE, CEDILLA = "\u0301", "\u0327"  # a mark above, and one below that goes before it


@pytest.mark.parametrize(
    ("text", "normal"),
    [("plain", "plain"), ("ﬁle ①", "file 1"), ("e" + ACUTE, "é"), ("한글", "한글"), ("", "")],
)
def test_what_looks_alike_becomes_the_same(text: str, normal: str):
    assert nfkc(text) == normal


@given(st.text(max_size=60) | st.text("ae" + ACUTE + CEDILLA, max_size=MARKS))
def test_ordinary_text_is_as_unicode_has_it(text: str):
    assert nfkc(text) == unicodedata.normalize("NFKC", text)


def test_marks_are_put_in_order_up_to_the_limit_of_unicode():
    marks = (ACUTE + CEDILLA) * (MARKS // 2)
    assert nfkc("x" + marks) == "x" + CEDILLA * (MARKS // 2) + ACUTE * (MARKS // 2)


def test_of_more_marks_none_is_lost():
    """They are put in order piece by piece."""
    marks = (ACUTE + CEDILLA) * MARKS * 3
    normal = nfkc(f"before x{marks} after")
    assert sorted(normal) == sorted(f"before x{marks} after")
    assert normal.startswith("before x")
    assert normal.endswith(" after")
