"""Remove from cosines what all texts of a language share in an embedder's space.

An embedder trained on English puts all German sentences near each other, and those that begin with
"The user" nearer still. So the mean of a background of everyday sentences is subtracted, and their
first principal components are projected out: the rest tells what a text is about. The scale of such
cosines is measured on the background sentences, which are unrelated to each other, so that a
relevance means the same in every language.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memtree.ranking.relevance_scale import RelevanceScale

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
STRONG = 0.55  # of the way from `chance` to 1: 75 % of English paraphrases reach it
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
        return cls(mean, axes, RelevanceScale.measured(chance, chance + STRONG * (1 - chance)))

    def cosines(self, query: Matrix, rows: Matrix) -> Matrix:
        """Return the cosines (n,) of a unit vector with unit rows (n, d); 0 for a zero row."""
        near = _without(rows, self.mean, self.axes) @ _without(query[None], self.mean, self.axes)[0]
        return np.asarray(np.where(rows.any(axis=1) & query.any(), near, 0), np.float32)


def _without(rows: Matrix, mean: Matrix, axes: Matrix) -> Matrix:
    moved = rows - mean
    moved -= (moved @ axes.T) @ axes
    lengths = np.linalg.norm(moved, axis=1, keepdims=True)
    return np.asarray(moved / np.maximum(lengths, _TINY), np.float32)
