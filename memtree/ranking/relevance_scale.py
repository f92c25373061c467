"""Relevance: an embedder's cosine on a scale that means the same for every embedder.

Cosines of different models are not comparable: 0.5 may be a match for one and noise for another. So
two cosines are measured for each embedder and kept beside its recipe: `half`, which the best of 100
unrelated memories reaches for 5 % of messages, and `strong`, which 75 % of paraphrases reach.

    >>> scale = RelevanceScale(half=0.4, strong=0.7)
    >>> scale.relevance(0.4), round(scale.relevance(0.7), 6), scale.relevance(-0.2)
    (0.5, 0.85, 0.0)
"""

from __future__ import annotations

import math
from dataclasses import dataclass

HALF, STRONG = 0.5, 0.85  # the relevances of the two measured cosines
LOWEST, HIGHEST, LEAST_STEP = 0.02, 0.98, 0.01  # limits of the measured cosines, for any model


@dataclass(frozen=True, slots=True)
class RelevanceScale:
    """Piecewise linear scale. `half`, `strong`: the raw cosines of relevance 0.5 and 0.85, with
    0 < half < strong < 1."""

    half: float
    strong: float

    def __post_init__(self) -> None:
        if not 0 < self.half < self.strong < 1:
            raise ValueError(f"a scale needs 0 < half < strong < 1, not {self.half}, {self.strong}")

    @classmethod
    def measured(cls, half: float, strong: float) -> RelevanceScale:
        """Return the valid scale nearest to the measured cosines; it is steep for a model to which
        paraphrases are no nearer than unrelated texts. Never raises."""
        half = _within(half, LOWEST, HIGHEST - LEAST_STEP)
        return cls(half, _within(strong, half + LEAST_STEP, HIGHEST))

    def relevance(self, cosine: float) -> float:
        """Return a cosine's relevance in [0, 1], piecewise linear and increasing; 0 for NaN."""
        if not cosine > 0:
            return 0.0
        if cosine < self.half:
            return HALF * cosine / self.half
        if cosine < self.strong:
            return HALF + (STRONG - HALF) * (cosine - self.half) / (self.strong - self.half)
        return min(1.0, STRONG + (1 - STRONG) * (cosine - self.strong) / (1 - self.strong))

    def cosine(self, relevance: float) -> float:
        """Return the least cosine, in [0, 1], that has this relevance."""
        if not relevance > 0:
            return 0.0
        if relevance < HALF:
            return self.half * relevance / HALF
        if relevance < STRONG:
            share = (relevance - HALF) / (STRONG - HALF)
            return self.half + share * (self.strong - self.half)
        share = min(1.0, (relevance - STRONG) / (1 - STRONG))
        return self.strong + share * (1 - self.strong)


def _within(value: float, low: float, high: float) -> float:
    return low if math.isnan(value) else min(high, max(low, value))
