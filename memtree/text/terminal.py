r"""Read text as a terminal shows it: find the characters that stay when all of it is printed.

Programs draw over what they printed: a progress bar returns to the beginning of its line, a spinner
goes one character back, several bars go up some lines. The captured output has every state, and
only the last was meant to stay. A line is what was written after its last carriage return, without
escape codes. Text is never made anew: `shown` returns spans of it. Lines below each other all stay,
also where they are the states of one bar: rows of a table look alike. So do paragraphs that
end with carriage returns alone.

Returns, backspaces, moves to another line or column and erasing are followed. A cleared screen and
a move to a numbered line begin a new line: text above them stays. A JSON value is read inside its
long strings.

    >>> text = " 10%\r 55%\r100%\x1b[32m ok\x1b[0m\r\nDone\n"
    >>> [text[span.start : span.end] for span in shown(text)]
    ['100%', ' ok', '\r\nDone\n']
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

LEAST_STRING = 200  # characters of a JSON string that may be a program's output
LONGEST = 400  # characters of a line whose first word is read
MOST_SPANS = 50_000  # of a text, about: a bound on memory; what stands behind stays as posted
SHORTER = 8  # characters that a state of a bar may be shorter than the one before


class Shown(NamedTuple):
    """Characters [start, end) that stay. `seam`: the text between them and the span before, which
    is "" within a line; None: they are no neighbours in the view, too."""

    start: int
    end: int
    seam: str | None = ""


class _Spelling(NamedTuple):
    """Spelling of control characters: `token` matches one, or a code that begins with one, `code`
    only what is never shown, and `move` what brings the cursor elsewhere than to a new line.
    `escape`: what each code with letters begins with."""

    token: re.Pattern[str]
    code: re.Pattern[str]
    move: re.Pattern[str]
    newline: str
    home: str
    backspace: str
    escape: str


# ECMA-48: control sequences, strings (titles, links, images) up to their terminator, other codes.
_CODE = r"""
    (?P<code>ESC(?:
        \[(?P<number>[0-9]*+)[0-?]*+[ -/]*+(?P<move>(?:FINAL)?+)
        | [\]PX^_](?:INSIDE)*+(?:BELL|ESCBACKSLASH|STRINGEND)
        | [ -/]*+(?:[0-?]|FINAL)?+
    ) | BELL | SHIFT)
