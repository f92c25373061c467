"""The first step of MiniLM: the vector of each word and of its place, added up.

The table of 30,522 words stays in the file, mapped into memory: pages that no text needs are not
read, and every process on the machine shares those that are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Matrix = NDArray[np.float32]

_TABLES = "inner.embeddings.{}_embeddings.weight"


class WordVectors:
    """`weights`: those of the packaged file."""

    def __init__(self, weights: Mapping[str, Array]) -> None:
        words, places = _TABLES.format("word"), _TABLES.format("position")
        self._words = weights[f"{words}_q"]
        self._scales = weights[f"{words}_scale"].astype(np.float32)
        position = weights[f"{places}_q"] * weights[f"{places}_scale"]
        # Every text is of the first kind that the model knows.
        self._places = (position + weights[_TABLES.format("token_type")][0]).astype(np.float32)

    def of(self, tokens: Sequence[int]) -> Matrix:
        """(1, n, 384) for at most 512 tokens."""
        ids = np.array(tokens, np.intp)
        rows: Matrix = self._words[ids] * self._scales[ids]
        rows += self._places[: len(ids)]
        return rows[None]
