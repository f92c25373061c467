"""How commands and edits ended."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from memtree.digests import call_results
from memtree.digests.call_fields import BUILD, RAN, RUN, TEST, Action
from memtree.digests.call_results import FAILED, OK, UNKNOWN


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
        ("# pass 3\n# fail 0", OK, 0, 3),
        ("# pass 3\n# fail 1", FAILED, 1, 0),
        (" 2 pass\n 1 fail\nRan 3 tests across 1 file.", FAILED, 1, 0),
        ("Passed!  - Failed:     0, Passed:     3, Skipped: 0", OK, 0, 3),
        ("17:54:14 ERROR tide: lost\nPASS\nok  \tx/tide\t0.2s", OK, 0, 0),
        ("done\n[exit code: 3]", 3, 0, 0),
        ("Traceback (most recent call last):\n  x\nValueError: bad", FAILED, 0, 0),
        ("✓ says when the process was killed\n\n  3 passing", OK, 0, 3),
        ("Test Suites: 1 failed, 1 passed, 2 total\nTests:       1 passed, 1 total", FAILED, 1, 1),
        (" Test Files  1 failed | 1 passed (2)\n      Tests  1 passed (1)", FAILED, 1, 1),
        ("1 failed, 2 passed in 1s\n1 passed in 1s", FAILED, 1, 1),
        ("1 failed, 4 passed, bug fixed", FAILED, 1, 4),
        ("Command timed out is told ... ok\n\n---\nRan 1 test in 0.1s\n\nOK", OK, 0, 1),
        ("t.py::test_TimeoutExpired PASSED\n\n== 1 passed in 1s ==", OK, 0, 1),
        ("Command timed out is told\n== 1 failed in 1s ==", FAILED, 1, 0),
        ("Command timed out ... ok\nRan 1 test in 0s\nFAILED (errors=1)", FAILED, 1, 0),
        ("command timed out\nPASS", OK, 0, 0),
        ("all good", UNKNOWN, 0, 0),
        ("", UNKNOWN, 0, 0),
    ],
)
def test_counts_of_tests(text: str, code: int, failed: int, passed: int) -> None:
    outcome = call_results.ended(text)
    assert (outcome.code, outcome.failed, outcome.passed) == (code, failed, passed)


def ends() -> Iterator[tuple[int, str]]:
    """Each line of `ends_of_commands.txt` with the name above it; ⏎, ⇥ and ␍ stand for a line feed,
    a tab and a return."""
    signs = str.maketrans({"⏎": "\n", "⇥": "\t", "␍": "\r"})
    lines = Path(__file__).with_name("ends_of_commands.txt").read_text("utf-8").splitlines()
    for line in lines:
        if line.startswith("== ") and hasattr(call_results, line[3:]):
            end = getattr(call_results, line[3:])
        else:
            yield end, line.translate(signs)


@pytest.mark.parametrize(("end", "text"), list(ends()))
def test_a_command_ended_as_a_sign_of_its_result_says(end: int, text: str) -> None:
    parsed, code = call_results.CallResult(text).about("")
    found = call_results.command_outcome(parsed.text, code, Action(RAN, "", None, command=BUILD))
    assert found.kind == end


@pytest.mark.parametrize(
    "text",
    [
        *("Wrote coverage.xml", "Finished in 0.1 seconds", "ok", "make: 'test' is up to date."),
        "Successfully installed tide-1.0\na\nb\nc",
    ],
)
def test_what_else_a_program_did_does_not_say_that_tests_passed(text: str) -> None:
    assert call_results.ended(text).code == UNKNOWN
    assert call_results.ended(text, purpose=RUN).code == OK


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("step 1\ncould not reach host: request was refused\nbye\n", "could not reach host"),
        ("the tide is high\n(Open file: n/a)\nbash-$", "the tide is high"),
        ("log\r\ndeploy: half way\r\n---\n", "deploy: half way"),
        ("half way\n(completed with no output)\n</tool-output>", "half way"),
        ("Exit code 1\naccepts at most 1 arg(s)\n", "accepts at most"),
        ("x = 1\n✗ Build failed in 812ms\nsrc/main.ts (3:9)", "✗ Build failed in 812ms"),
        ("log\r\nKilled\r\n", "Killed"),
        ("Traceback (most recent call last):\n  File \"a.py\"\nKeyError: 'x'\n", "KeyError: 'x'"),
    ],
)
def test_the_line_that_tells_most(text: str, line: str) -> None:
    outcome = call_results.ended(text, purpose=RUN)
    assert outcome.line is not None
    assert text[slice(*outcome.line)].startswith(line)


def test_a_zero_of_a_pager_is_not_believed() -> None:
    text = "1 failed, 2 passed\nexit code: 0"
    assert call_results.ended(text, piped=True).code == FAILED
    assert call_results.ended("ok\nexit code: 0", piped=True, purpose=RUN).code == OK
    assert call_results.ended("34 modules\nexit code: 0", piped=True).code == UNKNOWN


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
    assert call_results.refused(text) is not None


@pytest.mark.parametrize(
    "text",
    [
        "The file /a.py has been edited. Here's the result: raise Error('does not exist')",
        "File updated. Please review the changes",
        "Success. Updated the following files:\nM a.py",
        "Wrote file successfully.",
        *("Error: none\nFile written", "error=false, path=a.py", "error: 0"),
        *('{"error": null, "path": "a.py"}', '{"error": null}'),
        "",
    ],
)
def test_edits_that_took_place(text: str) -> None:
    assert call_results.refused(text) is None


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
    assert call_results.made(text) is new


@pytest.mark.parametrize(
    "text",
    [
        "File updated.\n[File: /testbed/a.py (9 lines total)]\n1:x",
        "The file /testbed/a.py has been updated.",
        "File created successfully at: /testbed/a.py",
    ],
)
def test_the_file_that_an_editor_shows(text: str) -> None:
    span = call_results.shown_file(text)
    assert span is not None
    assert text[slice(*span)] == "/testbed/a.py"


@pytest.mark.parametrize(
    ("text", "code", "piped", "outcome", "line"),
    [
        ("== 1 failed, 2 passed ==", OK, False, FAILED, None),
        ("fine", OK, False, OK, None),
        ("fine", OK, True, UNKNOWN, "fine"),
        ("fine", None, False, UNKNOWN, "fine"),
        ("a\nValueError: bad", 3, False, 3, "ValueError: bad"),
        ("a\nValueError: bad", OK, False, OK, None),
        ("a\nValueError: bad", OK, True, FAILED, "ValueError: bad"),
        ("rc=3", OK, False, 3, None),
        ("a\nhost refused\nb", 3, False, 3, "host refused"),
    ],
)
def test_an_exit_code_beside_the_text_counts(
    text: str, code: int | None, piped: bool, outcome: int, line: str | None
) -> None:
    action = Action(RAN, "pytest", None, command=TEST, piped=piped)
    found = call_results.command_outcome(text, code, action)
    assert found.code == outcome
    assert (text[slice(*found.line)] if found.line else None) == line


@pytest.mark.parametrize(
    ("word", "trouble"),
    [
        *(("an error", True), ("Error", True), ("ERROR", True), ("a ValueError", True)),
        *(("a panic", True), ("Panic", True), ("it failed", True), ("Failed", True)),
        *(("a failure", True), ("Failure", True), ("fatal", True), ("Fatal", True)),
        *(("unable to go", True), ("Unable to go", True), ("timed out", True)),
        *(("Timed out", True), ("refused", True), ("Refused", True)),
        *(("a mirror", False), ("terror", False), ("organic", False), ("mechanic", False)),
        *(("detailed", False), ("enable to", False), ("natal", False), ("defused", False)),
        ("primed out", False),
    ],
)
def test_words_of_trouble_are_whole_words(word: str, trouble: bool) -> None:
    assert (call_results.ended(f"- {word} a\nDone.", purpose=RUN).code == UNKNOWN) is trouble


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
    found = call_results.ended(text)
    assert (found.failed, found.passed) == (failed, passed)


def test_what_begins_as_a_failure_is_no_edit() -> None:
    assert call_results.refused("failed, for a reason of its own\nmore") == (0, 31)
    assert call_results.refused("[error 7]") == (0, 9)
    assert call_results.refused("Edit applied. Error: not found in the log") is None


def test_an_editor_without_a_file_shows_none() -> None:
    assert call_results.shown_file("(Open file: n/a)") is None
    assert call_results.not_changed("rm: cannot remove 'a'") is not None
    assert call_results.not_changed("done") is None
