"""Read the day that a message gives for itself.

It stands in a heading, in a time stamp before the text, in a field beside the text, or in a block
that the client's program added. A heading is a line that names a day and nothing else but a time, a
weekday, and words such as "session". A stamp is followed by a speaker's name or by a separator. A
day in a sentence, a quotation, a log or a tool result is not the message's day.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime
from enum import Enum
from functools import cache, lru_cache
from typing import Any

from memtree.history.message import HEAD, RESULT_ROLES, Message
from memtree.history.volatile_blocks import Volatile
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


LINE = 120  # characters of a heading
BLOCK = 4_000  # characters of a client's block that are read
TIME_FIELDS = (
    "timestamp", "created_at", "createdAt", "create_time", "created", "sent_at", "sentAt", "date",
    "datetime", "time", "ts",
)  # fmt: skip
_TIMES = frozenset(TIME_FIELDS)


class MarkSource(Enum):
    """Source of a day mark, which tells how reliable it is."""

    HEAD = "head"  # a heading, a stamp before a name, a field
    LOOSE = "loose"  # it may also be a date that the text talks about
    REMINDER = "reminder"  # the client may update it when an old session is resumed


@dataclass(frozen=True, slots=True)
class DayMark:
    """`clock`: 12 or 24 if a time in that notation stands beside it; else 0."""

    written: WrittenDay
    source: MarkSource
    clock: int = 0


@lru_cache(maxsize=4096)
def _mark(written: WrittenDay, source: MarkSource, clock: int) -> DayMark:
    """Return a mark that all messages of a day share: that saves memory, and allows comparing by
    identity."""
    return DayMark(written, source, clock)


def day_mark(message: Message, volatile: Volatile) -> DayMark | None:
    """Return the mark of a validated message; None if it has none."""
    if mark := _of_fields(message.fields):
        return mark
    role = message.role
    if role in RESULT_ROLES:
        return None
    if role == "assistant" and not may_name_day(message.head(volatile).lstrip()):
        return None
    text = message.view(volatile).text
    if mark := _of_head(text, user=role == "user"):
        return mark
    return _of_blocks(message.text) if role == "user" else None


# -- fields --------------------------------------------------------------------------------------


def _of_fields(fields: dict[str, Any]) -> DayMark | None:
    """Read the first field that holds a time: ISO text, or seconds or milliseconds since 1970."""
    inner = fields.get("metadata")
    for holder in (fields, inner) if isinstance(inner, dict) else (fields,):
        for name in () if _TIMES.isdisjoint(holder) else TIME_FIELDS:
            if name in holder and (day := _moment(holder[name])):
                written = WrittenDay(day.year, day.month, day.day)
                return _mark(written, MarkSource.HEAD, 0)
    return None


_SECONDS = lazily(r"[0-9]{9,13}(?:\.[0-9]{1,9})?")


def _moment(value: Any) -> date | None:
    if isinstance(value, str):
        read, _ = first_day(value[:LINE])
        if read and (day := read.written):
            return None if day.sign or not day.ordinal else date.fromordinal(day.ordinal)
        if not _SECONDS.fullmatch(value[:HEAD]):
            return None
        value = float(value[:HEAD])
    if isinstance(value, bool) or not isinstance(value, int | float) or not 1e9 <= value < 5e12:
        return None
    try:
        return datetime.fromtimestamp(value / 1000 if value > 1e11 else value, UTC).date()
    except (ValueError, OverflowError, OSError):
        return None


# -- the head of the text --------------------------------------------------------------------------


def _of_head(text: str, user: bool) -> DayMark | None:
    head = text[:HEAD].lstrip()
    if not may_name_day(head):
        return None
    lines = [line.strip() for line in head.split("\n")]
    cut = len(text) > HEAD  # the end of the last line is unknown
    mark: DayMark | None = None
    for index, line in enumerate(lines):
        if not line:
            continue
        following = next(filter(None, lines[index + 1 :]), "")
        read, end = first_day(line[:LINE])
        if read is None or end < len(line) or (cut and index + 1 == len(lines)):
            if read is None or not read.written:
                return mark or _stamp_behind_name(line)
            return mark or _stamp(line, read, end, following, user)
        source = _heading(line, read, user, following)
        if not (read.written or read.session) or (mark and source is not MarkSource.HEAD):
            break
        if read.written and source and not any(map(_MAIL.match, lines[index + 1 : index + 3])):
            mark = _mark(read.written, source, read.clock)
    return mark


_BARS = ("--", "==", "—", "–", "***", "~~", "──", "━━")


def _heading(line: str, read: DayLine, user: bool, following: str) -> MarkSource | None:
    """Return how reliably a line that names only a day is a heading; None if it is none. An
    assistant's answer may have headings for the days that it describes."""
    if read.session or line.startswith(("[", "【", *_BARS)):
        return MarkSource.HEAD
    if not user:
        return None
    if read.today or (not read.labelled and line.startswith(("#", "**", "__"))):
        return MarkSource.HEAD
    if not following or line.startswith(("- ", "* ", "+ ")):
        return None
    return None if following[0].isdigit() else MarkSource.LOOSE  # a list of days


