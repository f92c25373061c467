"""Ranks by words, and how ranks are joined."""

from __future__ import annotations

import numpy as np
import pytest

from memtree.ranking import bm25, vectors
from memtree.ranking.bm25 import Lexicon
from memtree.ranking.corpus import Corpus
from memtree.ranking.fusion import rank, smooth
from memtree.ranking.ranked_history import expected_maxima
from memtree.ranking.relevance_scale import AXES, Background
from memtree.text import terms
from memtree.text.terms import Terms
from tests.made.trees import places
from tests.properties.strategies import batch, conversation, history_of, leaves_of

# ------------------------------------------------------------------------------------------------
# BM25 that only grows, and the corpus that carries it.


PASSAGES = ["the cache missed", "disk cache full cache", "violin opera", "", "opera tickets"]


def statistics(*texts):
    return terms.pack([terms.terms(text) for text in texts])


def lexicon(*texts):
    return Lexicon().extended([statistics(*texts)])


def scores(made, query):
    return made.scores(terms.terms(query))


def test_what_holds_the_words_scores():
    found = scores(lexicon(*PASSAGES), "cache")
    assert found.shape == (5,)
    assert [bool(score) for score in found] == [True, True, False, False, False]


def test_rare_words_weigh_more_than_common_ones():
    found = scores(lexicon("cache a1", "cache b2", "cache c3", "violin d4"), "cache violin")
    assert found.argmax() == 3


def test_more_occurrences_score_more_and_longer_passages_less():
    found = scores(
        lexicon("cache disk", "cache cache", "cache disk full again today slow"), "cache"
    )
    assert found[1] > found[0] > found[2]


def test_scores_are_those_of_the_formula():
    found = scores(lexicon("cache disk", "cache violin", "opera opera"), "disk")
    idf = np.log1p((3 - 1 + 0.5) / (1 + 0.5))
    norm = bm25.K1 * (1 - bm25.B + bm25.B * 2 / 2)
    assert found[0] == pytest.approx(idf * (bm25.K1 + 1) / (1 + norm))


def test_the_whole_is_what_the_query_itself_would_score():
    query = "disk opera tickets, disk opera"
    asked, made = terms.terms(query), lexicon(*PASSAGES, query)
    assert made.matches(asked)[1] == pytest.approx(float(made.scores(asked)[-1]))
    assert made.matches(asked)[1] > made.scores(asked)[:-1].max()


def test_the_whole_counts_words_that_no_passage_holds():
    made = lexicon(*PASSAGES)
    known, more = made.matches(terms.terms("cache")), made.matches(terms.terms("cache zebra"))
    assert known[0] == pytest.approx(more[0])
    assert more[1] > 1.5 * known[1]
    assert Lexicon().matches(terms.terms("cache"))[1] == 0


def test_nothing_to_search_or_nothing_asked():
    assert scores(Lexicon(), "cache").shape == (0,)
    assert not scores(lexicon(*PASSAGES), "").any()
    assert not scores(lexicon(*PASSAGES), "unheard").any()
    assert not lexicon("", "").scores({0: 1, 2**32 - 1: 1}).any()


def test_growing_is_the_same_as_starting_over(monkeypatch):
    monkeypatch.setattr(bm25, "REBUILD_FLOOR", 5)
    grown = Lexicon()
    for text in PASSAGES * 10:
        grown = grown.extended([statistics(text)]).settled()
    whole = lexicon(*PASSAGES * 10)
    for query in ("cache", "opera violin", "disk full tickets"):
        assert np.array_equal(scores(grown, query), scores(whole, query))


def test_many_small_additions_are_settled():
    grown = Lexicon()
    for _ in range(100):
        grown = grown.extended([statistics("cache")]).settled()
    assert grown.unsorted <= 33


def test_a_lexicon_stays_as_it_is_while_others_grow_from_it():
    made = lexicon(*PASSAGES)
    before = scores(made, "cache opera")
    one = made.extended([statistics("cache cache opera")])
    other = made.extended([statistics("violin")]).extended([statistics("cache")])
    assert (len(made), len(one), len(other)) == (5, 6, 7)
    assert np.array_equal(scores(made, "cache opera"), before)
    assert np.array_equal(
        scores(other, "cache"), scores(lexicon(*PASSAGES, "violin", "cache"), "cache")
    )


