r"""Read the outcome of a command or an edit from the text of its result.

Success needs a sign: an exit status of 0, counts without failures, or a line by which a program
says so. Failure needs one, too. A result without a sign is UNKNOWN, whatever it holds: the command
ran.

>>> ended("collected 3 items\n\n== 1 failed, 2 passed in 0.1s ==\n")
Outcome(code=1, failed=1, passed=2, line=None)
>>> ended("34 modules transformed.\n")
Outcome(code=-1, failed=0, passed=0, line=(0, 23))
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from memtree.digests.call_fields import BUILD, TEST, Action, Field, groups
from memtree.language.word_file import WordFile, lazily
from memtree.text.prose_runs import lowered

_OUTPUT_DATA = WordFile("all", "tool_calls")


class CallResult:
    """The result of a call, parsed once for all actions that it answers."""

    def __init__(self, text: str) -> None:
        marked = any(f'{key}"' in text[:4_000] for key in ("output", "stdout", "result", "success"))
        self._whole = Field(text)
        self._groups = groups(text) if marked and text.startswith(("{", "[{")) else []

    def about(self, name: str) -> tuple[Field, int | None]:
        """Return the text that a command or an edit of a path printed, and the exit code if the
        result is JSON with both."""
        own = self._groups
        if len(own) > 1:
            places = ("query", "command", "path", "file")  # to which a part of a result belongs
            own = [
                group
                for group in own
                if any(name in group[key].text for key in places if key in group)
            ] or own
        code: int | None = None
        said: list[Field] = []
        for group in own:
            value = group.get("exitcode") or group.get("returncode")
            if value is not None and re.fullmatch("-?[0-9]{1,10}", value.text):
                code = int(value.text)
            if (value := group.get("success")) is not None and value.text == "false":
                code = code or FAILED
            elif value is not None and value.text == "true" and code is None:
                code = OK
            said += [group[key] for key in _OUTPUT_DATA.entries("outputs") if key in group][:1]
        return max(said, key=lambda field: len(field.raw), default=self._whole), code


_DATA = WordFile("all", "command_results")

# Exit codes are 0 and higher. A command that was killed has the code that a shell gives for it.
OK, FAILED, UNKNOWN, TIMED_OUT, KILLED, REFUSED, RUNNING = 0, 1, -1, 124, 137, -2, -3
SIGNALS = (130, KILLED, 143)  # exit codes of interrupted and killed commands
# Words for kinds of outcomes, in the order in which they are counted
ENDS = {FAILED: "failed", TIMED_OUT: "timed out", KILLED: "killed", REFUSED: "refused"}
ENDS |= {RUNNING: "still running", OK: "ok", UNKNOWN: "ran"}
READ_AHEAD, READ_BEHIND = 12_000, 12_000  # characters read of a result
FIRST_LINES, LAST_LINES = 3, 12  # lines, empty ones aside, that may say how a command ended
LAST_WORDS = 3  # lines, the last ones, in which a client says that it stopped a command
LONGEST_LINE = 500  # characters; a longer line is data
SUMMARY_LINES = 3  # lines above the last summary of tests that may belong to it
_STATUS = _DATA.pattern("statuses")
_TAGGED_STATUS = _DATA.pattern("tagged_statuses", re.IGNORECASE)
_STATUS_WORDS = re.compile(r"[a-z]+|-?\d+")
_MAY_STATE = re.compile(r"exit|return|rc|process.done", re.IGNORECASE)
_SENTENCE = re.compile(r"\. |///")
_COUNTED = _DATA.pattern("counted", re.IGNORECASE)
_LABELLED = _DATA.pattern("labelled", re.IGNORECASE)
_RAN_TESTS = re.compile(r"^Ran (\d{1,7}) tests? in ", re.MULTILINE)
_TOTAL = re.compile(r"Tests run: (\d{1,7}), Failures: (\d{1,7}), Errors: (\d{1,7})")
_SUMS_UP = _DATA.pattern("sums_up", re.IGNORECASE)
# Signs before the words of a line, such as `✗` and `[`; a warning is no error
_NO_WARNING = r"(?!\W{0,6}(?:W:|\S{0,20}(?i:warn)))"
_SIGN = _NO_WARNING + r"(?:[^\w\s\"'`$({/.@&<=+#:;,?~-][^\w\s]{0,9}[ \t]{0,3}){0,2}"


def _beginning(*sections: str) -> str:
    none = rf"(?!(?:\S{{1,40}} ){{0,2}}(?i:{_DATA.part('no_errors')}))"
    return rf"{_SIGN}{none}(?:{'|'.join(map(_DATA.part, sections))})"


def _at_line_start(*sections: str) -> str:
    return rf"\n[ \t]{{0,3}}(?P<line>{_beginning(*sections)}[^\n]{{0,240}})"


_FAILURE_LINE = lazily(lambda: _at_line_start("failure_lines"), re.MULTILINE)
_ERROR = lazily(lambda: _at_line_start("failure_lines", "error_lines"), re.MULTILINE)
_ERROR_LINE = lazily(lambda: _beginning("error_lines"))
_FAULTS = _DATA.pattern("faults", re.IGNORECASE)
_CURED = _DATA.pattern("cured", re.IGNORECASE)
_PLACE = _DATA.pattern("places", re.IGNORECASE)
_TOTALS = _DATA.pattern("totals")
_SUCCESS = _DATA.pattern("successes", re.IGNORECASE)
_FINISH = _DATA.pattern("finishes", re.IGNORECASE)
_DEED = _DATA.pattern("deeds", re.IGNORECASE)
_TROUBLE = _DATA.pattern("troubles")
_NO_TROUBLE = _DATA.pattern("no_trouble", re.IGNORECASE)
_NOT_RUN = _DATA.pattern("not_run", re.IGNORECASE)
# A client's own line below a result, and lines of signs only
_TRAILER = re.compile(
    r"\((?:Open file|Current directory|Interactive session): |bash-\$|</?[\w-]{1,20}>$"
    r"|\[[^\]]{0,200}\]$|\([^()]{0,40}\bno output\b[^()]{0,40}\)$|\W{0,400}$"
)
_TIMED_OUT = _DATA.pattern("timed_out", re.IGNORECASE)
_KILLED = _DATA.pattern("killed", re.IGNORECASE)
_RUNNING = _DATA.pattern("running", re.IGNORECASE)
_NEGATED = _DATA.pattern("negated", re.IGNORECASE)
_EXIT_COMMAND = re.compile(r"exit -?\d+;?$")
# In lower case, which is searched five times as fast as with IGNORECASE
_REFUSED = _DATA.pattern("refusals")
_SHELL_REFUSED = _DATA.pattern("shell_refusals", re.IGNORECASE | re.MULTILINE)
_FAILURE = _DATA.pattern("failures", re.IGNORECASE)
_DONE = _DATA.pattern("done", re.IGNORECASE)
_NOT_EMPTY = re.compile(r"[^\s][^\n]*+")
_RETURN = re.compile(r"\r(?=\n)")
_MADE = _DATA.pattern("made")
_OVERWRITTEN = _DATA.pattern("overwritten")
_FILE_SHOWN = _DATA.pattern("files_shown")


@dataclass(frozen=True, slots=True)
class Outcome:
    """Outcome of a command. `code`: the exit code, or OK, FAILED, UNKNOWN, TIMED_OUT, KILLED,
    REFUSED (it was not let run), RUNNING. `line`: the (start, end) of the line that tells most, of
    a failure the first error, else the last line that tells something."""

    code: int = UNKNOWN
    failed: int = 0
    passed: int = 0
    line: tuple[int, int] | None = None

    @property
    def kind(self) -> int:
        """FAILED or KILLED for all exit codes that mean it, else the code."""
        failed = FAILED if self.code > OK and self.code != TIMED_OUT else self.code
        return KILLED if self.code in SIGNALS else failed

    @property
    def bad(self) -> bool:
        return self.code > OK


NO_OUTCOME = Outcome()


def end_word(code: int) -> str:
    """Return the word for how a command with this code ended."""
    return ENDS[Outcome(code).kind]


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


def _pieces(text: str) -> list[_Piece]:
    """Return the beginning and the end of a result, or all of a short one."""
    if len(text) <= READ_AHEAD + READ_BEHIND:
        return [_Piece(0, text)]
    end = len(text) - READ_BEHIND
    return [_Piece(0, text[:READ_AHEAD]), _Piece(end, text[end:])]


class _Output:
    """The output of a command: its beginning and its end, and the lines there."""

    def __init__(self, text: str) -> None:
        self.pieces = _pieces(text)
        lines = islice(_NOT_EMPTY.finditer(self.pieces[0].text), FIRST_LINES)
        self.first = [(line.start(), line[0][:LONGEST_LINE].rstrip()) for line in lines]
        self.telling: list[tuple[int, str]] = []
        self._codes = [_stated(line) for _, line in self.first]
        for start, line in islice(self.pieces[-1].last_lines(), LAST_LINES):
            if len(line) <= LONGEST_LINE:
                self._codes.append(code := _stated(line))
                if code is None and not _TRAILER.match(line):
                    self.telling.append((start, line))

    def status(self, given: int | None) -> int | None:
        """Return the exit status that was given or that lines at the beginning or the end state:
        one that is not 0 outweighs others."""
        codes = [code for code in (given, *self._codes) if code is not None]
        edges = self.pieces[0].text[:400], self.pieces[-1].text[-600:]
        codes += [int(match[1]) for edge in edges for match in _TAGGED_STATUS.finditer(edge)]
        codes = [128 - code if -65 < code < 0 else abs(code) for code in codes if code != UNKNOWN]
        return next(filter(None, codes), OK) if codes else None  # -9: by that signal

    def stopped(self, passed: int) -> tuple[int, tuple[int, int]] | None:
        """Return the line that says that the command was stopped, or still runs, and its code. A
        line above the sum of tests is the name of a test."""
        lines = [(self.pieces[-1], *line) for line in self.telling[:LAST_WORDS]]
        lines += [(self.pieces[0], *line) for line in self.first if not passed]
        for piece, start, line in lines:
            if _TOTALS.match(line) or _RAN_TESTS.match(line) or any(_counted(line)):
                break
            for code, pattern in _STOPS:
                if (match := pattern.match(line)) and not _NEGATED.search(match[0]):
                    return code, piece.span(start, start + len(line))
        return None

    def counts(self, tests: bool) -> tuple[int, int]:
        """Return the tests that failed (including errors) and passed, from the last summary. Where
        its last line counts no failure, a line just above may: a file of tests that could not run.
        Where `tests` is false, only the last lines may be a summary."""
        if not tests:
            return _summed([line for _, line in reversed(self.telling)])
        for piece in reversed(self.pieces):
            if total := list(_TOTAL.finditer(piece.text))[-1:]:
                ran, failures, errors = (int(number) for number in total[0].groups())
                return failures + errors, ran - failures - errors
            tail = piece.text[-6_000:]
            if ran_tests := list(_RAN_TESTS.finditer(tail))[-1:]:
                bad = sum(int(match[2]) for match in _LABELLED.finditer(tail, ran_tests[0].end()))
                return bad, int(ran_tests[0][1]) - bad
            if any(sums := _summed(tail.split("\n"))):
                return sums
        return 0, 0

    def judged(self, failed: int, passed: int, purpose: int) -> int:
        """Return the code of an output without an exit status: a line that says that something as a
        whole failed outweighs all; else the last line that says how it ended counts."""
        if failed or any(_FAILURE_LINE.search(f"\n{piece.text}") for piece in self.pieces):
            return FAILED
        text, doubtful, others = self.pieces[-1].text, False, 0
        for at, (start, line) in enumerate(self.telling):
            wrong = _ERROR_LINE.match(line) or (purpose == BUILD and _PLACE.match(line))
            faulty = _FAULTS.search(_CURED.sub("", line))
            if faulty or (wrong and not _indented(text, start)):
                return UNKNOWN if doubtful else FAILED
            if _TOTALS.match(line) or (passed and any(_counted(line))):
                return OK
            if purpose == TEST:
                success = at < LAST_WORDS and _SUCCESS.fullmatch(line)
            else:
                success = _SUCCESS.fullmatch(line)
                if at == 0 and not success:
                    success = _FINISH.fullmatch(line) or _DEED.match(line)
            others += not success and _is_trouble(line)
            doubtful = doubtful or bool(success)
        if doubtful:
            return UNKNOWN if others else OK
        text = self.pieces[0].text
        if any(_ERROR_LINE.match(line) and not _indented(text, at) for at, line in self.first):
            return FAILED
        return OK if passed else UNKNOWN

    def last_line(self) -> tuple[int, int] | None:
        """Return the place of the last line that tells something: one of trouble, else any."""
        for start, line in [line for line in self.telling if _is_trouble(line[1])] or self.telling:
            return self.pieces[-1].span(start, start + len(line))
        return None


_STOPS = ((TIMED_OUT, _TIMED_OUT), (KILLED, _KILLED), (RUNNING, _RUNNING))


def ended(
    text: str, given: int | None = None, *, purpose: int = TEST, piped: bool = False
) -> Outcome:
    """Return the outcome of a command. `given`: the exit code beside the text. `purpose`: that of
    its action; counts of tests are told of tests alone. `piped`: the exit code is that of another
    command, such as a pager behind it."""
    if (line := not_run(text)) is not None:
        return Outcome(REFUSED, line=line)
    output, tests = _Output(text), purpose == TEST
    code = output.status(given)
    failed, passed = output.counts(tests)
    if code is None or (piped and code in (OK, FAILED)):
        if (stop := output.stopped(passed)) is not None:
            return Outcome(stop[0], line=stop[1])
        code = output.judged(failed, passed, purpose)
    elif code == OK and failed and tests:
        code = FAILED
    if not tests:
        failed = passed = 0
    line = _error(output.pieces) if code > OK else None
    if line is None and code != OK and not failed:
        line = output.last_line()
    return Outcome(code, failed, passed, line)


def error(text: str) -> tuple[int, int] | None:
    """Return the (start, end) of the first error in a result."""
    return _error(_pieces(text))


def _error(pieces: Sequence[_Piece]) -> tuple[int, int] | None:
    """Return the place of the first line that tells a failure; for a traceback, its last line."""
    for piece in pieces:
        if match := _ERROR.search(f"\n{piece.text}"):
            start = match.start("line") - 1
            return piece.span(start, start + len(match["line"].rstrip()))
    return None


def command_outcome(text: str, code: int | None, action: Action) -> Outcome:
    """Return the outcome of an action's command. `code`: the exit code beside the text."""
    return ended(text, code, purpose=action.command, piped=action.piped)


