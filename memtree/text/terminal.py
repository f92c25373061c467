r"""Read text as a terminal shows it: find the characters that stay when all of it is printed.

Programs draw over what they printed: a progress bar returns to the beginning of its line, a spinner
goes one character back, several bars go up some lines. The captured output has every state, and
only the last was meant to stay. A line is what was written after its last carriage return, without
escape codes. Text is never made anew: `shown` returns spans of it. Programs that print each state
of a bar on a line of its own are read alike (`_repeated`).

Returns, backspaces, moves to another line or column and erasing are followed. A cleared screen and
a move to a numbered line begin a new line: text above them stays. A JSON value is read inside its
long strings.

    >>> text = " 10%\r 55%\r100%\x1b[32m ok\x1b[0m\r\nDone\n"
    >>> [text[span.start : span.end] for span in shown(text)]
    ['100%', ' ok', '\r\nDone\n']
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

import msgspec

LEAST_STRING = 200  # characters of a JSON string that may be a program's output
LEAST_RUN, STEP = 10, 8  # lines of one bar; each such run has a multiple of STEP before its last
LONGEST = 400  # characters of a line that may be the state of a bar
NEAR = 8  # most characters by which one state is longer than the next
LEAST_OLD = 2  # returns in a text whose lines end with carriage returns alone


class Shown(NamedTuple):
    """Characters [start, end) that stay. `seam`: the text between them and the span before, which
    is "" within a line; None: lines are left out there."""

    start: int
    end: int
    seam: str | None = ""


class _Spelling(NamedTuple):
    """Spelling of control characters: `token` matches one, or a code that begins with one."""

    token: re.Pattern[str]
    newline: str
    backspace: str


# ECMA-48: control sequences, strings (titles, links, images) up to their terminator, other codes.
_TOKEN = r"""
    (?P<line>(?:CR)*+NL) | (?P<home>(?:CR)++) | (?P<back>(?:BS)++)
    | (?P<code>ESC(?:
        \[(?P<number>[0-9]*+)[0-?]*+[ -/]*+(?P<move>[@-~]?+)
        | [\]PX^_][^\x00-\x1f\\]*+(?:BELL|ESCBACKSLASH|\x9c)
        | [ -/]++[0-~]?+
        | [0-~]?+
    ) | BELL | SHIFT)
