r"""Decode JSON that real clients post and servers accept: with half surrogate pairs, and numbers
beyond 64 bits.

JavaScript cuts strings between the halves of a pair, and writes the half as an escape. It is read
as U+FFFD, whose escape is as long, so places in the mended text are those in the posted one.

    >>> decode(rb'{"a": "cut \ud99c"}')["a"] == "cut \ufffd", json_text({"a": 1 << 70})
    (True, '{"a":1180591620717411303424}')
"""

from __future__ import annotations

import json
import math
import re
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
