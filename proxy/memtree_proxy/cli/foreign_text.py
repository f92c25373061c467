"""Show foreign text in a terminal without letting it control the terminal.

A terminal takes control characters as commands (ESC, and C1 characters such as U+009B, begin a
command), and characters that change the direction of writing make a line look different from its
content.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

WIDTH = 160  # characters of a text on one line
_STEERS = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
_REPLACED = "\N{REPLACEMENT CHARACTER}"


def plain(text: str) -> str:
    """Replace every character that controls a terminal; line breaks and tabs stay.

    >>> plain("red: \\x1b[31m")
    'red: �[31m'
    """
    return _STEERS.sub(_REPLACED, text)


def one_line(text: str, width: int = WIDTH) -> str:
    """Return the beginning of a text on one line.

    >>> one_line("one\\ntwo   three", 9)
    'one two…'
    """
    shown = plain(" ".join(text[: 4 * width].split()))
    whole = len(shown) <= width and len(text) <= 4 * width
    return shown if whole else f"{shown[: width - 1].rstrip()}…"


def json_line(value: Any) -> str:
    """Return JSON on one line, with escapes for characters that control a terminal; it has the same
    value."""
    return plain_json(msgspec.json.encode(value).decode())


def plain_json(text: str) -> str:
    """Escape those characters in JSON; they occur only in its strings.

    >>> plain_json('"a\\u009b2J"')
    '"a\\\\u009b2J"'
    """
    return _STEERS.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    char = match[0]
    # Between JSON values a carriage return is white space like any other.
    return " " if char == "\r" else f"\\u{ord(char):04x}"
