"""One form for the inflections of a word, and two words stay two."""

from __future__ import annotations

import pytest

from memtree.memories.relation.lexicon import base_form


@pytest.mark.parametrize(
    "forms",
    [
        "like likes liked liking",
        "work works worked working",
        "plan plans planned planning",
        "hope hopes hoped hoping",
        "study studies studied studying",
        "visit visits visited visiting",
        "decide decides decided deciding",
        "dance dances danced dancing",
        "move moves moved moving",
        "call calls called calling",
        "box boxes",
        "movie movies",
        "translate translated translation",
        "city cities",
        "use uses used using",
    ],
)
def test_inflections_meet(forms):
    assert len({base_form(form) for form in forms.split()}) == 1


@pytest.mark.parametrize(
    "words",
    [
        "plan plane", "hop hope", "win wine", "hat hate", "car care", "bus us", "bos boss",
        "new news", "thin thing", "be bed", "so sing",
    ],
)  # fmt: skip
def test_words_stay_apart(words):
    one, other = words.split()
    assert base_form(one) != base_form(other)


@pytest.mark.parametrize("word", ["a", "s", "ed", "ing", "ies", "ss", "yes"])
def test_short_words_survive(word):
    assert base_form(word)
