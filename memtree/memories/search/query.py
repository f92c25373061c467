"""Prepare a query to be ranked: its terms, its vector, and the vector of what is particular in it.

Words that stand in many memories of a scope tell nothing apart: the user's name, "user" itself, the
two people of a recorded talk. BM25 weighs them little, but in a vector they weigh as much as any
word. So what is left without them is embedded as well.

There are vectors only where there is an embedder and it answers in time.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from memtree.errors import EmbedderUnavailable
from memtree.language.languages import language_of, sentences
from memtree.memories.search.vector_bytes import Vector, memory_terms
from memtree.ports.models import Embedder
from memtree.ranking.relevance_scale import LEAST_DIMENSIONS, Background, RelevanceScale
from memtree.text.terms import terms

REACH = 2_000  # characters that are embedded without common words; an embedder reads fewer
COMMON = 0.1  # share of the memories; 0.05 and 0.2 do as well
LEAST_MEMORIES = 50  # in which a share says something
PARTICULAR = (
    0.7  # of the vector that ranks, beside 0.3 of the whole query's; 0.5 loses half a point
)
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, eq=False)
class Query:
    """`terms`: hash -> count. `vector`: of the whole text, a unit row; `moved`: the one that ranks.
    None: not known, or of no use. `background`: of the text's language, for its relevance."""

    terms: Mapping[int, int]
    vector: Vector | None = None
    moved: Vector | None = None
    background: Background | None = None

    @classmethod
    def of(
        cls, text: str, vector: Vector | None = None, background: Background | None = None
    ) -> Query:
        return cls(memory_terms(text), vector, vector, background)

    def with_particular(self, vector: Vector) -> Query:
        """Return the query with the vector of what is particular mixed in. `vector`: a unit row, of
        the text without common words."""
        if self.vector is None:
            return self
        mixed = (1 - PARTICULAR) * self.vector + PARTICULAR * vector
        length = float(np.linalg.norm(mixed))
        return replace(self, moved=(mixed / length).astype(np.float32)) if length else self


def common(counts: Mapping[int, int], memories: int) -> set[int]:
    """Return the terms that too many memories hold. `counts`: memories that hold each."""
    return {term for term, count in counts.items() if is_common(count, memories)}


def is_common(count: int, memories: int) -> bool:
    return memories >= LEAST_MEMORIES and count > COMMON * memories


def without(text: str, dropped: Collection[int]) -> str:
    """Return the start of a text without the words all of whose terms are dropped; empty where no
    term would be left, or nothing was dropped.

    >>> without("What does Ada like?", set(terms("Ada")))
    'What does like?'
    """
    head = text[:REACH]

    def kept(match: re.Match[str]) -> str:
        words = terms(match[0])
        return "" if words and words.keys() <= set(dropped) else match[0]

    left = " ".join(_WORD.sub(kept, head).split())
    return left if dropped and terms(left) and left != " ".join(head.split()) else ""


