import pytest

from memtree.text.statements.grammar import (
    is_event,
    is_goal,
    kept_in_mind,
)


@pytest.mark.parametrize(
    "text", ["i'm training for a marathon", "my goal is to speak welsh by may"]
)
def test_goals(text):
    assert is_goal(text)


@pytest.mark.parametrize("text", ["i want to fix that", "i'm going to push it"])
def test_steps_are_no_goals(text):
    assert not is_goal(text)


def test_what_is_to_be_kept_in_mind():
    text = "please remember that the wifi is in the hall"
    assert text[kept_in_mind(text) :] == "the wifi is in the hall"
    assert kept_in_mind("remember to call me") == 0
    assert kept_in_mind("the wifi is in the hall") == 0


@pytest.mark.parametrize(
    "text", ["i finished school in june", "we went to rome last summer", "i'm good at chess"]
)
def test_what_happened_beyond_this_day(text):
    assert is_event(text)


@pytest.mark.parametrize(
    "text", ["i went to the store yesterday", "we went to rome", "i saw the page last week"]
)
def test_steps_of_a_day(text):
    assert not is_event(text)
