"""This file makes memories of one message by rules, and has the candidates that every reader of
messages returns.

Candidates that an extraction finds in one message, and what it left out and why.

Memories of one message of the user, by rules.

What the message states of the user (`text.statements.reading`) becomes memories. Precision comes
before recall: what no rule knows is left out, with the reason. The stored text is the sentence,
told of the user where that can be done word by word (`third_person.py`).

    >>> extraction = extract("Hi! I'm allergic to nuts. What can I bake?")
    >>> [(memory.text, memory.category) for memory in extraction.candidates]
    [('User is allergic to nuts', 'fact')]
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

from memtree.language.word_file import WordFile
from memtree.memories.third_person import told_abroad, told_of_user
from memtree.statements.calendar_dates import with_day
from memtree.statements.gate import LONGEST
from memtree.statements.grammar import is_unspaced
from memtree.statements.skip_reasons import Skip, SkipReason
from memtree.statements.user_statements import WISH, Statement, read_statements
from memtree.text.normal_form import canonical


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory to be. `text` is what is stored; `start`, `end` are where it stands in the message,
    in characters. `expires` is a unix time. Every name, number and negation of `text` stands in
    the source."""

    text: str
    category: str  # fact, preference, schedule, general
    start: int
    end: int
    expires: float | None = None
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Extraction:
    """Both in the order of the message."""

    candidates: tuple[Candidate, ...] = ()
    skipped: tuple[Skip, ...] = ()


MOST = 8
SKIPS = 100  # that are told of one message

# Whose words they are has to be said where nothing else tells it.
_DATA = WordFile("all", "memory_first_person")
_FIRST_PERSON = _DATA.pattern("first_person", re.IGNORECASE)
_SAID = re.compile(r"(?:User said|Nutzer sagte): (?P<words>.*?)(?P<day> \(said [0-9-]{10}\))?")
_SPEAKER = _DATA.pattern("speaker", re.IGNORECASE)


def extract(
    text: str, said: date | None = None, *, most: int = MOST, fiction: bool = False
) -> Extraction:
    """Extract what of a message is worth remembering, and what was left out. `said`: the day it was
    said. `fiction`: an earlier message, of whomever, was a role-play (`fiction.is_role_play`)."""
    read = read_statements(text, said, fiction=fiction)
    candidates: dict[str, Candidate] = {}
    skipped = list(read.skipped)
    for statement in read.statements:
        candidate = _candidate(text, statement, said)
        key = canonical(candidate.text)
        if key in candidates or len(candidates) >= most:
            reason = SkipReason.DUPLICATE if key in candidates else SkipReason.CAP
            skipped.append(Skip(statement.start, statement.end, reason))
        else:
            candidates[key] = candidate
    skipped.sort(key=lambda skip: skip.start)
    return Extraction(tuple(candidates.values()), tuple(skipped[:SKIPS]))


def retold(text: str) -> str:
    """Return a stored memory as it would be told today: of "User said: ..." what can be told of the
    user, with the day on which it was said.

    >>> retold("User said: I'm blind"), retold("Nutzer sagte: Ich bin blind (said 2026-01-31)")
    ('User is blind', 'Nutzer ist blind (said 2026-01-31)')
    """
    if not (said := _SAID.fullmatch(text)):
        return text
    words, day = said["words"], said["day"] or ""
    retelling = told_of_user(words) or told_abroad(words)
    return retelling + day if retelling and len(retelling) <= LONGEST else text


def _candidate(text: str, stated: Statement, said: date | None) -> Candidate:
    words = " ".join(text[stated.start : stated.end].split()).rstrip(" ,;:-–—")
    words = (words[0].upper() + words[1:]).rstrip(".!。！")
    statement = told_of_user(words) if stated.english else None
    if statement is None and not (stated.what == WISH and is_unspaced(words)):
        statement = told_abroad(words)
    if statement is None or len(statement) > LONGEST:
        person = _SPEAKER if stated.what == WISH else _FIRST_PERSON  # an order speaks for itself
        mine = not stated.english or person.search(words)
        statement = f"User said: {words}" if mine else words
    dated = statement if stated.what == WISH else with_day(statement, said, stated.days)
    return Candidate(dated, stated.category, stated.start, stated.end)
