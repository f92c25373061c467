"""Where in a sentence a statement of the user begins and ends.

>>> next(heads("i'm allergic to nuts, so what can i bake?"))
"i'm allergic to nuts"
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from memtree.language.word_file import WordFile

_DATA = WordFile("all", "memory_clauses")

LEAST = 2  # spaces in a statement
_CLAUSES = 3
_LEAD = _DATA.pattern("lead", re.IGNORECASE)
# "..., so what can I cook?": the statement before the question or the request.
_TAIL = _DATA.pattern("tail", re.IGNORECASE)
# "..., but I'm not sure how": what the user thinks about it today.
_AFTERTHOUGHT = _DATA.pattern("afterthought")
_COMMA = re.compile(r"[,;:] | [-–—] ")
# "After a long discussion we agreed to ..."
_INTRO = _DATA.pattern("intro")
# Where a statement of the user may begin within a sentence.
_CLAUSE = _DATA.pattern("clause")
_SPOKEN_FOR = _DATA.pattern("spoken_for")
# "I'm Mara, I live in Ghent": two statements in one sentence.
_SPLICE = _DATA.pattern("splice")

# "... and we spend every summer there": only what stands before says where.
_REFERS_BACK = re.compile(r"\b(?:there|them|it|him|her|too|then|both)\W*$")


def without_lead(text: str, start: int, end: int) -> int:
    """Where a sentence begins behind "by the way", "ok" and the like."""
    lead = _LEAD.match(text, start, end)
    return lead.end() if lead else start


def heads(lower: str) -> Iterator[str]:
    """Yield the beginnings of a sentence that may be a statement: without a question or request at
    its end."""
    after = _AFTERTHOUGHT.search(lower)
    if after and lower.count(" ", 0, after.start()) >= LEAST:
        lower = lower[: after.start()]
    tail = _TAIL.search(lower)
    if tail and lower.count(" ", 0, tail.start()) >= LEAST:
        yield lower[: tail.start()]
        return
    yield lower
    if lower.endswith(("?", "？")):
        commas = [match.start() for match in _COMMA.finditer(lower)]
        yield from (lower[:at] for at in commas[-1:-3:-1])


def later(lower: str) -> Iterator[int]:
    """Yield the places inside a sentence at which a statement may begin, for a sentence that does
    not begin with one."""
    for clause in islice(_CLAUSE.finditer(lower), _CLAUSES):
        if _SPOKEN_FOR.search(lower, 0, clause.end()):
            return
        if not _REFERS_BACK.search(lower, clause.end()):
            yield clause.end()


def spliced(lower: str) -> list[tuple[int, int]]:
    """(start, end) of the parts of a sentence that may each be a statement."""
    joints = [match.span() for match in _SPLICE.finditer(lower)]
    starts = [0, *(end for _, end in joints)]
    ends = [*(start for start, _ in joints), len(lower)]
    parts = list(zip(starts, ends, strict=True))
    if any(_REFERS_BACK.search(lower, start, end) for start, end in parts):
        return [(0, len(lower))]
    return parts


def without_intro(lower: str) -> str:
    """ "After a long discussion we agreed" -> "we agreed"; empty where it has no such beginning."""
    intro = _INTRO.match(lower)
    return lower[intro.end() :] if intro else ""
