"""Recognise licences by their first sentences, and name them as in the SPDX list."""

from __future__ import annotations

import re
from functools import cache

from memtree.language.word_file import WordFile

_DATA = WordFile("all", "licences")

_READ = 2_500  # characters of the beginning
_SHORT = 1_200  # characters in which the title stands


@cache
def _titles() -> tuple[tuple[str, re.Pattern[str]], ...]:
    titles = _DATA.table("titles").items()
    return tuple((name, re.compile(pattern, re.IGNORECASE)) for name, pattern in titles)


_GENERAL = re.compile(
    r"^[ \t]*(\S[^\n]{2,70}\blicen[cs]e(?: agreement)?(?:,? v[\w. ]{1,14})?)[ \t]*$",
    re.IGNORECASE | re.MULTILINE,
)
_FOURTH = "endorse or promote products"


def licence(text: str, head: str) -> str:
    """Return the name of the licence that a text is, or "". A text that only mentions a licence is
    much longer before the name."""
    beginning = re.sub(r"[ \t\n]+", " ", head[:_READ])[:_SHORT]
    first: tuple[int, str] | None = None
    for name, pattern in _titles():
        match = pattern.search(beginning)
        if match and (first is None or match.start() < first[0]):
            named = name.format(match[1]) if "{}" in name and match.lastindex else name
            first = (match.start(), named)
    if first and _is_text(text, first[1]):
        name = first[1]
        if name == "BSD":
            name = "BSD-3-Clause" if _FOURTH in text[: 2 * _READ] else "BSD-2-Clause"
        return f"{name} licence"
    general = _GENERAL.search(head[:400])
    return general[1] if general and _is_text(text, "") else ""


def _is_text(text: str, name: str) -> bool:
    """Return True if a text holds the words of a licence, not only its name."""
    beginning = text[:8_000].lower()
    words = ("permission", "warranties", "warranty", "licensor", "copyright", "distribut", "liable")
    return sum(word in beginning for word in words) >= (2 if name else 3)
