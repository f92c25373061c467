"""Run the packaged models on onnxruntime in threads of their own, as embedders without a network.

    embedder = LocalEmbedder(threads=2)
    rows = await embedder.embed(["def parse(line): ...", ""])   # (2, 384); the second row is zero
    query = await embedder.embed_query("where do we parse lines?")   # (384,)

    embedder = MemoryEmbedder(LocalEmbedder(), LocalEmbedder(MULTILINGUAL))
    rows = await embedder.embed(["User is blind.", "Nutzer ist blind."])     # (2, 896), unit rows

The models themselves are all-MiniLM-L6-v2 (`minilm.py`), for English, and the multilingual sentence
encoder (`sentence_encoder.py`). Passages run on two threads of low priority, a few at a time;
queries have threads of their own and never wait for passages.

Memories are embedded by the multilingual model, and in English by the English one beside it. A row
is the vectors of both models, one behind the other; in other languages, of which the English model
knows little, its part is zero. So texts of any two languages are compared by the multilingual one,
and two English texts by the mean of both, which finds more than either
(docs/decisions/0096-memories-in-every-language.md).

Passages and the storage of vectors are defined elsewhere (`memtree.ranking.vectors`).
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import sys
import threading
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from memtree.errors import EmbedderUnavailable
from memtree.language.languages import language_of
from memtree.models import minilm, sentence_encoder
from memtree.models.minilm import DIMENSIONS, MODEL, TOKENIZER, MiniLM, PackagedFile, encodable
from memtree.models.query_cache import QueryCache
from memtree.process.bounded import CacheLimits
from memtree.ranking.relevance_scale import RelevanceScale
from memtree.text import tokens

T = TypeVar("T")
Matrix = NDArray[np.float32]

QUERY_TOKENS = 128  # 14 ms on one core; 20 wordpieces take 2.5 ms
# Best cosine between a question and the passages of the chat that answers it: 98 % lie above 0.40.
# For questions about another chat the 95th percentile is 0.44, for questions about the world 0.29.
RELEVANT = 0.38
# Best cosine of 100 memories with an unrelated message: for 5 % of messages it is above 0.33 if
# they ask about the world, above 0.37 if they ask for things that people want. Of paraphrases of
# memories 75 % lie above 0.76, 0.84 and 0.83 (three batches). The scale is rather too low than too
# high, since it is not the cosine that filters out outdated values. Measured by the benchmarks
# noise and relation.
SCALE = RelevanceScale(chance=0.36, strong=0.74)
# Texts per task of the pool: up to 130 ms of work, which limits how long `close` and a cancelled
# call hold a thread, and lets concurrent calls take turns.
PIECE = 8
# A query of 20 wordpieces took 7 ms beside two busy low-priority threads, and 12 ms beside two of
# equal priority, measured when products were float32.
BACKGROUND_NICE = 10


class TextModel(Protocol):
    """Computes vectors; safe to call from several threads. `max_tokens`: of each text."""

    def vector(self, text: str, max_tokens: int) -> Matrix: ...

    def vectors(self, texts: Sequence[str], max_tokens: int) -> list[Matrix]: ...

    def reads(self, text: str) -> bool: ...

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class LocalModel:
    """A packaged model. `recipe`: its name and that of its arithmetic. `files`: what `open` is
    called with, located. `relevant`, `scale`: as of an `Embedder`."""

    recipe: str
    dimensions: int
    files: tuple[PackagedFile, PackagedFile]
    open: Callable[[Path, Path], TextModel]
    relevant: float
    scale: RelevanceScale


ENGLISH = LocalModel("minilm-l6-v2-int8/2", DIMENSIONS, (MODEL, TOKENIZER), MiniLM, RELEVANT, SCALE)
MULTILINGUAL = LocalModel(
    "use-multilingual-v3/1",
    sentence_encoder.DIMENSIONS,
    (sentence_encoder.WEIGHTS, sentence_encoder.PIECES),
    sentence_encoder.SentenceEncoder,
    RELEVANT,
    SCALE,
)


class LocalEmbedder:
    """An `Embedder` on this machine. Cheap to construct; the model loads on first use.

    Args:
        model: which one.
        threads: how many passages are embedded at once, each on one low-priority thread.
        max_tokens: wordpieces of a passage that are read, with special tokens; part of the recipe.
        query_bytes: size of the cache of query vectors.
    """

    def __init__(
        self,
        model: LocalModel = ENGLISH,
        *,
        threads: int = 2,
        max_tokens: int = 160,
        query_bytes: int = CacheLimits.of().queries,
    ) -> None:
        self.name = self.recipe = f"{model.recipe}/{max_tokens}"
        self.dimensions, self.relevant, self.scale = model.dimensions, model.relevant, model.scale
        self._threads = threads
        self._max_tokens = max_tokens
        self._packaged = model
        self._model: TextModel | None = None
        self._closed = False
        self._queries = QueryCache(query_bytes)
        self._background = ThreadPoolExecutor(threads, "memtree-embed", _lower_priority)
        # Two threads: a search of memories embeds its query whole and without its common words.
        self._foreground = ThreadPoolExecutor(2, "memtree-query")
        self._loading = threading.Lock()

    async def ready(self) -> None:
        """Wait until the model is loaded. Raises `EmbedderUnavailable` if it cannot be loaded."""
        await self._loaded()

    async def embed(self, texts: Sequence[str]) -> Matrix:
        """Return (n, dimensions) float32 unit rows, in the order given; for background work."""
        rows = np.zeros((len(texts), self.dimensions), np.float32)
        model = await self._loaded()
        starts = iter(range(0, len(texts), PIECE))

        async def work() -> None:
            for start in starts:
                piece = texts[start : start + PIECE]
                task = partial(model.vectors, piece, self._max_tokens)
                rows[start : start + PIECE] = await self._run(self._background, task)

        await asyncio.gather(*(work() for _ in range(self._threads)))
        return rows

    async def embed_query(self, text: str) -> Matrix:
        """Return (dimensions,) float32, read-only, for the first 128 wordpieces of `text`."""
        text = encodable(text, QUERY_TOKENS)
        cached = self._queries.get(text)
        if cached is not None:
            return cached
        model = await self._loaded()
        vector = await self._run(self._foreground, partial(model.vector, text, QUERY_TOKENS))
        self._queries.put(text, vector)
        return vector

    async def embed_queries(self, texts: Sequence[str]) -> Matrix:
        """Return (n, dimensions) float32, each row as from `embed_query`, using both threads."""
        cut = [encodable(text, QUERY_TOKENS) for text in texts]
        known = {text: self._queries.get(text) for text in cut}
        missing = [text for text, row in known.items() if row is None]
        model = await self._loaded()

        async def some(part: Sequence[str]) -> None:
            work = partial(model.vectors, part, QUERY_TOKENS)
            for text, row in zip(part, await self._run(self._foreground, work), strict=True):
                self._queries.put(text, row)
                known[text] = row

        await asyncio.gather(*(some(missing[half::2]) for half in (0, 1) if missing[half:]))
        return np.array([known[text] for text in cut], np.float32).reshape(-1, self.dimensions)

    def reads(self, text: str) -> bool:
        """Return False if the model knows hardly more than the letters of a text; True before it is
        loaded."""
        return self._model is None or self._model.reads(text)

    def forget(self) -> None:
        self._queries.clear()

    def locate(self) -> None:
        """Verify that its files are present and the right ones, in 30 ms. Raises
        `EmbedderUnavailable`."""
        for file in self._packaged.files:
            file.locate()

    async def warm_up(self) -> None:
        """Load the model and run it once. Raises `EmbedderUnavailable` if that fails."""
        model = await self._loaded()
        await self._run(self._foreground, partial(model.vector, "warm up", QUERY_TOKENS))

    async def close(self) -> None:
        """Let running tasks end, then stop. Running and later calls raise `EmbedderUnavailable`."""
        self._closed = True
        await asyncio.to_thread(self._background.shutdown)
        await asyncio.to_thread(self._foreground.shutdown)
        if self._model is not None:
            self._model.close()
        self._model = None

    async def _loaded(self) -> TextModel:
        if self._model is not None:
            return self._model
        return await self._run(self._foreground, self._load)

    def _load(self) -> TextModel:
        with self._loading:
            if self._model is None:
                tokens.count("")  # loads the vocabulary, during which no other thread can run
                weights, pieces = self._packaged.files
                self._model = self._packaged.open(weights.locate(), pieces.locate())
                _give_memory_back()
            return self._model

    async def _run(self, pool: ThreadPoolExecutor, work: Callable[[], T]) -> T:
        if self._closed:
            raise EmbedderUnavailable("the local embedder is closed")
        return await asyncio.get_running_loop().run_in_executor(pool, work)


def _lower_priority() -> None:
    """Lower the priority of this thread. Only Linux has priorities for threads; elsewhere the whole
    process would be slowed."""
    if sys.platform == "linux":
        with suppress(OSError):  # a sandbox may forbid it; an error here would break the pool
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), BACKGROUND_NICE)


def _give_memory_back() -> None:
    """Return freed memory to the system. Loading leaves about 11 MB of freed heap with glibc; other
    C libraries lack the call."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)


# The best of 100 memories is as near to 5 % of unrelated messages, in each of fourteen languages
# between 0.31 and 0.39; 75 % of paraphrases are nearer than 0.72.
MEMORY_SCALE = RelevanceScale(chance=0.34, strong=0.72)
MEMORY_DIMENSIONS = minilm.DIMENSIONS + sentence_encoder.DIMENSIONS
HALF = np.float32(np.sqrt(0.5))
Embed = Callable[[Sequence[str]], Awaitable[Matrix]]


class MemoryEmbedder:
    """An `Embedder` of memories and of what is searched among them. Cheap to construct; both models
    load on first use."""

    dimensions: int = MEMORY_DIMENSIONS
    scale: RelevanceScale = MEMORY_SCALE

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
