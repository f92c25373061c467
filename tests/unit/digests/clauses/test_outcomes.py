"""Lines that say how something ended, and the numbers of lines that a text shows."""

from __future__ import annotations

import pytest

from memtree.digests.clauses.clause import Clause
from memtree.digests.clauses.outcomes import continues, numbered, outcome


@pytest.mark.parametrize(
    ("line", "text", "brief"),
    [
        (
            "Commit f2e9292 fix: Remove unused variable",
            "Remove unused variable (committed as f2e9292)",
            "committed as f2e9292",
        ),
        ("[main 0fdc07f] Add a test", "Add a test (committed as 0fdc07f)", "committed as 0fdc07f"),
        (
            "Removed: b834971 fix: Catch the exception",
            "commit b834971 undone: Catch the exception",
            "commit b834971 undone",
        ),
        ("==== 2 failed, 25 passed in 4.37s ====", "2 failed, 25 passed in 4.37s", ""),
        (
            "src/app.py:22:1: E402 import not at top of file",
            "src/app.py: E402 import not at top of file",
            "E402 import not at top of file",
        ),
        ("E   KeyError: 'price'", "KeyError: 'price'", "KeyError"),
    ],
)
def test_how_it_ended_is_said_in_words(line, text, brief):
    found = outcome(line, "tool")
    assert found is not None
    assert (found.text, found.brief, found.outcome) == (text, brief, True)


@pytest.mark.parametrize(
    "line", ["Commit to the plan", "12 eggs", "The error is gone", "removed deadbeef cafe", "-"]
)
def test_other_lines_are_no_outcome(line):
    assert outcome(line, "tool") is None


def lines(first, last, form="{}: part 004 line {}"):
    return "\n".join(form.format(number, number * 7) for number in range(first, last + 1))


def test_numbered_lines_are_named_with_their_file():
    assert numbered(lines(12, 17)) == "lines 12-17"
    assert numbered(f"<path>src/parts/a.txt</path>\n{lines(1, 9)}") == "src/parts/a.txt lines 1-9"
    assert numbered(lines(1, 3)) == ""
    assert numbered("\n".join(f"{n * 31} eggs" for n in range(9))) == ""
    assert numbered(lines(8, 12), "[File: src/parts/a.txt]") == "src/parts/a.txt lines 8-12"


def test_following_lines_become_one_range():
    before = Clause("tool", "a.txt lines 1-9: part 004", 1.0, brief="a.txt lines 1-9")
    assert continues(before, Clause("tool", "lines 10-15", 1.0, brief="lines 10-15"))
    assert (before.text, before.brief) == ("a.txt lines 1-15: part 004", "a.txt lines 1-15")
    assert not continues(before, Clause("tool", "x", 1.0, brief="lines 40-45"))
