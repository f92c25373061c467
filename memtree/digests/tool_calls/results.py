"""Read the outcome of a command or an edit from the text of its result.

>>> ended("collected 3 items\\n\\n== 1 failed, 2 passed in 0.1s ==\\n")
Outcome(code=1, failed=1, passed=2, error=None)
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from memtree.language.lazy_patterns import lazily
from memtree.language.word_file import WordFile

_DATA = WordFile("all", "command_results")

OK, FAILED, UNKNOWN, STOPPED = 0, 1, -1, 124  # all other codes are exit codes
READ_AHEAD, READ_BEHIND = 12_000, 12_000  # characters read of a result
_EXIT = _DATA.pattern("exit_codes", re.IGNORECASE)
_COUNTED = _DATA.pattern("counted", re.IGNORECASE)
_LABELLED = _DATA.pattern("labelled", re.IGNORECASE)
_RAN_TESTS = re.compile(r"^Ran (\d{1,7}) tests?", re.MULTILINE)
_TOTAL = re.compile(r"Tests run: (\d{1,7}), Failures: (\d{1,7}), Errors: (\d{1,7})")
_SUMS_UP = _DATA.pattern("sums_up", re.IGNORECASE)
_ERROR = lazily(lambda: rf"^(?:{_DATA.part('error_lines')})[^\n]{{0,240}}", re.MULTILINE)
_STOPPED = _DATA.pattern("stopped", re.IGNORECASE)
_REFUSED = _DATA.pattern("refusals", re.IGNORECASE)
_SHELL_REFUSED = _DATA.pattern("shell_refusals", re.IGNORECASE | re.MULTILINE)
_FAILURE = _DATA.pattern("failures", re.IGNORECASE)
_DONE = _DATA.pattern("done", re.IGNORECASE)
_MADE = _DATA.pattern("made", re.IGNORECASE)
_OVERWRITTEN = _DATA.pattern("overwritten")
_FILE_SHOWN = _DATA.pattern("files_shown")


@dataclass(frozen=True, slots=True)
class Outcome:
    """Outcome of a command. `code`: the exit code, or OK, FAILED, UNKNOWN, STOPPED. `error`: the
    (start, end) of the first error."""

    code: int = UNKNOWN
    failed: int = 0
    passed: int = 0
    error: tuple[int, int] | None = None

    @property
    def bad(self) -> bool:
        return self.code not in (OK, UNKNOWN)


NO_OUTCOME = Outcome()


def ended(text: str, *, tests: bool = True, piped: bool = False) -> Outcome:
    """Return the outcome of a command. `piped`: the exit code is that of a pager behind it."""
    pieces = _looked_at(text)
    code = _exit_code(pieces)
    failed, passed = _counts(pieces) if tests else (0, 0)
    error = _error(pieces)
    stopped = bool(_STOPPED.search(pieces[-1][1][-2_000:]))
    if code is None or (code == OK and piped):
        bad = FAILED if failed or error else STOPPED if stopped else None
        code = bad if bad is not None else OK if text.strip() or code == OK else UNKNOWN
    elif code == OK and failed:
        code = FAILED
    return Outcome(code, failed, passed, error if code not in (OK, UNKNOWN) else None)


def error(text: str) -> tuple[int, int] | None:
    """Return the (start, end) of the first error in a result."""
    return _error(_looked_at(text))


def with_code(text: str, code: int, outcome: Outcome) -> Outcome:
    """Return an outcome with the exit code that was given beside its text."""
    if code == OK:
        return replace(outcome, code=FAILED if outcome.failed else OK)
    return replace(outcome, code=code, error=_error(_looked_at(text)))


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


def _looked_at(text: str) -> list[tuple[int, str]]:
    if len(text) <= READ_AHEAD + READ_BEHIND:
        return [(0, text)]
    return [(0, text[:READ_AHEAD]), (len(text) - READ_BEHIND, text[-READ_BEHIND:])]


def _exit_code(pieces: list[tuple[int, str]]) -> int | None:
    for _, piece in (pieces[-1], pieces[0]):
        edges = (piece[:400], piece[-600:])
        for edge in (edges[1], edges[0]):
            matches = list(_EXIT.finditer(edge))
            if matches:
                return int(matches[-1][1] or matches[-1][2])
    return None


def _counts(pieces: list[tuple[int, str]]) -> tuple[int, int]:
    """Return the tests that failed (including errors) and passed, from the last summary line."""
    for _, piece in reversed(pieces):
        if total := list(_TOTAL.finditer(piece))[-1:]:
            ran, failures, errors = (int(number) for number in total[0].groups())
            return failures + errors, ran - failures - errors
        tail = piece[-6_000:]
        if ran_tests := list(_RAN_TESTS.finditer(tail))[-1:]:
            bad = sum(int(match[2]) for match in _LABELLED.finditer(tail, ran_tests[0].end()))
            return bad, int(ran_tests[0][1]) - bad
        for line in reversed(tail.split("\n")):
            if len(line) > 500 or not _SUMS_UP.search(line):
                continue
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
            if failed or passed:
                return failed, passed
    return 0, 0


def _error(pieces: list[tuple[int, str]]) -> tuple[int, int] | None:
    """Return the place of the first error line; for a traceback, its last line."""
    for base, piece in pieces:
        for match in _ERROR.finditer(piece):
            line = match[0]
            return base + match.start(), base + match.start() + len(line.rstrip())
    return None
