"""Recognise lines that name a day and nothing else.

>>> day_line("Session 3 (1:56 pm on 8 May, 2023)").written.day, day_line("Lunch on 8 May, 2023")
(8, None)
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from memtree.language import day_names
from memtree.language.word_file import WordFiles, lazily
from memtree.language.written_days import WrittenDay, written_day

_DATA = WordFiles("day_lines")

_WEEKDAY = lazily(lambda: day_names.WEEKDAYS, re.IGNORECASE)
_CLOCK = lazily(
    r"T?[0-9]{1,2}[:.h][0-9]{2}(?:[:.][0-9]{2})?(?:[.,][0-9]{1,6})?(?![0-9])"
    r"(?P<half>\s?[ap]\.?\s?m\b\.?)?|T?[0-9]{1,2}(?P<hour>\s?[ap]\.?m\b\.?)",
    re.IGNORECASE,
)
_CLOCK_STARTS = frozenset("T0123456789")
_DIGIT = lazily(r"[0-9]")
_FIRST_WORD = lazily(r"[^\W\d_]{1,20}(?:['’]s)?")
_SIGNS = frozenset("0123456789[(#*=-_~—–【─━")
EARLY = 60  # characters within which the first digit of a heading must stand
_OTHER = lazily(
    r"(?P<word>[^\W\d_]+(?:['’][^\W\d_]+|-feira)?)|(?P<zone>[+-][0-9]{1,2}(?::?[0-9]{2})?(?![0-9]))"
    r"|(?P<number>[0-9]{1,4}(?![\w.]))|(?P<sign>[\[{<]|[^\w\s\[{<]+|_+)|(?P<space>\s+)"
)


@cache
def _month_starts() -> frozenset[str]:
    return frozenset(name[:3] for name in day_names.ALL_BESIDE_YEARS)


@dataclass(frozen=True, slots=True)
class DayLine:
    """`clock`: 12 or 24 if a time in that notation stands beside the day, else 0. `session`,
    `today`, `labelled`: the line has a word such as "session", "today", "date"."""

    written: WrittenDay | None = None
    clock: int = 0
    session: bool = False
    today: bool = False
    labelled: bool = False


def day_line(line: str) -> DayLine | None:
    """Read a line that consists only of a day and words that go with it; None for any other line,
    and for one with two days."""
    read, end = first_day(line)
    return read if end == len(line) else None


def may_name_day(head: str) -> bool:
    """Return True if a text may begin with a day, by its first word or sign: most texts do not."""
    first = head[:1]
    if not first.isalpha():
        return first in _SIGNS and bool(_DIGIT.search(head, 0, EARLY))
    word = _FIRST_WORD.match(head)
    if not word or not _DIGIT.search(head, 0, EARLY):
        return False
    bracket = head.find("(", 0, EARLY) > 0 or head.find("[", 0, EARLY) > 0
    return bracket or word[0][:3].lower() in _month_starts() or _word(word[0], set())


def first_day(line: str) -> tuple[DayLine | None, int]:
    """Read a line up to the first word or number that does not belong to a date. Returns the day
    read, and the position of that word. A two-digit year counts only beside a time."""
    written, clock, at, end = None, 0, 0, 0
    kinds: set[str] = set()
    unknown = numbered = False
    while at < len(line):
        day_match = None if written or unknown else _day_at(line, at)
        if day_match:
            (written, at), numbered = day_match, False
        elif line[at] in _CLOCK_STARTS and (match := _CLOCK.match(line, at)):
            clock = clock or (12 if match["half"] or match["hour"] else 24)
            at, numbered = match.end(), False
        elif match := _OTHER.match(line, at):
            kind = match.lastgroup
            if kind == "word":
                if written and line.startswith((":", "："), match.end()):
                    break  # the name of a speaker: Sam, Dom
                goes = _word(match["word"], kinds)
                if unknown and "session" not in kinds:
                    break
                if not goes and (unknown or kinds or written):
                    break
                unknown = not goes
                numbered = bool(goes and kinds)
            elif kind == "number":
                if not numbered:
                    break
                numbered = False
            elif written and clock and line[at] in "[{<":
                break  # a log field, a nickname
            at = match.end()
        else:
            break
        end = end if unknown else at
    if written and written.short_year and not clock:
        written = None
    read = DayLine(written, clock, "session" in kinds, "today" in kinds, "label" in kinds)
    return (read, end) if end else (None, 0)


def _day_at(line: str, at: int) -> tuple[WrittenDay, int] | None:
    first = line[at]
    if first.isdigit() or (first.isalpha() and line[at : at + 3].lower() in _month_starts()):
        return written_day(line, at)
    return None


def _word(word: str, kinds: set[str]) -> bool:
    """Record the kind of a word; returns False if it does not belong to a date."""
    low = word.lower()
    for kind in ("session", "today", "label"):
        if low in _DATA.word_set(kind):
            kinds.add(kind)
            return True
    return low in _DATA.word_set("beside") or bool(_WEEKDAY.fullmatch(low))
