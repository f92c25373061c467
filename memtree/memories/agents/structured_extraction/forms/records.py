"""Things of their own that a statement tells of: a task, an appointment, an animal, somebody.

Which of these a kind is, its name says ("Task", "Pet"); what of it fills which field, the fields'
names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from memtree.memories.agents.structured_extraction.claims import CHOSEN, MEANT, RecordClaim
from memtree.memories.agents.structured_extraction.forms.lexicon import PETS
from memtree.memories.agents.structured_extraction.statements import Statement
from memtree.memories.agents.structured_extraction.values import coming_day
from memtree.memories.extraction.dates import DateKind, dates
from memtree.memories.extraction.schedule import is_schedule
from memtree.text.lazy_patterns import lazily

TASK, EVENT, PET, PERSON = "task", "event", "pet", "person"
_KINDS = {
    TASK: "task todo reminder chore errand assignment deadline do",
    EVENT: "appointment event meeting trip schedule calendar booking",
    PET: "pet animal",
    PERSON: "contact person relation relationship relative friend people member family",
}
RECORDS = {name: frozenset(names.split()) for name, names in _KINDS.items()}
LONGEST = 12  # words of a title

_ASKED = lazily(
    r"(?:also )?(?:please |can you |could you "
    r"|also )*(?:remind me(?P<when> [^,]{2,30}?)?(?: that i (?:need|have))? to"
    r"|don't let me forget to"
    r"|(?:add|create|make|put)(?: me)? (?:an? |another |the )?(?:new )?(?:task|to-?do"
    r"|reminder|chore)(?: item)?(?: (?:to|on) my (?:list|to-?do list))?(?: for me)?(?: to|:"
    r"| called|,)"
    r"|my (?:next |first |main )?(?:task|to-?do)(?: for [a-z ]{3,20})? is(?: to)?"
    r"|(?:new )?(?:task|to-?do|reminder):) "
)
_ADD_TO = lazily(
    r"(?:please )?(?:add|put) (?P<what>.{2,120}?) (?:to|on) (?:my|the) (?:to-?do"
    r"|task)s?(?: list)?"
)
_MUST = lazily(
    r"(?:i|we) (?:(?:still|really|also) )?(?:need|have|must|have got|gotta)(?: to)? "
    r"|i've got to |i must "
)
_PRIORITY = lazily(
    r",? (?:(?:with|at) )?(?:an? )?(?P<level>low|medium|normal|high|urgent|critical"
    r"|top) priority|,? priority:? (?P<other>\w+)|,? it's (?P<urgent>urgent)"
)
_TIDY = lazily(
    r"(?:[\s,;:.!-]|\b(?:by|on|at|before|until|for|due|is|this|the|and|in|from|starting"
    r"|please|sometime))+$"
)
_HAVE = lazily(
    r"(?:i|we)(?:'ve| have)? (?:(?:just|also) )?(?:have|got|had|scheduled|booked|planned"
    r"|arranged)?(?: got)? ?(?:an?|my|our|the) "
)
_MY = lazily(r"(?:my|our|the) (?:next )?(?=\w)")
_VERB = lazily(
    r" (?:is|are|takes place|starts|begins|will be|is scheduled|is booked|is set"
    r"|has been moved|was moved|got moved|is due|falls)\b"
)
_SPECIES = "|".join(sorted((one.replace("_", " ") for one in PETS), key=len, reverse=True))
_NAME = r"[A-ZÀ-Þ][\w’'-]*[\wà-ÿ]"
_MINE = r"(?:[Mm]y|[Oo]ur)"
_PET_HAVE = lazily(
    rf"(?:I|We|i|we)(?:['’]ve| have)?(?: have| got| own| adopted"
    rf"| bought)? an? (?:[\w-]+ ){{0,2}}?"
    rf"(?P<species>{_SPECIES}) (?:named|called) (?P<one>{_NAME})"
    r"(?=$|[,.;!]| and| who| last| yesterday| this)"
)
_PET_MY = lazily(
    rf"{_MINE} (?:[\w-]+ ){{0,2}}?(?P<species>{_SPECIES})"
    rf"(?:(?:['’]s name)? is(?: called| named)? (?P<one>{_NAME})(?=$|[,.;!]| and)"
    rf"|,? (?P<two>{_NAME})(?=,?$|,? (?:is|has|loves|likes|hates|was|eats|needs)\b))"
    r"(?:,? is (?P<age>\d{1,2})(?: years? old)?$)?"
)

_KIN = (
    r"wife|husband|partner|spouse|fiancee|fiancée|fiancé|girlfriend|boyfriend|son|daughter"
    r"|mother|mom|mum|father|dad"
    r"|brother|sister|grandmother|grandma|grandfather|grandpa|uncle|aunt|cousin|niece|nephew"
    r"|best friend|friend|roommate|flatmate"
    r"|neighbor|neighbour|boss|manager|coworker|colleague|cofounder|mentor|therapist|doctor"
    r"|dentist|coach|teacher|tutor|landlord"
    r"|landlady|accountant|lawyer|nanny|mother-in-law|father-in-law|sister-in-law|brother-in-law"
)
_PERSON = lazily(
    rf"{_MINE} (?:(?:older|younger|little|big|twin|eldest|oldest|youngest) )?(?P<kin>{_KIN})"
    rf"(?:(?:['’]s name)? is(?: called| named)? (?P<one>{_NAME}(?: [A-ZÀ-Þ][\w-]+)?)"
    rf"(?=$|[,.;!]| and)|,? (?P<two>{_NAME})(?=,?$|,? (?:is|has|lives|works|loves|likes|hates|was"
    r"|and I|just|got|moved)\b))"
)
_NOT_NAMES = frozenset(
    """German French English Spanish Italian Chinese American Canadian Irish Monday Tuesday
    Wednesday Thursday Friday Saturday Sunday Vegan Catholic Jewish Muslim""".split()
)


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
    found = coming_day(text, day) or coming_day(also, day)
    told = dates(text, day)
    last = told[-1] if told else None
    named = also.strip()
    if last and not text[last.end :].strip(" .,!"):
        first = next((one for one in told if not text[one.end : last.start].strip(" ,at")), last)
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
        found, named,
    )  # fmt: skip


def _events(said: Statement, day: date | None) -> Iterator[RecordClaim]:
    lower = said.lower
    ahead = coming_day(said.text, day)
    if not ahead or not is_schedule(said.text, day):
        return
    found = next(one for one in dates(said.text, day) if one.kind is not DateKind.TIME)
    start, end = -1, found.start
    if match := _MY.match(lower):
        verb = _VERB.search(lower, match.end(), found.start)
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
    elif where := re.match(r" (?:at|in) ((?:the )?[A-ZÀ-Þ][^,.;]{2,40}?)$", said.text[found.end :]):
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
