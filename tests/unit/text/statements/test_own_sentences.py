import pytest

from memtree.text.spans import Span
from memtree.text.statements.own_sentences import MOST, is_torn, own_sentences
from memtree.text.statements.skips import SkipReason


def readable(text, **options):
    return [text[start:end] for start, end in own_sentences(text, **options).readable]


def reasons(text, **options):
    return [skip.reason for skip in own_sentences(text, **options).skipped]


def test_each_sentence_is_readable_or_has_a_reason():
    text = "I live in Graz. My PIN is 1234. In my novel I'm a spy."
    assert readable(text) == ["I live in Graz."]
    assert reasons(text) == [SkipReason.SECRET, SkipReason.FICTION]


def test_in_a_play_nothing_is_readable():
    assert readable("I live in Graz.", in_play=True) == []
    assert reasons("I live in Graz.", in_play=True) == [SkipReason.FICTION]


def test_a_line_keeps_its_sentences_beside_a_long_number():
    text = "I live in Graz. My order 550e8400-e29b-41d4-a716-446655440000 never came."
    assert readable(text)[0] == "I live in Graz."
    assert readable("12.51 33.12 88.23 90.04 12.35 44.16.") == []


def test_what_is_over_the_limit_of_sentences_is_told_as_one():
    text = "I live in Graz. " * (MOST + 9) + "Ok?"
    assert len(readable(text)) == MOST
    assert reasons(text) == [SkipReason.CAP]


@pytest.mark.parametrize(
    ("text", "torn"),
    [
        ("I run |`a b` daily", True),
        ("I run.| `a b` daily", False),
        ("I run|\n`a b`", False),
        ("I run|", False),
        ('I said|".', True),
        ("I run|**", False),
    ],
)
def test_what_was_cut_in_its_middle_is_torn(text, torn):
    end = text.index("|")
    text = text.replace("|", "")
    assert is_torn(text, Span(0, end)) is torn
