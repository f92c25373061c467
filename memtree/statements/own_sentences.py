r"""The user's own sentences of a message, and those of them that cannot be read, with the reason.

>>> own_sentences("I live in Graz.\n> I live in Rome.\nMy PIN is 1234.").readable
[Span(start=0, end=15)]
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from memtree.language.borders import sentences, small_stops
from memtree.statements import fiction, gate
from memtree.statements.forget_orders import is_off_record
from memtree.statements.skip_reasons import Skip, SkipReason
from memtree.text import secrets
from memtree.text.own_words import own_words
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
    whole = SkipReason.FICTION if in_play else gate.message_reason(text, own)
    if whole:
        return OwnSentences([], [Skip(0, len(text), whole)])
    parts = list(islice(_sentences(text, spans), MOST + 1))
    if any(is_off_record(text[start:end]) for _, (start, end) in parts):
        return OwnSentences([], [Skip(0, len(text), SkipReason.OFF_RECORD)])
    made_up = fiction.framed(
        [(at, lowered(text[start : min(end, start + gate.LONGEST)])) for at, (start, end) in parts]
    )
    hidden = iter(secrets.find(text))
    secret = next(hidden, None)
    readable: list[Span] = []
    skipped: list[Skip] = []
    for number, (_, sentence) in enumerate(parts[:MOST]):
        start, end = sentence
        while secret and secret.end <= start:
            secret = next(hidden, None)
        if (secret and secret.start < end) or gate.is_private(text[start:end]):
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
