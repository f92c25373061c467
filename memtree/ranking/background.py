"""Takes off cosines what all texts of a language share in the space of an embedder.

An embedder that was trained on English puts all German sentences near each other, and all that
begin with "The user" nearer still. So the mean of a background of everyday sentences is taken off,
and the directions in which these differ most (their first principal components): what is left tells
what a text is about. The scale of such cosines is measured on the sentences themselves, which have
nothing to do with each other, so that one relevance means the same in each language.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memtree.ranking.relevance_scale import RelevanceScale

Matrix = NDArray[np.float32]

AXES = 10  # 3 leave 5 points of right memories out in German, 30 gain none
LEAST_DIMENSIONS = 128  # of vectors that can spare so many
# The best of 100 strangers, for 5 % of messages, lies so many standard deviations above the mean of
# pairs of background sentences: 0.39 in English, 0.50 in Polish.
DEVIATIONS = 5.3
STRONG = 0.55  # of the way from there to 1: 75 % of English paraphrases reach it
_TINY = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class Background:
    """Mean and main directions of everyday sentences of one language, in the space of an embedder.
    `mean`: (d,). `axes`: orthonormal rows (k, d)."""

    mean: Matrix
    axes: Matrix
    scale: RelevanceScale

    @classmethod
    def of(cls, rows: Matrix) -> Background:
        """Compute the background of everyday sentences. `rows`: (n, d) their unit
        vectors, n > 1."""
        mean = rows.mean(axis=0)
        axes = np.linalg.svd(rows - mean, full_matrices=False)[2][:AXES]
        bare = _without(rows, mean, axes)
        cosines = (bare @ bare.T)[np.triu_indices(len(rows), 1)]
        half = float(cosines.mean() + DEVIATIONS * cosines.std())
        return cls(mean, axes, RelevanceScale.measured(half, half + STRONG * (1 - half)))

    def cosines(self, query: Matrix, rows: Matrix) -> Matrix:
        """(n,) of a unit row with unit rows (n, d); 0 with a row that is zero."""
        near = _without(rows, self.mean, self.axes) @ _without(query[None], self.mean, self.axes)[0]
        return np.asarray(np.where(rows.any(axis=1) & query.any(), near, 0), np.float32)


def _without(rows: Matrix, mean: Matrix, axes: Matrix) -> Matrix:
    moved = rows - mean
    moved -= (moved @ axes.T) @ axes
    lengths = np.linalg.norm(moved, axis=1, keepdims=True)
    return np.asarray(moved / np.maximum(lengths, _TINY), np.float32)
