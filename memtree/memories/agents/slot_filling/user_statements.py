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

from memtree.language.word_file import WordFile
from memtree.memories.extraction import fiction, gate
from memtree.memories.extraction.candidates import Skip, SkipReason
from memtree.memories.extraction.own_sentences import lowered, own_sentences
from memtree.memories.extraction.statement_bounds import LEAST, heads, without_lead
from memtree.text.spans import Span

_DATA = WordFile("all", "memory_spoken_clauses")

CLAUSES = 12  # of a sentence that are read
LONGEST = 600  # characters of a sentence

_JOINT = _DATA.pattern("joint")
_JOINT_ABROAD = _DATA.pattern("joint_abroad")
# "nuts and soy" is English, though "soy" begins a clause in Spanish.
_ABROAD = _DATA.pattern("abroad")
# "Set my font size to 14 and change my currency": orders have no subject.
_ORDERED = _DATA.pattern("ordered")
_ORDERS = _DATA.pattern("orders")
_WITH_MINE = re.compile(r"my \w+ and i (?=\w)")
_SAME_SUBJECT = _DATA.pattern("same_subject")
_GERMAN = _DATA.pattern("german")
# "I'm Bo, 30, a nurse from Graz"
_APPOSITION = _DATA.pattern("apposition")
_INTRODUCED = _DATA.pattern("introduced")
_SPOKEN_FOR = _DATA.pattern("spoken_for")
_YOURS = _DATA.pattern("yours")
_ASKED = _DATA.pattern("asked")
_RESTART = _DATA.pattern("restart", re.IGNORECASE)
_ASIDE = _DATA.pattern("aside")
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
    stated: list[Statement] = []
    skipped = own.skipped
    for sentence in own.readable:
        read = _of_sentence(text, sentence)
        if isinstance(read, SkipReason):
            skipped.append(Skip(sentence.start, sentence.end, read))
        else:
            stated += read
    return stated, skipped


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
        cuts = [(match.start(), match.end(), "") for match in _ORDERS.finditer(lower)]
    if subject:
        said = text[: subject.end()]
        verbs = _GERMAN if subject[1] == "ich" else _SAME_SUBJECT
        cuts = [(match.start(), match.end(), f"{said} ") for match in verbs.finditer(lower)]
    if _INTRODUCED.match(lower):
        cuts += [(match.start(), match.end(), "I'm ") for match in _APPOSITION.finditer(lower)]
    cuts = sorted(cuts)[:CLAUSES]
    starts = [(0, ""), *((end, said) for _, end, said in cuts)]
    ends = [*(start for start, _, _ in cuts), len(text)]
    for (start, said), end in zip(starts, ends, strict=True):
        if start >= end:
            continue
        whole = said + text[start:end]
        yield Statement(whole, lowered(whole), offset + start - len(said), sentence, not said, code)
