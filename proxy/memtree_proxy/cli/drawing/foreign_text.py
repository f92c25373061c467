"""Text of others in a terminal: shown, never obeyed.

A terminal takes control characters as orders (ESC, and C1 characters such as U+009B, begin one),
and the characters that turn the direction of writing make a line read otherwise than it is.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

WIDTH = 160  # characters of a text in a line
_STEERS = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
_REPLACED = "\N{REPLACEMENT CHARACTER}"


def plain(text: str) -> str:
    """Lines and tabs stay; whatever would steer a terminal becomes a replacement character.

    >>> plain("red: \\x1b[31m")
    'red: �[31m'
    """
    return _STEERS.sub(_REPLACED, text)


def one_line(text: str, width: int = WIDTH) -> str:
    """The beginning, on one line.

    >>> one_line("one\\ntwo   three", 9)
    'one two…'
    """
    shown = plain(" ".join(text[: 4 * width].split()))
    whole = len(shown) <= width and len(text) <= 4 * width
    return shown if whole else f"{shown[: width - 1].rstrip()}…"


def json_line(value: Any) -> str:
    """JSON of one line, with escapes for what would steer a terminal; the same to who reads it."""
    return plain_json(msgspec.json.encode(value).decode())


def plain_json(text: str) -> str:
    """JSON as it is, but for those characters, which stand in its strings alone.

    >>> plain_json('"a\\u009b2J"')
    '"a\\\\u009b2J"'
    """
    return _STEERS.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    char = match[0]
    # Between the parts of a document, where it is white space like any other.
    return " " if char == "\r" else f"\\u{ord(char):04x}"
