"""Texts are cut between words and clauses, in scripts with and without spaces."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memtree.language.borders import (
    clause_ends,
    clauses,
    ends,
    sentences,
    small_stops,
    split,
    units,
)


def test_spaced_text_is_cut_between_words():
    assert units("we keep  SQLite.") == ["we", "keep", "SQLite."]
    assert ends("we keep") == [2, 7]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("上次投资的目的地是上海", ["投资", "目的地", "上海"]),
        ("我们决定把数据库改为PostgreSQL，因为需要查询", ["数据库", "PostgreSQL", "查询"]),
        ("田中さんはプロジェクトを辞めます", ["田中", "プロジェクト", "辞めます"]),
        ("明日の会議は午後三時に変更になりました", ["会議", "午後三時", "変更"]),
    ],
)
def test_unspaced_text_is_never_cut_inside_a_word(text, words):
    found = units(text)
    assert "".join(found) == text
    for word in words:
        assert any(word in unit for unit in found)


@pytest.mark.slow
@given(st.text(st.characters(categories=("L", "N", "P", "Zs")), max_size=60))
def test_units_are_the_text_without_its_spaces(text):
    assert "".join(units(text)) == "".join(text.split())


def test_clauses_end_at_marks_and_before_words_that_begin_one():
    assert list(clauses("We moved to Rust, but the tests, all 1,200 of them, still fail")) == [
        "We moved to Rust",
        "but the tests",
        "all 1,200 of them",
        "still fail",
    ]
    assert list(clauses("我们改用Rust，因为测试失败。")) == ["我们改用Rust", "因为测试失败"]


PIECES = (
    *", ; ! ? . ... - -> : ' ( 2024 1 a A cat dog, And we so that because IF while Aber".split(),
    " ",
)


@example("A. \x1cb. \x1db. \x1eb. \x1fb")  # white space to patterns, but to those for ASCII
@given(st.lists(st.sampled_from(PIECES), max_size=24).map(" ".join))
def test_ascii_is_cut_as_other_text_is(text):
    """It has a pattern of its own, which is the faster one."""
    assert clause_ends(text) == [end - 1 for end in clause_ends(f"é{text}")]


@pytest.mark.parametrize("text", ["Es bleibt ab dem 3. September zu", "Für uns am 12. Mai zu"])
def test_a_german_ordinal_ends_no_clause(text: str) -> None:
    assert list(clauses(text)) == [text]


def test_nobody_but_somebody_is_one_clause():
    assert list(clauses("Nobody but me knows it")) == ["Nobody but me knows it"]


SENTENCES = [
    ["I live in Graz.", "I like tea!", "Do you?"],
    ["Dr. Ito moved to Kobe.", "I stayed."],
    ["I use e.g. Python 3.11 and vim.", "It is fine."],
    ["It costs 3.5 million, i.e. too much.", "I left."],
    ["See https://example.org/a.b?c=d. for it.", "I read it."],
    ["J. R. Ewing called at 5 p.m. yesterday.", "I was out."],
    ["It was me, not I.", "I know."],
    ["Well... maybe.", "I see…", "Then go."],
    ['He said "no."', "I left."],
    ["Am 3. Mai ziehe ich um.", "Es ist z.B. nah.", "Ich freue mich."],
    ["Vivo en Madrid.", "¿Y tú?", "¡Bien!"],
    ["我住在上海。", "我喜欢茶！", "你呢？"],
    ["I have version 2.", "It works."],
    ["I wrapped this line where it was rather long already,\nbut it goes on.", "Yes."],
]


@pytest.mark.parametrize("parts", SENTENCES, ids=lambda parts: parts[0][:20])
@pytest.mark.parametrize("between", [" ", "\n"])
def test_sentences_end_where_they_end(parts, between):
    text = between.join(parts)
    assert [text[a:b] for a, b in sentences(text)] == parts


def test_a_line_is_a_statement_of_its_own():
    text = "Name is Bob\nI live in Graz\nand like tea"
    found = [text[a:b] for a, b in sentences(text)]
    assert found == ["Name is Bob", "I live in Graz", "and like tea"]


def test_only_the_span_is_read():
    text = "I was. I am. I will be."
    assert [text[a:b] for a, b in sentences(text, 7, 12)] == ["I am."]


def test_marks_of_emphasis_and_foreign_full_stops_end_a_sentence():
    text = "**Use tabs.** Always. هل هذا جيد؟ نعم. यह ठीक है। हाँ"
    assert split(text) == ["**Use tabs.**", "Always.", "هل هذا جيد؟", "نعم.", "यह ठीक है।", "हाँ"]


def test_who_types_small_ends_sentences_too():
    text = "we moved to leeds. any tips, e.g. for kids"
    parts = [text[start:end] for start, end in small_stops(text, 0, len(text))]
    assert parts == ["we moved to leeds.", "any tips, e.g. for kids"]
