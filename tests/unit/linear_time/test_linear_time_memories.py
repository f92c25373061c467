"""Reading what users say of themselves takes time linear in what they say."""

from __future__ import annotations

import pytest

from memtree.memories.extraction import third_person
from memtree.text.pasted import lines, own_words
from memtree.text.statements import fiction, gate, grammar, own_sentences
from tests.hostile_texts import hostile
from tests.hostile_texts.linear_time import CERTAIN, Subject, seconds, slow

SUBJECTS = {
    "own sentences": Subject(own_sentences.own_sentences, hostile.as_it_is),
    "frames of fiction": Subject(
        lambda text: fiction.framed([(0, line) for line in text.split("\n")]), hostile.as_it_is
    ),
    "what is fictional": Subject(fiction.is_fictional, hostile.as_it_is),
    "what is refused": Subject(gate.refused, hostile.as_it_is),
    "another reason": Subject(gate.other_reason, hostile.as_it_is),
    "parts of a sentence": Subject(
        lambda text: (list(grammar.heads(text)), grammar.spliced(text)),
        hostile.as_it_is,
    ),
    "reasons in other languages": Subject(grammar.refused, hostile.as_it_is),
    "statements in other languages": Subject(grammar.category_of, hostile.as_it_is),
    "the plain form": Subject(grammar.plain, hostile.as_it_is),
    "told of the user": Subject(third_person.told_of_user, hostile.as_it_is),
    "told of the user abroad": Subject(third_person.told_abroad, hostile.as_it_is),
    "clauses of a memory": Subject(
        lambda text: third_person.predicates(f"User {text}"), hostile.as_it_is
    ),
    "a line of signs": Subject(lines.kind, hostile.as_it_is),
}
UNITS = (
    "my wife ", "my a a ", "both my ", "and i ", "i don't really ", "my character ", "in my ",
    "from the a a novel ", ", is ", ", can ", "and we ", "me and my ", "1a-", "A1b2c3d4 ", "我",
    "lives in and works as ", "always ",
    "私の", "haha ", "that was a line of ", "nobody in my ", "my son tim and my ", ", it? ",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("name", SUBJECTS)
def test_no_shape_of_a_text_takes_more_than_its_share_of_time(name):
    assert list(slow(SUBJECTS[name], hostile.shapes(*UNITS), 1 << 15)) == []


def test_a_line_is_read_at_little_cost_however_it_looks():
    """Lines are read as far as some hundred characters. A pattern that takes the cube of that time
    is not slower on a longer text, and makes every short message dear."""
    subject = Subject(own_words.own_words, hostile.as_it_is)
    for name, unit in hostile.shapes(*UNITS, "a", "ab1_").items():
        assert min(seconds(subject, unit, 400) for _ in range(3)) < CERTAIN, name


def test_reported_words_take_time_in_proportion_to_their_length():
    """Behind a question all is its author's, until something shows that others said it."""
    units = ("b: ", "he said ", "this text ", "translate ", "说：这句话", "-" * 90 + "x\n")
    shapes = {unit.strip(): unit for unit in units}
    subject = Subject(own_words.others_words, lambda text: f"Can you read {'it ' * 40}{text}")
    assert list(slow(subject, shapes, 1 << 14)) == []
