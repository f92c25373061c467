"""The rival in every recall table: what a day's work finds in a conversation, without any tree.

Whole turns are ranked by BM25 and by the product's own local embedder. Each turn lends a part of
both scores to its neighbours, and the two rankings are fused by reciprocal rank. The best turns
stand in one block of lines, as many as the target holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.recall.baselines import Turns
from memtree.history.message import Message
from memtree.ports.models import Embedder

K = 10
LENT = (0.3, 0.15)  # to the turns at distance 1 and 2
TALK_OVERHEAD, CHAT_OVERHEAD = 1, 4  # tokens a turn: a line break; a line with number and role

Scores = NDArray[np.float32]


class PlainRival:
    """One conversation, indexed; `overhead`: tokens that each shown turn costs beside its text."""

    def __init__(
        self, turns: Turns, vectors: Scores, embedder: Embedder, overhead: int = TALK_OVERHEAD
    ) -> None:
        self._turns, self._vectors = turns, vectors
        self._embedder, self._overhead = embedder, overhead

    @classmethod
    async def of(
        cls,
        messages: Sequence[Message],
        embedder: Embedder,
        keep: Path | None = None,
        overhead: int = TALK_OVERHEAD,
    ) -> PlainRival:
        """Index a conversation. Vectors are kept in the folder `keep` for the next run."""
        turns = Turns(messages)
        return cls(turns, await _vectors(turns.texts, embedder, keep), embedder, overhead)

    async def order(self, question: str) -> list[int]:
        """Return the numbers of all turns, the best first."""
        meaning = self._vectors @ await self._embedder.embed_query(question)
        words = self._turns.word_scores(question)
        fused = _votes(_smoothed(words)) + _votes(_smoothed(meaning))
        return [int(turn) for turn in np.argsort(-fused, kind="stable")]

    async def chosen(self, question: str, target: int) -> list[int]:
        """Return the numbers of the turns that a model would see, the best first."""
        order = await self.order(question)
        return self._turns.filled(order, question, target, self._overhead)

    async def shown(self, question: str, target: int) -> str:
        """Return the block of lines that a model would see, in the conversation's order."""
        turns = sorted(await self.chosen(question, target))
        return "\n".join(self._turns.texts[turn] for turn in turns)


def _smoothed(own: Scores) -> Scores:
    """Add to each score what its neighbours lend."""
    scores = own.copy()
    for distance, share in enumerate(LENT, 1):
        scores[distance:] += share * own[:-distance]
        scores[:-distance] += share * own[distance:]
    return scores


def _votes(scores: Scores) -> NDArray[np.float64]:
    """Return the reciprocal ranks; a turn without a score is not in the list at all."""
    ranks = np.empty(len(scores), np.int64)
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    return np.where(scores > 0, 1 / (K + ranks), 0.0)


_known: dict[tuple[str, str], Scores] = {}  # histories that differ in a few turns share the rest


async def _vectors(texts: Sequence[str], embedder: Embedder, keep: Path | None) -> Scores:
    key = sha256("\0".join([embedder.recipe, *texts]).encode("utf-8", "surrogatepass"))
    path = keep / f"rival-{key.hexdigest()[:24]}.npy" if keep else None
    if path and path.exists():
        rows: Scores = np.load(path)
        return rows
    new = [text for text in dict.fromkeys(texts) if (embedder.recipe, text) not in _known]
    for text, row in zip(new, await embedder.embed(new), strict=True):
        _known[embedder.recipe, text] = row
    rows = np.array([_known[embedder.recipe, text] for text in texts], np.float32)
    if path:
        np.save(path, rows)
    return rows
