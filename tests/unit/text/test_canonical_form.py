"""Two texts with one canonical form are the same memory."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.text.normal_form import canonical, text_hash


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The port is 8090.", "the  port\nis 8090"),
        ("Cafe\u0301 at nine", "caf\u00e9 at NINE!"),
        ("Straße", "STRASSE"),
        ("猫が好き。", "猫が好き"),
    ],
)
def test_case_white_space_and_end_punctuation_do_not_count(one, other):
    assert canonical(one) == canonical(other)
    assert text_hash(one) == text_hash(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("port 8090", "port 8091"), ("I like tea", "I do not like tea"), ("a.b", "ab")],
)
def test_everything_else_counts(one, other):
    assert text_hash(one) != text_hash(other)


@given(st.text())
def test_a_canonical_form_is_its_own(text):
    assert canonical(canonical(text)) == canonical(text)
    assert len(text_hash(text)) == 16
