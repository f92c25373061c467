"""Find by rules whom and what a memory names, and when what it tells of happens.

Names are looked for only where no model has said them.

    capitalised words        not where they begin a sentence, for there every word is capitalised
    @handles, paths, identifiers of code, hosts of addresses

Rules know no people: a name is a person's where a word for a relation or a title stands before it,
and else a concept. What only a reader would know is left out rather than guessed.

    >>> mentions({"text": "I met my sister Ada Smith at Blue Bottle, see docs/plan.md"})
    (EntityMention(name='Ada Smith', type='person'), EntityMention(name='Blue Bottle', \
type='concept'), EntityMention(name='docs/plan.md', type='concept'))

The time is the one that was said, or else that of a field of the memory's data.

    >>> when(None, {"title": "Dentist", "startsAt": "2026-03-07T10:30:00Z"})
    1772879400.0
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memtree.errors import BadRequest
from memtree.language.word_file import WordFile, WordFiles
from memtree.memories.checked_fields import LONGEST_TEXT, timestamp
from memtree.memories.memory import EntityMention, Memory

_DATA = WordFile("all", "memory_mentions")

MOST = 12  # mentions of one memory
READ = 4_000  # characters of it that are read
VALUES = 200  # texts in its data that are read
LONGEST = 80  # characters of a name, and of a word that may be one
RUN = 6  # words of a name
PERSON, CONCEPT = "person", "concept"

_TOKEN = re.compile(r"\S+")
_EDGE = "\"'“”„«»‚‘’`()[]{}<>,;:!?.…*"
_ENDS = (".", "!", "?", ":", ";", "…")  # of a sentence, or of what stands before a list
_BREAKS = (*_ENDS, ",", ")", "]", "}", '"', "”", "»")
_OPENS = ("(", "[", "{", '"', "“", "„", "«")
_URL = re.compile(r"[a-z][a-z0-9+.-]{1,15}://(?:[^/@]{1,80}@)?([\w-]+(?:\.[\w-]+)+)", re.IGNORECASE)
_EMAIL = re.compile(r"[\w.+-]+@([\w-]+(?:\.[\w-]+)+)")
_HANDLE = re.compile(r"@[A-Za-z0-9_][\w.-]*")
_PATH = re.compile(r"(?:~|\.{1,2}|[A-Za-z]:)?[/\\]?[\w.@+-]+(?:[/\\][\w.@+-]+)*[/\\]?")
_ROOTED = re.compile(r"(?:~|\.{1,2}|[A-Za-z]:)?[/\\]")
_FILE = re.compile(r"[\w@+-][\w.@+-]*\.[A-Za-z][A-Za-z0-9]{0,5}")
_CODE = re.compile(
    r"[A-Za-z]\w*_\w+(?:\(\))?|[a-z]+[0-9]*(?:[A-Z][a-z0-9]*)+(?:\(\))?"
    r"|(?:[A-Z][a-z0-9]+){2,}(?:\(\))?|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*\(\)"
)
_EXTENSIONS = _DATA.words("extensions")
_SHORT = re.compile(r"[A-ZÀ-Þ][A-Z0-9À-Þ&-]+")  # an abbreviation, wherever it stands
_KIN = _DATA.pattern("kin")
_KIN_ELSEWHERE = WordFiles("memory_people", without=("all", "en")).words("relations")
_TITLES = _DATA.words("titles")
_CALLED = frozenset(["named", "called"])
_INSIDE = _DATA.words("inside")
_ORDINARY = _DATA.words("words", "times", "titles")
_GERMAN = _DATA.words("german")
# Fields whose value is a name although it stands alone.
_NAMING = _DATA.words("naming")


@dataclass(frozen=True, slots=True)
class _Word:
    """A token without its punctuation. `starts`: it begins a sentence; `opens`, `breaks`: a name
    does not go on over its beginning, or its end."""

    text: str
    starts: bool
    opens: bool
    breaks: bool

    @property
    def lower(self) -> str:
        return self.text.lower()

    @property
    def capital(self) -> bool:
        return self.text[:1].isupper() and not (
            self.lower in _ORDINARY or self.lower in _KIN_ELSEWHERE
        )


def named_in(memory: Memory) -> tuple[EntityMention, ...]:
    """Return the names that its maker gave for it; else those that rules find."""
    return memory.mentions or mentions(
        {"text": memory.text} if memory.data is None else memory.data
    )


def mentions(data: Mapping[str, Any], read: int = READ) -> tuple[EntityMention, ...]:
    """In the order in which they stand there. `read`: characters that are read."""
    by_name: dict[str, EntityMention] = {}
    for field, value in _texts(data, read):
        for new in _in_text(field, value):
            known = by_name.get(new.name.casefold())
            if known is None or (known.type != PERSON and new.type == PERSON):
                by_name[new.name.casefold()] = new if known is None else known._replace(type=PERSON)
    return tuple(by_name.values())[:MOST]


def _texts(data: Mapping[str, Any], room: int) -> Iterator[tuple[str, str]]:
    """Texts in the data, each with the name of the field that holds it, in order."""
    left: list[tuple[str, Any]] = [("", data)]
    values = VALUES
    while left and room > 0 and values > 0:
        field, value = left.pop()
        values -= 1
        if isinstance(value, str):
            yield field, value[:room]
            room -= len(value)
        elif isinstance(value, Mapping):
            first = list(value.items())[:VALUES]
            left += [(str(name), inner) for name, inner in reversed(first)]
        elif isinstance(value, list | tuple):
            left += [(field, inner) for inner in reversed(value[:VALUES])]


def _in_text(field: str, text: str) -> Iterator[EntityMention]:
    words = list(_words(text))
    plain = "".join(filter(str.isalnum, field[:LONGEST].lower()))
    german = len(_GERMAN & {word.lower for word in words}) >= 2
    capitals = 0 < len(words) <= RUN and all(word.capital for word in words)
    alone = capitals and (len(words) > 1 or plain in _NAMING or _is_kin(plain))
    at = 0
    while at < len(words):
        word = words[at]
        special = _special(word.text)
        if special:
            yield EntityMention(special, CONCEPT)
            at += 1
            continue
        end = _run(words, at)
        if end == at:
            at += 1
            continue
        name = " ".join(_bare(word.text) for word in words[at:end])
        kin = _is_kin(plain) if at == 0 else _after_kin(words, at)
        begins = word.starts and not alone and not _SHORT.fullmatch(word.text)
        single = end - at == 1
        # In German every noun is capitalised.
        noun = german and not _SHORT.fullmatch(word.text)
        if len(name) <= LONGEST and (kin or not (single and (begins or noun))):
            yield EntityMention(name, PERSON if kin else CONCEPT)
        at = end


def _words(text: str) -> Iterator[_Word]:
    starts, last = True, 0
    for match in _TOKEN.finditer(text):
        token = match[0]
        starts = starts or "\n" in text[last : match.start()]
        last = match.end()
        if len(token) > 2 * LONGEST:  # no name; what follows it begins nothing
            starts = False
            continue
        core = token.strip(_EDGE)
        if not core or core in "-*•–—#" or core.isdigit():
            starts = starts or not core or token.endswith(_ENDS) or core in "-*•–—#"
            continue
        yield _Word(core, starts, token.startswith(_OPENS), token.endswith(_BREAKS))
        starts = token.endswith(_ENDS) and core.lower() not in _TITLES


def _special(word: str) -> str:
    """A host, a handle, a path or an identifier, as it is named; "" for other words."""
    if "://" in word:
        return match[1] if (match := _URL.match(word)) else ""
    if "@" in word:
        if match := _EMAIL.fullmatch(word):
            return match[1]
        return word if _HANDLE.fullmatch(word) else ""
    if "/" in word or "\\" in word:
        return word if _is_path(word) else ""
    if _CODE.fullmatch(word):
        return word
    known = word.rpartition(".")[2].lower() in _EXTENSIONS
    return word if known and _FILE.fullmatch(word) else ""


def _is_path(word: str) -> bool:
    """`and/or`, `km/h` and dates are none."""
    if not _PATH.fullmatch(word) or not any(map(str.isalpha, word)):
        return False
    parts = [part for part in re.split(r"[/\\]", word) if part]
    return len(parts) > 1 and (
        bool(_ROOTED.match(word)) or len(parts) > 2 or bool(_FILE.fullmatch(parts[-1]))
    )


def _run(words: Sequence[_Word], at: int) -> int:
    """The end of the name that begins with a word; `at` itself where none does."""
    if not words[at].capital or _special(words[at].text):
        return at
    end = at + 1
    while end - at < RUN and end < len(words) and not words[end - 1].breaks:
        following = words[end]
        if following.opens or following.starts or _special(following.text):
            break
        if following.capital:
            end += 1
            continue
        beyond = end + 1
        inside = following.lower in _INSIDE and not following.breaks and beyond < len(words)
        if not (inside and words[beyond].capital and not words[beyond].opens):
            break
        end += 2
    return end


def _after_kin(words: Sequence[_Word], at: int) -> bool:
    """Return True if a word for a relation or a title stands before, in the same sentence."""
    before = at - 1
    if words[at].starts and words[before].lower not in _TITLES:
        return False
    if words[before].lower in _CALLED and before > 0:
        before -= 2 if words[before - 1].lower in ("is", "was") and before > 1 else 1
    if words[before].breaks and words[before].lower not in _TITLES:
        return False
    two = " ".join(word.lower for word in words[max(0, before - 1) : before + 1])
    return words[before].lower in _TITLES or _is_kin(words[before].lower) or _is_kin(two)


def _is_kin(text: str) -> bool:
    return len(text) <= LONGEST and (bool(_KIN.fullmatch(text)) or text in _KIN_ELSEWHERE)


def _bare(word: str) -> str:
    """Without the mark of a genitive."""
    return word[:-2] if word.endswith(("'s", "’s")) else word


# Names of fields in lower case without signs, the most telling first. What says when a row was
# made, changed or ends (`createdAt`, `expiresAt`) says nothing of what happens.
FIELDS = (
    "when", "date", "datetime", "time", "at", "on", "day",
    "eventdate", "eventtime", "eventat", "happenedat", "happened", "occurredat", "occurred",
    "start", "starts", "startdate", "starttime", "startsat", "startat", "begin", "begins",
    "beginsat", "from", "scheduledat", "scheduledfor", "scheduled", "appointment", "due",
    "duedate", "dueat", "deadline", "remindat", "reminder", "departure", "arrival", "timestamp",
    "birthday", "birthdate", "dateofbirth", "anniversary",
)  # fmt: skip
MOST_FIELDS = 200  # of one object that are looked at
LONGEST_NAME = 40


def when(happened: float | None, data: Mapping[str, Any] | None) -> float | None:
    """Unix seconds; None where neither says. Only ISO 8601 in fields of `data` itself counts."""
    if happened is not None or data is None:
        return happened
    times: dict[str, float] = {}
    for _, (name, value) in zip(range(MOST_FIELDS), data.items(), strict=False):
        plain = "".join(filter(str.isalnum, name[:LONGEST_NAME].lower()))
        if plain in FIELDS and plain not in times and (time := _time(value)) is not None:
            times[plain] = time
    return next((times[name] for name in FIELDS if name in times), None)


def _time(value: object) -> float | None:
    if not isinstance(value, str) or len(value) > LONGEST_TEXT:
        return None
    try:
        return timestamp(value, "when")
    except BadRequest:
        return None
