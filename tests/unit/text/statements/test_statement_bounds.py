import pytest

from memtree.text.statements import grammar


def test_small_talk_before_a_sentence_is_left():
    text = "ok, by the way my cat is grey"
    assert text[grammar.without_lead(text, 0, len(text)) :] == "my cat is grey"
    assert grammar.without_lead("my cat is grey", 0, 14) == 0


@pytest.mark.parametrize(
    ("lower", "head"),
    [
        ("i'm allergic to nuts, what can i bake?", "i'm allergic to nuts"),
        ("i use vim so please no mouse", "i use vim"),
        ("i have two cats, but i'm not sure about a third", "i have two cats"),
        ("i have two cats", "i have two cats"),
    ],
)
def test_a_statement_ends_before_a_question_or_an_afterthought(lower, head):
    assert next(grammar.heads(lower)) == head


def test_what_is_supposed_is_no_statement():
    for lower in ("я беременна, если полоска видна?", "je suis enceinte, si la barre est pâle ?"):
        assert list(grammar.heads(lower)) == [lower]


def test_any_last_part_of_a_question_may_be_the_question():
    heads = list(grammar.heads("wir wohnen in freiburg, gibt es da etwas?"))
    assert heads == ["wir wohnen in freiburg, gibt es da etwas?", "wir wohnen in freiburg"]


def test_statements_within_a_sentence():
    lower = "make it vegan because my son is vegan"
    assert [lower[at:] for at in grammar.later(lower)] == ["my son is vegan"]
    assert list(grammar.later("tell him that, i'm vegan")) == []


def test_parts_of_a_sentence():
    lower = "i'm mara, i live in ghent and my wife is a cook"
    assert [lower[start:end] for start, end in grammar.spliced(lower)] == [
        "i'm mara",
        "i live in ghent",
        "my wife is a cook",
    ]


def test_what_stands_before_the_subject():
    assert grammar.without_intro("after a long talk we agreed") == "we agreed"
    assert grammar.without_intro("we agreed") == ""
