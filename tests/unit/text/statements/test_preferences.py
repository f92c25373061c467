import pytest

from memtree.text.statements.grammar import is_decision, is_preference


@pytest.mark.parametrize(
    "text", ["i prefer tabs over spaces", "i really hate cilantro", "i'm into bouldering"]
)
def test_preferences(text):
    assert is_preference(text)


@pytest.mark.parametrize(
    "text", ["i like it", "i prefer the second option", "i'd like to know more", "i love how it is"]
)
def test_what_pleases_in_the_last_answer_is_no_preference(text):
    assert not is_preference(text)


def test_decisions():
    assert is_decision("we decided to go with stripe")
    assert not is_decision("i decided to try that")
