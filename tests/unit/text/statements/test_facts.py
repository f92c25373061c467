import pytest

from memtree.text.statements.grammar import is_fact


@pytest.mark.parametrize(
    "text",
    [
        "i'm a nurse at a hospital in lyon", "my name is jonas", "i was born in 1990",
        "my wife is vegan", "i have two cats", "my laptop is a thinkpad x1", "i drive a diesel van",
        "our office is in leeds", "the backend is written in elixir", "we have about 40 engineers",
        "i've been teaching maths for 12 years",
    ],
)  # fmt: skip
def test_lasting_facts(text):
    assert is_fact(text)


@pytest.mark.parametrize(
    "text",
    [
        "i'm a bit tired", "my wife is calling", "my dog is sick", "i have a question",
        "my code is slow", "i use this to sort the list", "we need to talk", "i'm a fan of you",
    ],
)  # fmt: skip
def test_what_passes_is_no_fact(text):
    assert not is_fact(text)
