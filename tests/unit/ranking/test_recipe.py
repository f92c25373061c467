"""The whole recipe on small histories: words, meaning, neighbours, speakers."""

from __future__ import annotations

import numpy as np

from memtree.conversation.message import Message
from memtree.ranking import vectors
from memtree.ranking.corpus import Corpus
from memtree.ranking.recipe import nameless, ranking
from tests.made.trees import places
from tests.properties.strategies import batch, history_of, leaves_of, prose


def told(*turns):
    """A history of (role, content), and the corpus of its final leaves."""
    history = history_of([Message.of({"role": role, "content": text}) for role, text in turns])
    grown = batch(history)
    leaves = leaves_of(grown.frontier, {node.id: node for node in grown.nodes})
    corpus = Corpus(3)
    corpus.extend(leaves, places(leaves))
    return history, corpus


def best(history, corpus, query, vector=None):
    """The message with the best passage."""
    return int(
        corpus.message[
            np.argmax(ranking(history, corpus, query, () if vector is None else [vector]).fused)
        ]
    )


FILLER = [(("user", "assistant")[n % 2], prose(n, 40)) for n in range(60)]


def test_words_rank_where_there_is_no_vector():
    history, corpus = told(*FILLER[:20], ("user", "The launch code is marigold."), *FILLER)
    assert best(history, corpus, "Which launch code was it?") == 20
    assert ranking(history, corpus, "launch", ()).cosine is None
    assert ranking(history, corpus, "launch", [np.ones(3, np.float32)]).cosine is None


def test_meaning_ranks_and_is_shown_as_it_is():
    history, corpus = told(*FILLER)
    wanted = len(corpus) // 2
    for index, leaf in enumerate(corpus.leaves):
        rows = np.tile(np.array([[0, 0, 1]], np.float32), (len(leaf.passages), 1))
        rows[np.flatnonzero(corpus.leaf == index) == wanted] = (1, 0, 0)
        corpus.add_vectors({leaf.id: vectors.pack(rows, [1] * len(rows))})
    made = ranking(history, corpus, "zzzz", [np.array([1, 0, 0], np.float32)])
    assert made.cosine is not None
    assert made.cosine.argmax() == made.fused.argmax() == wanted
    assert made.cosine[wanted] > 0.999  # of the question, not of what it was moved to
    assert np.delete(made.cosine, wanted).max() < 0.01


def test_each_meaning_of_a_query_finds_its_passage():
    """Their mean would be as near to passages between them."""
    history, corpus = told(*FILLER)
    first, second = len(corpus) // 4, len(corpus) // 2
    for index, leaf in enumerate(corpus.leaves):
        rows = np.tile(np.array([[0, 0, 1]], np.float32), (len(leaf.passages), 1))
        of_leaf = np.flatnonzero(corpus.leaf == index)
        rows[of_leaf == first] = (1, 0, 0)
        rows[of_leaf == second] = (0, 1, 0)
        corpus.add_vectors({leaf.id: vectors.pack(rows, [1] * len(rows))})
    meanings = [np.array(row, np.float32) for row in ((1, 0, 0), (0, 1, 0))]
    alone = [ranking(history, corpus, "harbour", [each]) for each in meanings]
    made = ranking(history, corpus, "harbour", meanings)
    assert made.cosine is not None
    assert set(np.argsort(made.cosine)[-2:]) == {first, second}
    assert made.cosine[[first, second]].min() > 0.999
    np.testing.assert_allclose(made.fused, (alone[0].fused + alone[1].fused) / 2, rtol=1e-6)
    np.testing.assert_array_equal(made.lexical, alone[0].lexical)
    assert made.segments(first) == alone[0].segments(first) > alone[1].segments(first)
    assert made.segments(second) == alone[1].segments(second)


