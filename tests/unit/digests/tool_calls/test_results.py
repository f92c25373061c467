"""How commands and edits ended."""

from __future__ import annotations

import pytest

from memtree.digests.tool_calls import results
from memtree.digests.tool_calls.results import FAILED, OK, STOPPED, UNKNOWN


@pytest.mark.parametrize(
    ("text", "code", "failed", "passed"),
    [
        ("== 1 failed, 2 passed in 0.1s ==", FAILED, 1, 2),
        ("== 12 passed, 1 warning in 3s ==", OK, 0, 12),
        ("Tests:       1 failed, 5 passed, 6 total", FAILED, 1, 5),
        ("test result: FAILED. 3 passed; 1 failed; 0 ignored", FAILED, 1, 3),
        ("Ran 5 tests in 0.1s\n\nFAILED (failures=1, errors=2)", FAILED, 3, 2),
        ("Ran 5 tests in 0.1s\n\nOK", OK, 0, 5),
        ("Tests run: 5, Failures: 1, Errors: 1, Skipped: 0", FAILED, 2, 3),
        ("  5 passing (10ms)\n  1 failing", FAILED, 1, 0),
        ("7 examples, 2 failures", FAILED, 2, 0),
        ("done\n[exit code: 3]", 3, 0, 0),
        ("Exit code 1\nwhat", 1, 0, 0),
        ("<returncode>0</returncode>\n<output>error: no</output>", OK, 0, 0),
        ("Process exited with code 0\nbuilt", OK, 0, 0),
        ("make: *** [Makefile:192: build] Error 2", FAILED, 0, 0),
        ("Traceback (most recent call last):\n  x\nValueError: bad", FAILED, 0, 0),
        ("a.c:3:1: error: expected ';'", FAILED, 0, 0),
        ("bash: ponyc: command not found", FAILED, 0, 0),
        ("npm ERR! code 1", FAILED, 0, 0),
        ("Command timed out after 120s", STOPPED, 0, 0),
        ("all good", OK, 0, 0),
        ("", UNKNOWN, 0, 0),
    ],
)
def test_commands(text: str, code: int, failed: int, passed: int) -> None:
    outcome = results.ended(text)
    assert (outcome.code, outcome.failed, outcome.passed) == (code, failed, passed)


def test_the_first_error_of_a_traceback_is_its_last_line() -> None:
    text = "Traceback (most recent call last):\n  File \"a.py\"\nKeyError: 'x'\n"
    outcome = results.ended(text)
    assert outcome.error is not None
    assert text[slice(*outcome.error)] == "KeyError: 'x'"


def test_a_zero_of_a_pager_is_not_believed() -> None:
    text = "1 failed, 2 passed\nexit code: 0"
    assert results.ended(text, piped=True).code == FAILED
    assert results.ended("ok\nexit code: 0", piped=True).code == OK


@pytest.mark.parametrize(
    "text",
    [
        "Error: String to replace not found in file.",
        "No replacement was performed, old_str `x` did not appear verbatim in /a.",
        "ERROR:\nParameter `old_str` is required for command: str_replace.",
        "Your proposed edit has introduced new syntax error(s).",
        "<tool_use_error>File has not been read yet.</tool_use_error>",
        "The user doesn't want to proceed with this tool use. The tool use was rejected",
        "# 1 SEARCH/REPLACE block failed to match!",
    ],
)
def test_refused_edits(text: str) -> None:
    assert results.refused(text) is not None


@pytest.mark.parametrize(
    "text",
    [
        "The file /a.py has been edited. Here's the result: raise Error('does not exist')",
        "File updated. Please review the changes",
        "Success. Updated the following files:\nM a.py",
        "Wrote file successfully.",
        "",
    ],
)
def test_edits_that_took_place(text: str) -> None:
    assert results.refused(text) is None


@pytest.mark.parametrize(
    ("text", "new"),
    [
        ("File created successfully at: /a.py", True),
        ("Successfully overwrote file: a.py", False),
        ("The file a.py has been updated.", False),
        ("ok", None),
    ],
)
def test_new_files(text: str, new: bool | None) -> None:
    assert results.made(text) is new


def test_the_file_that_an_editor_shows() -> None:
    text = "File updated.\n[File: /testbed/a.py (9 lines total)]\n1:x"
    span = results.shown_file(text)
    assert span is not None
    assert text[slice(*span)] == "/testbed/a.py"


def test_an_exit_code_beside_the_text_counts() -> None:
    said = results.ended("== 1 failed, 2 passed ==")
    assert results.with_code("== 1 failed, 2 passed ==", OK, said).code == FAILED
    assert results.with_code("fine", OK, results.ended("fine")).code == OK
    broken = results.with_code("a\nValueError: bad", 3, results.ended("a"))
    assert (broken.code, broken.error is not None) == (3, True)


@pytest.mark.parametrize(
    ("text", "failed", "passed"),
    [
        ("Tests: failed 1, passed 4", 1, 4),
        ("Tests: passed: 4", 0, 4),
        ("word\n" * 20_000 + "== 3 passed in 1s ==", 0, 3),
    ],
)
def test_counts_by_their_labels_and_at_the_end_of_long_texts(
    text: str, failed: int, passed: int
) -> None:
    found = results.ended(text)
    assert (found.failed, found.passed) == (failed, passed)


def test_what_begins_as_a_failure_is_no_edit() -> None:
    assert results.refused("failed, for a reason of its own\nmore") == (0, 31)
    assert results.refused("[error 7]") == (0, 9)
    assert results.refused("Edit applied. Error: not found in the log") is None


def test_an_editor_without_a_file_shows_none() -> None:
    assert results.shown_file("(Open file: n/a)") is None
    assert results.not_changed("rm: cannot remove 'a'") is not None
    assert results.not_changed("done") is None
