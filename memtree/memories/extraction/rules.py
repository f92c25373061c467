"""Memories of one message of the user, by rules.

A sentence becomes a memory if nothing speaks against it (`gate.py`) and a rule knows what it is.
Precision comes before recall: what no rule knows is left out, with the reason. The stored text is
the sentence, told of the user where that can be done word by word (`third_person.py`).

    >>> found = extract("Hi! I'm allergic to nuts. What can I bake?")
    >>> [(memory.text, memory.category) for memory in found.candidates]
    [('User is allergic to nuts', 'fact')]
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from itertools import islice

from memtree.memories.extraction import gate
from memtree.memories.extraction.candidates import Candidate, Extraction, Skip, SkipReason
from memtree.memories.extraction.own_words import own_words
from memtree.memories.extraction.schedule import is_schedule, with_day
from memtree.memories.extraction.sentences import is_torn, sentences
from memtree.memories.extraction.spans import Span
from memtree.memories.extraction.statements import facts, general, other_languages, preferences
from memtree.memories.extraction.statements.events import is_event
from memtree.memories.extraction.third_person import told_of_user
from memtree.memories.rules.canonical import canonical
from memtree.text import rule_phrases, rule_topics, secrets
from memtree.text.standing_rules import standing_rules

MOST = 8
SENTENCES = 400  # of a message that are read
SKIPS = 100  # that are told of one message

_LEAD = re.compile(
    r"(?:(?:btw|by the way|also|oh and|oh|and|but|so|well|ok|okay|hey|hi|hello|yes|yeah|yep"
    r"|no(?=,)|nope|actually|anyway|fyi|just so you know|for context|context|correction|sorry"
    r"|thanks|thank you|great|one more thing|side note|for the record|in case it matters"
    r"|if it helps|as i said|like i said|honestly|to be clear|update|first|second|because|since"
    r"|plus|additionally|note|p\.?s\.?|good|cool|perfect|right|sure|fine|hm+|ah|true|important"
    r"|quick question|lol|haha)\b[\s,:;.!–—-]*+)++",
    re.IGNORECASE,
)
# "..., so what can I cook?": the statement before the question or the request.
_TAIL = re.compile(
    r"(?:,| -| –| —|;|\.\.\.) *(?:(?:so|and|but|also|then),? )?(?:(?:please|pls|plz|kindly|can"
    r"|could|would|will|should|do|does|did|is|are|was|am|what|what's|how|how's|where|when|why|any"
    r"|give|help|tell|show|make|write|suggest|recommend|keep|use|avoid|add|don't|do not|explain"
    r"|skip|remember|find|create|draft|check|let's|let me know)\b|which (?!is|are|was|were|has"
    r"|have|we|i|means)|who (?:can|should|do|would))| (?:so|and|but),? (?:(?:please|pls|plz)\b"
    r"|(?:can|could|would|will) you\b|(?:what|how|which|where|when) (?:is|are|do|does|did|can"
    r"|could|should|would|to|about)\b|what's\b|(?:is|are) there\b|any (?:ideas?|tips|suggestions?"
    r"|advice|recommendations?)\b)| (?:please|pls|plz)\b",
    re.IGNORECASE,
)
# "..., but I'm not sure how": what the user thinks about it today.
_AFTERTHOUGHT = re.compile(
    r",? (?:so|and|but|which is why|because) (?:now )?(?:i'm|i am|im|i was|i've been"
    r"|i) (?:really |also |just |kinda |kind of |a bit |still |currently )*(?:not sure|unsure"
    r"|wondering|wonder|worried|struggling|stuck|trying|thinking|confused|nervous|excited|curious"
    r"|having|need|want|wanted? to (?:make sure|know|see|ask|check)|would like|don't know"
    r"|can't decide|hope|feel|think|guess|was hoping)\b|,? (?:so|and|but) i'd (?:like|love"
    r"|appreciate)\b|,? (?:so|and|but) if\b|,? (?:(?:so|and|but) )?you (?:can|could|should|may"
    r"|might|need|know|are|have)\b|, (?:you know|right|lol|haha)\b"
)
_COMMA = re.compile(r"[,;:] | [-–—] ")
# "After a long discussion we agreed to ..."
_INTRO = re.compile(
    r"(?:after|in|at|on|for|during|every|as|with|here|these days|this year|last (?:year|month)"
    r"|normally|usually|most days|privately|professionally) (?:[\w'/-]+ ){0,7}?(?:[\w'/-]+,"
    r" )?(?=(?:i|we|i'm|my|our)\b)"
)
# Where a statement of the user may begin within a sentence.
_CLAUSE = re.compile(
    r"(?:[,;:]| -| –| —|\b(?:because|since|cause|cuz|as|and|but)) +(?=(?:i|i'm|im|i've|we|we're"
    r"|my|our)\b)"
)
_CLAUSES = 3
_NEAR = 40  # characters before a sentence
_CUT = re.compile(r"[^.!?…:\s][\"'”’»`)\]]\s+$")
# Parts of a rule that speak to the assistant; "names should be short" may be about anything.
_ASKS = {"order", "task", "duty", "forbid", "wish", "fixed", "nearly", "polite"}
_TELLS = re.compile(r"^(?:write|draft|compose) (?:me )?(?:a|an|the)\b")
_SPOKEN_FOR = re.compile(
    r"\b(?:say|says|saying|said|tell|tells|telling|told|write|writes|that|if|when|whenever"
    r"|whether|pretend|example|explain|mention|like|assuming|why|how|once|until|unless|before"
    r"|after|while|where|so)\b"
)
_WHOLE = {SkipReason.HYPOTHETICAL, SkipReason.LONG, SkipReason.FICTION}  # and so each clause
# People who type in small letters: "... in flutter, my first app. what now"
_SMALL_STOP = re.compile(
    r"(?<=[^\W_][^\W_])(?<!\betc)(?<!\bvs)(?<!\bca)(?<!\bapprox)[.!?]+\s+(?=[a-zà-ÿ])"
)


def extract(
    text: str, said: date | None = None, *, most: int = MOST, fiction: bool = False
) -> Extraction:
    """What of a message is worth remembering, and what was left out. `said`: the day it was said.
    `fiction`: an earlier message, of whomever, was a role-play (`gate.is_role_play`)."""
    whole = SkipReason.FICTION if fiction else gate.message_reason(text)
    if whole or not text.strip():
        return Extraction((), (Skip(0, len(text), whole),) if whole else ())
    rules = standing_rules(text)
    hidden = secrets.find(text)
    candidates: list[Candidate] = []
    skipped: list[Skip] = []
    known: set[str] = set()
    for sentence in _sentences(text):
        start, end = sentence
        if any(secret.start < end and start < secret.end for secret in hidden):
            found: Candidate | SkipReason = SkipReason.SECRET
        elif is_torn(text, sentence) or _begins_torn(text, start):
            found = SkipReason.QUOTED
        else:
            rule = any(low < end and start < high for low, high in rules)
            found = _read(text, start, end, said, rule)
        if isinstance(found, Candidate):
            key = canonical(found.text)
            if key in known:
                found = SkipReason.DUPLICATE
            elif len(candidates) >= most:
                found = SkipReason.CAP
            else:
                known.add(key)
                candidates.append(found)
                continue
        if len(skipped) < SKIPS:
            skipped.append(Skip(start, end, found))
    return Extraction(tuple(candidates), tuple(skipped))


def _sentences(text: str) -> Iterator[Span]:
    found = (
        piece
        for span in own_words(text)
        for sentence in sentences(text, span)
        for piece in _pieces(text, sentence)
    )
    return islice(found, SENTENCES)


def _begins_torn(text: str, start: int) -> bool:
    """Whether code or a quotation was cut out before a sentence, so that it lacks its beginning."""
    before = text[max(text.rfind("\n", max(0, start - _NEAR), start) + 1, start - _NEAR) : start]
    return bool(_CUT.search(before))


def _pieces(text: str, sentence: Span) -> Iterator[Span]:
    start = sentence.start
    for stop in _SMALL_STOP.finditer(text, start, sentence.end):
        yield Span(start, stop.start() + 1)
        start = stop.end()
    yield Span(start, sentence.end)


def _read(text: str, start: int, end: int, said: date | None, rule: bool) -> Candidate | SkipReason:
    """One sentence."""
    if end - start > 2 * gate.LONGEST:
        return SkipReason.LONG
    lead = _LEAD.match(text, start, end)
    start = lead.end() if lead else start
    whole = _lowered(text[start:end])
    found: Candidate | SkipReason = _standing(text, start, whole) if rule else SkipReason.QUESTION
    for lower in _heads(whole):
        if not isinstance(found, Candidate):
            found = _statement(text, start, lower, said)
    if isinstance(found, Candidate) or found in _WHOLE:
        return found
    lower = next(_heads(whole), whole)
    for clause in islice(_CLAUSE.finditer(lower), _CLAUSES):
        at = clause.end()
        if _SPOKEN_FOR.search(lower, 0, at):
            break
        part = _statement(text, start + at, lower[at:], said)
        if isinstance(part, Candidate):
            return part
    return found


def _heads(lower: str) -> Iterator[str]:
    """What of a sentence may be a statement: without a question or request at its end."""
    after = _AFTERTHOUGHT.search(lower)
    if after and lower.count(" ", 0, after.start()) >= 2:
        lower = lower[: after.start()]
    tail = _TAIL.search(lower)
    if tail and lower.count(" ", 0, tail.start()) >= 2:
        yield lower[: tail.start()]
    elif not lower.endswith(("?", "？")):
        yield lower
    else:
        yield lower
        commas = [match.start() for match in _COMMA.finditer(lower)]
        yield from (lower[:at] for at in commas[-1:-3:-1])


def _standing(text: str, start: int, lower: str) -> Candidate | SkipReason:
    """A standing rule of how to answer or work, as `standing_rules` found it."""
    asked = any(found.keys() & _ASKS for found in rule_phrases.parts(rule_topics.comparable(lower)))
    if not asked or _TELLS.search(lower) or len(lower) > gate.LONGEST:
        return SkipReason.REQUEST
    return _candidate(text, start, start + len(lower), "preference")


def _statement(text: str, start: int, lower: str, said: date | None) -> Candidate | SkipReason:
    """A sentence, or what begins within one and goes to its end."""
    remembered = general.kept_in_mind(lower)
    kept = remembered or other_languages.lead(lower)
    start, lower = start + kept, lower[kept:]
    end = start + len(lower)
    reason = gate.refused(lower)
    if reason:
        return reason
    other = gate.other_reason(lower)
    if other is SkipReason.NOT_ABOUT_USER and is_schedule(text[start:end], said):
        return _candidate(text, start, end, "schedule", said)
    lower = gate.lasting(lower)
    end = start + len(lower)
    if not lower:
        return SkipReason.TRANSIENT
    intro = _INTRO.match(lower)
    category = _category(lower) or (_category(lower[intro.end() :]) if intro else "")
    if not category and remembered and other is SkipReason.NOT_ABOUT_USER:
        category = "general"
    if not category and other is SkipReason.NOT_ABOUT_USER and is_event(text[start:end], said):
        category = "fact"
    return _candidate(text, start, end, category, said) if category else other


def _category(lower: str) -> str:
    if preferences.is_preference(lower):
        return "preference"
    if facts.is_fact(lower) or preferences.is_decision(lower):
        return "fact"
    if general.is_goal(lower) or general.is_event(lower):
        return "general"
    return other_languages.category_of(lower)


def _candidate(
    text: str, start: int, end: int, category: str, said: date | None = None
) -> Candidate:
    words = " ".join(text[start:end].split()).rstrip(" ,;:-–—")
    told = told_of_user(words) or words
    if len(told) > gate.LONGEST:
        told = words
    told = (told[0].upper() + told[1:]).rstrip(".!")
    return Candidate(with_day(told, said), category, start, end)


def _lowered(text: str) -> str:
    """In lower case, as long as before."""
    lower = text.lower()
    if len(lower) != len(text):
        lower = "".join(char.lower() if len(char.lower()) == 1 else char for char in text)
    return lower.replace("’", "'").replace("\n", " ").replace("\t", " ")
