"""Measure what a model actually used: paths, identifiers, options and error names of its answer
that come from the history. Would they have been visible after a fold?

The answer comes back with the next request of the same conversation; until then only keyed hashes
of the visible text's terms are kept, never text.

    USED       everything in the answer that comes from the history
    RECALLED   the part of it that is not in the recent messages: only memory could keep it
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import NamedTuple

from memtree.conversation.history import History
from memtree.shadow.probes import IDENTIFIER, PATH, Score, kind, positions
from memtree.text.words.anchors import REACH, weigh

USED, RECALLED = "used", "recalled"
MOST = 64  # terms of one answer
HASH_BYTES = 8


class SightRecord(NamedTuple):
    """Record of what was visible in one request: its cut, and packed hashes of the terms."""

    cut: int
    hashes: bytes


def seen(cut: int, visible: str, key: bytes) -> SightRecord:
    """Record the terms of the visible text. `key`: at most 64 random bytes of this process."""
    every = {form for term in terms(visible) for form in forms(term)}
    return SightRecord(cut, array("Q", sorted(_hash(term, key) for term in every)).tobytes())


def used(history: History, answer: int, before: SightRecord, key: bytes) -> dict[str, Score]:
    """Return how much of what the answer to the first `answer` messages took from them was visible.
    Empty if message `answer` is not an answer."""
    if answer >= len(history) or history.facts[answer].role != "assistant":
        return {}
    named = sorted(terms(history.view(answer).text), key=lambda term: _hash(term, key))[:MOST]
    known = set(memoryview(before.hashes).cast("Q"))
    in_sight = {term for term in named if _hash(term, key) in known}
    lost = _present(history, range(answer), set(named) - in_sight)
    recent = _present(history, range(before.cut, answer), in_sight)
    old = len(in_sight) - len(recent)
    return {
        USED: Score(len(in_sight) + len(lost), len(in_sight)),
        RECALLED: Score(old + len(lost), old),
    }


def terms(text: str) -> set[str]:
    """Return the paths and identifiers in a text of any length."""
    weighed = (term for part in _parts(text) for term in weigh(part, prose=False))
    return {term for term in weighed if kind(term) in (PATH, IDENTIFIER)}


def forms(term: str) -> Iterator[str]:
    """Yield a term and its short forms: the end of a path, a part of a dotted name."""
    yield term
    if kind(term) == PATH:
        parts = term.replace("\\", "/").strip("/").split("/")
        yield from ("/".join(parts[at:]) for at in range(1, len(parts)))
    elif "." in term:
        yield from term.split(".")


def _present(history: History, messages: range, wanted: Iterable[str]) -> set[str]:
    """Return those that appear in these messages, which are read from the newest until all are
    found."""
    left, present = set(wanted), set[str]()
    for message in reversed(messages):
        if not left:
            break
        text = history.view(message).text
        here = {term for term in left if next(positions(term, text), None) is not None}
        present |= here
        left -= here
    return present


def _parts(text: str) -> Iterator[str]:
    """Yield pieces short enough for `weigh`, split at white space if there is any."""
    start = 0
    while start < len(text):
        end = start + REACH
        if end < len(text):
            end = max(text.rfind(" ", start, end), text.rfind("\n", start, end), start) + 1
            end = end if end > start + 1 else start + REACH
        yield text[start:end]
        start = end


def _hash(term: str, key: bytes) -> int:
    data = term.encode("utf-8", "replace")
    return int.from_bytes(blake2b(data, digest_size=HASH_BYTES, key=key).digest(), "little")
