"""Names among the anchors of a text."""

from __future__ import annotations

import pytest

from memtree.text.anchors import anchors


@pytest.mark.parametrize(
    "word", ["Ill", "Im", "Dont", "Ive", "Haha", "LOL", "OMG", "Naja", "Ouais", "Wait", "Its"]
)
def test_contractions_interjections_and_chat_words_are_no_names(word):
    assert anchors(f"so {word} see you there, and {word} too. {word} what") == ()


def test_a_name_keeps_a_common_word_in_it():
    told = anchors("we flew to New York to see Real Madrid, and Ill ask Ida")
    assert set(told) == {"New York", "Real Madrid", "Ida"}