def refused(text: str) -> tuple[int, int] | None:
    """Return the (start, end) of the refusal of an edit in its result; None if it was made."""
    if (line := not_run(text)) is not None:
        return line
    beginning = text[:600]
    match = _REFUSED.search(lowered(beginning))
    if match and not (_DONE.search(beginning[: match.start()])):
        start = text.rfind("\n", 0, match.start()) + 1
        end = text.find("\n", match.end())
        return start, len(text) if end < 0 else end
    if _FAILURE.match(beginning):
        end = text.find("\n")
        return 0, len(text) if end < 0 else end
    return None


def not_run(text: str) -> tuple[int, int] | None:
    """Return the (start, end) of the first line if it says that a command was not let run."""
    beginning = text[: 2 * LONGEST_LINE]
    line = beginning.lstrip().partition("\n")[0][:LONGEST_LINE].rstrip()
    start = len(beginning) - len(beginning.lstrip())
    return (start, start + len(line)) if _NOT_RUN.match(line) else None


def not_changed(text: str) -> tuple[int, int] | None:
    """Return where a command line's output says that a file could not be changed."""
    if (line := not_run(text)) is not None:
        return line
    match = _SHELL_REFUSED.search(text[:2_000])
    return match.span() if match else None


def made(text: str) -> bool | None:
    """Return True if a result says that a file is new, False if it existed, else None."""
    beginning = text[:400]
    if _OVERWRITTEN.search(beginning):
        return False
    return True if _MADE.search(lowered(beginning)) else None


