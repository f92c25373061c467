"""Put an embedder's cosines on a scale that means the same for every embedder and language.

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

`Background` removes from cosines what all texts of a language share in an embedder's space. An
embedder trained on English puts all German sentences near each other, and those that begin with
"The user" nearer still. So the mean of a background of everyday sentences is subtracted, and their
first principal components are projected out: the rest tells what a text is about. The scale of such
cosines is measured on the background sentences, which are unrelated to each other, so that a
relevance means the same in every language.
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


Matrix = NDArray[np.float32]

AXES = 10  # with 3, recall in German is 5 points lower; 30 gain nothing
LEAST_DIMENSIONS = 128  # of vectors from which `AXES` can be removed
# Standard deviations above the mean cosine of background pairs that the best of 100 unrelated
# memories reaches for 5 % of messages: a cosine of 0.39 in English, 0.50 in Polish.
DEVIATIONS = 5.3
# Highest cosine of chance in a language that the embedder knows: that of memories has 0.34 in
# English and 0.37 (Spanish) to 0.40 (Korean) elsewhere. MiniLM alone has 0.39 in English, on which
# it was trained, and 0.415 (French) to 0.50 (Polish) in those that it can merely read.
KNOWN = 0.41
STRONG_COSINE = 0.55  # of the way from `chance` to 1: 75 % of English paraphrases reach it
_TINY = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class Background:
    """Mean and principal axes of one language's everyday sentences, in an embedder's space.
    `mean`: (d,). `axes`: orthonormal rows (k, d)."""

    mean: Matrix
    axes: Matrix
    scale: RelevanceScale

    @property
    def known(self) -> bool:
        """Return True if the embedder knows the language well. Where it does not, unrelated
        sentences are nearer to each other, by what they are made of."""
        return self.scale.chance <= KNOWN

    @classmethod
    def of(cls, rows: Matrix) -> Background:
        """Compute the background of everyday sentences from their unit vectors. `rows`: (n, d),
        n > 1."""
        mean = rows.mean(axis=0)
        axes = np.linalg.svd(rows - mean, full_matrices=False)[2][:AXES]
        bare = _without(rows, mean, axes)
        cosines = (bare @ bare.T)[np.triu_indices(len(rows), 1)]
        chance = float(cosines.mean() + DEVIATIONS * cosines.std())
        return cls(
            mean, axes, RelevanceScale.measured(chance, chance + STRONG_COSINE * (1 - chance))
        )

    def cosines(self, query: Matrix, rows: Matrix) -> Matrix:
        """Return the cosines (n,) of a unit vector with unit rows (n, d); 0 for a zero row."""
        near = _without(rows, self.mean, self.axes) @ _without(query[None], self.mean, self.axes)[0]
        return np.asarray(np.where(rows.any(axis=1) & query.any(), near, 0), np.float32)


def _without(rows: Matrix, mean: Matrix, axes: Matrix) -> Matrix:
    moved = rows - mean
    moved -= (moved @ axes.T) @ axes
    lengths = np.linalg.norm(moved, axis=1, keepdims=True)
    return np.asarray(moved / np.maximum(lengths, _TINY), np.float32)