class Backgrounds:
    """The backgrounds of an embedder, embedded when a text of their language is first asked for
    and kept for as long as the process runs: 30 kB for each recipe and language. Nobody waits
    for one longer than for a vector: until it is there a search goes without."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._kept: dict[tuple[str, str], Background] = {}
        self._making: dict[tuple[str, str], asyncio.Task[Background]] = {}

    @property
    def serve(self) -> bool:
        """Return True if vectors have enough numbers for some to be taken off."""
        return self._embedder.dimensions >= LEAST_DIMENSIONS

    async def of(self, language: str, until: float | None) -> Background | None:
        """Return the background of a language; None where it is not there by then."""
        key = self._embedder.recipe, language
        if key in self._kept:
            return self._kept[key]
        if key not in self._making:
            task = asyncio.create_task(self._made(language), name="memory-background")
            self._making[key] = task
            task.add_done_callback(lambda done: self._done(key, done))
        try:
            async with asyncio.timeout_at(until):
                return await asyncio.shield(self._making[key])
        except (EmbedderUnavailable, TimeoutError):
            return None

    async def close(self) -> None:
        """End what is being embedded."""
        tasks = list(self._making.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _made(self, language: str) -> Background:
        rows = await self._embedder.embed(sentences(language))
        return await asyncio.to_thread(Background.of, rows)

    def _done(self, key: tuple[str, str], task: asyncio.Task[Background]) -> None:
        del self._making[key]
        if not task.cancelled() and task.exception() is None:
            self._kept[key] = task.result()


PATIENCE = 0.3  # seconds that a request waits for vectors: a save, a search, a chat
LOADING = 30.0  # seconds, before these, for a model in this process that is still being loaded


class QueryVectors:
    """`until`: the event loop's time until which the embedder is waited for; None: for ever."""

    def __init__(self, embedder: Embedder | None) -> None:
        self._embedder = embedder
        self._backgrounds = Backgrounds(embedder) if embedder is not None else None

    @property
    def available(self) -> bool:
        """True if there is an embedder, up or down."""
        return self._embedder is not None

    @property
    def recipe(self) -> str:
        return self._embedder.recipe if self._embedder else ""

    @property
    def scale(self) -> RelevanceScale | None:
        return self._embedder.scale if self._embedder else None

    async def until(self, patience: float | None, loading: float = LOADING) -> float | None:
        """Return the time until which the embedder is waited for, `patience` seconds from now
        (None: for ever). A model in this process is loaded first, within `loading` seconds: a
        server listens before it is, and its first answers would lack vectors. Where that fails, or
        where nobody waits (0.0), it is now."""
        if patience is None:
            return None
        loop = asyncio.get_running_loop()
        if patience > 0 and self._embedder is not None:
            try:
                async with asyncio.timeout(loading):
                    await self._embedder.ready()
            except (EmbedderUnavailable, TimeoutError):
                return loop.time()
        return loop.time() + patience

    async def meet(self, until: float | None) -> None:
        """Ask a model that was never asked, so that its recipe is known."""
        if self._embedder is not None and not self._embedder.dimensions:
            await self.of([], until)

    def reads(self, text: str) -> bool:
        """Return True if the vector of a text says anything of it."""
        return self._embedder is not None and self._embedder.reads(text)

    async def query(self, text: str, vector: Vector | None, until: float | None) -> Query:
        """Return a text as it is ranked, without its vector where the embedder cannot read it; in
        another language than English its cosines mean nothing without the background."""
        if vector is None or self._backgrounds is None or not self.reads(text):
            return Query.of(text)
        if not self._backgrounds.serve:
            return Query.of(text, vector)
        language = language_of(text)
        background = await self._backgrounds.of(language, until)
        if background is None and language not in ("en", ""):
            return Query.of(text)
        return Query.of(text, vector, background)

    async def close(self) -> None:
        """End what runs in the background."""
        if self._backgrounds is not None:
            await self._backgrounds.close()

    async def rows(self, texts: Sequence[str], until: float | None) -> list[Vector | None]:
        """Embed queries as unit rows, several in one call; None for each where there are none."""
        rows = await self.of(texts, until, alone=len(texts) == 1)
        return [None] * len(texts) if rows is None else [*rows]

    async def of(
        self, texts: Sequence[str], until: float | None, *, alone: bool = False
    ) -> list[Vector] | None:
        """Return the vectors of several queries, in one call; None without an embedder that answers
        in time. `alone`: there is only one, which is embedded as such."""
        if self._embedder is None:
            return None
        try:
            async with asyncio.timeout(_left(until)):
                if not self._embedder.dimensions:
                    await self._embedder.embed([])
                if alone:
                    return [await self._embedder.embed_query(texts[0])]
                return list(await self._embedder.embed_queries(texts)) if texts else []
        except (EmbedderUnavailable, TimeoutError):
            return None


def _left(until: float | None) -> float | None:
    return None if until is None else max(0.0, until - asyncio.get_running_loop().time())
