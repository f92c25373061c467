"""A phrase of a sentence is whole, or there is none."""

from __future__ import annotations

import pytest

from memtree.digests.clauses.phrases import is_hollow, leans, listed, readable, whole
from memtree.digests.topics import HEADLINE
from memtree.text import tokens


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("Could you please rename the importer?", "rename the importer?"),
        (
            "We keep SQLite for the installers of the desktop edition, because they must work "
            "offline even where no administrator has ever opened a port for them.",
            "We keep SQLite for the installers of the desktop edition",
        ),
        (
            "If the cache is cold and nobody has asked for the page before in this session, "
            "we read the file again.",
            "we read the file again",
        ),
        (
            "我们决定把数据库从MySQL改为PostgreSQL，因为新的报表需要支持JSON查询，而且旧版本的许可证明年到期。",
            "我们决定把数据库从MySQL改为PostgreSQL",
        ),
    ],
)
def test_a_phrase_ends_where_a_clause_ends(text, phrase):
    assert whole(text, HEADLINE)[0] == phrase


def test_a_text_without_any_border_gives_no_phrase():
    assert whole("a_b" * 200, HEADLINE) == ("", 0.0)


@pytest.mark.parametrize(
    "text",
    [
        "The plan for the harbour (which nobody had seen before the vote, of course) was dropped "
        "and the money went to the school instead of the pier",
        "I keep the spare key of the boathouse in the blue teapot on the shelf above the stove",
        "明日の会議は午後三時に変更になりましたので、資料は前日の正午までに全員へ送っておいてください。",
    ],
)
@pytest.mark.parametrize("cap", [6, 11, 18])
def test_a_phrase_fits_and_has_no_open_bracket(text, cap):
    phrase, _ = whole(text, cap)
    assert tokens.count(phrase) <= cap
    assert phrase.count("(") == phrase.count(")")


def test_words_are_told_from_code_and_data():
    assert readable("the importer skips rows without a price")
    assert readable("数据库改为PostgreSQL")
    for text in ("return jsonify({'a': 1}), 409", "x_1, y_2, z_3", ")), Row(a=b", "aider/io.py"):
        assert not readable(text)


def test_what_says_nothing_or_leans_on_another_phrase_is_told():
    assert is_hollow("implement these changes")
    assert is_hollow("fix the error")
    assert not is_hollow("fix the importer")
    assert leans("because it saved time")
    assert leans("such as Mondays")
    assert not leans("we met on Monday")


def test_names_are_listed_as_far_as_they_fit():
    assert listed(["parser.py", "parser.py", "cache.py"], 9) == "parser.py, cache.py"
    assert tokens.count(listed([f"module_{n}.py" for n in range(40)], 18)) <= 18


def test_a_phrase_is_not_cut_before_the_verb_of_its_last_clause():
    text = "understand how my belief in free will, which I had since April, shapes what I decide"
    assert "how my belief" not in whole(text, 8)[0]
    assert whole("I'm torn between saving money and having a collectible edition of it", 7)[0] != (
        "I'm torn between saving money"
    )


@pytest.mark.parametrize(
    "phrase",
    ["My mentor, Wendy", "I've got a close friend", "I'm kinda worried", "excited that Jo"],
)
def test_a_phrase_that_ends_before_what_it_says_is_hollow(phrase: str) -> None:
    assert is_hollow(phrase)


def test_how_somebody_feels_about_a_thing_is_left_out():
    assert whole("I'm kinda worried about the April deadline", 18)[0] == "the April deadline"
