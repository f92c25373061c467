"""How commands and edits ended."""

from __future__ import annotations

import pytest

from memtree.digests.tool_calls import results
from memtree.digests.tool_calls.fields import RAN, TEST, Action
from memtree.digests.tool_calls.results import FAILED, OK, STOPPED, UNKNOWN, Outcome


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
        ("all good", UNKNOWN, 0, 0),
        ("", UNKNOWN, 0, 0),
    ],
)
def test_commands(text: str, code: int, failed: int, passed: int) -> None:
    outcome = results.ended(text)
    assert (outcome.code, outcome.failed, outcome.passed) == (code, failed, passed)


@pytest.mark.parametrize(
    "text",
    [
        "ok",
        "collected\nDone.",
        "> Task :app:assemble\n\nBUILD SUCCESSFUL in 5s\n2 actionable tasks: 2 executed",
        "[INFO] BUILD SUCCESS",
        "Build succeeded.\n    0 Warning(s)\n    0 Error(s)",
        "Your command ran successfully and did not produce any output.",
        "webpack 5.90.1 compiled successfully in 812 ms",
        "Collecting rich\nSuccessfully installed rich-13.7.1",
        "34 modules transformed.\n✓ built in 812ms",
        "    Finished `dev` profile [unoptimized + debuginfo] target(s) in 0.52s",
        "Done in 1.24s.",
        "ok  \texample.com/tide\t0.012s",
        "ok  \texample.com/tide\t(cached)",
        "All checks passed!",
        "Success: no issues found in 3 source files",
        "found 0 vulnerabilities",
        "added 12 packages in 2s",
        "up to date, audited 40 packages in 1s",
        "Apply complete! Resources: 1 added, 0 changed, 0 destroyed.",
        "Already up to date.",
        "BUILD SUCCESSFUL in 5s",
        "ok\r\n",
        "3 passed in 0.1s",
        *("exit code: 0", "Exit Code 0", "exited with code 0", "exit status 0", "exited 0"),
        *("rc=0", '{"exit_code": 0}', "<returncode>0</returncode>", "Exit code: 0\nx"),
    ],
)
def test_signs_of_success(text: str) -> None:
    assert results.ended(text, purpose=RUN) == Outcome(OK)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("34 modules transformed.\n", "34 modules transformed."),
        (
            "step 1\ncould not reach host: request was refused\nbye\n",
            "could not reach host: request",
        ),
        ("Command is still running in the background with id 3.", "Command is still running"),
        ("not ok 2 - tide\n# tests 2\n", "# tests 2"),
        ("Plan: 1 to add\nDone.\nDeployment failed: quota\n", "Deployment failed: quota"),
        ("the tide is high\n(Open file: n/a)\nbash-$", "the tide is high"),
        ("4 failed, 2 passed", "4 failed, 2 passed"),
        ("log\r\ndeploy: half way\r\n---\n", "deploy: half way"),
        ("   \n", None),
    ],
)
def test_without_a_sign_a_command_ran(text: str, line: str | None) -> None:
    outcome = results.ended(text, purpose=RUN)
    assert outcome.code == UNKNOWN
    found = text[slice(*outcome.line)] if outcome.line else None
    assert found is line is None or (found and line and found.startswith(line))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("✗ Build failed in 812ms\nsrc/main.ts (3:9)", "✗ Build failed in 812ms"),
        ("> Task :app:compileKotlin FAILED\n\nBUILD FAILED in 5s", "BUILD FAILED in 5s"),
        ("FAILURE: Build failed with an exception.", "FAILURE: Build failed with an exception."),
        ("Failed to compile.\n\n./src/a.tsx:3:9", "Failed to compile."),
        ("epoch 1 loss 0.3\nKilled\n", "Killed"),
        ("Terminated: 15", "Terminated: 15"),
        (
            "a.sh: line 3:  4711 Killed   python train.py",
            "a.sh: line 3:  4711 Killed   python train.py",
        ),
        ("FATAL ERROR: heap out of memory", "FATAL ERROR: heap out of memory"),
        ("✖ 1 problem (1 error, 0 warnings)", "✖ 1 problem (1 error, 0 warnings)"),
        ("╷\n│ Error: Invalid index\n╵", "│ Error: Invalid index"),
        (
            "The user doesn't want to proceed with this tool use.",
            "The user doesn't want to proceed",
        ),
        ("Permission to use Bash has been denied.", "Permission to use Bash has been denied."),
        ("User rejected the command", "User rejected the command"),
        ("The tool use was rejected", "The tool use was rejected"),
        ("log\r\nKilled\r\n", "Killed"),
    ],
)
def test_signs_of_failure(text: str, line: str) -> None:
    outcome = results.ended(text, purpose=RUN)
    assert outcome.code == FAILED
    assert outcome.line is not None
    assert text[slice(*outcome.line)].startswith(line)