def test_a_leaf_without_terms():
    made = Lexicon().extended([Terms(b"", b"", (0, 0))]).extended([])
    assert len(made) == 2


# ---------------------------------------------------------------- corpus


@pytest.fixture(scope="module")
def grown():
    history = history_of(conversation(3, 9_000))
    found = batch(history)
    leaves = leaves_of(found.frontier, {node.id: node for node in found.nodes})
    return history, leaves, found.open


def corpus_of(leaves, dimensions=4):
    return Corpus(dimensions).extended(leaves, places(leaves))


def test_rows_are_the_passages_in_reading_order(grown):
    history, leaves, _ = grown
    corpus = corpus_of(leaves)
    assert len(corpus) == sum(len(leaf.passages) for leaf in leaves)
    text = "".join(
        history.view(m).text[s:e]
        for m, s, e in zip(corpus.message, corpus.start, corpus.end, strict=True)
    )
    whole = "".join(history.view(index).text for index in range(len(history)))
    assert whole.startswith(text)
    assert list(corpus.leaf) == sorted(corpus.leaf)


def test_a_corpus_grows_like_one_that_was_made_at_once(grown):
    _, leaves, _ = grown
    one, spots = Corpus(4), places(leaves)
    for index, leaf in enumerate(leaves):
        one = one.extended([leaf], [spots[index]])
    other = corpus_of(leaves)
    assert np.array_equal(one.columns, other.columns)
    query = terms.terms(leaves[3].summary.headline)
    assert np.array_equal(one.lexicon.scores(query), other.lexicon.scores(query))


def test_an_open_leaf_joins_for_one_request(grown):
    _, leaves, open_leaf = grown
    corpus = corpus_of(leaves)
    rows, query = len(corpus), terms.merge(terms.unpack(open_leaf.terms))
    before = corpus.lexicon.scores(query)
    whole = corpus.with_open(open_leaf, places([*leaves, open_leaf])[-1])
    assert len(whole) == rows + len(open_leaf.passages)
    assert whole.lexicon.scores(query)[rows:].any()
    assert (len(corpus), len(corpus.leaves), len(corpus.places)) == (rows, *[len(leaves)] * 2)
    assert np.array_equal(corpus.lexicon.scores(query), before)
    assert corpus.with_open(None, None) is corpus


def packed(leaf, matrices):
    return vectors.pack(matrices[leaf.id], [1] * len(leaf.passages))


def test_vectors_may_come_in_any_order(grown):
    _, leaves, open_leaf = grown
    corpus = corpus_of(leaves)
    rng = np.random.default_rng(1)
    matrices = {}
    for leaf in leaves:
        rows = rng.normal(size=(len(leaf.passages), 4)).astype(np.float32)
        matrices[leaf.id] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    query = np.array([1, 0, 0, 0], np.float32)
    assert corpus.lacking() == list(range(len(leaves)))
    for index in (3, 0, 1, *range(4, len(leaves))):
        leaf = leaves[index]
        corpus = corpus.with_vectors({leaf.id: packed(leaf, matrices)})
    assert corpus.lacking() == [2]
    known = corpus.cosines(query).embedded
    assert list(known) == [index != 2 for index in corpus.leaf]
    corpus = corpus.with_vectors({leaves[2].id: packed(leaves[2], matrices)})
    assert corpus.lacking() == []
    known = corpus.with_open(open_leaf, places([*leaves, open_leaf])[-1]).cosines(query).embedded
    assert not known[-len(open_leaf.passages) :].any()
    near = corpus.cosines(query)
    assert near.embedded.all()
    wanted = np.concatenate([matrices[leaf.id][:, 0] for leaf in leaves])
    assert np.allclose(near.nearest, wanted, atol=0.02)
    assert np.array_equal(near.segments, np.bincount(corpus.message)[corpus.message])


