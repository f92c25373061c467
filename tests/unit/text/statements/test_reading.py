"""Statements of a message: places, category, days, and what of it is left out."""

from datetime import date

from memtree.text.statements.reading import WISH, read_statements
from memtree.text.statements.skips import SkipReason


def test_each_statement_says_where_it_stands_and_what_kind_it_is() -> None:
    text = "Hello! I'm Mara, I live in Ghent. What can I cook? Ich habe zwei Katzen."
    read = read_statements(text)
    assert [text[each.start : each.end] for each in read.statements] == [
        "I'm Mara", "I live in Ghent.", "Ich habe zwei Katzen.",
    ]  # fmt: skip
    assert [each.english for each in read.statements] == [True, True, False]
    assert {(each.category, each.who) for each in read.statements} == {("fact", "user")}
    assert SkipReason.QUESTION in {skip.reason for skip in read.skipped}


def test_days_have_places_in_the_message() -> None:
    text = "Thanks. My dentist appointment is on March 15, 2026."
    (stated,) = read_statements(text, date(2026, 3, 2)).statements
    assert stated.category == "schedule"
    assert [(text[day.start : day.end], day.day) for day in stated.days] == [
        ("March 15, 2026", date(2026, 3, 15))
    ]


def test_an_attribute_is_read_with_its_value_and_polarity() -> None:
    read = read_statements("I don't live in Graz any more. Ich wohne in Linz.").statements
    assert [(each.what, each.value, each.denied, each.ended) for each in read] == [
        ("home", "Graz", True, True),
        ("home", "Linz", False, False),
    ]


def test_a_standing_rule_is_a_wish() -> None:
    (stated,) = read_statements("Always use British spelling in your answers.").statements
    assert (stated.what, stated.category) == (WISH, "preference")


def test_most_caps_statements_and_tells_the_rest() -> None:
    read = read_statements("I live in Graz. I have two cats. I'm vegan.", most=2)
    assert len(read.statements) == 2
    assert [skip.reason for skip in read.skipped] == [SkipReason.CAP]
