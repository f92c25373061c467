"""Where in a sentence a statement of the user begins and ends.

>>> next(heads("i'm allergic to nuts, so what can i bake?"))
"i'm allergic to nuts"
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from memtree.text.spans import Span

LEAST = 2  # spaces in a statement
_CLAUSES = 3
_LEAD = re.compile(
    r"(?:(?:btw|fwiw|by the way|also|oh and|oh|and|but|so|well|ok|okay|hey|hi|hello|yes|yeah|yep"
    r"|no(?=,)|nope|actually|anyway|fyi|just so you know|for context|context|correction|sorry"
    r"|thanks|thank you|great|one more thing|side note|for the record|in case it matters"
    r"|if it helps|as i said|like i said|honestly|to be clear|update|first|second|because|since"
    r"|plus|additionally|note|p\.?s\.?|good|cool|perfect|right|sure|fine|hm+|ah|true|important"
    r"|quick question|lol|haha|(?:it )?turns out(?: that)?|apparently|unfortunately|sadly|luckily"
    r"|fun fact"
    r"|my (?:doctor|gp|dentist|therapist|neurologist) (?:says|said|told me"
    r"|thinks)(?: that)?(?= i\b))\b[\s,:;.!–—-]*+)++",
    re.IGNORECASE,
)
# "..., so what can I cook?": the statement before the question or the request.
_TAIL = re.compile(
    r"(?:,| -| –| —|;|\.\.\.) *(?:(?:so|and|but|also|then),? )?(?:(?:please|pls|plz|kindly|(?:can"
    r"|could|would|will|should|do|does|did|is|are|was|am)(?=\W*$| (?:that|it|there|they|this"
    r"|these|those|i|we|you|u|he|she|any|some\w*)\b|[^?]{0,120}\?)|can't wait|what|what's|how|how's"
    r"|where|when|why|any"
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
    r"|having|have to|must|need|want|wanted? to (?:make sure|know|see|ask|check)|would like"
    r"|don't know|can't decide|hope|feel|think|guess|was hoping)\b|,? (?:so|and|but) i'd (?:like"
    r"|love|appreciate)\b|,? (?:so|and|but) if\b|,? (?:(?:so|and|but) )?you (?:can|could|should"
    r"|may|might|need|know|are|have)\b|, (?:you know|right|lol|haha)\b"
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
# People who type in small letters: "... in flutter, my first app. what now"
_SMALL_STOP = re.compile(
    r"(?<=[^\W_][^\W_])(?<!\betc)(?<!\bvs)(?<!\bca)(?<!\bapprox)[.!?]+\s+(?=[a-zà-ÿ])"
)
_SPOKEN_FOR = re.compile(
    r"\b(?:say|says|saying|said|tell|tells|telling|told|write|writes|that|if|when|whenever"
    r"|whether|pretend|example|explain|mention|like|assuming|why|how|once|until|unless)\b"
)
# "I'm Mara, I live in Ghent": two statements in one sentence.
_SPLICE = re.compile(
    r"[,;] (?:(?:and|und|et|y|e|en) )?(?=(?:i|i'm|im|i've|we|we're|my|our|ich|wir|meine?|je|j'\w+"
    r"|mon|ma|soy|tengo|vivo|mi|sono|ho|abito|eu|sou|tenho|moro|ik|mijn|we)\b)| and (?=(?:my|our"
    r"|we|i|i'm|i've)\b)"
)

# "... and we spend every summer there": only what stands before says where.
_REFERS_BACK = re.compile(r"\b(?:there|them|it|him|her|too|then|both)\W*$")


def without_lead(text: str, start: int, end: int) -> int:
    """Where a sentence begins behind "by the way", "ok" and the like."""
    lead = _LEAD.match(text, start, end)
    return lead.end() if lead else start


def pieces(text: str, sentence: Span) -> Iterator[Span]:
    """A sentence, parted where somebody who types in small letters ends one."""
    start = sentence.start
    for stop in _SMALL_STOP.finditer(text, start, sentence.end):
        yield Span(start, stop.start() + 1)
        start = stop.end()
    yield Span(start, sentence.end)


def heads(lower: str) -> Iterator[str]:
    """Yield the beginnings of a sentence that may be a statement: without a question or request at
    its end."""
    after = _AFTERTHOUGHT.search(lower)
    if after and lower.count(" ", 0, after.start()) >= LEAST:
        lower = lower[: after.start()]
    tail = _TAIL.search(lower)
    if tail and lower.count(" ", 0, tail.start()) >= LEAST:
        yield lower[: tail.start()]
        return
    yield lower
    if lower.endswith(("?", "？")):
        commas = [match.start() for match in _COMMA.finditer(lower)]
        yield from (lower[:at] for at in commas[-1:-3:-1])


def later(lower: str) -> Iterator[int]:
    """Where a statement may begin within a sentence that does not begin with one."""
    for clause in islice(_CLAUSE.finditer(lower), _CLAUSES):
        if _SPOKEN_FOR.search(lower, 0, clause.end()):
            return
        if not _REFERS_BACK.search(lower, clause.end()):
            yield clause.end()


def spliced(lower: str) -> list[tuple[int, int]]:
    """(start, end) of the parts of a sentence that may each be a statement."""
    joints = [match.span() for match in _SPLICE.finditer(lower)]
    starts = [0, *(end for _, end in joints)]
    ends = [*(start for start, _ in joints), len(lower)]
    parts = list(zip(starts, ends, strict=True))
    if any(_REFERS_BACK.search(lower, start, end) for start, end in parts):
        return [(0, len(lower))]
    return parts


def without_intro(lower: str) -> str:
    """ "After a long discussion we agreed" -> "we agreed"; empty where it has no such beginning."""
    intro = _INTRO.match(lower)
    return lower[intro.end() :] if intro else ""
