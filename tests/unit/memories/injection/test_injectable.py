"""Check which hits may stand beside a message."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memtree.memories.injection.options import ALONE, LEAST, SHARING, injectable


def test_less_is_asked_of_a_hit_that_shares_a_word():
    assert injectable(SHARING, shares_word=True, memories=100)
    assert not injectable(SHARING, shares_word=False, memories=100)
    assert injectable(ALONE, shares_word=False, memories=100)


def test_more_is_asked_in_a_larger_scope():
    assert injectable(0.52, shares_word=False, memories=3)
    assert not injectable(0.52, shares_word=False, memories=10_000)
    assert injectable(SHARING, shares_word=True, memories=10_000)


@given(st.floats(0, 1), st.booleans(), st.integers(0, 10**6), st.integers(0, 10**6))
def test_it_is_monotone_and_never_below_what_is_searched_for(relevance, shares, one, other):
    few, many = sorted((one, other))
    if injectable(relevance, shares_word=shares, memories=many):
        assert injectable(relevance, shares_word=True, memories=few)
        assert injectable(1.0, shares_word=False, memories=many)
        assert relevance >= LEAST
