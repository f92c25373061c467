"""Whose words a transcript holds."""

from __future__ import annotations

import numpy as np
import pytest

from memtree.ranking.speakers import TURNS, Speakers
from memtree.text import terms


def speakers(*texts):
    made = Speakers()
    made.extend(texts)
    return made


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
        steps.extend([text])
    question = "What does Boris like?"
    assert len(steps) == len(TALK)
    assert named(steps, question) == named(speakers(*TALK), question)


def test_a_name_beside_the_text_speaks_like_one_in_it():
    made = Speakers()
    names = ["Ada", "", "Boris"] * TURNS
    made.extend(["line", "Ada: line", "line"] * TURNS, names)
    (ada,) = named(made, "What does Ada like?")
    says = made.says(ada, np.arange(len(names), dtype=np.int32))
    assert list(np.flatnonzero(says)) == [at for at in range(len(names)) if at % 3 < 2]
    assert [made.begins_with_name(at) for at in range(3)] == [False, True, False]
