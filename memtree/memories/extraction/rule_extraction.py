"""Memories of one message of the user, by rules.

A sentence becomes a memory if nothing speaks against it (`gate.py`) and a rule knows what it is.
Precision comes before recall: what no rule knows is left out, with the reason. The stored text is
the sentence, told of the user where that can be done word by word (`third_person.py`).

    >>> extraction = extract("Hi! I'm allergic to nuts. What can I bake?")
    >>> [(memory.text, memory.category) for memory in extraction.candidates]
    [('User is allergic to nuts', 'fact')]
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date

from memtree.language.word_file import WordFile
from memtree.memories.extraction import gate, statements
from memtree.memories.extraction.candidates import Candidate, Extraction, Skip, SkipReason
from memtree.memories.extraction.forget_orders import forgets
from memtree.memories.extraction.own_sentences import lowered, own_sentences
from memtree.memories.extraction.schedule import is_event, is_schedule, with_day
from memtree.memories.extraction.statements import (
    heads,
    later,
    plain,
    spliced,
    without_intro,
    without_lead,
)
from memtree.memories.extraction.third_person import told_of_user
from memtree.text import rule_score, rule_topics
from memtree.text.normal_form import canonical
from memtree.text.standing_rules import standing_rules

_DATA = WordFile("all", "memory_first_person")

MOST = 8
SKIPS = 100  # that are told of one message

_INTRODUCTION = _DATA.pattern("introduction")
# Whose words they are has to be said where nothing else tells it.
_FIRST_PERSON = _DATA.pattern("first_person", re.IGNORECASE)
# Parts of a rule that speak to the assistant; "names should be short" may be about anything.
_ASKS = {"order", "task", "duty", "forbid", "wish", "fixed", "nearly", "polite"}
_TELLS = _DATA.pattern("tells")
# A request about code is a request first, and so is what others say of something.
_LESS = {SkipReason.CODE, SkipReason.VAGUE}
_WHOLE = {SkipReason.HYPOTHETICAL, SkipReason.LONG, SkipReason.FICTION}


def extract(
    text: str, said: date | None = None, *, most: int = MOST, fiction: bool = False
) -> Extraction:
    """Extract what of a message is worth remembering, and what was left out. `said`: the day it was
    said. `fiction`: an earlier message, of whomever, was a role-play (`fiction.is_role_play`)."""
    own = own_sentences(text, in_play=fiction)
    rules = standing_rules(text) if own.readable else ()
    collected = _Collected(most)
    known: dict[str, SkipReason] = {}  # a sentence that stands there again is not read again
    for start, end in own.readable:
        if reason := known.get(text[start:end]):
            collected.skip(start, end, reason)
            continue
        rule = any(low < end and start < high for low, high in rules)
        reading = _read(text, start, end, said, rule)
        known[text[start:end]] = SkipReason.DUPLICATE
        if isinstance(reading, SkipReason):
            known[text[start:end]] = reading
            collected.skip(start, end, reading)
        else:
            collected.add(reading)
    skipped = sorted((*own.skipped, *collected.skipped), key=lambda skip: skip.start)
    return Extraction(tuple(collected.candidates), tuple(skipped[:SKIPS]))


class _Collected:
    """The candidates of a message so far, each once, and what was left out."""

    def __init__(self, most: int) -> None:
        self.candidates: list[Candidate] = []
        self.skipped: list[Skip] = []
        self._most = most
        self._known: set[str] = set()

    def add(self, candidates: Iterable[Candidate]) -> None:
        for candidate in candidates:
            key = canonical(candidate.text)
            if key in self._known:
                self.skip(candidate.start, candidate.end, SkipReason.DUPLICATE)
            elif len(self.candidates) >= self._most:
                self.skip(candidate.start, candidate.end, SkipReason.CAP)
            else:
                self._known.add(key)
                self.candidates.append(candidate)

    def skip(self, start: int, end: int, reason: SkipReason) -> None:
        self.skipped.append(Skip(start, end, reason))


def _read(
    text: str, start: int, end: int, said: date | None, rule: bool
) -> Sequence[Candidate] | SkipReason:
    """One sentence."""
    if end - start > 2 * gate.LONGEST:
        return SkipReason.LONG
    if forgets(text[start:end]) is not None:
        return SkipReason.REQUEST
    start = without_lead(text, start, end)
    whole = lowered(text[start:end])
    outcome: Candidate | SkipReason = _standing(text, start, whole) if rule else SkipReason.QUESTION
    if isinstance(outcome, Candidate):
        return [outcome]
    for lower in heads(whole):
        parts = _parts(text, start, lower, said)
        if parts:
            return parts
        outcome = _statement(text, start, lower, said)
        if isinstance(outcome, Candidate):
            return [outcome]
    if outcome not in _WHOLE:
        lower = next(heads(whole))
        for at in later(lower):
            part = _statement(text, start + at, lower[at:], said)
            if isinstance(part, Candidate):
                return [part]
    return outcome


def _parts(text: str, start: int, lower: str, said: date | None) -> list[Candidate]:
    """The statements of a sentence that is nothing but several of them."""
    places = spliced(lower)
    if len(places) == 1:
        return []
    statements = [_statement(text, start + low, lower[low:high], said) for low, high in places]
    candidates = [statement for statement in statements if isinstance(statement, Candidate)]
    if len(candidates) == len(places):
        return candidates
    if _INTRODUCTION.match(text, start, start + places[0][1]) and candidates:
        rest = _statement(text, start + places[1][0], lower[places[1][0] :], said)
        return [candidates[0], *([rest] if isinstance(rest, Candidate) else candidates[1:])]
    return []


def _standing(text: str, start: int, lower: str) -> Candidate | SkipReason:
    """A standing rule of how to answer or work, as `standing_rules` found it."""
    asks = any(kinds.keys() & _ASKS for kinds in rule_score.parts(rule_topics.comparable(lower)))
    if not asks or _TELLS.search(lower) or len(lower) > gate.LONGEST:
        return SkipReason.REQUEST
    return _candidate(text, start, start + len(lower), "preference")


def _statement(text: str, start: int, lower: str, said: date | None) -> Candidate | SkipReason:
    """A sentence, or what begins within one and goes to its end."""
    remembered = statements.kept_in_mind(lower)
    kept = remembered or statements.lead(lower)
    start, lower = start + kept, lower[kept:]
    end = start + len(lower)
    introduced = bool(_INTRODUCTION.match(text[start:end]))
    mine = introduced or gate.is_own(lower)
    if reason := gate.refused(lower):
        return reason if mine or reason not in _LESS else gate.other_reason(lower)
    if mine and not statements.is_practice(lower) and is_schedule(text[start:end], said):
        return _candidate(text, start, end, "schedule", said)
    lower = gate.lasting(lower)
    end = start + len(lower)
    if not lower:
        return SkipReason.TRANSIENT
    category = _category(lower) or _category(without_intro(lower))
    if not category and (category := statements.category_of(lower)):
        return _candidate(text, start, end, category, said, english=False)
    if not category and mine:
        if introduced or is_event(text[start:end], said):
            category = "fact"
        elif remembered:
            category = "general"
    return _candidate(text, start, end, category, said) if category else gate.other_reason(lower)


def _category(lower: str) -> str:
    if statements.is_preference(lower):
        return "preference"
    if _is_fact(lower) or statements.is_decision(lower) or statements.is_event(lower):
        return "fact"
    return "general" if statements.is_goal(lower) else ""


def _is_fact(lower: str) -> bool:
    other = plain(lower)
    return statements.is_fact(lower) or (other != lower and statements.is_fact(other))


def _candidate(
    text: str,
    start: int,
    end: int,
    category: str,
    said: date | None = None,
    *,
    english: bool = True,
) -> Candidate:
    words = " ".join(text[start:end].split()).rstrip(" ,;:-–—")
    words = (words[0].upper() + words[1:]).rstrip(".!。！")
    statement = told_of_user(words) if english else None
    if statement is None or len(statement) > gate.LONGEST:
        mine = not english or _FIRST_PERSON.search(words)
        statement = f"User said: {words}" if mine else words
    return Candidate(with_day(statement, said), category, start, end)
