r"""Read the outcome of a command or an edit from the text of its result.

Success needs a sign: an exit status of 0, counts without failures, or a line by which a program
says so. A result without a sign is UNKNOWN, whatever it holds: the command ran.

>>> ended("collected 3 items\n\n== 1 failed, 2 passed in 0.1s ==\n")
Outcome(code=1, failed=1, passed=2, line=None)
>>> ended("34 modules transformed.\n")
Outcome(code=-1, failed=0, passed=0, line=(0, 23))
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

from memtree.digests.tool_calls.fields import TEST, Action, Field, Group, groups
from memtree.language.word_file import WordFile, lazily

_OUTPUT_DATA = WordFile("all", "tool_calls")


class CallResult:
    """The result of a call, parsed once for all actions that it answers."""

    def __init__(self, text: str) -> None:
        marked = any(f'{key}"' in text[:4_000] for key in ("output", "stdout", "result"))
        self._whole = Field(text)
        self._groups = groups(text) if marked and text.startswith(("{", "[{")) else []

    def about(self, name: str) -> tuple[Field, int | None]:
        """Return the text that a command or an edit of a path printed, and the exit code if the
        result is JSON with both."""
        own = self._groups
        if len(own) > 1:
            named = (group for group in own if any(name in field.text for field in _names(group)))
            own = list(named) or own
        code: int | None = None
        said: list[Field] = []
        for group in own:
            value = group.get("exitcode") or group.get("returncode")
            if value is not None and value.text.lstrip("-").isdigit():
                code = int(value.text)
            if (value := group.get("success")) is not None and value.text == "false":
                code = code or FAILED
            elif value is not None and value.text == "true" and code is None:
                code = OK
            said += [group[key] for key in _OUTPUT_DATA.entries("outputs") if key in group][:1]
        return max(said, key=lambda field: len(field.raw), default=self._whole), code


def _names(group: Group) -> Iterator[Field]:
    """Yield the commands and paths to which a part of a result belongs."""
    return (group[key] for key in ("query", "command", "path", "file") if key in group)


_DATA = WordFile("all", "command_results")

OK, FAILED, UNKNOWN, STOPPED = 0, 1, -1, 124  # all other codes are exit codes
READ_AHEAD, READ_BEHIND = 12_000, 12_000  # characters read of a result
LAST_LINES = 12  # lines, empty ones aside, that may say how a command ended
LONGEST_LINE = 500  # characters; a longer line is data
SUMMARY_LINES = 3  # lines above the last summary of tests that may belong to it
_EXIT = _DATA.pattern("exit_codes", re.IGNORECASE)
_COUNTED = _DATA.pattern("counted", re.IGNORECASE)
_LABELLED = _DATA.pattern("labelled", re.IGNORECASE)
_RAN_TESTS = re.compile(r"^Ran (\d{1,7}) tests?", re.MULTILINE)
_TOTAL = re.compile(r"Tests run: (\d{1,7}), Failures: (\d{1,7}), Errors: (\d{1,7})")
_SUMS_UP = _DATA.pattern("sums_up", re.IGNORECASE)
_ERROR = lazily(lambda: rf"^(?:{_DATA.part('error_lines')})[^\n]{{0,240}}", re.MULTILINE)
_SUCCESS = _DATA.pattern("successes", re.IGNORECASE)
_TROUBLE = _DATA.pattern("troubles")
_NO_TROUBLE = re.compile(r"\b(?:0|no) (?:error|fail)", re.IGNORECASE)
_NOT_RUN = _DATA.pattern("not_run", re.IGNORECASE)
# A client's own line below a result, and lines of signs only
_TRAILER = re.compile(
    r"\(Open file: |\(Current directory: |bash-\$|</?\w{1,20}>$|\[[^\]]{0,200}\]$|\W{0,400}$"
)
_STOPPED = _DATA.pattern("stopped", re.IGNORECASE)
_REFUSED = _DATA.pattern("refusals", re.IGNORECASE)
_SHELL_REFUSED = _DATA.pattern("shell_refusals", re.IGNORECASE | re.MULTILINE)
_FAILURE = _DATA.pattern("failures", re.IGNORECASE)
_DONE = _DATA.pattern("done", re.IGNORECASE)
_RETURN = re.compile(r"\r(?=\n)")
_MADE = _DATA.pattern("made", re.IGNORECASE)
_OVERWRITTEN = _DATA.pattern("overwritten")
_FILE_SHOWN = _DATA.pattern("files_shown")


@dataclass(frozen=True, slots=True)
class Outcome:
    """Outcome of a command. `code`: the exit code, or OK, FAILED, UNKNOWN, STOPPED. `line`: the
    (start, end) of the line that tells most, of a failure the first error, of an unknown outcome
    the last line that tells something."""

    code: int = UNKNOWN
    failed: int = 0
    passed: int = 0
    line: tuple[int, int] | None = None

    @property
    def bad(self) -> bool:
        return self.code not in (OK, UNKNOWN)


NO_OUTCOME = Outcome()


class _Piece:
    """A part of a result, in which lines end with a line feed alone. Places in it are those of the
    whole result."""

    def __init__(self, base: int, text: str) -> None:
        self._base = base
        self.text = text.replace("\r\n", "\n")
        returns = _RETURN.finditer(text) if "\r\n" in text else ()
        self._returns = [match.start() - at for at, match in enumerate(returns)]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the place of text[start:end] in the result."""
        return self._at(start), self._at(max(start, end - 1)) + (end > start)

    def last_lines(self) -> Iterator[tuple[int, str]]:
        """Yield the last lines that are not empty, each with its start, the last one first."""
        end = len(self.text)
        while end > 0:
            start = self.text.rfind("\n", 0, end) + 1
            line = self.text[start:end].strip()
            if line:
                yield self.text.index(line, start), line
            end = start - 1

    def _at(self, at: int) -> int:
        return self._base + at + bisect_right(self._returns, at)


