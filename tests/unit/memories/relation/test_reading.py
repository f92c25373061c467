"""Check what tells a text of the past from one of the present: the form of its verbs."""

from __future__ import annotations

import pytest

from memtree.memories.relation.reading import read


@pytest.mark.parametrize("text", ["I needed a car.", "I fixed a car.", "I bought a car."])
def test_a_past_form_tells_what_was(text):
    assert read(text).past


@pytest.mark.parametrize("text", ["I need a car.", "We feed the cat.", "They seed a lawn."])
def test_a_short_verb_that_ends_as_a_past_form_tells_what_is(text):
    assert not read(text).past