"""
_BARE = r" | (?P<bare>\[(?:\d{1,3}(?:;\d{1,3}){0,8})?m(?!\]))"  # a client dropped the escape
_OTHER = r" | (?P<text>\\.)"  # an escape of JSON that stands for a printed character


def _pattern(form: str, *signs: str) -> re.Pattern[str]:
    names = ("BACKSLASH", "CR", "NL", "BS", "ESC", "BELL", "SHIFT")
    for name, sign in zip(names, signs, strict=True):
        form = form.replace(name, sign)
    return re.compile(form, re.VERBOSE)


_RAW = (r"\\", r"\r", r"\n", r"\x08", r"\x1b", r"\x07", r"[\x0e\x0f]")
_JSON = (r"\\\\", r"\\r", r"\\n", r"\\b", r"\\u001[bB]", r"\\u0007", r"\\u000[eEfF]")
_PLAIN = _Spelling(_pattern(_TOKEN, *_RAW), "\n", "\b")
_UNESCAPED = _Spelling(_pattern(_TOKEN + _BARE, *_RAW), "\n", "\b")
_ESCAPED = _Spelling(_pattern(_TOKEN + _OTHER, *_JSON), "\\n", "\\b")
_RETURN = re.compile(r"\r(?!\r*+(?:\n|\Z))")
_ESCAPED_CONTROLS = ("\\u001b", "\\u001B", "\\b", "\\u000", "\\r")
_STRING = re.compile(r'"((?:[^"\\]|\\.)*+)"', re.DOTALL)


_MEASURE = re.compile(  # a number with its unit, or a time
    r"(?P<time>\d+(?::\d\d)+(?:[.,]\d+)?)"
    r"|(?P<value>(?P<thousands>\d{1,3}(?:,\d{3})++(?:\.\d+)?)|\d+(?:[.,]\d+)?)"
    r"(?:(?P<percent>\s?%)"
    r"|(?P<unit>\s?(?:[kKMGT]i?)?(?:B|[bB]ytes?|[bB]its?|it)(?:ps|/s)?(?![^\W\d_])"
    r"|(?:[mµun]?s|sec|min|[KMGmhd])(?:/s)?(?![^\W\d_])))?"
)
_OF = re.compile(r"\s?[/／]\s?|(?: [^\W\d_]{1,8}){1,2} |\s?中\s?")  # between a count and its whole
_SIGNS = r"[▀-▟⠁-⣿◐-◓]|\[[=#>*. -]{8,}\]"  # of a bar or a spinner
_SIGN = re.compile(_SIGNS)
_HINT = re.compile(
    rf"\d ?%|\d ?[a-zA-Z]{{0,5}} ?[/／] ?\d|\d(?: [^\W\d_]{{1,8}}){{1,2}} \d|中|{_SIGNS}"
)
_BAR = re.compile(r"([^\w\s])\1\1")
_WORD = re.compile(r"[^\W\d_]+")


def shown(text: str) -> Sequence[Shown] | None:
    """Return the spans of a text that stay, in order; None if all of it does. Takes time linear in
    the text."""
    drawn = "\x1b" in text or "\b" in text or ("\r" in text and _RETURN.search(text))
    if text[:1] in ("{", "[") and not drawn and _is_json(text):
        spans = _in_strings(text)
    elif drawn and not _has_old_lines(text):
        spans = _drawn(text, 0, len(text), _PLAIN)
    elif "[0m" in text:
        spans = _drawn(text, 0, len(text), _UNESCAPED)
    else:
        spans = _listed(text, 0, len(text), _PLAIN)
    return spans if len(spans) != 1 or spans[0][:2] != (0, len(text)) else None


def without_codes(text: str) -> str:
    """Return the text as a terminal shows it.

    >>> without_codes("\\x1b[31m2 failed\\x1b[0m")
    '2 failed'
    """
    spans = shown(text)
    if spans is None:
        return text
    return "".join(f"{span.seam or ''}{text[span.start : span.end]}" for span in spans)


def _is_json(text: str) -> bool:
    """Return True for a JSON value in which output may be escaped."""
    drawn = any(sign in text for sign in _ESCAPED_CONTROLS)
    if not drawn and text.count("\\n") < LEAST_RUN:
        return False
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return False
    return True


def _in_strings(text: str) -> list[Shown]:
    """Return what stays of a JSON value: all of it outside of its strings, and of short strings
    without escape codes."""
    spans: list[Shown] = []
    at = 0
    for match in _STRING.finditer(text):
        start, end = match.span(1)
        if "\\u001" not in match[1] and end - start < LEAST_STRING:
            continue
        drawn = any(sign in match[1] for sign in _ESCAPED_CONTROLS)
        spans.append(Shown(at, start))
        spans += (_drawn if drawn else _listed)(text, start, end, _ESCAPED)
        at = end
    return _joined([*spans, Shown(at, len(text))])


def _has_old_lines(text: str) -> bool:
    """Return True if carriage returns end the lines of a text, as on old Macintoshes: lines that
    are drawn over one another have a beginning in common."""
    if "\n" in text or "\x1b" in text or text.count("\r") < LEAST_OLD:
        return False
    begins = [_WORD.search(line[:LONGEST]) for line in text.split("\r")]
    words = [match[0] for match in begins if match]
    return 2 * sum(a == b for a, b in pairwise(words)) < len(words) - 1


class _Line:
    """A line of the screen: the spans written on it, each with the text before it, and the span of
    its newline."""

    __slots__ = ("newline", "size", "spans")

    def __init__(self) -> None:
        self.spans: list[Shown] = []
        self.newline: Shown | None = None
        self.size = 0

    def write(self, span: Shown) -> None:
        self.spans.append(span)
        self.size += span.end - span.start

    def clear(self) -> None:
        self.spans, self.newline, self.size = [], None, 0

    def shorten(self, size: int) -> None:
        """Remove the last characters."""
        left = max(0, self.size - size)
        while self.size > left:
            start, end, seam = self.spans.pop()
            self.size -= end - start
            if self.size < left:
                self.write(Shown(start, start + left - self.size, seam))


class _Screen:
    """Lines as they are drawn. `home`: the cursor is at the beginning of its line; `back`: how many
    characters it went back; both matter once something is written there."""

    def __init__(self, text: str, spelling: _Spelling) -> None:
        self._text = text
        self._spelling = spelling
        self.lines = [_Line()]
        self._at = 0
        self._home, self._back, self._seam = True, 0, ""

    def write(self, start: int, end: int) -> None:
        """Print characters of the text."""
        line = self.lines[self._at]
        if start == end or (
            self._home and end - start < line.size and self._text[start:end].isspace()
        ):
            return
        if self._home and (line.spans or line.newline):
            line.clear()
        elif self._back:
            line.shorten(self._back)
        line.write(Shown(start, end, self._seam if line.spans else ""))
        self._home, self._back, self._seam = False, 0, ""

    def obey(self, match: re.Match[str]) -> None:
        """Do what a control character or code says."""
        if match.lastgroup == "line":
            line = self.lines[self._at]
            line.newline = line.newline or Shown(*match.span())
            self._go(1)
        elif match.lastgroup == "home":
            self._home = True
        elif match.lastgroup == "back":
            self._back += (match.end() - match.start()) // len(self._spelling.backspace)
        elif match.lastgroup == "code" and (move := match["move"]):
            self._move(move, match["number"][:4])

    def _move(self, move: str, number: str) -> None:
        count = int(number or 1)
        if move in "AF":
            self._go(-count)
        elif move in "BE":
            self._go(count)
        elif move in "Hf" or (move == "J" and count > 1):
            self._go(len(self.lines))
        elif move == "K" or (move == "J" and number != "1"):
            self._erase(number if move == "K" else "0", below=move == "J")
        elif move == "G" and count <= 1:
            self._home = True
        elif move in "CG":
            self._seam = " "
        elif move == "D":
            self._back += count

    def _erase(self, number: str, *, below: bool) -> None:
        """Erase what is behind the cursor (0), before it (1), or its line (2)."""
        if below:
            del self.lines[self._at + 1 :]
        if number == "2" or self._home == (number != "1"):
            self.lines[self._at].clear()
        elif self._back and number != "1":
            self.lines[self._at].shorten(self._back)
            self._back = 0

    def _go(self, lines: int) -> None:
        """Move the cursor to another line; below the last one is one new line."""
        self._at = max(0, min(self._at + lines, len(self.lines)))
        if self._at == len(self.lines):
            self.lines.append(_Line())
        self._home, self._back, self._seam = True, 0, ""


def _drawn(text: str, start: int, end: int, spelling: _Spelling) -> list[Shown]:
    """Return what stays of text[start:end] on a screen."""
    screen, at = _Screen(text, spelling), start
    for match in spelling.token.finditer(text, start, end):
        if match.lastgroup != "text":
            screen.write(at, match.start())
            screen.obey(match)
            at = match.end()
    screen.write(at, end)
    lines = [[*line.spans, *filter(None, [line.newline])] for line in screen.lines]
    dropped = set[int]()
    for low, high in _repeated(["".join(text[s.start : s.end] for s in line) for line in lines]):
        dropped.update(range(low, high))
    placed = sorted(
        (span, at) for at, line in enumerate(lines) for span in line if at not in dropped
    )
    spans: list[Shown] = []
    before = -1
    for span, at in placed:
        seam: str | None = span.seam
        if at != before and spans:
            seam = "" if screen.lines[before].newline == spans[-1] else spelling.newline
            seam = None if at - 1 in dropped else seam
        spans.append(span._replace(seam=seam))
        before = at
    return _joined(spans)


def _listed(text: str, start: int, end: int, spelling: _Spelling) -> list[Shown]:
    """Return what stays of lines that are printed below each other."""
    if text.count(spelling.newline, start, end) < LEAST_RUN:
        return [Shown(start, end)]
    lines = text[start:end].split(spelling.newline)
    width = len(spelling.newline)
    starts: list[int] = []
    spans: list[Shown] = []
    at = start
    for low, high in _repeated(lines):
        starts = starts or list(accumulate((len(line) + width for line in lines), initial=start))
        if starts[low] > at:
            spans.append(Shown(at, starts[low], None if spans else ""))
        at = starts[high]
    return [*spans, Shown(at, end, None if at > start else "")]


def _joined(spans: Iterable[Shown]) -> list[Shown]:
    """Join spans that follow each other in the text."""
    joined: list[Shown] = []
    for span in spans:
        if joined and span.seam == "" and joined[-1].end == span.start:
            joined[-1] = joined[-1]._replace(end=span.end)
        elif span.start < span.end:
            joined.append(span)
    return joined


class _State(NamedTuple):
    """A line that may be one state of a bar. `words` and `kinds` are those of all its states;
    kinds: "%" a share, "/" a count before its whole, "u" a number with a unit, "" another."""

    words: tuple[str, ...]
    kinds: tuple[str, ...]
    values: tuple[float, ...]


def _repeated(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield runs of lines [first, last) that are earlier states of the line behind them: they
    differ in nothing but a share or count that rises, measures and the signs of a bar or spinner.
    """
    done = 0
    for at in range(0, len(lines) - 1, STEP):
        line = lines[at]
        if at < done or abs(len(lines[at + 1]) - len(line)) > NEAR or not line:
            continue
        if not _HINT.search(line[:LONGEST]):
            continue
        state = _state(lines[at])
        if state is None:
            continue
        low = high = at
        states = deque([state])
        while low > done and (other := _state(lines[low - 1])) and other[:2] == state[:2]:
            low -= 1
            states.appendleft(other)
        while (
            high + 1 < len(lines)
            and (other := _state(lines[high + 1]))
            and (other[:2] == state[:2])
        ):
            high += 1
            states.append(other)
        done = high + 1
        yield from _rising(list(states), low)