"""
_CONTROL = r"(?P<line>(?:CR)*+NL) | (?P<home>(?:CR)++) | (?P<back>(?:BS)++) | "
# Erasing what is behind the cursor changes nothing where it stands at the end of all.
_MOVE = r"BS | CR(?<!CRCR)(?:CR)*+(?!NL|\Z) | ESC\[(?!0?[JK])[0-?]*+[ -/]*+[A-HJKf]"
_BARE = r" | (?P<bare>\[(?:\d{1,3}(?:;\d{1,3}){0,8})?m(?!\]))"  # a client dropped the escape
_OTHER = r" | (?P<text>\\.)"  # an escape of JSON that stands for a printed character

_SIGNS = {
    "BACKSLASH": (r"\\", r"\\\\"),
    "CR": (r"\r", r"\\r"),
    "NL": (r"\n", r"\\n"),
    "BS": (r"\x08", r"\\b"),
    "ESC": (r"\x1b", r"\\u001[bB]"),
    "BELL": (r"\x07", r"\\u0007"),
    "SHIFT": (r"[\x0e\x0f]", r"\\u000[eEfF]"),
    "STRINGEND": (r"\x9c", r"(?:\x9c|\\u009[cC])"),
    "FINAL": (r"[@-~]", r"[@-\[\]-~]|\\\\"),
    "INSIDE": (
        r"[^\x00-\x1f\x9c]",
        r"[^\x00-\x1f\x9c\\] | \\[\\\"/] | \\u(?!00(?:[01]|9[cC]))[0-9a-fA-F]{4}",
    ),
}


def _spelling(*controls: str, more: str = "", escaped: bool = False) -> _Spelling:
    """Return a spelling. `controls`: its strings. `more`: a form of another token."""

    def pattern(form: str) -> re.Pattern[str]:
        for name, signs in _SIGNS.items():
            form = form.replace(name, signs[escaped])
        return re.compile(form, re.VERBOSE | re.DOTALL)

    return _Spelling(
        pattern(_CONTROL + _CODE + more), pattern(_CODE + more), pattern(_MOVE), *controls
    )


_PLAIN = _spelling("\n", "\r", "\b", "\x1b")
_UNESCAPED = _spelling("\n", "\r", "\b", "\x1b", more=_BARE)
_ESCAPED = _spelling("\\n", "\\r", "\\b", "\\u001", more=_OTHER, escaped=True)
_RETURN = re.compile(r"\r(?<!\r\r)\r*+(?!\n|\Z)")  # within a line; each run is read once
_ESCAPED_CONTROLS = ("\\u001b", "\\u001B", "\\b", "\\u000", "\\r")
_STRING = re.compile(r'"((?:[^"\\]|\\.)*+)"', re.DOTALL)
_DIGIT = re.compile(r"\d")
_WORD = re.compile(r"[^\W\d_]+")


def shown(text: str) -> Sequence[Shown] | None:
    """Return the spans of a text that stay, in order; None if all of it does. Takes time linear in
    the text."""
    drawn = "\x1b" in text or "\b" in text or ("\r" in text and _RETURN.search(text))
    if text[:1] in ("{", "[") and not drawn and _is_json(text):
        spans = _in_strings(text)
    elif "[" in text and "[0m" in text and "\x1b" not in text:
        spans = _drawn(text, 0, len(text), _UNESCAPED)
    elif drawn:
        spans = _drawn(text, 0, len(text), _PLAIN)
    else:
        return None
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
    if not any(sign in text for sign in _ESCAPED_CONTROLS):
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
        if any(sign in match[1] for sign in _ESCAPED_CONTROLS):
            spans.append(Shown(at, start))
            spans += _drawn(text, start, end, _ESCAPED)
            at = end
        if len(spans) > MOST_SPANS:
            break
    return _joined([*spans, Shown(at, len(text))])


class _Returns:
    """Tells carriage returns that end lines, as on old Macintoshes, from those by which programs
    draw over a line. Each line up to a newline is looked at once."""

    def __init__(self, text: str, start: int, end: int, spelling: _Spelling) -> None:
        self._text, self._stop, self._end, self._spelling = text, start, end, spelling
        self._end_lines = False
        self._terminal = text.find(spelling.escape, start, end) >= 0

    def end_lines(self, at: int) -> bool:
        """Return True if a return ends a line. `at`: its place, behind those asked for before."""
        if not self._terminal and at >= self._stop:
            newline = self._spelling.newline
            before = self._text.rfind(newline, self._stop, at)
            begin = before + len(newline) if before >= 0 else self._stop
            stop = self._text.find(newline, at, self._end)
            self._stop = stop if stop >= 0 else self._end
            lines = self._text[begin : self._stop].split(self._spelling.home)
            self._end_lines = _are_lines(lines)
        return self._end_lines


def _are_lines(texts: Iterable[str]) -> bool:
    """Return False if texts are drawn over one another: most are like the one before and cover it,
    or spaces wipe one out."""
    words = alike = 0
    before, first = "", ""
    for text in texts:
        if before and text.isspace() and len(text) >= len(before):
            return False
        match = _WORD.search(text[:LONGEST])
        if match:
            words += 1
            alike += match[0] == first and _covers(text, before)
            before, first = text.rstrip(), match[0]
    return 2 * alike < words - 1


def _covers(text: str, before: str) -> bool:
    """Return True if a text that begins with the word of the one before may be its next state."""
    counts = _DIGIT.search(text[:LONGEST]) and _DIGIT.search(before[:LONGEST])
    longer = len(text) + SHORTER >= len(before)
    return longer and (counts is not None or text.startswith(before[: len(before) // 2]))


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
        if self._home and end - start < line.size and self._text[start:end].isspace():
            return
        if self._home and (line.spans or line.newline):
            line.clear()
        elif self._back:
            line.shorten(self._back)
        line.write(Shown(start, end, self._seam if line.spans else ""))
        self._home, self._back, self._seam = False, 0, ""

    def spans(self) -> int:
        """Return the number of spans that are held, newlines included."""
        return sum(len(line.spans) + 1 for line in self.lines)

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
        count = int(number or 0) or 1
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


def _without_codes(text: str, start: int, end: int, spelling: _Spelling) -> list[Shown]:
    """Return what stays of text[start:end] if its codes are only left out."""
    spans, at = [], start
    for match in spelling.code.finditer(text, start, end):
        if match.lastgroup != "text":
            if at < match.start():
                spans.append(Shown(at, match.start()))
            at = match.end()
            if len(spans) >= MOST_SPANS:
                break
    if at < end:
        spans.append(Shown(at, end))
    return spans


def _drawn(text: str, start: int, end: int, spelling: _Spelling) -> list[Shown]:
    """Return what stays of text[start:end] on a screen."""
    if not spelling.move.search(text, start, end):
        return _without_codes(text, start, end, spelling)
    screen, returns, at = _Screen(text, spelling), _Returns(text, start, end, spelling), start
    for number, match in enumerate(spelling.token.finditer(text, start, end), 1):
        kind = match.lastgroup
        if kind != "text" and (kind != "home" or not returns.end_lines(match.start())):
            if at < match.start():
                screen.write(at, match.start())
            if kind != "code" or match["move"]:
                screen.obey(match)
            at = match.end()
        if number % MOST_SPANS == 0 and screen.spans() > MOST_SPANS:
            break
    if at < end:
        screen.write(at, end)
    lines = [[*line.spans, *filter(None, [line.newline])] for line in screen.lines]
    spans: list[Shown] = []
    before = -1
    for (begin, stop, seam), at in sorted(
        (span, at) for at, line in enumerate(lines) for span in line
    ):
        if at != before and spans:
            newline = screen.lines[before].newline
            ended = newline is not None and newline.end == spans[-1].end
            seam = "" if ended else spelling.newline
        if spans and seam == "" and spans[-1].end == begin:
            spans[-1] = Shown(spans[-1].start, stop, spans[-1].seam)
        else:
            spans.append(Shown(begin, stop, seam))
        before = at
    return spans


def _joined(spans: Iterable[Shown]) -> list[Shown]:
    """Join spans that follow each other in the text."""
    joined: list[Shown] = []
    for span in spans:
        if joined and span.seam == "" and joined[-1].end == span.start:
            joined[-1] = joined[-1]._replace(end=span.end)
        elif span.start < span.end:
            joined.append(span)
    return joined
