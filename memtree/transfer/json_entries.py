"""Read the JSON of a file one entry after the other: lines, or the elements of a document's lists.

No more than one entry is in memory as objects, and how much that may be is looked at before it is
decoded: a bomb of a few bytes each is refused, not built. A broken line costs itself; a broken
document costs what stands behind the break.
"""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Iterator
from json.decoder import JSONDecodeError
from typing import Any, NamedTuple, TypeVar

from memtree.text.json_lines import MOST_OPENINGS, Opening, lines, opening, pieces, why
from memtree.transfer.file_items import BROKEN, CUT_OFF, LineResult, LineStatus

MOST_VALUES = 2_000_000  # of one entry
_SPACE = re.compile(r"[ \t\r\n]*")
_SCALAR = re.compile(r"[^,\]}]*")
# A string that is never closed reaches to the end: looked for anew behind each of its quotation
# marks, it would cost the square of the text.
_PIECE = re.compile(r'"(?:[^"\\]|\\(?:.|\Z))*+(?:"|\Z)|[\[\]{}]', re.DOTALL)
_LONGEST_INTEGER = 20  # characters of a number that 64 bits hold


class FileEntry(NamedTuple):
    """`key`: the field of the document that the value is, or is an element of."""

    line: int
    value: Any
    key: str = ""


Result = TypeVar("Result")
Steps = Generator[FileEntry | LineResult, None, Result]


class RepeatedKeys(dict[str, Any]):
    """An object in which a key stands twice: two readers may see two different ones."""


def line_entries(raw: bytes) -> Iterator[FileEntry | LineResult]:
    """The value of each line that is not blank; of records that were glued together, each. What is
    no object and stands beside something else is a piece of a document, and no entry."""
    known: dict[Opening, None] = {}
    for line in lines(raw):
        try:
            text = line.text.decode()
        except UnicodeDecodeError as error:
            yield broken(line.number, error)
            continue
        if _values(text) > MOST_VALUES:
            yield _too_much(line.number)
            continue
        parts = list(pieces(text, _DECODER.raw_decode, known))
        is_broken = False
        for piece in parts:
            named_already = is_broken
            if len(parts) > 1 and not isinstance(piece, dict | Exception):
                piece = JSONDecodeError("Extra data", text, 0)
            if not (is_broken := isinstance(piece, Exception)):
                if len(known) < MOST_OPENINGS:
                    known[opening(piece)] = None
                yield FileEntry(line.number, piece)
            elif not named_already:
                last = line.end == len(raw) and line.number > 1
                cut = last and isinstance(piece, JSONDecodeError)
                yield _cut_off(line.number) if cut else broken(line.number, piece)


def document_entries(text: str, most: int = MOST_VALUES) -> Iterator[FileEntry | LineResult]:
    """The elements of the list that a document is, or of the lists that stand in its object; its
    other fields as they are. Documents one behind the other, as the parts of an export, count as
    one. `most`: values of one entry."""
    guard = most if _values(text) > most else 0
    at, number = _space(text, 0), 0
    while 0 <= at < len(text):
        if text[at] == "[":
            at, number = yield from _elements(text, at, "", guard, number)
        elif text[at] == "{":
            at = yield from _members(text, at, guard)
        else:
            yield broken(1, JSONDecodeError("Extra data", text, at), document=True)
            return
        at = _space(text, at) if at >= 0 else at


def _elements(text: str, at: int, key: str, guard: int, number: int) -> Steps[tuple[int, int]]:
    """Returns where the list ends, -1 where it is broken, and the number of its last element.
    `guard`: values that one element may hold; 0: all of the text holds no more. `number`: of the
    element before the first one."""
    at = _space(text, at + 1)
    while text[at : at + 1] != "]":
        number += 1
        try:
            if guard and _values(text, at, end := _end(text, at)) > guard:
                yield _too_much(number, guard)
                at = end
            else:
                value, at = _DECODER.raw_decode(text, at)
                yield FileEntry(number, value, key)
            at = _next(text, at, "]")
        except (ValueError, RecursionError) as error:
            yield _stopped(number, error, text)
            return -1, number
    return at + 1, number