def test_a_long_answer_does_not_pass_a_short_message_by_its_many_segments():
    """The answer's nearest segment is nearer, but the best of sixty would be by chance."""
    history, corpus = told(*FILLER, ("assistant", prose(7, 2_000)), ("user", prose(8, 20)), *FILLER)
    long, short = len(FILLER), len(FILLER) + 1
    assert len(corpus.message[corpus.message == long]) > 10
    dice = np.random.default_rng(3)
    for index, leaf in enumerate(corpus.leaves):
        messages = corpus.message[corpus.leaf == index]
        cosines = dice.uniform(-0.3, 0.3, 4 * len(messages))
        cosines[np.repeat(messages == short, 4)] = 0.55
        cosines[np.flatnonzero(np.repeat(messages == long, 4))[:1]] = 0.6
        rows = np.stack([cosines, np.sqrt(1 - cosines**2), 0 * cosines], axis=1)
        packed = vectors.pack(rows.astype(np.float32), [4] * len(messages))
        corpus.add_vectors({leaf.id: packed})
    query = np.array([1, 0, 0], np.float32)
    made = ranking(history, corpus, "zzzz", [query])
    assert corpus.message[made.cosine.argmax()] == long
    assert best(history, corpus, "zzzz", query) == short


def test_a_long_answer_that_is_nearest_of_all_does_not_fall_behind_many_that_are_not():
    """The level that its segments reach by chance would put it behind all the short messages."""
    remarks = [("user", prose(n + 80, 20)) for n in range(30)]
    history, corpus = told(*FILLER, ("assistant", prose(7, 2_000)), *FILLER, *remarks)
    long, first = len(FILLER), 2 * len(FILLER) + 1
    dice = np.random.default_rng(3)
    for index, leaf in enumerate(corpus.leaves):
        messages = corpus.message[corpus.leaf == index]
        cosines = dice.uniform(-0.3, 0.3, 4 * len(messages))
        cosines[np.repeat(messages >= first, 4)] = 0.45
        cosines[np.flatnonzero(np.repeat(messages == long, 4))[:1]] = 0.6
        rows = np.stack([cosines, np.sqrt(1 - cosines**2), 0 * cosines], axis=1)
        packed = vectors.pack(rows.astype(np.float32), [4] * len(messages))
        corpus.add_vectors({leaf.id: packed})
    made = ranking(history, corpus, "zzzz", [np.array([1, 0, 0], np.float32)])
    assert long in corpus.message[np.argsort(-made.fused, kind="stable")[:3]]
    row = int(made.cosine.argmax())
    assert made.segments(row).argmax() == 0
    assert len(made.segments(row)) == 4


def test_of_a_named_speaker_ones_own_words_come_first():
    """Both say as much of gardens, and each names the other."""
    turns = []
    for n in range(40):
        turns += [
            ("user", f"Ada: Boris, {prose(n, 20)}"),
            ("assistant", f"Boris: Ada, {prose(n + 50, 20)}"),
        ]
    turns[20:20] = [("user", "Ada: The garden needs water."), *FILLER[:3]]
    turns[60:60] = [("assistant", "Boris: The garden needs water."), *FILLER[:3]]
    history, corpus = told(*turns)
    assert best(history, corpus, "Which garden does Ada have?") == 20
    assert best(history, corpus, "Which garden does Boris have?") == 60
    assert len(corpus.speakers) == corpus.messages


def test_a_query_of_a_name_alone_finds_the_name():
    turns = [(("user", "assistant")[n % 2], f"Ada: {prose(n, 20)}") for n in range(40)]
    history, corpus = told(*turns)
    assert ranking(history, corpus, "Ada?", ()).lexical.any()


def test_no_passages():
    history = history_of([Message.of({"role": "user", "content": "Hello"})])
    assert ranking(history, Corpus(3), "Hello", [np.ones(3, np.float32)]).fused.shape == (0,)


def test_a_query_loses_the_names_of_speakers_and_no_other():
    talk = [("user", f"Ada: {prose(n, 20)}") for n in range(30)]
    talk += [("assistant", f"Bob Dole: {prose(n, 20)}") for n in range(30)]
    history, corpus = told(*talk)
    assert nameless(history, corpus, "What's Ada's plan for Paris?") == "What's  plan for Paris?"
    assert nameless(history, corpus, "Where did Bob meet Eve?") == "Where did  meet Eve?"
    assert nameless(history, corpus, "Where is Paris?") == "Where is Paris?"
    history, corpus = told(*FILLER)
    assert nameless(history, corpus, "Where is Ada?") == "Where is Ada?"