_MAIL = lazily(
    r"(?:from|to|cc|bcc|subject|message-id|sender|reply-to|von|an|betreff|de|para|asunto|à|objet"
    r"|assunto|da|oggetto|van|aan|onderwerp)\s?:",
    re.IGNORECASE,
)


# -- stamps ----------------------------------------------------------------------------------------

_SPEAKER = lazily(
    r"[*_<~@+]{0,2}\s?(?P<name>[^\W_][\w .'’()-]{0,39}?)[*_>]{0,2}\s?[:：](?!/)"
    r"|<(?P<nick>[^\s<>]{1,30})>\s"
)
_SPEAKER_FIRST = lazily(
    r"[*_<~@+]{0,2}\s?(?P<name>[^\W\d_][\w .'’-]{0,39}?)[*_>]{0,2},?[ \t]{1,2}"
    r"[*_]{0,2}[\[(](?P<in>[^\[\]()\n]{4,60})[\])][*_]{0,2}\s?(?:[:：]|$)"
)
_CLOSING = {"[": "]", "(": ")", "【": "】"}
_WORD = lazily(r"[A-Za-z]+")
_PROCESS = lazily(r"[\w.-]{1,40}\[[0-9]+\]:")
_EXACT = lazily(r"[0-9]:[0-9]{2}:[0-9]{2}")
_APART = (":", "–", "—", "|", " -", " --")


def _stamp(line: str, read: DayLine, end: int, following: str, user: bool) -> DayMark | None:
    """Read the stamp before a speaker's name, or (for a user) before a text with a separator.
    `read`, `end`: the date at the beginning of the line, and where it ends; `following`: the next
    line."""
    closed = _CLOSING.get(line[0])
    bracket = closed is not None and line.find(closed, 1, end) > 0
    rest = line[end:].lstrip("*_ \t")
    if not read.written or not rest or (closed and not bracket) or _is_log(rest):
        return None
    speaker = _SPEAKER.match(rest)
    if speaker and (bracket or read.clock) and _is_name(speaker["name"] or speaker["nick"]):
        # otherwise it may be the name of a program
        capital = speaker["nick"] or not speaker["name"][0].islower()
        if capital:
            source = MarkSource.HEAD if read.clock else MarkSource.LOOSE
            return _mark(read.written, source, read.clock)
    if not user or not read.written.year or line.endswith("?"):
        return None
    if following[:1].isdigit() or following[:1] == line[0] == "[":
        return None  # each line begins with a number: a log, a table, a list
    if _EXACT.search(line, 0, end):
        return None  # precise to the second: a program wrote it
    apart = bracket or (not read.written.sign and line[:end].rstrip().endswith(_APART))
    return _mark(read.written, MarkSource.LOOSE, read.clock) if apart else None


def _stamp_behind_name(line: str) -> DayMark | None:
    named = _SPEAKER_FIRST.match(line)
    read = day_line(named["in"]) if named and _is_name(named["name"]) else None
    if not read or not read.written or not read.clock:
        return None
    return _mark(read.written, MarkSource.HEAD, read.clock)


_LEVELS = frozenset(
    "trace debug info notice warn warning error fatal critical panic note todo http https".split()
)


def _is_log(rest: str) -> bool:
    levels = (word for word in _WORD.findall(rest, 0, 40)[:3] if word.isupper())
    return (
        rest[0] in "[{"
        or any(word.lower() in _LEVELS for word in levels)
        or bool(_PROCESS.match(rest))
    )


def _is_name(name: str) -> bool:
    return len(name.split()) <= 5 and name.strip().lower() not in _LEVELS


# -- blocks of clients -------------------------------------------------------------------------

_TODAY = r"(?:today['’]s[ ]date(?:[ ]is)?|current[ _](?:date|time)(?:[ ]is)?)[:>]?\s{0,4}"
_TOLD = {  # by tag, the words before today's date
    "system-reminder": lazily(_TODAY, re.IGNORECASE),
    "environment_context": lazily(_TODAY, re.IGNORECASE),
    "environment_details": lazily(_TODAY, re.IGNORECASE),
    "env": lazily(
        _TODAY + r"|^[ \t]{0,8}(?:[0-9]\.[ ])?date:\s{0,4}", re.IGNORECASE | re.MULTILINE
    ),
}
_BLOCKS = Volatile(tuple(_TOLD))
_WORDS = ("date", "Date", "Time")


def _of_blocks(text: str) -> DayMark | None:
    """Read today's date in a block that a client's program put into a user's message."""
    if "</" not in text or not any(word in text for word in _WORDS):
        return None
    mark = None
    for tag, start, end in _BLOCKS.blocks(text):
        for match in _TOLD[tag].finditer(text, start, min(end, start + BLOCK)):
            line = text[match.end() : match.end() + LINE].partition("\n")[0]
            read, _ = first_day(line)
            if read and read.written and read.written.year:
                reminder = tag == "system-reminder"
                source = MarkSource.REMINDER if reminder else MarkSource.HEAD
                mark = _mark(read.written, source, read.clock)
    return mark