def test_a_passage_is_as_near_as_its_nearest_segment(grown):
    """Leaves with vectors of whole passages and of segments stand side by side."""
    _, leaves, _ = grown
    corpus, rng = corpus_of(leaves), np.random.default_rng(2)
    query = np.array([0, 1, 0, 0], np.float32)
    nearest, segments = [], []
    for number, leaf in enumerate(reversed(leaves)):
        counts = [1 + (number + at) % 3 * (number % 2) for at in range(len(leaf.passages))]
        rows = rng.normal(size=(sum(counts), 4)).astype(np.float32)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        ends = np.cumsum(counts)
        parts = np.split(rows, ends[:-1])
        nearest = [*(part[:, 1].max() for part in parts), *nearest]
        segments = [*counts, *segments]
        corpus = corpus.with_vectors({leaf.id: vectors.pack(rows, counts)})
        near = corpus.cosines(query)
        assert np.allclose(near.nearest[near.embedded], nearest, atol=0.02)
    assert near.embedded.all()
    of_message = np.bincount(corpus.message, weights=segments)
    assert np.array_equal(near.segments, of_message[corpus.message])


def test_a_corpus_knows_how_many_messages_it_holds_whole(grown):
    _, leaves, open_leaf = grown
    spots = places([*leaves, open_leaf])
    corpus = corpus_of(leaves)
    assert corpus.with_open(open_leaf, spots[-1]).messages == spots[-2].end
    assert Corpus(4).messages == 0


# ------------------------------------------------------------------------------------------------
# Fusion by rank, smoothed over neighbours.


def row(*values):
    return np.array(values, np.float32)


def apart(*values):
    """Scores with gaps between them, over which nothing is lent."""
    scores = np.zeros(3 * len(values), np.float32)
    scores[::3] = values
    return scores


def test_a_passage_scores_by_its_place_and_not_at_all_without_a_match():
    """Places count from 10: one step down matters among the first and hardly far below. The root
    of the score's part of the best one is the weight of a vote."""
    ranking = rank(apart(3, 0, 9), None)
    places, parts = np.array([10, 11, 13, 12]), np.array([1, 3 / 9, 0.3, 0.3])
    assert ranking.fused[[6, 0, 5, 7]] == pytest.approx(parts**0.5 / places)
    assert rank(row(0, 0, 0), None).fused.max() == 0
    assert ranking.cosine is None


def test_both_rankings_count():
    """A negative cosine is no match."""
    equal = rank(apart(9, 0, 0), apart(-0.5, 0, 0.9))
    assert equal.fused[0] == equal.fused[6] == pytest.approx(1 / 10)


def test_weights_count_before_the_ranking_and_before_the_neighbours():
    favoured = rank(row(3, 0, 0, 2), None, row(1, 1, 1, 2))
    assert favoured.fused[3] > favoured.fused[0]
    assert favoured.fused[2] > favoured.fused[1]
    assert list(favoured.lexical) == [3, 0, 0, 2]


def test_second_in_both_beats_first_in_one():
    """Fusion prefers agreement of words and meaning to one strong opinion."""
    fused = rank(apart(9, 8, 0), apart(0, 0.5, 0.9)).fused
    assert fused[3] > max(fused[0], fused[6])


def test_the_scale_of_scores_does_not_matter():
    close = rank(apart(3, 0, 9, 1), apart(0.1, 0.2, 0.3, 0.4))
    spread = rank(apart(30, 0, 90, 10), apart(0.2, 0.4, 0.6, 0.8))
    assert close.fused == pytest.approx(spread.fused)


def test_second_by_a_common_word_yields_to_second_by_meaning():
    """Passage 3 shares one common word with the question, passage 6 is nearly as near as 9."""
    fused = rank(apart(9, 0.3, 0, 0), apart(0, 0, 0.5, 0.6)).fused
    assert fused[6] > 1.5 * fused[3]
    assert rank(apart(9, 8, 0, 0), apart(0, 0, 0.5, 0.6)).fused[3] == pytest.approx(
        fused[6], rel=0.1
    )


def test_words_count_by_what_the_question_itself_would_score():
    """The best passage holds a quarter of the question: its vote has half of the weight, and more
    than the whole question is not in a passage."""
    assert rank(apart(2, 0), None, whole=8).fused[0] == pytest.approx(0.5 / 10)
    assert rank(apart(9, 0), None, whole=8).fused[0] == pytest.approx(1 / 10)


