"""How a new memory relates to one that is stored: the same, a duplicate, what it may replace."""

from __future__ import annotations

import enum
import re
from collections import Counter
from typing import NamedTuple

from memtree.memories.rules.canonical import canonical
from memtree.text.terms import STOP_WORDS, stem

DUPLICATE = 0.85  # relevance
NEAR = 0.5
_WORD = re.compile(r"\w+(?:[.:/-]\w+)*")


class Relation(enum.StrEnum):
    SAME = "same"
    DUPLICATE = "duplicate"
    POSSIBLE_UPDATE = "possible_update"
    OTHER = "other"


class Comparison(NamedTuple):
    """`differs`: what a possible update changes, as "old -> new"."""

    relation: Relation
    differs: tuple[str, ...] = ()


def compare(new: str, old: str, relevance: float | None) -> Comparison:
    """`relevance`: of the two texts by the embedder, in [0, 1]; None: words alone decide."""
    if canonical(new) == canonical(old):
        return Comparison(Relation.SAME)
    news, olds = _words(new), _words(old)
    gone, came = olds - news, news - olds
    shared = (news & olds).total()
    near = shared / max(1, min(news.total(), olds.total()))
    if (relevance if relevance is not None else near) < NEAR:
        return Comparison(Relation.OTHER)
    if not gone and not came and (relevance is None or relevance >= DUPLICATE):
        return Comparison(Relation.DUPLICATE)
    return Comparison(Relation.POSSIBLE_UPDATE, (f"{' '.join(gone)} -> {' '.join(came)}",))


def _words(text: str) -> Counter[str]:
    found = (word.lower() for word in _WORD.findall(text))
    return Counter(stem(word) for word in found if word not in STOP_WORDS)