def ended(text: str, *, tests: bool = True, piped: bool = False) -> Outcome:
    """Return the outcome of a command. `tests`: it runs tests, so that their counts are told.
    `piped`: the exit code is that of a pager behind it."""
    pieces = _looked_at(text)
    code = _exit_code(pieces)
    failed, passed = _counts(pieces) if tests else (0, 0)
    error = _not_run(pieces[0]) or _error(pieces)
    if code is None or (code == OK and piped):
        if failed or error:
            code = FAILED
        elif _STOPPED.search(pieces[-1].text[-2_000:]):
            code = STOPPED
        else:
            good = _succeeded(pieces[-1], *((failed, passed) if tests else _counts(pieces)))
            code = OK if good else UNKNOWN
    elif code == OK and failed:
        code = FAILED
    line = None if code == OK else _last_line(pieces[-1]) if code == UNKNOWN else error
    return Outcome(code, failed, passed, line)


def error(text: str) -> tuple[int, int] | None:
    """Return the (start, end) of the first error in a result."""
    return _error(_looked_at(text))


def command_outcome(text: str, code: int | None, action: Action) -> Outcome:
    """Return the outcome of an action's command. `code`: the exit code that was given beside the
    text; a failure that the text tells outweighs it."""
    outcome = ended(text, tests=action.command == TEST, piped=action.piped)
    if code is None or outcome.bad or (action.piped and code == OK):
        return outcome
    return replace(outcome, code=code, line=None if code == OK else outcome.line)


def refused(text: str) -> tuple[int, int] | None:
    """Return the (start, end) of the refusal of an edit in its result; None if it was made."""
    beginning = text[:600]
    match = _REFUSED.search(beginning)
    if match and not (_DONE.search(beginning[: match.start()])):
        start = text.rfind("\n", 0, match.start()) + 1
        end = text.find("\n", match.end())
        return start, len(text) if end < 0 else end
    if _FAILURE.match(beginning):
        end = text.find("\n")
        return 0, len(text) if end < 0 else end
    return None


def not_changed(text: str) -> tuple[int, int] | None:
    """Return where a command line's output says that a file could not be changed."""
    match = _SHELL_REFUSED.search(text[:2_000])
    return match.span() if match else None


def made(text: str) -> bool | None:
    """Return True if a result says that a file is new, False if it existed, else None."""
    beginning = text[:400]
    if _OVERWRITTEN.search(beginning):
        return False
    return True if _MADE.search(beginning) else None


