r"""Decode the JSON that real clients post, and bring the arguments of tool calls into one form.

Clients post, and servers accept, half surrogate pairs and numbers beyond 64 bits. JavaScript cuts
strings between the halves of a pair, and writes the half as an escape. It is read as U+FFFD, whose
escape is as long, so places in the mended text are those in the posted one.

    >>> decode(rb'{"a": "cut \ud99c"}')["a"] == "cut \ufffd", json_text({"a": 1 << 70})
    (True, '{"a":1180591620717411303424}')

Clients re-serialise the arguments that a model wrote: `{"path": "a"}` comes back as `{"path":"a"}`,
an escape as its character, `1.0` as `1`. So arguments that are a JSON object are hashed and indexed
as compact JSON with the keys in their order. Excerpts quote the posted text: `Spelling` maps
characters of the compact form to those of the posted string.

    >>> canonical('{"path": "caf\\u00e9", "line": 1.0}')
    '{"path":"café","line":1}'
    >>> canonical("not JSON")
    'not JSON'

Arguments are posted as the text of a JSON object, in which a line break is spelled `\n`. They are
quoted decoded, string by string, each found with its path; `ArgumentValue` maps characters of the
posted text to those of the decoded string.

    >>> [(v.path, v.text) for v in argument_values('{"path": "a", "edits": [{"new": "x\\ny"}]}')]
    [('.path', 'a'), ('.edits[0].new', 'x\ny')]
    >>> argument_values("not JSON")
    ()
"""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeVar, overload

import msgspec

# A pair, or else half of one, or any other escape.
_ESCAPE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\.",
    re.DOTALL,
)
_DIGITS = 18  # of an integer that always fits in 64 bits

Value = TypeVar("Value")


def mended(raw: bytes | memoryview) -> bytes:
    """Return JSON text with U+FFFD in place of each half surrogate pair; its length stays."""
    return _ESCAPE.sub(lambda match: rb"\ufffd" if match["half"] else match[0], raw)


@overload
def decode(raw: bytes | memoryview) -> Any: ...
@overload
def decode(raw: bytes | memoryview, type: type[Value]) -> Value: ...
def decode(raw: bytes | memoryview, type: Any = Any) -> Any:
    """Decode JSON as msgspec does, half surrogate pairs as U+FFFD. Raises `msgspec.DecodeError`,
    `UnicodeDecodeError` or `RecursionError`."""
    try:
        return msgspec.json.decode(raw, type=type)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        if (text := mended(raw)) == raw:
            raise
        return msgspec.json.decode(text, type=type)


def decode_any(raw: bytes) -> Any:
    """Decode any JSON value; a number out of range becomes its text. Raises as `decode` does."""
    try:
        return decode(raw)
    except msgspec.ValidationError:
        return json.loads(mended(raw).decode(), parse_float=_float, parse_int=_integer)


def _float(text: str) -> float | str:
    return number if math.isfinite(number := float(text)) else text


def _integer(text: str) -> int | str:
    return int(text) if len(text) <= _DIGITS else text


def encode(value: object, order: Literal["deterministic"] | None = None) -> bytes:
    """Return a decoded value as compact JSON in UTF-8. `order`: as in msgspec."""
    try:
        return msgspec.json.encode(value, order=order)
    except OverflowError:  # an integer beyond 64 bits
        text = json.dumps(
            value, ensure_ascii=False, separators=(",", ":"), sort_keys=order is not None
        )
        return text.encode()


def json_text(value: object) -> str:
    """Return a decoded value as compact JSON."""
    return encode(value).decode()


# Applied only to valid JSON, so a string is always closed; possessive, so it never backtracks.
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"|[{}\[\]:,]|[^\s{}\[\]:,"]++', re.DOTALL)
_WHOLE = re.compile(r'"(?:[^"\\]++|\\.)*+"|(-?[0-9]++)\.0(?![0-9eE])', re.DOTALL)

_ANY_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|[^u])"
)


def canonical(arguments: str) -> str:
    """Return compact JSON if `arguments` is the text of a JSON object, else `arguments` itself.

    Two texts with the same canonical form hold the same values under the same keys in the same
    order. An object with a duplicate key is left unchanged.
    """
    if not arguments.lstrip(" \t\r\n").startswith("{"):
        return arguments
    try:
        value = msgspec.json.decode(arguments)
        compact = msgspec.json.encode(value).decode()
    except (msgspec.DecodeError, UnicodeError, RecursionError, ValueError, OverflowError):
        return arguments
    if ".0" in compact:  # JavaScript does not distinguish 1.0 from 1
        compact = _WHOLE.sub(_without_sign, compact)
    if compact == arguments:
        return arguments
    # A match is true. Fewer tokens: there was a duplicate key.
    posted, written = [sum(map(bool, _TOKEN.finditer(text))) for text in (arguments, compact)]
    return compact if posted == written else arguments


def _without_sign(match: re.Match[str]) -> str:
    whole = match[1]
    if whole is None:  # a string
        return match[0]
    return "0" if whole == "-0" else whole


