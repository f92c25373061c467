"""Check which hits may stand beside a message, as a request or a setting asks for it."""

from __future__ import annotations

import pytest

from memtree.memories.injection import options
from memtree.memories.injection.options import InjectionOptions, Message, threshold_of
from memtree.memories.memory import Memory

DOG = Memory("mem_a", 1, "Otto is a beagle", 0.0, 0.0, category="fact")


@pytest.mark.parametrize(
    ("threshold", "relevance", "fits"),
    [
        (None, 0.40, False),
        (None, 0.56, True),
        (0.3, 0.30, True),
        (0.3, 0.29, False),
        (0.9, 0.89, False),
        (0.0, 0.0, True),
    ],
)
def test_a_threshold_of_ones_own_takes_the_place_of_the_rule(threshold, relevance, fits):
    options = InjectionOptions(threshold=threshold)
    assert options.fits(relevance, Message(100), shares_word=False) is fits
    unread = options.fits(relevance, Message(100, by_words=True), shares_word=False)
    assert unread is (threshold is not None and fits)


def test_by_the_rule_a_shared_word_needs_less():
    assert InjectionOptions().fits(0.34, Message(9), shares_word=True)
    assert not InjectionOptions().fits(0.34, Message(9), shares_word=False)


def test_where_words_alone_rank_a_telling_word_is_needed():
    unread = Message(9, by_words=True)
    assert InjectionOptions().fits(0.0, unread, shares_word=True)
    assert not InjectionOptions().fits(0.9, unread, shares_word=False)


def test_a_search_is_asked_for_no_more_than_may_fit():
    assert InjectionOptions().least == options.LEAST
    assert InjectionOptions(threshold=0.7).least == 0.7


def test_the_default_setting_is_the_rule():
    assert threshold_of(0.5) is None
    assert threshold_of(0.51) == 0.51


def test_a_category_leaves_others_out():
    assert InjectionOptions(category="fact").admits(DOG)
    assert not InjectionOptions(category="manual").admits(DOG)
    assert InjectionOptions().admits(DOG)
