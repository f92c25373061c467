"""Check what is denied and who said what: clauses of a summary against those of its text."""

from __future__ import annotations

import pytest

from memtree.summaries.faithfulness import loops, negations, speakers, statements

TEXT = [
    (
        "user",
        "Do not use Redux in this project, I find it heavy. Does the cache survive a restart?",
    ),
    ("assistant", "The cache survives no restart. Zustand replaced the Redux slice of the cart."),
    ("tool", "all tests passed without warnings"),
]


def lost_or_new(draft, text=TEXT):
    return [found.split(":")[0] for found in negations(statements([("", draft)]), statements(text))]


@pytest.mark.parametrize(
    ("draft", "found"),
    [
        ("The user said not to use Redux in this project.", []),
        ("The user said to use Redux in this project.", ["a denial is lost"]),
        ("The user wants to avoid Redux in this project.", []),
        ("Zustand replaced the Redux slice of the cart.", []),
        ("Something else was told in quite other words.", []),
        ("The cache survives a restart.", ["a denial is lost"]),
    ],
)
def test_denials(draft, found):
    assert lost_or_new(draft) == found


@pytest.mark.parametrize(
    ("draft", "text", "found"),
    [
        ("用户要订早上的航班", "不要订早上的航班。", ["a denial is lost"]),
        ("用户不要订早上的航班", "不要订早上的航班。", []),
        ("Zustand has not replaced the slice.", "Zustand replaced the slice.", ["a denial is new"]),
        ("сервер будем переносить в облако", "сервер не будем переносить в облако.",
         ["a denial is lost"]),
    ],
)  # fmt: skip
def test_denials_of_one_clause(draft, text, found):
    assert lost_or_new(draft, [("user", text)]) == found


@pytest.mark.parametrize(
    ("draft", "swapped"),
    [
        ("The user finds Redux heavy.", False),
        ("The user replaced the Redux slice of the cart by Zustand.", True),
        ("The assistant replaced the Redux slice of the cart by Zustand.", False),
        ("The assistant's project: do not use Redux, find it heavy.", True),
        ("The assistant said that all tests passed without warnings.", False),
        ("The assistant replaced Redux, which the user finds heavy in this project.", False),
    ],
)
def test_speakers(draft, swapped):
    assert bool(list(speakers(statements([("", draft)]), statements(TEXT)))) is swapped


def test_labels_and_subjects_say_who_speaks():
    found = statements(
        [("", "assistant: It works. It is fast; user: Thanks. The assistant smiled.")]
    )
    assert [one.speaker for one in found] == ["assistant", "assistant", "user", "assistant"]
    assert statements([("user", "  ")]) == []


@pytest.mark.parametrize(
    "text", ["ha" * 3 + "a" * 12, "one two three " * 7, "no no no no no no no no no no no no no no"]
)
def test_loops(text):
    assert loops(text)


@pytest.mark.parametrize("text", ["", "=" * 40, "one two three four " * 3, "-----------------"])
def test_no_loops(text):
    assert loops(text) == ""
