"""Anchors: the words of a text that a summary must not lose or invent, found by rule.

Error names, paths, dates, quoted names, identifiers, numbers with meaning, proper nouns; each is a
substring of the text. Words are classified once and remembered, because code repeats its words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

LEAF_ANCHORS = 12
LONGEST = 80  # characters of one anchor
REACH = 6_000  # characters looked at; a leaf is rarely longer
ERROR, PATH, DATE, QUOTED, IDENTIFIER, NUMBER, NAME, MONTH, PLAIN = range(9)

_WORD = re.compile(r"[^\s\"'`()\[\]{}<>,;=|*#!?]+")
_QUOTED = re.compile(r"`([^`\n]{2,60})`")
_KINDS = (
    (ERROR, re.compile(r"(?:\w+\.)*[A-Z]\w*(?:Error|Exception|Warning|Fault|Timeout)")),
    (
        PATH,
        re.compile(r"(?:[\w.@~-]+)?(?:/[\w.@-]+)+(?::\d+)?|[\w-]+\.[a-z]{1,4}[a-z0-9]?(?::\d+)?"),
    ),
    (DATE, re.compile(r"\d{4}-\d\d-\d\d\S*")),
    (IDENTIFIER, re.compile(r"[A-Za-z]\w*_\w+|_\w+|[a-z]+[A-Z]\w*|[A-Z]{1,9}\w*-\d[\w-]*")),
    (NUMBER, re.compile(r"[$€£]\d[\d.]*\w?|\d[\d.]*(?:%|ms|kB|MB|GB|km|kg|€)|\d{3,}|\d+\.\d+")),
    (NAME, re.compile(r"[A-Z][a-z]{2,}(?:-[A-Z][a-z]+)?")),
)
_MONTHS = frozenset(
    "January February March April May June July August September October November December".split()
)
_MEMO_LIMIT = 100_000
_memo: dict[str, int] = {}


def anchors(text: str, limit: int = LEAF_ANCHORS) -> tuple[str, ...]:
    """Up to `limit` anchors, the most important kind first, then by first mention."""
    found: dict[str, tuple[int, int]] = {}
    for order, (word, kind) in enumerate(_found(text[:REACH])):
        if 2 <= len(word) <= LONGEST and word not in found:
            found[word] = (kind, order)
    return tuple(sorted(found, key=found.__getitem__)[:limit])


def _found(text: str) -> Iterator[tuple[str, int]]:
    before = ""
    words = _WORD.findall(text)
    for index, raw in enumerate(words):
        word = raw.rstrip(".:-")
        kind = _memo.get(word)
        if kind is None:
            kind = _learn(word)
        if kind == MONTH:
            yield _date(text, words, index) or word, DATE
        elif kind == NAME:
            if before.islower():  # not merely the first word of a sentence
                yield word, NAME
        elif kind != PLAIN:
            yield word, kind
        before = raw
    if "`" in text:
        for quoted in _QUOTED.findall(text):
            yield quoted, QUOTED


def _date(text: str, words: list[str], index: int) -> str:
    """`March 5`, `5 March` or `March 5, 2024`, where it stands so in the text."""
    around = [word.strip(".,:") for word in words[max(0, index - 1) : index + 3]]
    at = min(index, 1)
    after = [word for word in around[at + 1 :] if word.isdigit()]
    shapes = [f"{around[at]} {', '.join(after[:2])}", f"{around[at]} {' '.join(after[:1])}"]
    if at and around[0].isdigit():
        shapes.insert(0, f"{around[0]} {around[at]}")
    return next((shape for shape in shapes if any(map(str.isdigit, shape)) and shape in text), "")


def _learn(word: str) -> int:
    if len(word) > LONGEST:
        return PLAIN
    kind = next((kind for kind, pattern in _KINDS if pattern.fullmatch(word)), PLAIN)
    if word in _MONTHS:
        kind = MONTH
    if len(_memo) >= _MEMO_LIMIT:
        _memo.clear()
    _memo[word] = kind
    return kind
