"""The statements of a user's message: sentences that nothing speaks against, clause by clause.

>>> found, _ = statements("Hi! I'm Bo, 30, and I live in Graz. Do you know it?")
>>> [one.text for one in found]
["I'm Bo", "I'm 30", 'I live in Graz']
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from memtree.memories.extraction import fiction, gate
from memtree.memories.extraction.candidates import Skip, SkipReason
from memtree.memories.extraction.clauses import LEAST, heads, without_lead
from memtree.memories.extraction.own_sentences import lowered, own_sentences
from memtree.text.spans import Span

CLAUSES = 12  # of a sentence that are read
LONGEST = 600  # characters of a sentence

_FIRST = r"(?:i|i'm|im|i've|i'd|we|we're|my|our)\b"
_FIRST_ABROAD = (
    r"(?:ich|wir|mein\w*|je|j'\w+|mon|ma|mes|soy|tengo|vivo|trabajo|me|mi|hablo|mio|mia"
    r"|il mio|la mia"
    r"|sono|ho|abito|lavoro|parlo|eu|meu|minha|tenho|moro|sou|falo|ik|mijn)\b"
)
_JOINT = re.compile(
    rf"(?:[,;:.] +|\s+[-–—] )(?:(?:and|but|so|also|plus) )?(?:now )?(?:also )?(?={_FIRST})"
    rf"|,? (?:and|but|plus) (?:also |now )?(?={_FIRST}|(?:the|its) [\w-]+ (?:of my|is)\b"
    r"|[\w' -]{2,30} is my\b)"
)
_JOINT_ABROAD = re.compile(
    rf"(?:[,;:.] +|\s+[-–—] )(?:(?:und|et|y|e|en|aber|mais|pero) )?(?={_FIRST_ABROAD})"
    rf"|,? (?:und|et|y|e|en|aber|mais|pero) (?={_FIRST_ABROAD})"
)
# "nuts and soy" is English, though "soy" begins a clause in Spanish.
_ABROAD = re.compile(
    rf"(?:hola|hallo|bonjour|ciao|oi|hoi|moi c'est \w+"
    rf"|guten tag)?[,!. ]*{_FIRST_ABROAD}"
)
# "Set my font size to 14 and change my currency": orders have no subject.
_ORDERED = re.compile(
    r"(?:please )?(?:set|change|switch|turn|use|enable|disable|make|keep|put|update|remind|add)\b"
)
_ORDERS = re.compile(
    r",? (?:and|then) (?:then |also )?(?=(?:set|change|switch|turn|use|enable|disable|make"
    r"|keep|put"
    r"|update|remind|add) )"
)
_WITH_MINE = re.compile(r"my \w+ and i (?=\w)")
_VERBS = (
    r"(?:live|work|speak|like|love|prefer|hate|dislike|enjoy|use|own|drive|study|weigh|have|code"
    r"|am|was born|moved to|don't|do not|can't stand|need to|smoke)\b"
)
_SAME_SUBJECT = re.compile(
    rf",? (?:and|but) (?:also |mostly |mainly )?(?={_VERBS})"
    rf"|, (?={_VERBS})"
)
_GERMAN = re.compile(
    r",? und (?=(?:bin|wohne|lebe|arbeite|heiße|spreche|habe|mag)\b)|, (?=(?:bin|wohne|lebe"
    r"|arbeite)\b)"
)
# "I'm Bo, 30, a nurse from Graz"
_APPOSITION = re.compile(
    r"(?:,| and)(?: and)? (?=(?:\d{1,3}(?:,|$|\W*$| years? old| and )|an? [a-z]|(?:from"
    r"|based in|living in|working"
    r" (?:as|at|for)|allergic to|born (?:in|on)|married|single|divorced|vegan|vegetarian)\b))"
)
_INTRODUCED = re.compile(
    r"(?:i'm|i am|im|my name is|my name's) (?:an? [^,]{2,60}?|[\w'-]+(?: [\w'-]+)?)(?=,| and )"
)
_SPOKEN_FOR = re.compile(
    r"\b(?:say|says|saying|said|tell|tells|telling|told|write|writes|that|if|when|whenever"
    r"|whether"
    r"|pretend|example|thinks?|believes?|claims?|assuming|why|how|until|unless|once|called|asks?"
    r"|asked|mentioned|dass|wenn|que|si|quand|cuando|se|che|als|dat)\b"
)
_YOURS = re.compile(
    r"\byour(?= (?:answers?|repl(?:y|ies)|responses?|messages?|explanations?|tone)\b)"
)
_ASKED = re.compile(
    r",? ?(?:right|correct|yes|no|ok|okay|isn't it|am i not|aren't i|don't i|huh|eh|true|oder|no"
    r"|verdad|n'est-ce pas|vero|né|toch)\W*$"
)
_RESTART = re.compile(
    r"(?:no[,.]? )?(?:wait|scratch that|i mean|rather)[,:]? (?=\S)", re.IGNORECASE
)
_ASIDE = re.compile(
    r",? (?:in case|so that|so you know|just so|for when|when|as) (?:you|u)\b|,? if (?:you"
    r"|that|it)\b"
)
GRADE = 2  # characters before a minus that is said: "O-", "AB-", "B2-"


@dataclass(frozen=True, slots=True)
class Statement:
    """`text`: with its subject, where the message has that before; `lower`: in lower case, as long.
    `offset`: where the text would begin in the message. `sentence`: all of it, there. `sure`: no
    word of it was added."""

    text: str
    lower: str
    offset: int
    sentence: Span
    sure: bool = True
    code: bool = False

    def place(self, start: int, end: int) -> Span:
        """Where a part of the text stands in the message."""
        return Span(max(self.offset + start, self.sentence.start), self.offset + end)


def statements(text: str, *, in_play: bool = False) -> tuple[list[Statement], list[Skip]]:
    """The statements of a message, in order, and the sentences that are none. Linear."""
    own = own_sentences(text, in_play=in_play)
    found: list[Statement] = []
    skipped = own.skipped
    for sentence in own.readable:
        read = _of_sentence(text, sentence)
        if isinstance(read, SkipReason):
            skipped.append(Skip(sentence.start, sentence.end, read))
        else:
            found += read
    return found, skipped


def _of_sentence(text: str, sentence: Span) -> list[Statement] | SkipReason:
    if sentence.end - sentence.start > LONGEST:
        return SkipReason.LONG
    start = without_lead(text, sentence.start, sentence.end)
    restart = _RESTART.match(text, start, sentence.end)
    start = restart.end() if restart else start
    whole = lowered(text[start : sentence.end])
    if fiction.is_fictional(whole):
        return SkipReason.FICTION
    reason: SkipReason = SkipReason.QUESTION
    for head in heads(whole):
        if whole.endswith("?") and _ASKED.fullmatch(whole[len(head) :]):
            continue
        aside = _ASIDE.search(head)
        if aside and head.count(" ", 0, aside.start()) >= LEAST:
            head = head[: aside.start()]
        refused = gate.refused(_YOURS.sub("the ", head))
        if refused in (None, SkipReason.CODE):
            end = start + _closed(head)
            return list(_clauses(text[start:end], start, sentence, refused is not None))
        reason = refused or reason
    return reason


def _closed(head: str) -> int:
    """Where it ends without the marks behind it; the minus of "O-" is none of them."""
    end = len(head.rstrip(" ,;:-–—.!"))
    last = head[:end].rpartition(" ")[2]
    signed = head[end : end + 1] == "-" and len(last) <= GRADE and last.isalnum()
    return end + signed


def _clauses(text: str, offset: int, sentence: Span, code: bool) -> Iterator[Statement]:
    lower = lowered(text)
    joint = _JOINT_ABROAD if _ABROAD.match(lower) else _JOINT
    joints = [(match.start(), match.end()) for match in islice(joint.finditer(lower), CLAUSES)]
    starts = [0, *(end for _, end in joints)]
    ends = [*(start for start, _ in joints), len(text)]
    for start, end in zip(starts, ends, strict=True):
        if start and _SPOKEN_FOR.search(lower, 0, start):
            return
        yield from _parts(text[start:end], offset + start, sentence, code)


def _parts(text: str, offset: int, sentence: Span, code: bool) -> Iterator[Statement]:
    """A clause, and what else it says of its subject."""
    lower = lowered(text)
    both = _WITH_MINE.match(lower)
    if both:
        we = "We "
        yield from _parts(we + text[both.end() :], offset + both.end() - len(we), sentence, code)
        return
    subject = re.match(r"(i|we|ich)(?=[ '])", lower)
    cuts: list[tuple[int, int, str]] = []
    if _ORDERED.match(lower):
        cuts = [(one.start(), one.end(), "") for one in _ORDERS.finditer(lower)]
    if subject:
        said = text[: subject.end()]
        verbs = _GERMAN if subject[1] == "ich" else _SAME_SUBJECT
        cuts = [(one.start(), one.end(), f"{said} ") for one in verbs.finditer(lower)]
    if _INTRODUCED.match(lower):
        cuts += [(one.start(), one.end(), "I'm ") for one in _APPOSITION.finditer(lower)]
    cuts = sorted(cuts)[:CLAUSES]
    starts = [(0, ""), *((end, said) for _, end, said in cuts)]
    ends = [*(start for start, _, _ in cuts), len(text)]
    for (start, said), end in zip(starts, ends, strict=True):
        if start >= end:
            continue
        whole = said + text[start:end]
        yield Statement(whole, lowered(whole), offset + start - len(said), sentence, not said, code)