def shown_file(text: str) -> tuple[int, int] | None:
    """Return where the result of an edit names the edited file."""
    match = _FILE_SHOWN.search(text[:6_000]) or _FILE_SHOWN.search(text, max(0, len(text) - 400))
    if match is None or match[match.lastindex or 1] == "n/a":
        return None
    return match.span(match.lastindex or 1)


def _stated(line: str) -> int | None:
    """Return the exit status that a line states: it holds no other words than such a statement."""
    if not _MAY_STATE.search(line):  # a cheap test
        return None
    for sentence in _SENTENCE.split(line) if len(line) > 40 else (line,):
        words = " ".join(_STATUS_WORDS.findall(sentence[-120:].lower()))
        if (match := _STATUS.fullmatch(words)) and not _EXIT_COMMAND.match(sentence):
            return int(match[1])
    return None


def _summed(lines: Sequence[str]) -> tuple[int, int]:
    """Return the counts of the last line that sums up."""
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
    line = _CURED.sub("", line)
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


def _is_trouble(line: str) -> bool:
    return bool(_TROUBLE.search(line) and not _NO_TROUBLE.search(line))


def _indented(text: str, start: int) -> bool:
    """Return True for a line that belongs to one above it."""
    return text[start - 1 : start] == "\t" or (start > 3 and not text[start - 4 : start].strip(" "))
