"""Relevance: an embedder's cosine on a scale that means the same for every embedder.

Cosines of different models are not comparable: 0.5 may be a match for one and noise for another. So
two cosines are measured for each embedder and kept beside its recipe: `chance`, which the best of
100 unrelated memories reaches for 5 % of messages, and `strong`, which 75 % of paraphrases reach.
Relevance 0.5 lies at `HALF_OF_CHANCE` of the first: what answers a natural request is seldom as
near to it as a chance neighbour of a question about the world, and those are told apart by their
form. `scripts/calibrate_relevance.py` measures all three with any embedder.

    >>> scale = RelevanceScale(chance=0.4, strong=0.7)
    >>> scale.relevance(0.24), scale.relevance(0.4), round(scale.relevance(0.7), 6)
    (0.5, 0.7, 0.85)
    >>> scale.relevance(-0.2)
    0.0
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

HALF, CHANCE, STRONG = 0.5, 0.7, 0.85  # the relevances of the three cosines
HALF_OF_CHANCE = 0.6  # docs/decisions/0094 has the figures
LOWEST, HIGHEST, LEAST_STEP = 0.02, 0.98, 0.01  # limits of the measured cosines, for any model
_RELEVANCES = (0.0, HALF, CHANCE, STRONG, 1.0)


@dataclass(frozen=True, slots=True)
class RelevanceScale:
    """Piecewise linear scale. `chance`, `strong`: the raw cosines of relevance 0.7 and 0.85, with
    0 < chance < strong < 1."""

    chance: float
    strong: float

    def __post_init__(self) -> None:
        if not 0 < self.chance < self.strong < 1:
            raise ValueError(
                f"a scale needs 0 < chance < strong < 1, not {self.chance}, {self.strong}"
            )

    @classmethod
    def measured(cls, chance: float, strong: float) -> RelevanceScale:
        """Return the valid scale nearest to the measured cosines; it is steep for a model to which
        paraphrases are no nearer than unrelated texts. Never raises."""
        chance = _within(chance, LOWEST, HIGHEST - LEAST_STEP)
        return cls(chance, _within(strong, chance + LEAST_STEP, HIGHEST))

    @property
    def _cosines(self) -> tuple[float, ...]:
        return (0.0, HALF_OF_CHANCE * self.chance, self.chance, self.strong, 1.0)

    def relevance(self, cosine: float) -> float:
        """Return a cosine's relevance in [0, 1], piecewise linear and increasing; 0 for NaN."""
        return float(np.interp(cosine, self._cosines, _RELEVANCES)) if cosine > 0 else 0.0

    def relevances(self, cosines: NDArray[np.float32]) -> NDArray[np.float32]:
        """`relevance` of many."""
        return np.interp(cosines, self._cosines, _RELEVANCES).astype(np.float32)

    def cosine(self, relevance: float) -> float:
        """Return the least cosine, in [0, 1], that has this relevance."""
        return float(np.interp(relevance, _RELEVANCES, self._cosines)) if relevance > 0 else 0.0


def _within(value: float, low: float, high: float) -> float:
    return low if math.isnan(value) else min(high, max(low, value))
