"""Check that a memory which a model wrote was really said: it is believed for its quotation alone.

The quotation must stand in the user's own words, in one place, and what the memory says must follow
from the sentences around it: its numbers, dates and names stand there, every "not" is kept and none
is added, and most of its words are the user's. It must be a statement: from a question, or from an
order that a text gives to its reader, nothing is learned about the user.

A false memory is worse than a lost one, so what is not certain is not grounded.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from memtree.language import languages
from memtree.language.borders import denies
from memtree.language.word_file import WordFile
from memtree.text.spans import Span
from memtree.tree import numbers, prompt_injection, summaries_faithfulness

_DATA = WordFile("en", "memory_grounding")

LONGEST = 300  # characters of a memory
SHORTEST = 2  # words of a quotation
SHARED = 0.5  # of the words of a memory, which are the user's own
STEM = 4  # letters by which two forms of a word are one

_WORD = re.compile(r"[^\W\d_]+")
_BORDER = _DATA.pattern("border", re.IGNORECASE)
_QUOTES = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "„": '"'})
# How a memory tells of the user what they said in other words.
_TOLD = _DATA.words("told")
_ASKS = re.compile(r"[?？؟](?=\s|$)")
_LIKES = _DATA.pattern("likes", re.IGNORECASE)
_DISLIKES = _DATA.pattern("dislikes", re.I)


class Grounds(NamedTuple):
    """Where a quotation stands in the message, and the whole clauses and sentences that it is
    of."""

    quote: Span
    clause: Span
    sentence: Span


def grounds(text: str, spans: Sequence[Span], quote: str) -> Grounds | None:
    """The first place of a quotation within the sentences `spans` of a message, white space, case
    and the form of quotation marks aside. It may go over from one to the next. Linear."""
    wanted = _folded(quote.strip().strip("\"'“”.…"))[0].strip()
    if len(_WORD.findall(wanted)) < SHORTEST:
        return None
    shown = "\n".join(text[start:end] for start, end in spans)
    folded, places = _folded(shown)
    at = folded.find(wanted)
    if at < 0:
        return None
    first, last = places[at], places[at + len(wanted) - 1]
    offsets: list[tuple[int, Span]] = []  # where each span begins in `shown`
    begins = 0
    for span in spans:
        offsets.append((begins, span))
        begins += span.end - span.start + 1
    held = [
        (begin, span)
        for begin, span in offsets
        if begin <= last and first < begin + span.end - span.start
    ]
    (begin, opening), (end_begin, other) = held[0], held[-1]
    place = Span(opening.start + max(0, first - begin), other.start + last - end_begin + 1)
    sentence = Span(opening.start, other.end)
    return Grounds(place, clause_of(text, place, sentence), sentence)


def clause_of(text: str, quote: Span, sentence: Span) -> Span:
    """The quotation with all that belongs to it: a "not" before it is said of it."""
    start = sentence.start
    for match in _BORDER.finditer(text, sentence.start, quote.start):
        start = match.end()
    after = _BORDER.search(text, quote.end, sentence.end)
    return Span(start, after.start() if after else sentence.end)


def grounded(memory: str, sentence: str, clause: str, said: str) -> bool:
    """Return True if a memory follows from a clause of a sentence of the user. `said`: all of the
    message's own words, which may hold a name that the sentence only means. Linear."""
    if not 0 < len(memory) <= LONGEST or sentence.rstrip("\"'”) ").endswith(("?", "？")):
        return False
    if _ASKS.search(memory):
        return False
    if prompt_injection.injected("", memory) or prompt_injection.meta("", memory):
        return False
    latin = languages.script(said) == "latin"
    german = languages.language(f"{memory} {sentence}", 3) == "de"  # writes nouns like names
    if any(numbers.invented_numbers(memory, sentence)):
        return False
    if any(numbers.invented_anchors(memory, said, latin and not german)):
        return False
    claimed = summaries_faithfulness.statements([("user", memory)])
    stated = summaries_faithfulness.statements([("user", sentence)])
    if any(summaries_faithfulness.negations(claimed, stated)) or _turned(memory, clause):
        return False
    return not latin or _shared(memory, said) >= SHARED


def _turned(memory: str, clause: str) -> bool:
    """Return True if a like became a dislike, or a "not" got lost on the way."""
    if _LIKES.search(memory) and _DISLIKES.search(clause) and not _LIKES.search(clause):
        return True
    if _DISLIKES.search(memory) and _LIKES.search(clause) and not _DISLIKES.search(clause):
        return not denies(clause)
    disliked = _DISLIKES.search(memory) or _DISLIKES.search(clause)
    return denies(clause) != denies(memory) and not disliked


def _shared(memory: str, said: str) -> float:
    """The share of a memory's words that the user wrote, in whatever form."""
    ours = {word[:STEM] for word in _WORD.findall(said.lower())}
    words = [
        word for word in _WORD.findall(memory.lower()) if len(word) >= STEM and word not in _TOLD
    ]
    return sum(word[:STEM] in ours for word in words) / len(words) if words else 1.0


def _folded(text: str) -> tuple[str, list[int]]:
    """The text in small letters with single spaces, and where each of its characters stood."""
    pieces: list[str] = []
    places: list[int] = []
    space = False
    for at, letter in enumerate(text.translate(_QUOTES)):
        if letter.isspace():
            space = bool(pieces)
            continue
        if space:
            pieces.append(" ")
            places.append(at - 1)
            space = False
        lower = letter.lower()
        pieces.append(lower)
        places.extend([at] * len(lower))
    return "".join(pieces), places