class Escapes:
    """Ends of the escapes in the text of a JSON string, as it is spelled and decoded."""

    def __init__(self, raw: str) -> None:
        self._spelled, self._decoded, removed = [0], [0], 0
        for match in _ANY_ESCAPE.finditer(raw):
            removed += len(match[0]) - 1
            self._spelled.append(match.end())
            self._decoded.append(match.end() - removed)

    def decoded(self, offset: int, *, first: bool) -> int:
        """Return the place in the decoded text; the end of a span (not `first`) that cuts an escape
        is behind it."""
        at = bisect_right(self._spelled, offset) - 1
        place = self._decoded[at] + offset - self._spelled[at]
        if at + 1 < len(self._decoded) and place >= self._decoded[at + 1]:  # inside an escape
            return self._decoded[at + 1] - first
        return place

    def spelled(self, place: int) -> int:
        """Return where a character of the decoded text is spelled."""
        at = bisect_right(self._decoded, place) - 1
        return self._spelled[at] + place - self._decoded[at]


@dataclass(frozen=True)  # without slots, since the tokens are cached properties
class Spelling:
    """The posted text of a JSON object beside its compact form, token by token."""

    posted: str
    compact: str
    _escapes: dict[int, tuple[Escapes, Escapes] | None] = field(default_factory=dict, compare=False)

    @cached_property
    def _posted(self) -> tuple[tuple[int, int], ...]:
        return tuple(match.span() for match in _TOKEN.finditer(self.posted))

    @cached_property
    def _compact(self) -> tuple[tuple[int, int], ...]:
        return tuple(match.span() for match in _TOKEN.finditer(self.compact))

    @cached_property
    def _starts(self) -> tuple[int, ...]:
        return tuple(start for start, _ in self._compact)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the span of the posted characters for the compact characters [start, end), start <
        end. An escape, or a number with a different spelling, is included whole.
        """
        return self._posted_at(start, 0), self._posted_at(end - 1, 1)

    def _posted_at(self, offset: int, behind: int) -> int:
        """Return where the posted form of a compact character begins, or ends (`behind` is 1)."""
        token = bisect_right(self._starts, offset) - 1
        low, high = self._compact[token]
        posted_low, posted_high = self._posted[token]
        if token not in self._escapes:
            compact, posted = self.compact[low:high], self.posted[posted_low:posted_high]
            same = compact == posted
            self._escapes[token] = None if same else (Escapes(compact), Escapes(posted))
        escapes = self._escapes[token]
        if escapes is None:
            return posted_low + offset - low + behind
        if self.compact[low] != '"':
            return self._posted[token][behind]
        place = escapes[0].decoded(offset - low + behind, first=not behind)
        return posted_low + escapes[1].spelled(place)


MAX_DEPTH = 24
LONGEST_PATH = 150  # characters; `explain` repeats the path with each excerpt
_VALUE = re.compile(r'"((?:[^"\\]++|\\.)*+)"|[{}\[\],]', re.DOTALL)
_KEY = re.compile(r"[^.\[\]]+")  # a name that the path of a part can hold


@dataclass(frozen=True)  # without slots: the places of escapes are a cached property
class ArgumentValue:
    """A string in the text of a call's arguments, [start, end) without its quotation marks.
    `path`: as in `.edits[0].new`; `text`: the decoded string."""

    start: int
    end: int
    path: str
    raw: str
    text: str

    @cached_property
    def _escapes(self) -> Escapes:
        return Escapes(self.raw)

    def decoded(self, start: int, end: int) -> tuple[int, int]:
        """Return the characters of the decoded text for characters [start, end) of the arguments;
        an escape that the span cuts is included whole."""
        low, high = max(start, self.start) - self.start, min(end, self.end) - self.start
        return self._escapes.decoded(low, first=True), self._escapes.decoded(high, first=False)


def argument_values(arguments: str) -> tuple[ArgumentValue, ...]:
    """Return the strings in arguments that are the text of a JSON object, in order; none if a path
    cannot name each of them: there is a duplicate key, or one with a dot or a bracket, or the
    path of any value is too long."""
    if not arguments.lstrip(" \t\r\n").startswith("{"):
        return ()
    try:
        json.loads(arguments, object_pairs_hook=_named)
        return tuple(_strings(arguments))
    except (ValueError, RecursionError):
        return ()


def _named(pairs: list[tuple[str, Any]]) -> None:
    """Raise `ValueError` for an object whose members cannot be named."""
    names = [name for name, _ in pairs]
    if len(set(names)) < len(names) or not all(map(_KEY.fullmatch, names)):
        raise ValueError("keys that no path can name")


def _strings(arguments: str) -> Iterator[ArgumentValue]:
    """Yield the strings of valid JSON. Raises `ValueError` for half a surrogate pair."""
    opened: list[tuple[str, int]] = []  # paths of open objects (-1) and lists (the next index)
    key = ""
    for match in _VALUE.finditer(arguments):
        sign = match[0]
        path, index = opened[-1] if opened else ("", -1)
        here = f"{path}[{index}]" if index >= 0 else f"{path}.{key}"
        if len(here) > LONGEST_PATH:  # whatever stands there: each further token would repeat it
            raise ValueError("a path that is too long")
        if sign in "{[":
            if len(opened) > MAX_DEPTH:
                raise ValueError("nested too deeply")
            opened.append((here if opened else "", 0 if sign == "[" else -1))
            key = ""
        elif sign in "}]":
            opened.pop()
            key = ""
        elif sign == ",":
            key = ""
            if index >= 0:
                opened[-1] = path, index + 1
        elif index < 0 and not key:
            key = json.loads(sign)
        else:
            text = json.loads(sign)
            text.encode()
            yield ArgumentValue(*match.span(1), here, match[1], text)
