"""How commands and edits ended."""

from __future__ import annotations

import pytest

from memtree.digests.tool_calls import results
from memtree.digests.tool_calls.fields import BUILD, RAN, RUN, TEST, Action
from memtree.digests.tool_calls.results import (
    FAILED,
    KILLED,
    OK,
    REFUSED,
    RUNNING,
    TIMED_OUT,
    UNKNOWN,
)


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
    outcome = results.ended(text)
    assert (outcome.code, outcome.failed, outcome.passed) == (code, failed, passed)


OF_OK = """
ok
collected⏎Done.
> Task :app:assemble⏎⏎BUILD SUCCESSFUL in 5s⏎2 actionable tasks: 2 executed
[INFO] BUILD SUCCESS
** BUILD SUCCEEDED **
Build succeeded.⏎    0 Warning(s)⏎    0 Error(s)
Your command ran successfully and did not produce any output.
webpack 5.90.1 compiled successfully in 812 ms
Successfully installed rich-13.7.1⏎[notice] A new release is available
34 modules transformed.⏎✓ built in 812ms
    Finished `dev` profile [unoptimized + debuginfo] target(s) in 0.52s
Done in 1.24s.
ok  ⇥example.com/tide⇥0.012s
ok  ⇥example.com/tide⇥(cached)
ERROR tide: lost⏎PASS
ERROR tide: lost⏎OK (3 tests, 9 assertions)
ERROR tide: lost⏎test result: ok. 0 passed
100% tests passed, 0 tests failed out of 3⏎Total time =   0.02 sec
Error: lost⏎All checks passed!
all of it succeeded
Success: no issues found in 3 source files
Success! The configuration is valid.
0 issues.
✖ 1 problem (0 errors, 1 warning)
Found 3 errors (3 fixed, 0 remaining).⏎ok
3 offenses detected, 3 offenses corrected⏎ok
found 0 vulnerabilities
added 12 packages in 2s
make: 'tide' is up to date.
Everything up-to-date
Deployed to https://tide.example
Requirement already satisfied: rich in /usr/lib
make: Nothing to be done for 'all'.
Apply complete! Resources: 1 added, 0 changed, 0 destroyed.
 id | level⏎----⏎(5 rows)
Switched to a new branch 'tide'
Applying tide.0001_initial... OK
Failure: none⏎Done.
1 file reformatted, 2 files left unchanged.
File updated. Please review the changes
   1a2b3c4..5d6e7f8  main -> main
3 passed in 0.1s
exit code: 0
Exit Code 0
exited with code 0
exit status 0
rc=0
[exit 0]
gcc tide.c⏎[The command completed with exit code 0.]⏎[Current working directory: /w]
Command executed in terminal  within working directory '/w'. Exit code: 0⏎Output:⏎gcc
Wall time: 0.05 seconds⏎Process exited with code 0⏎Output:⏎error: none
Error: (none)⏎Exit Code: 0⏎Signal: (none)
Command completed with exit code 0 in 3.2 seconds
the tide is high///PROCESS-DONE:0:PROCESS-DONE///
{"exit_code": 0}
<returncode>0</returncode>⏎<output>error: no</output>
<return-code>⏎0⏎</return-code>
"""
OF_FAILED = """
E       assert 1 == 2
✗ Build failed in 812ms⏎src/main.ts (3:9)
> Task :app:compileKotlin FAILED⏎> Task :moon
BUILD FAILED in 5s
BUILD FAILED: tide.ts
tide.py::test_low FAILED [ 50%]
FAIL⇥example.com/tide [build failed]
--- FAIL: TestTide (0.00s)
not ok 1 - tide
FAILURE: Build failed with an exception.
make: *** [Makefile:192: build] Error 2
npm ERR! code 1
Failed to compile.⏎⏎./src/a.tsx:3:9
 ELIFECYCLE  Test failed. See above for more details.
Automatic merge failed; fix conflicts
FATAL ERROR: Reached heap limit
✖ 1 problem (1 error, 0 warnings)
2 issues:⏎* gofmt: 2
Error: none of the files exist
error: null pointer
Error: 0 is no valid port
✖ 3 problems (3 errors, 0 warnings)⏎  0 errors and 1 warning potentially fixable
4 failed, 2 passed
Found 5 errors (3 fixed, 2 remaining).⏎ok
3 errors could not be fixed
3 errors not fixed
svelte-check found 5 errors and 2 warnings in 3 files
│ Error: Invalid index⏎│ ⏎│   on main.tf line 3
error[E0308]: mismatched types
error TS2305: no such member
ERROR in ./src/a.js 3:5
ERROR  could not install
CMake Error at CMakeLists.txt:27 (find_package):
✘ [ERROR] Could not resolve "./b"
ERR_PNPM_NO_SCRIPT  missing script
E: Package tide has no candidate
Error from server (NotFound): no such pod
PHP Fatal error:  Uncaught Error: low
psql:a.sql:3: ERROR:  relation exists
ERROR 1146 (42S02) at line 1: no such table
bash: kill: (99) - No such process
curl: (22) The requested URL returned error: 404
nox > Session tests failed.
On branch main⏎nothing to commit, working tree clean
The following tests FAILED:
E: Unable to locate package tide
FAILED a.py::test_low - assert 1
npm error code 1
Aborted (core dumped)
fatal: not a git repository
panic: index out of range
Type error: no such property
ValueError: bad
Error:⏎
a.b.Low$TideException: no water
Exception in thread "main" a.b.LowTide: x⏎⇥at Tide.main(Tide.java:3)
Uncaught LowTide
thread 'main' panicked at src/main.rs:9
Segmentation fault (core dumped)
-- Configuring incomplete, errors occurred!
Wrong flag!
a.c:3:1: error: expected ';'
src/a.ts(3,5): error TS2322: no
  3:7  error  'x' is unused
/w/a.py: error: unreadable
bash: ./run.sh: Permission denied
bash: tide: command not found
cat: x: No such file or directory
cp: x: Not a directory
curl: (7) port 80: Connection refused
kill: (1) - Operation not permitted
cp: x: No space left on device
/bin/sh: 1: tide: not found
(eval):1: command not found: tide
base64: invalid input
'tide' is not recognized as an internal or external command
Cannot connect to the daemon
This block failed to match lines in tide.py
main.go:6:2: "errors" imported and not used
Exit code 1⏎what
(exit status 1)
rc=1⏎[The command completed with exit code 0.]
error Command failed with exit code 2.
<return-code>⏎1⏎</return-code>
{"success": false, "error": "low"}
{"output": "low", "exitCode": 2}
"""
OF_OTHERS = {
    TIMED_OUT: """
Command timed out after 120s
EXECUTION TIMED OUT
Timed out after 9 s
subprocess.TimeoutExpired: 9 seconds
timeout: sending signal TERM to command 'make'
3 passed⏎The command timed out and has been killed
Tool error: TimeoutError: the last command timed out
The command did not end in time, timed out
""",
    KILLED: """
epoch 1 loss 0.3⏎Killed⏎
log␍⏎Killed␍⏎
Terminated: 15
zsh: killed     ./tide
[1]    4711 killed     ./tide
a.sh: line 3:  4711 Killed   python train.py
Command aborted
[Request interrupted by user for tool use]
Interrupted by user
tide was sent SIGKILL
tide failed with signal "SIGTERM"
bash tool terminated command after 9 s
Build interrupted by signal 2
process didn't exit successfully: `tide` (signal: 9, SIGKILL: kill)
npm error signal SIGTERM
Traceback (most recent call last):⏎  x⏎KeyboardInterrupt
Exit code 137
[exit code: -9]
""",
    RUNNING: """
Command running in background with ID: 0dd2e3
Command is still running in the terminal.
Command was manually backgrounded
Process running with session ID 12
Background process started.
Server started in the background
[The command has no new output after 30 seconds.]
""",
    REFUSED: """
The user doesn't want to proceed with this tool use.
Error: The user denied this operation.
exec command rejected by user
Command blocked by a security policy: rm
Permission to use Bash has been denied.
The tool use was rejected
The command was not executed
This command requires approval
<tool_use_error>Sibling tool call errored</tool_use_error>
""",
    UNKNOWN: """
34 modules transformed.
all good
step 1⏎could not reach host: request was refused⏎bye⏎
the tide is high⏎(Open file: n/a)⏎bash-$
log␍⏎deploy: half way␍⏎---⏎
   ⏎
Done.⏎it failed later
    Finished `dev` profile in 0.01s⏎the tide is high
Error: low tide⏎Done.
row⏎Done.⏎row⏎row⏎row⏎row⏎row⏎row⏎row⏎row⏎row⏎row⏎row⏎row
the tests were all passed over
The run was not a success
0 succeeded
2026/01/02 INFO exited successfully
  "success": false,
success: false
tide: 0 failed
WARN tide: a check failed
Success rate: 40 %
Exits with 0 if the run is successful
Opening: done⏎the tide is high
12 errors of last year were fixed
fixed 3 errors
Error: none⏎Error: (none).⏎FAILED: none
Failures: 0⏎Failed: 0⏎Errors: 0, warnings: 3
tide: error: null
Build error: <nil>
2 issues resolved
3 problems were solved
4 violations corrected
a.c:3:5: warning: unused
ℹ️  Project config: not found
    Error: shown below another line
+ Error: in a diff⏎- error: too
Running upgrade a -> b
The log says: the user rejected it
Find who has said: command was denied
make⏎exit 1
failed: 0⏎it ran
The process was not killed
The process wasn't killed
The process was never killed
The process will be killed after 9 s
No process was killed
tide is not running, so it cannot be killed by signal 9
It was not killed by SIGTERM
It sends signal SIGTERM
12:00 log: the process was killed
It is told when a command timed out
The tests catch TimeoutExpired
It stops, timeout: sending signal TERM
No command is still running
tides: command still running
Pass 28⏎Pass 29⏎the tide is high
W: Some files failed to download
curl: (28) Connection timed out
{"output": "low", "exit_code": "--5"}
{"output": "low", "exit_code": "²"}
""",
}


