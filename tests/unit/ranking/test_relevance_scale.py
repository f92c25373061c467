"""The scale that makes cosines of different embedders mean the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.ranking.relevance_scale import RelevanceScale

anything = st.floats()
scales = st.builds(RelevanceScale.measured, anything, anything)
cosines = st.floats(-1.1, 1.1)


def test_the_measured_cosines_have_their_relevance():
    scale = RelevanceScale(chance=0.4, strong=0.7)
    assert scale.relevance(0.24) == pytest.approx(0.5)
    assert scale.relevance(0.4) == 0.7
    assert scale.relevance(0.7) == 0.85
    assert scale.relevance(1.0) == 1.0
    assert scale.relevance(0.55) == pytest.approx(0.775)
    assert scale.relevance(0.0) == scale.relevance(-1.0) == scale.relevance(float("nan")) == 0.0


@pytest.mark.parametrize(("chance", "strong"), [(0.7, 0.4), (0.5, 0.5), (0.0, 0.5), (0.5, 1.0)])
def test_what_is_no_scale_is_refused(chance, strong):
    with pytest.raises(ValueError, match="0 < chance < strong < 1"):
        RelevanceScale(chance, strong)


@given(scales, cosines, cosines)
def test_it_grows_and_stays_between_0_and_1(scale, one, other):
    low, high = sorted((one, other))
    assert 0.0 <= scale.relevance(low) <= scale.relevance(high) <= 1.0


@given(scales, st.floats(0, 1))
def test_a_cosine_of_a_relevance_has_it(scale, relevance):
    cosine = scale.cosine(relevance)
    assert 0.0 <= cosine <= 1.0
    assert scale.relevance(cosine) == pytest.approx(relevance, abs=1e-6)


@given(anything, anything)
def test_whatever_a_model_measures_gives_a_scale(chance, strong):
    scale = RelevanceScale.measured(chance, strong)
    assert 0 < scale.chance < scale.strong < 1
