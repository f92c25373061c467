"""Check which hits may stand beside a message."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memtree.memories.injection.options import (
    ALONE_ABROAD,
    CHAT_OPTIONS,
    LEAST,
    NEW,
    SHARING,
    SHARING_ABROAD,
    InjectionOptions,
    Message,
)
from memtree.memories.memory import Memory
from memtree.memories.memory_injection import fitting
from memtree.memories.search.ranking import MemoryHit, SearchResult
from memtree.ranking.relevance_scale import CHANCE, HALF


def test_less_is_asked_of_a_hit_that_shares_a_word() -> None:
    message = Message(50)
    assert message.admits(SHARING, shares_word=True)
    assert not message.admits(SHARING, shares_word=False)
    assert message.admits(HALF, shares_word=False)


def test_outside_english_a_little_more_is_asked() -> None:
    message = Message(50, english=False)
    assert not message.admits(HALF, shares_word=False)
    assert message.admits(ALONE_ABROAD, shares_word=False)
    assert message.admits(SHARING, shares_word=True)


def test_a_language_that_the_embedder_hardly_knows_leaves_it_to_the_word() -> None:
    message = Message(50, known=False)
    assert message.admits(SHARING_ABROAD, shares_word=True)
    assert not message.admits(HALF, shares_word=False)
    assert message.admits(CHANCE, shares_word=False)
    unread = Message(100, by_words=True)
    assert unread.admits(LEAST, shares_word=True)
    assert not unread.admits(1.0, shares_word=False)


def test_more_is_asked_in_a_larger_scope() -> None:
    admitted = [Message(size).admits(0.45, shares_word=False) for size in (3, 10, 100, 10_000)]
    assert admitted == [True, True, False, False]
    assert not Message(1_000).admits(0.6, shares_word=False)
    assert Message(10_000).admits(SHARING, shares_word=True)


@given(st.floats(0, 1), st.booleans(), st.booleans(), st.integers(0, 10**6), st.integers(0, 10**6))
def test_it_is_monotone_and_never_below_what_is_searched_for(
    relevance: float, shares: bool, known: bool, one: int, other: int
) -> None:
    few, many = sorted((one, other))
    if Message(many, known).admits(relevance, shares_word=shares):
        assert Message(few, known).admits(relevance, shares_word=shares)
        assert Message(many, known).admits(1.0, shares_word=False)
        assert relevance >= LEAST


def hits(*scores: float) -> SearchResult:
    return SearchResult(
        tuple(
            MemoryHit(Memory(f"mem_{at}", at, f"Likes {at}.", 0.0, 0.0), 0.9, score)
            for at, score in enumerate(scores)
        )
    )


def test_what_is_far_behind_the_best_does_not_stand_beside_it() -> None:
    for scores, shown in (((2.0, 1.6, 1.5), 2), ((2.0,) * (NEW + 2), NEW), ((), 0)):
        assert len(fitting(hits(*scores), ("tea", ""), 100, CHAT_OPTIONS)) == shown
    of_user = InjectionOptions(5)  # who asks for five gets five
    assert len(fitting(hits(*[2.0] * 5, 1.5), ("tea", ""), 100, of_user)) == 5
    everything = InjectionOptions(threshold=0.1)
    assert len(fitting(hits(*[2.0] * 5, 0.1), ("tea", ""), 100, everything)) == 6