def _members(text: str, at: int, guard: int) -> Steps[int]:
    """Returns where the object ends, -1 where it is broken."""
    at = _space(text, at + 1)
    while text[at : at + 1] != "}":
        try:
            key, at = _key(text, at)
            if text[at : at + 1] == "[":
                at, _ = yield from _elements(text, at, key, guard, 0)
                if at < 0:
                    return -1
            elif guard and _values(text, at, end := _end(text, at)) > guard:
                yield _too_much(1, guard)
                at = end
            else:
                value, at = _DECODER.raw_decode(text, at)
                yield FileEntry(1, value, key)
            at = _next(text, at, "}")
        except (ValueError, RecursionError) as error:
            yield _stopped(1, error, text)
            return -1
    return at + 1


def _key(text: str, at: int) -> tuple[str, int]:
    """The key that begins here, and where its value begins."""
    if text[at : at + 1] != '"':
        raise JSONDecodeError("Expecting property name enclosed in double quotes", text, at)
    key, at = _DECODER.raw_decode(text, at)
    at = _space(text, at)
    if text[at : at + 1] != ":":
        raise JSONDecodeError("Expecting ':' delimiter", text, at)
    return key, _space(text, at + 1)


def _next(text: str, at: int, closing: str) -> int:
    """Where the next element begins, or the list or object ends."""
    at = _space(text, at)
    if text[at : at + 1] == ",":
        at = _space(text, at + 1)
        if text[at : at + 1] != closing:
            return at
    if text[at : at + 1] != closing:
        raise JSONDecodeError("Expecting ',' delimiter", text, at)
    return at


def _end(text: str, at: int) -> int:
    """Where the value that begins here ends, without building it."""
    if text[at : at + 1] not in ("[", "{", '"'):
        match = _SCALAR.match(text, at)
        return match.end() if match else at
    depth = 0
    for piece in _PIECE.finditer(text, at):
        mark = piece[0]
        depth += 1 if mark in "[{" else -1 if mark in "]}" else 0
        if not depth:
            return piece.end()
    return len(text)


def _values(text: str, start: int = 0, end: int | None = None) -> int:
    """No fewer than the values of the JSON in it."""
    return sum(text.count(mark, start, end) for mark in ",[{")


def _space(text: str, at: int) -> int:
    """The first place from here on that is no white space."""
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _integer(digits: str) -> int | float:
    """One that is too large for a database is no integer to it."""
    value = int(digits) if len(digits) <= _LONGEST_INTEGER else 2**64
    return value if -(2**63) <= value < 2**63 else float(digits)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    return made if len(made) == len(pairs) else RepeatedKeys(made)


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_int=_integer)


def _too_much(number: int, most: int = MOST_VALUES) -> LineResult:
    message = f"holds more than {most:,} values"
    return LineResult(number, LineStatus.INVALID, "too_large", message)


def _cut_off(number: int) -> LineResult:
    return LineResult(number, LineStatus.INVALID, CUT_OFF, "the file breaks off here")


def broken(number: int, error: Exception, document: bool = False) -> LineResult:
    reason = "encoding" if isinstance(error, UnicodeDecodeError) else "json"
    return LineResult(number, LineStatus.INVALID, reason, why(error, document).lstrip(",: "))


def _stopped(number: int, error: Exception, text: str) -> LineResult:
    """Return the result of the place from which nothing can be read any more."""
    cut = isinstance(error, JSONDecodeError) and (
        error.msg.startswith("Unterminated string") or _space(text, error.pos) >= len(text)
    )
    if cut:
        return _cut_off(number)
    result = broken(number, error, document=True)
    return result._replace(reason=BROKEN, message=f"{result.message}; nothing behind it was read")