def test_success_in_the_middle_is_no_sign_beside_trouble_or_far_above() -> None:
    assert results.ended("Done.\nDeployment failed", purpose=RUN).code == UNKNOWN
    assert results.ended("Done.\n" + "row\n" * 40, purpose=RUN).code == UNKNOWN
    assert results.ended("the tests were all passed over", purpose=RUN).code == UNKNOWN


@pytest.mark.parametrize(
    "text",
    [
        "Test Suites: 1 failed, 1 passed, 2 total\nTests:       1 passed, 1 total",
        " Test Files  1 failed | 1 passed (2)\n      Tests  1 passed (1)",
        "1 failed, 2 passed in 1s\n1 passed in 1s",
    ],
)
def test_a_failure_above_the_last_count_counts(text: str) -> None:
    assert results.ended(text) == Outcome(FAILED, 1, 1)


def test_tests_that_timed_out_have_not_passed() -> None:
    assert results.ended("3 passed\nThe command timed out and has been killed").code == STOPPED


def test_the_first_error_of_a_traceback_is_its_last_line() -> None:
    text = "Traceback (most recent call last):\n  File \"a.py\"\nKeyError: 'x'\n"
    outcome = results.ended(text)
    assert outcome.line is not None
    assert text[slice(*outcome.line)] == "KeyError: 'x'"


def test_a_zero_of_a_pager_is_not_believed() -> None:
    text = "1 failed, 2 passed\nexit code: 0"
    assert results.ended(text, piped=True).code == FAILED
    assert results.ended("ok\nexit code: 0", piped=True).code == OK
    assert results.ended("34 modules\nexit code: 0", piped=True).code == UNKNOWN


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


@pytest.mark.parametrize(
    ("text", "code", "piped", "outcome", "line"),
    [
        ("== 1 failed, 2 passed ==", OK, False, FAILED, None),
        ("fine", OK, False, OK, None),
        ("fine", OK, True, UNKNOWN, "fine"),
        ("fine", None, False, UNKNOWN, "fine"),
        ("a\nValueError: bad", 3, False, FAILED, "ValueError: bad"),
        ("a\nhost refused\nb", 3, False, 3, "host refused"),
    ],
)
def test_an_exit_code_beside_the_text_counts(
    text: str, code: int | None, piped: bool, outcome: int, line: str | None
) -> None:
    action = Action(RAN, "pytest", None, command=TEST, piped=piped)
    found = results.command_outcome(text, code, action)
    assert found.code == outcome
    assert (text[slice(*found.line)] if found.line else None) == line


@pytest.mark.parametrize(
    "text", ["The log says: the user rejected it", "Find who has said: command was denied"]
)
def test_only_a_line_that_begins_so_says_that_a_command_was_not_run(text: str) -> None:
    assert results.ended(text).code == UNKNOWN


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
    assert (results.ended(f"- {word} a\nDone.", purpose=RUN).code == UNKNOWN) is trouble


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
