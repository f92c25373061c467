"""The embedder of memories: the multilingual model, and in English the English one beside it.

    embedder = MemoryEmbedder(LocalEmbedder(), LocalEmbedder(MULTILINGUAL))
    rows = await embedder.embed(["User is blind.", "Nutzer ist blind."])     # (2, 896), unit rows

A row is the vectors of both models, one behind the other; in other languages, of which the English
model knows little, its part is zero. So texts of any two languages are compared by the multilingual
one, and two English texts by the mean of both, which finds more than either
(docs/decisions/0096-memories-in-every-language.md).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import numpy as np

from memtree.language.everyday_sentences import language_of
from memtree.models import minilm, sentence_encoder
from memtree.models.local_embedder import LocalEmbedder, Matrix
from memtree.ranking.relevance_scale import RelevanceScale

# The best of 100 memories is as near to 5 % of unrelated messages, in each of fourteen languages
# between 0.31 and 0.39; 75 % of paraphrases are nearer than 0.72.
SCALE = RelevanceScale(chance=0.34, strong=0.72)
DIMENSIONS = minilm.DIMENSIONS + sentence_encoder.DIMENSIONS
HALF = np.float32(np.sqrt(0.5))
Embed = Callable[[Sequence[str]], Awaitable[Matrix]]


class MemoryEmbedder:
    """An `Embedder` of memories and of what is searched among them. Cheap to construct; both models
    load on first use."""

    dimensions: int = DIMENSIONS
    scale: RelevanceScale = SCALE

    def __init__(self, english: LocalEmbedder, multilingual: LocalEmbedder) -> None:
        self._english, self._multilingual = english, multilingual
        self.relevant = english.relevant
        self.name = self.recipe = f"{multilingual.recipe}+{english.recipe}"

    async def ready(self) -> None:
        """Wait until both models are loaded. Raises `EmbedderUnavailable` if one cannot be."""
        await asyncio.gather(self._english.ready(), self._multilingual.ready())

    async def embed(self, texts: Sequence[str]) -> Matrix:
        """Return (n, 896) float32 unit rows, in the order given; for background work."""
        return await self._rows(texts, self._english.embed, self._multilingual.embed)

    async def embed_query(self, text: str) -> Matrix:
        """Return (896,) float32 for the first 128 tokens of `text`."""
        row: Matrix = (await self.embed_queries([text]))[0]
        return row

    async def embed_queries(self, texts: Sequence[str]) -> Matrix:
        """Return (n, 896) float32, each row as from `embed_query`."""
        english, multilingual = self._english, self._multilingual
        return await self._rows(texts, english.embed_queries, multilingual.embed_queries)

    def reads(self, text: str) -> bool:
        """Return False if neither model knows more than the letters of a text; True before they
        are loaded."""
        return self._multilingual.reads(text) or self._english.reads(text)

    def forget(self) -> None:
        self._english.forget()
        self._multilingual.forget()

    async def close(self) -> None:
        """Stop both models. Running and later calls raise `EmbedderUnavailable`."""
        await asyncio.gather(self._english.close(), self._multilingual.close())

    async def _rows(self, texts: Sequence[str], english: Embed, multilingual: Embed) -> Matrix:
        known = [at for at, text in enumerate(texts) if language_of(text) == "en"]
        beside, rows = await asyncio.gather(
            english([texts[at] for at in known]), multilingual(texts)
        )
        joined = np.zeros((len(texts), self.dimensions), np.float32)
        split = self._english.dimensions
        joined[:, split:] = rows
        joined[known, split:] *= HALF
        joined[known, :split] = HALF * beside
        return joined
