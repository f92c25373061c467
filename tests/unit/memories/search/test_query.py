from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.memories.search.query import REACH, Query, common, without
from memtree.text.terms import terms


def test_common_is_what_a_tenth_of_many_memories_hold():
    assert common({1: 11, 2: 10, 3: 0}, 100) == {1}


def test_in_few_memories_nothing_is_common():
    assert common({1: 9}, 10) == set()


@pytest.mark.parametrize(
    ("text", "dropped", "left"),
    [
        ("What does Ada like?", "Ada", "What does like?"),
        ("What does Ada like?", "Grace", ""),
        ("Ada?", "Ada", ""),
        ("Who is Ada", "Ada", ""),
        ("adasTea or Ada's tea", "Ada", "adasTea or 's tea"),
        ("", "Ada", ""),
    ],
)
def test_without_common_words(text, dropped, left):
    assert without(text, terms(dropped).keys()) == left


@given(st.text(), st.sets(st.sampled_from(["tea", "port", "Ada"])))
def test_no_dropped_word_is_left(text, words):
    dropped = {term for word in words for term in terms(word)}
    left = without(f"{text} tea port", dropped)
    assert not [term for term in terms(left) if term in dropped] or not left


def test_only_the_start_of_a_long_text_is_looked_at():
    assert len(without("tea port " * 10_000, terms("tea").keys())) < REACH


def test_the_particular_weighs_more_than_the_whole():
    whole, particular = np.array([1, 0], np.float32), np.array([0, 1], np.float32)
    moved = Query.of("tea", whole).with_particular(particular).moved
    assert moved[1] > moved[0] > 0
    assert abs(np.linalg.norm(moved) - 1) < 1e-6


def test_opposite_vectors_leave_the_query_as_it_is():
    query = Query.of("tea", np.array([0.7, 0], np.float32))
    assert query.with_particular(np.array([-0.3, 0], np.float32)) is query


def test_without_a_vector_there_is_nothing_to_move():
    assert Query.of("tea").with_particular(np.ones(2, np.float32)).moved is None
