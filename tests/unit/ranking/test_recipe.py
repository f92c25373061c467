"""The whole recipe of ranking and its smaller parts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.history.message import Message
from memtree.ranking import vectors
from memtree.ranking.corpus import MOST as SKETCHES_MOST
from memtree.ranking.corpus import NOTHING, TURNS, Corpus, SketchIndex, Speakers, sketches
from memtree.ranking.ranked_history import heard, nameless, ranking
from memtree.ranking.relevance_scale import RelevanceScale
from memtree.ranking.segments import LEAST, MOST, MOST_SEGMENTS, segments
from memtree.text import terms
from memtree.text.speakers import spoken_by
from tests.made.trees import places
from tests.properties.strategies import batch, history_of, leaves_of, prose

# ------------------------------------------------------------------------------------------------
# The whole recipe on small histories: words, meaning, neighbours, speakers.


def told(*turns):
    """A history of (role, content), and the corpus of its final leaves."""
    history = history_of([Message.of({"role": role, "content": text}) for role, text in turns])
    grown = batch(history)
    leaves = leaves_of(grown.frontier, {node.id: node for node in grown.nodes})
    return history, heard(history, Corpus(3).extended(leaves, places(leaves)))


def best(history, corpus, query, vector=None):
    """The message with the best passage."""
    return int(
        corpus.message[np.argmax(ranking(corpus, query, () if vector is None else [vector]).fused)]
    )


FILLER = [(("user", "assistant")[n % 2], prose(n, 40)) for n in range(60)]


def test_words_rank_where_there_is_no_vector():
    history, corpus = told(*FILLER[:20], ("user", "The launch code is marigold."), *FILLER)
    assert best(history, corpus, "Which launch code was it?") == 20
    assert ranking(corpus, "launch", ()).cosine is None
    assert ranking(corpus, "launch", [np.ones(3, np.float32)]).cosine is None


def test_meaning_ranks_and_is_shown_as_it_is():
    _, corpus = told(*FILLER)
    wanted = len(corpus) // 2
    for index, leaf in enumerate(corpus.leaves):
        rows = np.tile(np.array([[0, 0, 1]], np.float32), (len(leaf.passages), 1))
        rows[np.flatnonzero(corpus.leaf == index) == wanted] = (1, 0, 0)
        corpus = corpus.with_vectors({leaf.id: vectors.pack(rows, [1] * len(rows))})
    made = ranking(corpus, "zzzz", [np.array([1, 0, 0], np.float32)])
    assert made.cosine is not None
    assert made.cosine.argmax() == made.fused.argmax() == wanted
    assert made.cosine[wanted] > 0.999  # of the question, not of what it was moved to
    assert np.delete(made.cosine, wanted).max() < 0.01


def test_each_meaning_of_a_query_finds_its_passage():
    """Their mean would be as near to passages between them."""
    _, corpus = told(*FILLER)
    first, second = len(corpus) // 4, len(corpus) // 2
    for index, leaf in enumerate(corpus.leaves):
        rows = np.tile(np.array([[0, 0, 1]], np.float32), (len(leaf.passages), 1))
        of_leaf = np.flatnonzero(corpus.leaf == index)
        rows[of_leaf == first] = (1, 0, 0)
        rows[of_leaf == second] = (0, 1, 0)
        corpus = corpus.with_vectors({leaf.id: vectors.pack(rows, [1] * len(rows))})
    meanings = [np.array(row, np.float32) for row in ((1, 0, 0), (0, 1, 0))]
    alone = [ranking(corpus, "harbour", [each]) for each in meanings]
    made = ranking(corpus, "harbour", meanings)
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
        corpus = corpus.with_vectors({leaf.id: packed})
    query = np.array([1, 0, 0], np.float32)
    made = ranking(corpus, "zzzz", [query])
    assert corpus.message[made.cosine.argmax()] == long
    assert best(history, corpus, "zzzz", query) == short


def test_a_long_answer_that_is_nearest_of_all_does_not_fall_behind_many_that_are_not():
    """The level that its segments reach by chance would put it behind all the short messages."""
    remarks = [("user", prose(n + 80, 20)) for n in range(30)]
    _, corpus = told(*FILLER, ("assistant", prose(7, 2_000)), *FILLER, *remarks)
    long, first = len(FILLER), 2 * len(FILLER) + 1
    dice = np.random.default_rng(3)
    for index, leaf in enumerate(corpus.leaves):
        messages = corpus.message[corpus.leaf == index]
        cosines = dice.uniform(-0.3, 0.3, 4 * len(messages))
        cosines[np.repeat(messages >= first, 4)] = 0.45
        cosines[np.flatnonzero(np.repeat(messages == long, 4))[:1]] = 0.6
        rows = np.stack([cosines, np.sqrt(1 - cosines**2), 0 * cosines], axis=1)
        packed = vectors.pack(rows.astype(np.float32), [4] * len(messages))
        corpus = corpus.with_vectors({leaf.id: packed})
    made = ranking(corpus, "zzzz", [np.array([1, 0, 0], np.float32)])
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
    _, corpus = told(*turns)
    assert ranking(corpus, "Ada?", ()).lexical.any()


def test_no_passages():
    assert ranking(Corpus(3), "Hello", [np.ones(3, np.float32)]).fused.shape == (0,)


def test_a_query_loses_the_names_of_speakers_and_no_other():
    talk = [("user", f"Ada: {prose(n, 20)}") for n in range(30)]
    talk += [("assistant", f"Bob Dole: {prose(n, 20)}") for n in range(30)]
    _, corpus = told(*talk)
    assert nameless(corpus, "What's Ada's plan for Paris?") == "What's  plan for Paris?"
    assert nameless(corpus, "Where did Bob meet Eve?") == "Where did  meet Eve?"
    assert nameless(corpus, "Where is Paris?") == "Where is Paris?"
    _, corpus = told(*FILLER)
    assert nameless(corpus, "Where is Ada?") == "Where is Ada?"


# ------------------------------------------------------------------------------------------------
# The scale that makes cosines of different embedders mean the same.


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


# ------------------------------------------------------------------------------------------------
# Check what of a passage gets a vector of its own.


PARAGRAPHS = [
    "The build fails because the linker cannot find the math library on this machine.",
    "My sister keeps bees behind the old station.",
    "So I would pin the version and run the whole pipeline once more before the release.",
]


def test_a_paragraph_is_a_segment():
    found = segments("\n\n".join(PARAGRAPHS))
    assert [segment.strip() for segment in found] == PARAGRAPHS


def test_a_long_paragraph_is_cut_between_sentences_and_lines():
    prose = " ".join(PARAGRAPHS * 3)
    assert len(segments(prose)) > 2
    assert all(segment.strip()[-1] == "." for segment in segments(prose))
    code = "\n".join(f"    value_{n} = compute(argument_{n})" for n in range(30))
    assert all(segment.endswith(")\n") for segment in segments(code)[:-1])
    assert all(len(segment) <= MOST for segment in [*segments(prose), *segments(code)])


def test_scripts_without_spaces_are_cut_at_their_own_sentences():
    found = segments("我的姐姐在旧车站后面养蜜蜂，每年夏天都会送给我们几罐蜂蜜。" * 6)
    assert len(found) == 3
    assert all(segment.endswith("。") for segment in found)


def test_a_few_words_stay_with_their_neighbour():
    assert segments("Yes.\n\nNo.\n\nMaybe.") == ["Yes.\n\nNo.\n\nMaybe."]
    assert segments(f"{PARAGRAPHS[0]}\n\nThanks!") == [f"{PARAGRAPHS[0]}\n\nThanks!"]


def test_nothing_is_one_segment():
    assert segments("") == [""]
    assert segments(" \n\n \n") == [" \n\n \n"]


def test_their_number_fits_a_byte():
    assert len(segments("\n\n".join(PARAGRAPHS * 200))) == MOST_SEGMENTS


@given(st.text(st.sampled_from("ab. \n。é!"), max_size=900))
def test_joined_they_are_the_text(text):
    found = segments(text)
    assert "".join(found) == text
    assert len(found) == 1 or all(
        len(segment.strip().encode()) >= LEAST * 0.8 for segment in found[:-1]
    )


# ------------------------------------------------------------------------------------------------
# Sketches find passages that share nearly all their terms, and few others.


def made(*leaves):
    return sketches([terms.pack(map(terms.terms, leaf)) for leaf in leaves])


def alike(columns, rows, covered=None):
    """Found through an index of the first passages, the others looked through."""
    index = SketchIndex(columns[:, : columns.shape[1] if covered is None else covered])
    return {row: found for row in rows if (found := index.alike(columns, row))}


def test_what_came_after_the_index_was_made_is_found_too():
    texts = [prose(n, 60) for n in range(20)]
    columns = made(texts, [f"{text} another" for text in texts])
    assert alike(columns, range(40)) == alike(columns, range(40), covered=25)
    assert alike(columns, range(40)) == alike(columns, range(40), covered=0)


def test_equal_passages_have_equal_sketches_wherever_they_stand():
    columns = made([prose(1, 40), prose(2, 40)], [prose(2, 40)])
    assert (columns[:, 1] == columns[:, 2]).all()
    assert (columns[:, 0] != columns[:, 1]).any()


def test_a_changed_word_leaves_passages_alike():
    texts = [prose(n, 60) for n in range(40)]
    changed = [f"{text} another{n}" for n, text in enumerate(texts)]
    columns = made(texts, changed)
    found = alike(columns, range(40))
    assert sum(40 + n in found[n] for n in range(40)) >= 38
    assert all(n in found[n] for n in range(40))


def test_other_passages_are_rarely_alike():
    words = ["".join(chr(97 + (n >> 3 * k) % 8) for k in range(5)) for n in range(8_000)]
    columns = made([" ".join(words[at : at + 40]) for at in range(0, 8_000, 40)])
    found = alike(columns, range(200))
    assert sum(len(rows) - 1 for rows in found.values()) <= 4


def test_a_passage_without_terms_is_like_none():
    columns = made(["the of and", prose(1, 9), ""])
    assert columns[0, 0] == columns[0, 2] == NOTHING
    assert alike(columns, [0, 1, 2]) == {1: [1]}


def test_of_very_many_equal_passages_the_last_are_named():
    columns = np.repeat(made([prose(1, 9)]), 500, axis=1)
    found = alike(columns, [0, 3])
    assert found[3] == [3, *range(500 - SKETCHES_MOST, 500)]


def test_nothing_gives_nothing():
    assert made().shape == (4, 0)
    assert alike(made(), []) == {}


# ------------------------------------------------------------------------------------------------
# Whose words a transcript holds.


def speakers(*texts):
    return Speakers().extended(map(spoken_by, texts))


def named(made, question):
    return list(made.named(terms.terms(question)))


TALK = [f"{name}: line {n}" for n in range(TURNS) for name in ("Ada", "Boris Karl", "小明")]


@pytest.mark.parametrize(
    ("question", "messages"),
    [
        ("Where did ADA's sister live?", [0, 3, 6, 9, 12]),
        ("What does Boris like?", [1, 4, 7, 10, 13]),
        ("小明住在哪里", [2, 5, 8, 11, 14]),
    ],
)
def test_a_question_that_names_a_speaker_finds_what_that_one_says(question, messages):
    made = speakers(*TALK)
    (one,) = named(made, question)
    everything = np.arange(len(TALK) + 3, dtype=np.int32)
    assert list(np.flatnonzero(made.says(one, everything))) == messages


def test_the_terms_of_a_name_come_with_it():
    found = speakers(*TALK).named(terms.terms("What does Boris like?"))
    assert list(found.values()) == [frozenset(terms.terms("boris karl"))]


def test_nobody_or_several():
    made = speakers(*TALK)
    assert named(made, "What is the weather like?") == []
    assert len(named(made, "Who did Ada and Boris meet?")) == 2


def test_a_tag_that_few_messages_have_is_no_speaker():
    assert named(speakers(*TALK[:6]), "What did Ada say?") == []
    rest = [f"Some other message {n}" for n in range(3 * len(TALK))]
    assert named(speakers(*TALK, *rest), "What did Ada say?") == []


def test_nothing_read():
    assert named(Speakers(), "What did Ada say?") == []
    assert not Speakers().says(1, np.arange(3, dtype=np.int32)).any()
    assert Speakers().says(1, np.empty(0, np.int32)).shape == (0,)


def test_read_in_steps_or_at_once():
    steps = Speakers()
    for text in TALK:
        steps = steps.extended([spoken_by(text)])
    question = "What does Boris like?"
    assert len(steps) == len(TALK)
    assert named(steps, question) == named(speakers(*TALK), question)


def test_a_name_beside_the_text_speaks_like_one_in_it():
    names = ["Ada", "", "Boris"] * TURNS
    made = Speakers().extended(map(spoken_by, ["line", "Ada: line", "line"] * TURNS, names))
    (ada,) = named(made, "What does Ada like?")
    says = made.says(ada, np.arange(len(names), dtype=np.int32))
    assert list(np.flatnonzero(says)) == [at for at in range(len(names)) if at % 3 < 2]
    assert [made.begins_with_name(at) for at in range(3)] == [False, True, False]
