r"""Read lines of JSON as programs leave them on a disk.

The file of a running or killed program has half a line at its end, two records on one line, a stub
in front of a record, or NULs where a block was never written. `records` returns what can be read,
and names each other line by its number, never by its text. Every line is gone through at most
`MOST_BREAKS` times.

    >>> read = records(b'{"a": 1}{"a": 2}\n\0\0\n{"a": "un{"a": 3}\n')
    >>> read.values
    [{'a': 1}, {'a': 2}, {'a': 3}]
    >>> for note in read.notes:
    ...     print(note)
    line 1: 2 records on one line, split
    line 3, column 12: not valid JSON: Expecting ',' delimiter; skipped but for 1 record
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

import msgspec

from memtree.errors import BadRequest

MOST_BREAKS = 32  # of a line; each may cost a pass over what follows
MOST_NOTES = 20
MOST_OPENINGS = 64
_NULS = b"\0" * 4  # no encoding begins a text like this
_LINE = re.compile(rb"[^\s\0][^\n]*")
_BETWEEN = re.compile(r"[\s\0,\ufeff]*")  # records: some writers put a comma behind each
_OPENS = re.compile(r'\{\s*"')
_DECODER = json.JSONDecoder()

Decode = Callable[[str, int], tuple[Any, int]]
Opening = tuple[str, ...]


def as_utf8(raw: bytes) -> bytes:
    """Return a text of any Unicode encoding in UTF-8, without a byte order mark and without NULs in
    front. Raises `BadRequest` for one that its own mark does not fit."""
    if raw.startswith(_NULS):
        raw = raw.lstrip(b"\0")
    encoding = json.detect_encoding(raw)  # by the mark, or by where its first NULs stand
    if encoding == "utf-8":
        return raw
    if encoding == "utf-8-sig":
        return raw[3:]
    try:
        return raw.decode(encoding).encode()
    except UnicodeError:
        name = encoding[:6].upper()
        raise BadRequest(f"the file is broken text in {name}; save it in UTF-8") from None


class Line(NamedTuple):
    """`number`: from 1. `end`: where it ends in the file."""

    number: int
    text: bytes
    end: int


def lines(raw: bytes) -> Iterator[Line]:
    """Yield the lines that hold more than white space and NULs, without those at either end."""
    number, seen = 1, 0
    for match in _LINE.finditer(raw):
        number += raw.count(b"\n", seen, match.start())
        seen = match.start()
        yield Line(number, match[0].rstrip(b" \t\r\0"), match.end())


def opening(value: object) -> Opening:
    """Return the first two keys of an object: those by which records of one writer begin."""
    return tuple(islice(value, 2)) if isinstance(value, dict) else ()


def pieces(text: str, decode: Decode, known: Iterable[Opening]) -> Iterator[Any | Exception]:
    """Yield the values of a line that is not one value, and an error for each break.

    Behind a break goes on what begins like a record (`known`): an object inside of the broken
    record is none of the file's own.
    """
    openings = {each for each in known if each}
    at, broken, breaks = 0, False, 0
    while (at := _behind(text, at)) < len(text):
        try:
            value, end = decode(text, at)
        except (ValueError, RecursionError) as error:
            breaks += 1
            if not broken:
                yield error
            broken, end = True, at + 1
            if breaks == MOST_BREAKS:
                return
        else:
            if not broken or opening(value) in openings:
                broken = False
                yield value
        at = _next(text, end) if broken else end


def _behind(text: str, at: int) -> int:
    match = _BETWEEN.match(text, at)
    return match.end() if match else at


def _next(text: str, at: int) -> int:
    match = _OPENS.search(text, at)
    return match.start() if match else len(text)


@dataclass(slots=True)
class Records:
    """`values`: the objects of lines or rows. `faulty`: number of those that are not one object
    each; `notes`: a sentence for each of the first `MOST_NOTES`, and how many follow."""

    values: list[dict[str, Any]] = field(default_factory=list)
    faulty: int = 0
    _notes: list[str] = field(default_factory=list)

    def note(self, message: str) -> None:
        self.faulty += 1
        if len(self._notes) < MOST_NOTES:
            self._notes.append(message)

    @property
    def notes(self) -> tuple[str, ...]:
        more = self.faulty - len(self._notes)
        return (*self._notes, *([f"and {more:,} more like these"] if more else []))


def records(raw: bytes) -> Records:
    """Read the object on each line. `raw`: text in UTF-8. Accepts NaN and half surrogate pairs,
    which JavaScript writes."""
    values: list[Any] = []
    broken: dict[int, tuple[Line, bool]] = {}  # by place in `values`
    for line in lines(raw):
        value, whole = _first(line.text)
        if not whole or not isinstance(value, dict):
            broken[len(values)] = line, whole
        values.append(value)
    if not broken:
        return Records(values)
    known = tuple(islice(dict.fromkeys(map(opening, values)), MOST_OPENINGS))
    read = Records()
    for at, value in enumerate(values):
        if at not in broken:
            read.values.append(value)
            continue
        line, whole = broken[at]
        if whole:
            read.note(f"line {line.number}: must be an object; skipped")
        else:
            _repair(line, read, known)
    return read


def _first(line: bytes) -> tuple[Any, bool]:
    """Return the value that a line begins with, and True if it is all of the line."""
    try:
        return msgspec.json.decode(line), True
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        value = next(_pieces(line, ()), None)  # an error would keep the frames it went through
        return None if isinstance(value, Exception) else value, False


def _pieces(line: bytes, known: Iterable[Opening]) -> Iterator[Any | Exception]:
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        yield error
    else:
        yield from pieces(text, _DECODER.raw_decode, known)


def _repair(line: Line, read: Records, known: tuple[Opening, ...]) -> None:
    parts = list(_pieces(line.text, known))
    values = [piece for piece in parts if isinstance(piece, dict)]
    read.values += values
    wrong = (why(piece) for piece in parts or [None] if not isinstance(piece, dict))
    reason = next(wrong, "")
    kept = f" but for {len(values)} record{'s' * (len(values) > 1)}" if values else ""
    if reason:
        read.note(f"line {line.number}{reason}; skipped{kept}")
    elif len(values) > 1:
        read.note(f"line {line.number}: {len(values)} records on one line, split")


def why(error: object, document: bool = False) -> str:
    """Return the place and the reason, without a piece of what was read: behind the name of a line,
    or of a document over several of them."""
    match error:
        case json.JSONDecodeError():
            line = f", line {error.lineno}" if document else ""
            return f"{line}, column {error.colno}: not valid JSON: {error.msg}"
        case UnicodeDecodeError():
            return f": not text in UTF-8, byte {error.start}"
        case RecursionError():
            return ": nested too deeply"
        case ValueError():
            return ": a number has too many digits"
    return ": must be an object"