def test_of_equals_the_later_comes_first():
    fused = rank(apart(1, 1, 0), None).fused
    assert fused[3] > fused[0] > fused[6] == 0


def test_passages_lend_score_to_their_neighbours():
    smoothed = smooth(row(0, 0, 0, 1, 0, 0))
    assert smoothed == pytest.approx([0, 0.15, 0.3, 1, 0.3, 0.15])


def test_by_meaning_the_better_of_two_places_counts():
    """The lone passage 5 is first by itself; lent by each other, 0 to 2 would all pass it."""
    cosine = row(0.5, 0.5, 0.5, 0, 0, 0.6, 0)
    fused = rank(row(0, 0, 0, 0, 0, 0, 0), cosine).fused
    assert smooth(cosine).argmax() == 1
    assert fused[5] == fused[1] == pytest.approx(1 / 10)
    assert fused[3] > 0  # lent alone


@pytest.mark.parametrize("size", [0, 1, 2, 3])
def test_small_rankings(size):
    scores = np.ones(size, np.float32)
    assert rank(scores, scores).fused.shape == (size,)


def test_what_is_shown_is_not_smoothed():
    ranking = rank(row(0, 1), row(0.5, -0.5))
    assert list(ranking.lexical) == [0, 1]
    assert list(ranking.cosine) == [0.5, -0.5]


# ------------------------------------------------------------------------------------------------
# Cosines without what all texts of a language share.


RNG = np.random.default_rng(7)
WIDTH = 200


def rows(count: int, shared: float) -> np.ndarray:
    """Unit rows that have a direction in common."""
    made = RNG.normal(size=(count, WIDTH)).astype(np.float32)
    made[:, 0] += shared * np.sqrt(WIDTH)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def test_what_all_share_makes_no_two_texts_near() -> None:
    background = Background.of(rows(200, 2.0))
    strangers = rows(50, 2.0)
    assert float((strangers[1:] @ strangers[0]).mean()) > 0.7
    near = background.cosines(strangers[0], strangers[1:])
    assert abs(float(near.mean())) < 0.05
    assert background.scale.relevance(float(near.max())) < 0.7


def test_a_text_stays_near_to_itself_and_to_what_says_much_the_same() -> None:
    background = Background.of(rows(200, 2.0))
    [text, other] = rows(2, 2.0)
    said_again = text + 0.2 * (other - text)
    said_again /= np.linalg.norm(said_again)
    near = background.cosines(text, np.stack([text, said_again, other]))
    assert near[0] == pytest.approx(1.0, abs=1e-3)
    assert background.scale.relevance(float(near[1])) > 0.85
    assert near[2] < 0.3


def test_one_relevance_means_the_same_whatever_is_shared() -> None:
    plain, near = Background.of(rows(200, 0.0)), Background.of(rows(200, 2.0))
    assert near.scale.chance == pytest.approx(plain.scale.chance, abs=0.1)
    assert near.axes.shape == (AXES, WIDTH)


def test_a_text_without_a_vector_is_near_to_nothing() -> None:
    background = Background.of(rows(200, 1.0))
    nothing = np.zeros((1, WIDTH), np.float32)
    assert background.cosines(rows(1, 1.0)[0], nothing).tolist() == [0.0]
    assert background.cosines(nothing[0], rows(1, 1.0)).tolist() == [0.0]


# ------------------------------------------------------------------------------------------------
# The best of n numbers, by chance.


def test_it_is_what_the_best_of_so_many_numbers_has_in_the_mean():
    dice = np.random.default_rng(0)
    counts = np.array([2, 3, 10, 50], np.int32)
    means = [dice.normal(size=(4_000, count)).max(axis=1).mean() for count in counts]
    assert expected_maxima(counts) == pytest.approx(means, abs=0.06)


def test_fewer_than_two_have_no_advantage_and_more_have_more():
    maxima = expected_maxima(np.array([1, 0, 2, 1, 4_000, 300], np.int32))
    assert list(maxima[[0, 1, 3]]) == [0, 0, 0]
    assert 0 < maxima[2] < maxima[5] < maxima[4] < 4
    assert expected_maxima(np.empty(0, np.int32)).shape == (0,)
