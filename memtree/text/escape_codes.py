"""Remove the codes by which programs colour their output, also where a client has lost the escape
character before them: then a `[0m`, which ends a colour, tells that the others are codes."""

from __future__ import annotations

import re
from collections.abc import Iterator

_CODES = re.compile(r"\x1b\[[0-?]{0,40}[ -/]{0,4}[@-~]|\x1b[()][0-9A-B]|\[[0-9;]{1,12}m|\r(?=\n)")


def without_codes(text: str) -> str:
    """Return the text without escape codes; its lines end with a line feed alone.

    >>> without_codes("\\x1b[31m2 failed\\x1b[0m")
    '2 failed'
    """
    return _CODES.sub("", text) if _may_have(text) else text


def codes(text: str) -> Iterator[tuple[int, int]]:
    """Yield the (start, end) of each part that `without_codes` removes."""
    if _may_have(text):
        yield from (match.span() for match in _CODES.finditer(text))


def _may_have(text: str) -> bool:
    return "\x1b" in text or "[0m" in text or "\r\n" in text
