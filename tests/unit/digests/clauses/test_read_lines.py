"""Check what was found in a line is found again without reading it, and takes bounded memory."""

from __future__ import annotations

import pytest

from memtree.digests.clauses import clauses
from memtree.digests.clauses.clause import SourcePassage
from memtree.digests.clauses.read_lines import LONGEST, ReadLines
from memtree.digests.summarize import leaf_summary
from memtree.text.rule_score import RULE
from memtree.text.standing_rules import read_sentence
from tests.work_counts import counting

LINES = [
    "We decided to keep SQLite, because the installers must work offline. Why not PostgreSQL?",
    "    def parse_row(line):",
    "[main 1a2b3c4] fix: the parser accepts a trailing comma",
    "Traceback (most recent call last):",
    "Immer auf Deutsch antworten! 因为安装程序必须离线工作。",
    "ok",
]


def counted(most: int = 1_000) -> tuple[ReadLines, list[str]]:
    read: list[str] = []

    def split(line: str) -> tuple[str, ...]:
        read.append(line)
        return (line,)

    return ReadLines(split, clauses.judgement, most), read


def test_a_line_is_read_once():
    lines, read = counted()
    for _ in range(3):
        assert lines.sentences("a line") == ("a line",)
    assert read == ["a line"]


def test_what_is_told_of_rules_is_read_once():
    lines = clauses.read_lines()
    first = lines.rule("Always answer in German.")
    assert first.score >= RULE
    assert lines.rule("Always answer in German.") is first
    assert lines.rule("It rained.").score < RULE


def test_what_asks_for_something_is_looked_at_once():
    """A mail that is quoted again costs no second look at its sentences."""
    lines = clauses.read_lines()
    mail = SourcePassage("user", "> Never call Ann.\n> Ann moved in May.\n", "text")
    looks = []
    for _ in range(2):
        with counting() as work:
            clauses.spoken(mail, chat=False, lines=lines)
        looks.append(work.functions["memtree/text/requests.py:asks"])
    assert looks[0] > 0 == looks[1]
    assert lines.asks("Never call Ann.")
    assert not lines.asks("Ann moved in May.")


def test_what_was_read_before_changes_no_summary():
    """Whoever says it, in a chat or not: a judgement is of the sentence alone."""
    lines = clauses.read_lines()
    for role in ("user", "assistant", "tool"):
        for first in range(len(LINES)):
            text = "\n".join(LINES[first:] + LINES[:first])
            sources = [SourcePassage(role, text, "text"), SourcePassage("user", text[:200], "text")]
            assert leaf_summary(sources, lines) == leaf_summary(sources)
    assert lines.size < 20 * sum(map(len, LINES))


@pytest.mark.slow
def test_too_many_are_dropped():
    lines, read = counted(most=100)
    for number in range(1_000):
        assert lines.sentences(f"line {number:04}")
        assert lines.rule(f"rule {number:04}") == read_sentence(f"rule {number:04}")
        assert lines.size <= 100
    assert lines.sentences("line 0999")
    assert len(read) == 1_000
    lines.sentences("line 0000")
    assert len(read) == 1_001


def test_a_long_line_is_not_kept():
    lines, _ = counted()
    lines.sentences("x" * (LONGEST + 1))
    assert lines.size == 0


def test_a_judgement_is_kept_too():
    lines = clauses.read_lines()
    assert lines.judgement("We fixed 3 tests.") is lines.judgement("We fixed 3 tests.")
