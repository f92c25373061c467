"""Memories of one message of the user, by rules.

A sentence becomes a memory if nothing speaks against it (`gate.py`) and a rule knows what it is.
Precision comes before recall: what no rule knows is left out, with the reason. The stored text is
the sentence, told of the user where that can be done word by word (`third_person.py`).

    >>> found = extract("Hi! I'm allergic to nuts. What can I bake?")
    >>> [(memory.text, memory.category) for memory in found.candidates]
    [("User is allergic to nuts", 'fact')]
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from memtree.memories.extraction import facts, gate, general, preferences
from memtree.memories.extraction.candidates import Candidate, Extraction, Skip, SkipReason
from memtree.memories.extraction.third_person import told_of_user
from memtree.memories.rules.canonical import canonical
from memtree.text import secrets
from memtree.text.standing_rules import standing_rules

MOST = 8
READ = 32_000  # characters of a message; what is longer was not typed
SKIPS = 100  # that are told of one message

_SENTENCE = re.compile(r"[^\s.!?][^\n]*?(?:[.!?]{1,9}(?=\s|$)|(?=\n)|$)", re.MULTILINE)
_FENCE = re.compile(r"```[\s\S]*?(?:```|\Z)|~~~[\s\S]*?(?:~~~|\Z)|`[^`\n]*`")
_LEAD = re.compile(
    r"(?:(?:btw|by the way|also|oh and|oh|and|but|so|well|ok|okay|hey|hi|hello|yes|yeah|yep|no|nope"
    r"|actually|anyway|fyi|just so you know|for context|context|correction|sorry|thanks|thank you"
    r"|great"
    r"|one more thing|side note|for the record|in case it matters|if it helps|as i said"
    r"|like i said|honestly"
    r"|to be clear|update|first|second|because|since|plus|additionally|note"
    r"|p\.?s\.?)\b[\s,:;.!–—-]*+)++"
    r"|[-*•]\s+|\d{1,2}[.)]\s+",
    re.IGNORECASE,
)
# "..., so what can I cook?": the statement before the question.
_TAIL = re.compile(
    r"(?:,| -| –| —|;|\.\.\.)? *\b(?:(?:so|and|but)(?:,)? )?(?:(?:please|pls|plz)\b|(?:can|could"
    r"|would|will)"
    r" you\b|(?:what|how|which|where|when|who|why) (?:is|are|do|does|did|can|could|should|would|to"
    r"|about)\b"
    r"|what's|(?:is|are) there\b|any (?:ideas?|tips|suggestions?|advice|recommendations?)\b"
    r"|do you\b|should i\b"
    r"|can i\b|give me\b|help me\b|tell me\b|show me\b)",
    re.IGNORECASE,
)


def extract(text: str, said: date | None = None, *, most: int = MOST) -> Extraction:
    """What of a message is worth remembering, and what was left out. `said`: the day it was
    said."""
    whole = gate.message_reason(text)
    if whole or not text.strip():
        return Extraction((), (Skip(0, len(text), whole),) if whole else ())
    own = text[: min(READ, gate.own_words_end(text))]
    rules = standing_rules(own)
    hidden = secrets.find(text)
    candidates: list[Candidate] = []
    skipped: list[Skip] = []
    known: set[str] = set()
    for start, end in _sentences(own):
        if any(secret.start < end and start < secret.end for secret in hidden):
            found: Candidate | SkipReason = SkipReason.SECRET
        else:
            found = _read(text, start, end, any(low < end and start < high for low, high in rules))
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


def _sentences(own: str) -> Iterator[tuple[int, int]]:
    plain = _FENCE.sub(lambda match: "\n" * len(match.group()), own)
    return (match.span() for match in _SENTENCE.finditer(plain))


def _read(text: str, start: int, end: int, rule: bool) -> Candidate | SkipReason:
    """One sentence."""
    if end - start > 2 * gate.LONGEST:
        return SkipReason.LONG
    lead = _LEAD.match(text, start, end)
    start = lead.end() if lead else start
    tail = _TAIL.search(text, start, end)
    if tail and text[start : tail.start()].count(" ") >= 2:
        end = tail.start()
    lower = _lowered(text[start:end])
    kept = general.kept_in_mind(lower)
    start, lower = start + kept, lower[kept:]
    reason = gate.statement_reason(lower)
    if rule and reason in (None, SkipReason.CODE, SkipReason.TRANSIENT):
        return _candidate(text, start, end, "preference")
    if reason:
        return reason
    category = _category(lower, bool(kept))
    return _candidate(text, start, end, category) if category else gate.other_reason(lower)


def _category(lower: str, kept: bool) -> str:
    if preferences.is_preference(lower):
        return "preference"
    if facts.is_fact(lower) or preferences.is_decision(lower):
        return "fact"
    return "general" if kept or general.is_goal(lower) else ""


def _candidate(text: str, start: int, end: int, category: str) -> Candidate:
    said = " ".join(text[start:end].split()).rstrip(" ,;:-–—")
    told = told_of_user(said) or said
    return Candidate((told[0].upper() + told[1:]).rstrip("."), category, start, end)


def _lowered(text: str) -> str:
    """In lower case, as long as before."""
    lower = text.lower()
    lower = (
        lower
        if len(lower) == len(text)
        else "".join(char.lower() if len(char.lower()) == 1 else char for char in text)
    )
    return lower.replace("’", "'").replace("\n", " ").replace("\t", " ")
