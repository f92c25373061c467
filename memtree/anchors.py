"""Anchors: the words of a text that a summary must not lose or invent, found by rule.

Paths, error names, identifiers, dates, numbers with meaning, quoted names, proper nouns.
"""

from __future__ import annotations

import re

LEAF_ANCHORS = 12
REACH = 6_000  # characters looked at; a leaf is rarely longer

_MONTH = "(?:January|February|March|April|May|June|July|August|September|October|November|December)"
_PATTERN = re.compile(
    r"(?P<error>\b[A-Z]\w*(?:Error|Exception|Warning|Fault|Timeout)\b)"
    r"|(?P<path>(?:[\w.@-]+/)+[\w.@-]+"
    r"|\b[\w-]+\.(?:py|js|ts|tsx|rs|go|java|c|h|cpp|md|toml|json|ya?ml|sh|sql|html|css|txt|cfg|ini)\b)"
    rf"|(?P<date>\b\d{{4}}-\d\d-\d\d\b|\b\d{{1,2}}\.? {_MONTH}\b(?:,? \d{{4}})?"
    rf"|\b{_MONTH} \d{{1,2}}(?:,? \d{{4}})?)"
    r"|(?P<quoted>`[^`\n]{2,60}`)"
    r"|(?P<ident>\b[A-Za-z]+(?:_[A-Za-z0-9]+)+\b|\b[a-z]+(?:[A-Z][a-z0-9]+)+\b|\b(?:[A-Z]{2,}-?\d+[\w-]*)\b)"
    r"|(?P<number>[$€£]\s?\d[\d,.]*\d|\b\d[\d,.]*\s?(?:%|ms|kB|MB|GB|km|kg|USD|EUR|€)|\b\d{3,}\b|\b\d+\.\d+\b)"
    r"|(?P<name>(?<=[a-z,;] )[A-Z][a-z]{2,}(?: [A-Z][a-z]+)*)"
)
_RANK = {"error": 0, "path": 1, "date": 2, "quoted": 3, "ident": 4, "number": 5, "name": 6}


def anchors(text: str, limit: int = LEAF_ANCHORS) -> tuple[str, ...]:
    """Up to `limit` anchors, the most important kind first, then by first mention."""
    found: dict[str, tuple[int, int]] = {}
    for match in _PATTERN.finditer(text, 0, REACH):
        word = match.group().strip("`").strip()
        if 2 <= len(word) <= 80 and word not in found:
            found[word] = (_RANK[match.lastgroup or "name"], match.start())
    return tuple(sorted(found, key=found.__getitem__)[:limit])
