"""Words that name nothing."""

from __future__ import annotations

import pytest

from memtree.text.terms import chat_words, common_words, is_common


def test_each_word_stands_in_its_list_as_it_is_looked_up():
    assert all(word == word.lower() and "'" not in word for word in common_words())
    assert chat_words() < common_words()


@pytest.mark.parametrize("word", ["Ill", "I'll", "Dont", "LOL", "haha", "guessing", "вот", "ouais"])
def test_common(word):
    assert is_common(word)


@pytest.mark.parametrize("word", ["Ben", "king", "rabbit", "n64", "string", "gym", "Vertrag"])
def test_not_common(word):
    assert not is_common(word)
