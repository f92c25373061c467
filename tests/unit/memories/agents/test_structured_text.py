"""The text of structured memories: words out of names of fields, all values, always the same."""

from __future__ import annotations

import pytest

from memtree.memories.agents.structured_memory import leaf_text, structured_text, words_of


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("favoriteColor", "favorite color"),
        ("favorite_color", "favorite color"),
        ("UserProfile", "user profile"),
        ("HTTPServerURL", "http server url"),
        ("due-date", "due date"),
        ("größteÄnderung", "größte änderung"),
        ("address.city", "address city"),
        ("line2", "line2"),
        ("名前", "名前"),
        ("___", ""),
    ],
)
def test_names_of_fields_become_words(name, words):
    assert words_of(name) == words


def test_nested_values_and_lists_are_told_behind_the_names_they_stand_in():
    data = {
        "homeAddress": {"city": "Oslo", "zip": 150},
        "tags": ["a", "b c", 3, True, None],
        "orders": [{"itemName": "Lamp"}, {"itemName": "Desk", "paid": False}],
        "grid": [[1, 2], [3]],
    }
    assert structured_text("Customer", data).split("\n") == [
        "customer",
        "grid: 1, 2",
        "grid: 3",
        "home address city: Oslo",
        "home address zip: 150",
        "orders item name: Lamp",
        "orders item name: Desk",
        "orders paid: no",
        "tags: a, b c, 3, yes",
    ]


def test_equal_data_has_equal_text_in_whatever_order_it_came():
    one = {"b": {"y": 1, "x": [2]}, "a": "c"}
    other = {"a": "c", "b": {"x": [2], "y": 1}}
    assert structured_text("K", one) == structured_text("K", other)


def test_a_sentence_without_a_schema_is_its_own_text():
    assert structured_text("fact", {"text": " The port is 8090 "}) == "The port is 8090"
    assert structured_text("Reminder", {"text": "Call"}) == "reminder\ntext: Call"
    assert structured_text("fact", {"text": "a", "b": 1}) == "fact\nb: 1\ntext: a"


@pytest.mark.parametrize("data", [{}, {"a": None}, {"a": {}}, {"a": []}, {"a": "  "}])
def test_data_that_says_nothing_leaves_the_kind(data):
    assert structured_text("UserProfile", data) == "user profile"
    assert structured_text("___", data) == "___"
    assert structured_text("fact", {"text": "  "}) == "fact"


def test_no_text_is_longer_than_asked_for():
    data = {f"f{at:04}": "word " * 20 for at in range(500)}
    text = structured_text("K", data, 1_000)
    assert len(text) <= 1_000
    assert text.startswith("k\nf0000: word")
    assert len(structured_text("K" * 5_000, {}, 300)) <= 300
    assert structured_text("fact", {"text": "a" * 500}, 100) == "a" * 100


@pytest.mark.slow
def test_a_deep_value_does_not_end_the_stack():
    data = {"a": None}
    for _ in range(50_000):
        data = {"a": data}
    assert structured_text("K", data) == "k"


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, ""), (True, "yes"), (0, "0"), (-1.5, "-1.5"), (1e300, "1e+300"), ("a\n b", "a b")],
)
def test_values_as_words(value, text):
    assert leaf_text(value) == text
