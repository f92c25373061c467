"""Hand-written stand-ins for the ports. Each passes its port's contract tests."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memtree.ranking.relevance_scale import RelevanceScale

Matrix = NDArray[np.float32]

LONG = 60.0  # seconds that tests wait for a vector: a busy machine must not fail one
WORD = re.compile(r"\w+")


class HashingEmbedder:
    """A bag of hashed words: texts that share words are near, and nothing has to be loaded."""

    name = recipe = "hashing/1"
    dimensions = 64
    relevant = 0.3
    scale = RelevanceScale(chance=0.3, strong=0.75)

    def __init__(self) -> None:
        self.embedded: list[str] = []

    async def ready(self) -> None:
        pass

    async def embed(self, texts: Sequence[str]) -> Matrix:
        self.embedded.extend(texts)
        rows = [self.row(text) for text in texts]
        return np.array(rows, np.float32).reshape(-1, self.dimensions)

    def reads(self, text: str) -> bool:
        return True

    async def embed_query(self, text: str) -> Matrix:
        return self.row(text)

    async def embed_queries(self, texts: Sequence[str]) -> Matrix:
        rows = [await self.embed_query(text) for text in texts]
        return np.array(rows, np.float32).reshape(-1, self.dimensions)

    def forget(self) -> None:
        pass

    async def close(self) -> None:
        pass

    def row(self, text: str) -> Matrix:
        row = np.zeros(self.dimensions, np.float32)
        for word in WORD.findall(text.lower()):
            row[zlib.crc32(word.encode()) % self.dimensions] += 1
        return row / max(float(np.linalg.norm(row)), 1.0)