def cases(text: str) -> list[str]:
    """A line each; ⏎, ⇥ and ␍ stand for a line feed, a tab and a return."""
    signs = str.maketrans({"⏎": "\n", "⇥": "\t", "␍": "\r"})
    return [line.translate(signs) for line in text.strip("\n").split("\n")]


@pytest.mark.parametrize(
    ("end", "text"),
    [
        (end, text)
        for end, texts in {OK: OF_OK, FAILED: OF_FAILED, **OF_OTHERS}.items()
        for text in cases(texts)
    ],
)
def test_a_command_ended_as_a_sign_of_its_result_says(end: int, text: str) -> None:
    parsed, code = results.CallResult(text).about("")
    found = results.command_outcome(parsed.text, code, Action(RAN, "", None, command=BUILD))
    assert found.kind == end


@pytest.mark.parametrize(
    "text",
    [
        *("Wrote coverage.xml", "Finished in 0.1 seconds", "ok", "make: 'test' is up to date."),
        "Successfully installed tide-1.0\na\nb\nc",
    ],
)
def test_what_else_a_program_did_does_not_say_that_tests_passed(text: str) -> None:
    assert results.ended(text).code == UNKNOWN
    assert results.ended(text, purpose=RUN).code == OK


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
    outcome = results.ended(text, purpose=RUN)
    assert outcome.line is not None
    assert text[slice(*outcome.line)].startswith(line)


def test_a_zero_of_a_pager_is_not_believed() -> None:
    text = "1 failed, 2 passed\nexit code: 0"
    assert results.ended(text, piped=True).code == FAILED
    assert results.ended("ok\nexit code: 0", piped=True, purpose=RUN).code == OK
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
        *("Error: none\nFile written", "error=false, path=a.py", "error: 0"),
        *('{"error": null, "path": "a.py"}', '{"error": null}'),
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


@pytest.mark.parametrize(
    "text",
    [
        "File updated.\n[File: /testbed/a.py (9 lines total)]\n1:x",
        "The file /testbed/a.py has been updated.",
        "File created successfully at: /testbed/a.py",
    ],
)
def test_the_file_that_an_editor_shows(text: str) -> None:
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
    found = results.command_outcome(text, code, action)
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
