"""Things of their own that a statement tells of: a task, an appointment, an animal, somebody.

Which of these a kind is, its name says ("Task", "Pet"); what of it fills which field, the fields'
names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from memtree.language.lazy_patterns import lazily
from memtree.language.word_file import WordFile
from memtree.memories.agents.slot_filling.field_claims import CHOSEN, MEANT, RecordClaim
from memtree.memories.agents.slot_filling.user_statements import Statement
from memtree.memories.agents.slot_filling.values import coming_day
from memtree.memories.extraction.dates import DateKind, dates
from memtree.memories.extraction.schedule import is_schedule

_DATA = WordFile("en", "memory_records")

TASK, EVENT, PET, PERSON = "task", "event", "pet", "person"
RECORDS = {name: _DATA.words(f"kinds_of_{name}") for name in (TASK, EVENT, PET, PERSON)}
LONGEST = 12  # words of a title

_ASKED = _DATA.pattern("asked")
_ADD_TO = _DATA.pattern("add_to")
_MUST = _DATA.pattern("must")
_PRIORITY = _DATA.pattern("priority")
_TIDY = _DATA.pattern("tidy")
_HAVE = _DATA.pattern("have")
_MY = lazily(r"(?:my|our|the) (?:next )?(?=\w)")
_VERB = _DATA.pattern("verb")
_PET_HAVE = _DATA.pattern("pet_have")
_PET_MY = _DATA.pattern("pet_my")

_PERSON = _DATA.pattern("person")
_NOT_NAMES = _DATA.words("not_names")


def records(said: Statement, day: date | None) -> Iterator[RecordClaim]:
    """Things that a statement tells of. `day`: on which it was said. Linear."""
    yield from _tasks(said, day)
    if not said.code:
        yield from _events(said, day)
        yield from _pets(said)
        yield from _people(said)


def _tasks(said: Statement, day: date | None) -> Iterator[RecordClaim]:
    lower = said.lower
    if match := _ASKED.match(lower):
        when = match["when"] or ""
        if when and not dates(when, day):
            return
        yield from _task(said, match.end(), len(lower), day, MEANT, also=when)
    elif match := _ADD_TO.match(lower):
        yield from _task(said, *match.span("what"), day, MEANT)
    elif match := _MUST.match(lower):
        rest = said.text[match.end() :]
        if coming_day(rest, day) and not re.match(
            r"(?:be|go now|know|help|you|an?|the|some|\d)\b", rest
        ):
            yield from _task(said, match.end(), len(lower), day, CHOSEN)


def _task(
    said: Statement, start: int, end: int, day: date | None, sure: float, also: str = ""
) -> Iterator[RecordClaim]:
    text = said.text[start:end]
    parts: list[tuple[str, str]] = []
    if level := _PRIORITY.search(text.lower()):
        parts.append(("priority", level["level"] or level["other"] or level["urgent"]))
        text = text[: level.start()] + text[level.end() :]
    due = coming_day(text, day) or coming_day(also, day)
    days = dates(text, day)
    last = days[-1] if days else None
    named = also.strip()
    if last and not text[last.end :].strip(" .,!"):
        first = next((one for one in days if not text[one.end : last.start].strip(" ,at")), last)
        named = text[min(first.start, last.start) : last.end]
        text = text[: min(first.start, last.start)]
    title = _TIDY.sub("", text).strip(" \"'")
    if not 0 < len(title.split()) <= LONGEST or not title[0].isalnum():
        return
    if re.match(r"(?:it|this|that|them)\b", title.lower()) or re.search(
        r"\b(?:this|that|it|these)$", title.lower()
    ):
        return
    place = said.place(start, end)
    yield RecordClaim(
        TASK, (("title", title), *parts), place.start, place.end, sure,
        due, named,
    )  # fmt: skip


def _events(said: Statement, day: date | None) -> Iterator[RecordClaim]:
    lower = said.lower
    ahead = coming_day(said.text, day)
    if not ahead or not is_schedule(said.text, day):
        return
    when = next(one for one in dates(said.text, day) if one.kind is not DateKind.TIME)
    start, end = -1, when.start
    if match := _MY.match(lower):
        verb = _VERB.search(lower, match.end(), when.start)
        start = match.end()
        end = verb.start() if verb else -1
    elif match := _HAVE.match(lower):
        start = match.end()
    if start < 0 or end <= start:
        return
    title = _TIDY.sub("", said.text[start:end])
    clock = dates(title, day)
    if clock:
        title = _TIDY.sub("", title[: clock[0].start])
    if not 0 < len(title.split()) <= 8 or re.search(r"\b(?:that|which|if|because)\b", title):
        return
    parts = [("title", title)]
    if where := re.search(r" (?:at|in) ((?:the )?[A-ZÀ-Þ][^,.;]{2,40}?)$", title):
        parts = [("title", title[: where.start()]), ("place", where[1])]
    elif where := re.match(r" (?:at|in) ((?:the )?[A-ZÀ-Þ][^,.;]{2,40}?)$", said.text[when.end :]):
        parts.append(("place", where[1]))
    place = said.place(0, len(lower))
    yield RecordClaim(EVENT, tuple(parts), place.start, place.end, CHOSEN, ahead)


def _pets(said: Statement) -> Iterator[RecordClaim]:
    match = _PET_HAVE.match(said.text) or _PET_MY.match(said.text)
    if match is None:
        return
    groups = match.groupdict()
    name = groups["one"] or groups["two"]
    if name in _NOT_NAMES:
        return
    place = said.place(*match.span())
    parts = [("name", name), ("species", match["species"])]
    if groups.get("age"):
        parts.append(("age", groups["age"]))
    yield RecordClaim(PET, tuple(parts), place.start, place.end, MEANT)


def _people(said: Statement) -> Iterator[RecordClaim]:
    match = _PERSON.match(said.text)
    if match is None:
        return
    name = match["one"] or match["two"]
    if name not in _NOT_NAMES:
        place = said.place(*match.span())
        parts = (("name", name), ("relation", match["kin"]))
        yield RecordClaim(PERSON, parts, place.start, place.end, MEANT)