def shown_file(text: str) -> tuple[int, int] | None:
    """Return where the result of an edit names the edited file."""
    match = _FILE_SHOWN.search(text[:6_000]) or _FILE_SHOWN.search(text, max(0, len(text) - 400))
    if match is None or match[match.lastindex or 1] == "n/a":
        return None
    return match.span(match.lastindex or 1)


def _looked_at(text: str) -> list[_Piece]:
    if len(text) <= READ_AHEAD + READ_BEHIND:
        return [_Piece(0, text)]
    return [_Piece(0, text[:READ_AHEAD]), _Piece(len(text) - READ_BEHIND, text[-READ_BEHIND:])]


def _exit_code(pieces: list[_Piece]) -> int | None:
    for piece in (pieces[-1], pieces[0]):
        for edge in (piece.text[-600:], piece.text[:400]):
            matches = list(_EXIT.finditer(edge))
            if matches:
                return int(matches[-1][1] or matches[-1][2])
    return None


def _counts(pieces: list[_Piece]) -> tuple[int, int]:
    """Return the tests that failed (including errors) and passed, from the last summary. Where its
    last line counts no failure, a line just above may: a file of tests that could not run."""
    for piece in reversed(pieces):
        if total := list(_TOTAL.finditer(piece.text))[-1:]:
            ran, failures, errors = (int(number) for number in total[0].groups())
            return failures + errors, ran - failures - errors
        tail = piece.text[-6_000:]
        if ran_tests := list(_RAN_TESTS.finditer(tail))[-1:]:
            bad = sum(int(match[2]) for match in _LABELLED.finditer(tail, ran_tests[0].end()))
            return bad, int(ran_tests[0][1]) - bad
        lines = tail.split("\n")
        for at in range(len(lines) - 1, -1, -1):
            failed, passed = _counted(lines[at])
            if failed or passed:
                above = lines[max(0, at - SUMMARY_LINES) : at] if not failed else ()
                return max((_counted(line)[0] for line in above), default=failed), passed
    return 0, 0


def _counted(line: str) -> tuple[int, int]:
    """Return the tests that a line counts as failed and passed."""
    if len(line) > LONGEST_LINE or not _SUMS_UP.search(line):
        return 0, 0
    failed = passed = 0
    for match in _COUNTED.finditer(line):
        number, word = int(match[1]), match[2].lower()
        if word.startswith(("pass", "ok")):
            passed += number
        else:
            failed += number
    if not (failed or passed):
        for match in _LABELLED.finditer(line):
            if match[1].lower().startswith("pass"):
                passed += int(match[2])
            else:
                failed += int(match[2])
    return failed, passed


def _error(pieces: list[_Piece]) -> tuple[int, int] | None:
    """Return the place of the first error line; for a traceback, its last line."""
    for piece in pieces:
        if match := _ERROR.search(piece.text):
            return piece.span(match.start(), match.start() + len(match[0].rstrip()))
    return None


def _not_run(piece: _Piece) -> tuple[int, int] | None:
    """Return the place of the first line if it begins by saying that the command was not let
    run."""
    first = piece.text[:LONGEST_LINE].partition("\n")[0].rstrip()
    return piece.span(0, len(first)) if _NOT_RUN.match(first) else None


def _succeeded(piece: _Piece, failed: int, passed: int) -> bool:
    """Return True for a sign of success at the end of a result, and none of trouble beside it.
    `failed`, `passed`: its counts of tests."""
    if failed or passed:
        return not failed
    lines = [line for _, line in islice(piece.last_lines(), LAST_LINES)]
    lines = [line for line in lines if len(line) <= LONGEST_LINE]
    others = [line for line in lines if not _SUCCESS.fullmatch(line)]
    return len(others) < len(lines) and not any(map(_is_trouble, others))


def _is_trouble(line: str) -> bool:
    return bool(_TROUBLE.search(line) and not _NO_TROUBLE.search(line))


def _last_line(piece: _Piece) -> tuple[int, int] | None:
    """Return the place of the last line that tells something: one of trouble, else any."""
    lines = [
        (start, line)
        for start, line in islice(piece.last_lines(), LAST_LINES)
        if len(line) <= LONGEST_LINE and not _TRAILER.match(line)
    ]
    telling = [(start, line) for start, line in lines if _is_trouble(line)] or lines
    if not telling:
        return None
    start, line = telling[0]
    return piece.span(start, start + len(line))
