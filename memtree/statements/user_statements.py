r"""Read what the user's own sentences of a message state, and which cannot be read, and why.

    >>> own_sentences("I live in Graz.\n> I live in Rome.\nMy PIN is 1234.").readable
    [Span(start=0, end=15)]

`read_statements` is one reader for memories and for whoever else asks what the user said of
themselves.

    >>> [(each.category, each.who) for each in read_statements("I'm allergic to nuts.").statements]
    [('fact', 'user')]
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from itertools import islice

from memtree.language.borders import sentences, small_stops
from memtree.language.word_file import WordFile
from memtree.statements import fiction, grammar, memory_gate
from memtree.statements.attributes import Attribute, attributes
from memtree.statements.calendar_dates import DateMention, dates, is_event, is_schedule
from memtree.statements.forget_orders import forgets, is_off_record
from memtree.statements.grammar import (
    Skip,
    SkipReason,
    heads,
    later,
    plain,
    spliced,
    without_intro,
    without_lead,
)
from memtree.text import rule_score, rule_sentences, secrets
from memtree.text.own_words import own_words
from memtree.text.rule_sentences import standing_rules
from memtree.text.spans import Span

MOST = 400  # sentences of a message that are read
_NEAR = 40  # characters before a sentence
_CUT = re.compile(r"[^.!?…:\s][\"'”’»`)\]]\s+$")


@dataclass(frozen=True, slots=True)
class OwnSentences:
    """Both in the order of the message."""

    readable: list[Span]
    skipped: list[Skip]


def own_sentences(text: str, *, in_play: bool = False) -> OwnSentences:
    """Part a message into sentences. `in_play`: an earlier message, of whomever, was a role-play
    (`fiction.is_role_play`). Linear."""
    spans = own_words(text)
    if not spans:
        return OwnSentences([], [])
    own = text[spans[0].start : spans[0].end]
    whole = SkipReason.FICTION if in_play else memory_gate.message_reason(text, own)
    if whole:
        return OwnSentences([], [Skip(0, len(text), whole)])
    parts = list(islice(_sentences(text, spans), MOST + 1))
    if any(is_off_record(text[start:end]) for _, (start, end) in parts):
        return OwnSentences([], [Skip(0, len(text), SkipReason.OFF_RECORD)])
    shown = [(at, lowered(text[start:end][: memory_gate.LONGEST])) for at, (start, end) in parts]
    made_up = fiction.framed(shown)
    hidden = iter(secrets.find(text))
    secret = next(hidden, None)
    readable: list[Span] = []
    skipped: list[Skip] = []
    for number, (_, sentence) in enumerate(parts[:MOST]):
        start, end = sentence
        while secret and secret.end <= start:
            secret = next(hidden, None)
        if (secret and secret.start < end) or memory_gate.is_private(text[start:end]):
            skipped.append(Skip(start, end, SkipReason.SECRET))
        elif is_torn(text, sentence) or begins_torn(text, start):
            skipped.append(Skip(start, end, SkipReason.QUOTED))
        elif number in made_up:
            skipped.append(Skip(start, end, SkipReason.FICTION))
        else:
            readable.append(sentence)
    if len(parts) > MOST:
        skipped.append(Skip(parts[MOST][1].start, spans[-1].end, SkipReason.CAP))
    return OwnSentences(readable, skipped)


def lowered(text: str) -> str:
    """The text in lower case with plain apostrophes, as long as before."""
    lower = text.lower()
    if len(lower) != len(text):
        lower = "".join(char.lower() if len(char.lower()) == 1 else char for char in text)
    return lower.replace("’", "'").replace("\n", " ").replace("\t", " ")


def _sentences(text: str, spans: list[Span]) -> Iterator[tuple[int, Span]]:
    """Sentences with the number of their paragraph."""
    for paragraph, span in enumerate(spans):
        for sentence in sentences(text, *span):
            for piece in small_stops(text, *sentence):
                yield paragraph, Span(*piece)


def is_torn(text: str, sentence: Span) -> bool:
    """Return True if it ends where something was cut out of its line: without an end of its own,
    and with more on its line."""
    if text[sentence.end - 1 : sentence.end] in ".!?…。！？":
        return False
    stop = text.find("\n", sentence.end, sentence.end + 200)
    rest = text[sentence.end : stop if stop >= 0 else sentence.end + 200]
    return bool(rest.strip(" \t\"'”’»)]*_"))


def begins_torn(text: str, start: int) -> bool:
    """Return True if code or a quotation was cut out before a sentence, so that it lacks its
    beginning."""
    before = text[max(text.rfind("\n", max(0, start - _NEAR), start) + 1, start - _NEAR) : start]
    return bool(_CUT.search(before))


USER = "user"
WISH = "wish"
_NOTHING = Attribute("", "")

_DATA = WordFile("all", "memory_first_person")
_INTRODUCTION = _DATA.pattern("introduction")
# Parts of a rule that speak to the assistant; "names should be short" may be about anything.
_ASKS = {"order", "task", "duty", "forbid", "wish", "fixed", "nearly", "polite"}
_TELLS = _DATA.pattern("tells")
# A request about code is a request first, and so is what others say of something.
_LESS = {SkipReason.CODE, SkipReason.VAGUE}
_WHOLE = {SkipReason.HYPOTHETICAL, SkipReason.LONG, SkipReason.FICTION}


@dataclass(frozen=True, slots=True)
class Statement:
    """A thing that a message states between `start` and `end`, in characters. `category`: fact,
    preference, schedule, general. `who`: of whom, `USER` for the writer of the message. `what`,
    `value`, `denied`, `ended`: the first of its `attributes`, all empty where it has none; `WISH`
    for a standing rule of how to answer. `english`: it was read by the patterns of English.
    `days`: the dates in it, with places in the message."""

    start: int
    end: int
    category: str
    who: str = USER
    what: str = ""
    value: str = ""
    denied: bool = False
    ended: bool = False
    english: bool = True
    days: tuple[DateMention, ...] = ()


@dataclass(frozen=True, slots=True)
class Statements:
    """`statements` in the order in which they are read, of one sentence in that of its parts;
    `skipped` in the order of the message."""

    statements: tuple[Statement, ...] = ()
    skipped: tuple[Skip, ...] = ()


def read_statements(
    text: str, said: date | None = None, *, most: int = MOST, fiction: bool = False
) -> Statements:
    """Read what a message of the user states, and what of it is no statement, with the reason.
    `said`: the day it was said. `most`: statements; the rest is skipped. `fiction`: an earlier
    message, of whomever, was a role-play (`fiction.is_role_play`). Linear."""
    own = own_sentences(text, in_play=fiction)
    rules = standing_rules(text) if own.readable else ()
    read: list[Statement] = []
    skipped = list(own.skipped)
    known: dict[str, SkipReason] = {}  # a sentence that stands there again is not read again
    for start, end in own.readable:
        if reason := known.get(text[start:end]):
            skipped.append(Skip(start, end, reason))
            continue
        rule = any(low < end and start < high for low, high in rules)
        reading = _read(text, start, end, said, rule)
        known[text[start:end]] = SkipReason.DUPLICATE
        if isinstance(reading, SkipReason):
            known[text[start:end]] = reading
            skipped.append(Skip(start, end, reading))
            continue
        room = most - len(read)
        read += reading[:room]
        skipped += (Skip(each.start, each.end, SkipReason.CAP) for each in reading[room:])
    return Statements(tuple(read), tuple(sorted(skipped, key=lambda skip: skip.start)))


def _read(
    text: str, start: int, end: int, said: date | None, rule: bool
) -> list[Statement] | SkipReason:
    """One sentence."""
    if end - start > 2 * memory_gate.LONGEST:
        return SkipReason.LONG
    if forgets(text[start:end]) is not None:
        return SkipReason.REQUEST
    start = without_lead(text, start, end)
    whole = lowered(text[start:end])
    outcome: Statement | SkipReason = _standing(text, start, whole) if rule else SkipReason.QUESTION
    if isinstance(outcome, Statement):
        return [outcome]
    for lower in heads(whole):
        parts = _parts(text, start, lower, said)
        if parts:
            return parts
        outcome = _statement(text, start, lower, said)
        if isinstance(outcome, Statement):
            return [outcome]
    if outcome not in _WHOLE:
        lower = next(heads(whole))
        for at in later(lower):
            part = _statement(text, start + at, lower[at:], said)
            if isinstance(part, Statement):
                return [part]
    return outcome


def _parts(text: str, start: int, lower: str, said: date | None) -> list[Statement]:
    """The statements of a sentence that is nothing but several of them."""
    places = spliced(lower)
    if len(places) == 1:
        return []
    stated = [_statement(text, start + low, lower[low:high], said) for low, high in places]
    kept = [statement for statement in stated if isinstance(statement, Statement)]
    if len(kept) == len(places):
        return kept
    if _INTRODUCTION.match(text, start, start + places[0][1]) and kept:
        rest = _statement(text, start + places[1][0], lower[places[1][0] :], said)
        return [kept[0], *([rest] if isinstance(rest, Statement) else kept[1:])]
    return []


def _standing(text: str, start: int, lower: str) -> Statement | SkipReason:
    """A standing rule of how to answer or work, as `standing_rules` found it."""
    asks = any(kinds.keys() & _ASKS for kinds in rule_score.parts(rule_sentences.comparable(lower)))
    if not asks or _TELLS.search(lower) or len(lower) > memory_gate.LONGEST:
        return SkipReason.REQUEST
    return Statement(start, start + len(lower), "preference", what=WISH)


def _statement(text: str, start: int, lower: str, said: date | None) -> Statement | SkipReason:
    """A sentence, or what begins within one and goes to its end."""
    remembered = grammar.kept_in_mind(lower)
    kept = remembered or grammar.lead(lower)
    start, lower = start + kept, lower[kept:]
    end = start + len(lower)
    introduced = bool(_INTRODUCTION.match(text[start:end]))
    mine = introduced or memory_gate.is_own(lower)
    if reason := memory_gate.refused(lower):
        return reason if mine or reason not in _LESS else memory_gate.other_reason(lower)
    if mine and not grammar.is_practice(lower) and is_schedule(text[start:end], said):
        return _stated(text, start, end, "schedule", said)
    lower = memory_gate.lasting(lower)
    end = start + len(lower)
    if not lower:
        return SkipReason.TRANSIENT
    category = _category(lower) or _category(without_intro(lower))
    if not category and (category := grammar.category_of(lower)):
        return _stated(text, start, end, category, said, english=False)
    if not category and mine:
        if introduced or is_event(text[start:end], said):
            category = "fact"
        elif remembered:
            category = "general"
    return (
        _stated(text, start, end, category, said) if category else memory_gate.other_reason(lower)
    )


def _category(lower: str) -> str:
    if grammar.is_preference(lower):
        return "preference"
    other = plain(lower)
    if grammar.is_fact(lower) or (other != lower and grammar.is_fact(other)):
        return "fact"
    if grammar.is_decision(lower) or grammar.is_event(lower):
        return "fact"
    return "general" if grammar.is_goal(lower) else ""


def _stated(
    text: str, start: int, end: int, category: str, said: date | None, *, english: bool = True
) -> Statement:
    days = tuple(
        replace(day, start=start + day.start, end=start + day.end)
        for day in dates(text[start:end], said)
    )
    one = next(iter(attributes(text[start:end])), _NOTHING)
    return Statement(start, end, category, USER, *one[:4], english=english, days=days)
