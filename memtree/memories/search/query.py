"""A query as it is ranked: its terms, its vector, and the vector of what is particular in it.

Words that stand in many memories of a scope tell nothing apart: the user's name, "user" itself, the
two people of a recorded talk. BM25 weighs them little, but in a vector they weigh as much as any
word. So what is left without them is embedded as well.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import numpy as np

from memtree.memories.search.text_terms import memory_terms
from memtree.memories.search.vector_bytes import Vector
from memtree.ranking.background import Background
from memtree.text.terms import terms

REACH = 2_000  # characters that are embedded without common words; an embedder reads fewer
COMMON = 0.1  # share of the memories; 0.05 and 0.2 do as well
LEAST_MEMORIES = 50  # in which a share says something
PARTICULAR = (
    0.7  # of the vector that ranks, beside 0.3 of the whole query's; 0.5 loses half a point
)
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, eq=False)
class Query:
    """`terms`: hash -> count. `vector`: of the whole text, a unit row; `moved`: the one that ranks.
    None: not known, or of no use. `background`: of the text's language, for its relevance."""

    terms: Mapping[int, int]
    vector: Vector | None = None
    moved: Vector | None = None
    background: Background | None = None

    @classmethod
    def of(
        cls, text: str, vector: Vector | None = None, background: Background | None = None
    ) -> Query:
        return cls(memory_terms(text), vector, vector, background)

    def with_particular(self, vector: Vector) -> Query:
        """`vector`: a unit row, of the text without common words."""
        if self.vector is None:
            return self
        mixed = (1 - PARTICULAR) * self.vector + PARTICULAR * vector
        length = float(np.linalg.norm(mixed))
        return replace(self, moved=(mixed / length).astype(np.float32)) if length else self


def common(counts: Mapping[int, int], memories: int) -> set[int]:
    """The terms that too many memories hold. `counts`: memories that hold each."""
    return {term for term, count in counts.items() if is_common(count, memories)}


def is_common(count: int, memories: int) -> bool:
    return memories >= LEAST_MEMORIES and count > COMMON * memories


def without(text: str, dropped: Collection[int]) -> str:
    """The start of a text without the words all of whose terms are dropped; empty where no term
    would be left, or nothing was dropped.

    >>> without("What does Ada like?", set(terms("Ada")))
    'What does like?'
    """
    head = text[:REACH]

    def kept(match: re.Match[str]) -> str:
        words = terms(match[0])
        return "" if words and words.keys() <= set(dropped) else match[0]

    left = " ".join(_WORD.sub(kept, head).split())
    return left if dropped and terms(left) and left != " ".join(head.split()) else ""