def _state(line: str) -> _State | None:
    """Read a line; None if it cannot be a state of a bar: a row of a table is none."""
    text = line.strip()
    if not text or len(text) > LONGEST or text[0] == "|" or "\t" in text:
        return None
    kinds: list[str] = []
    values: list[float] = []
    before: re.Match[str] | None = None
    rest: list[str] = []
    for match in _MEASURE.finditer(text):
        between = text[before.end() if before else 0 : match.start()]
        if before and _OF.fullmatch(between):
            kinds[-1] = kinds[-1] if kinds[-1] == "%" else "/"
        rest.append(between)
        measured = match["unit"] or match["time"]
        kinds.append("%" if match["percent"] else "u" if measured else "")
        number = (match["value"] or "0").replace(",", "" if match["thousands"] else ".")
        values.append(float(number))
        before = match
    words = tuple(_WORD.findall(" ".join([*rest, text[before.end() if before else 0 :]])))
    progress = "%" in kinds or "/" in kinds or _SIGN.search(text)
    if not progress or (
        len(values) > 1 and not words and not _BAR.search(text) and "/" not in kinds
    ):
        return None
    return _State(words, tuple(kinds), tuple(values))


def _rising(states: Sequence[_State], first: int) -> Iterator[tuple[int, int]]:
    """Yield the runs of states, counted from line `first`, that end in the one behind them."""
    kinds = states[0].kinds
    shares = [at for at, kind in enumerate(kinds) if kind in ("%", "/")]
    # A number that is no share, count or measure may be what the line is about: it must not vary.
    fixed = [at for at, kind in enumerate(kinds) if not kind or (at and kinds[at - 1] == "/")]
    low = 0
    for at in range(1, len(states) + 1):
        old = states[at - 1].values
        new = states[at].values if at < len(states) else None
        if new is not None and all(
            old[n] <= new[n] if n in shares else old[n] == new[n] for n in (*shares, *fixed)
        ):
            continue
        rises = not shares or any(states[low].values[n] < old[n] for n in shares)
        if at - low >= LEAST_RUN and rises:
            yield first + low, first + at - 1
        low = at
