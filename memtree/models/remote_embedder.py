"""Embed with a remote server: any OpenAI-compatible embeddings endpoint.

    embedder = RemoteEmbedder("http://localhost:11434/v1", "bge-m3")
    await embedder.warm_up()                                    # learns dimensions and threshold
    rows = await embedder.embed(["def parse(line): ...", ""])   # (2, 1024); the second row is zero
    query = await embedder.embed_query("where do we parse lines?")

Background work is patient: bounded batches, few at a time, retried, and made smaller if the server
accepts less. A query is not: it has two seconds (`query_seconds`) and one attempt, and after a
time-out or some failures no query is sent until a probe was answered, since a request is waiting
and BM25 can rank without vectors.

A server that is down at first may start later. If `dimensions` are not given, they are unknown
until then: they are 0, queries fail at once, and a probe or background work determines them.

From which cosine on a model's vectors mean that texts are related is measured, since models differ:
unrelated texts have a cosine of 0.03 with MiniLM, about 0.1 with text-embedding-3 and over 0.7 with
ada-002 or E5. So eight questions and the passages that answer them are embedded; each question with
the other seven passages gives the floor, and the threshold is two thirds of the way up: this gives
MiniLM's 0.38, which was measured on whole conversations (`local_embedder.py`). Memories have a
scale of their own (`ranking/relevance_scale.py`), measured from pairs of equal meaning and from
messages with unrelated memories.

    measured_relevance(questions, passages)           # MiniLM: floor 0.03, answers 0.55: 0.376
    measured_scale(pairs, messages, memories)         # MiniLM: chance 0.36, strong 0.74

Calls are made in `embedding_endpoint.py`. Importing this module costs half a second and 25 MB (the
SDK), so it is imported only where it is used.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memtree.errors import EmbedderUnavailable
from memtree.language.word_file import sections
from memtree.models.embedding_endpoint import (
    HARMLESS,
    MAX_TEXTS,
    SHORT,
    ComeLater,
    ConnectionLost,
    EmbeddingBatches,
    Endpoint,
    NotInTime,
    RequestRefused,
)
from memtree.models.openai_client import place
from memtree.models.query_cache import QueryCache
from memtree.process.bounded import CacheLimits
from memtree.process.circuit_breaker import CircuitBreaker
from memtree.ranking.relevance_scale import RelevanceScale
from memtree.text import tokens

Matrix = NDArray[np.float32]

SHARE = 2 / 3
# For 5 % of messages, the best of 100 unrelated memories lies so many standard deviations above the
# mean of all: measured on 100 messages and 10,000 memories with MiniLM, where the mean is 0.04.
DEVIATIONS = 4.5
LOWEST, HIGHEST = 0.1, 0.95  # limits, whatever a model computes for these few texts


def calibration_texts(name: str) -> tuple[str, ...]:
    """Return the texts to embed: `questions`, `passages`, `pairs`, `messages` or `memories`."""
    return sections("en", "relevance_calibration")[name]


def measured_relevance(questions: Matrix, passages: Matrix) -> float:
    """Return the threshold, given a model's (8, d) unit rows for the texts above."""
    cosines = questions @ passages.T
    answers = np.eye(len(cosines), dtype=bool)
    floor, related = float(cosines[~answers].mean()), float(cosines[answers].mean())
    return min(HIGHEST, max(LOWEST, floor + SHARE * (related - floor)))


def measured_scale(pairs: Matrix, messages: Matrix, memories: Matrix) -> RelevanceScale:
    """Return the scale, given a model's unit rows for the texts above. Any rows give a valid
    scale."""
    same = np.einsum("ij,ij->i", pairs[::2], pairs[1::2])
    strangers = messages @ memories.T
    return RelevanceScale.measured(
        float(strangers.mean() + DEVIATIONS * strangers.std()),
        float(np.quantile(same, 0.25)),
    )


# ---------------------------------------------------------------- the embedder

log = logging.getLogger("memtree")

RETRIES = 3
CALL_SECONDS = 60.0  # for one attempt: a model on a CPU is slow
PATIENCE = 420.0  # for a call with its retries, each of which may be told to wait two minutes
LONGEST_WAIT = 120.0  # seconds to wait for a busy server, as in the SDK
QUERY_SECONDS = 2.0
QUERY_TOKENS = 512
START_SECONDS = 20.0
CHARACTERS_PER_TOKEN = 12  # longer text is white space, or not text at all; see `local_embedder.py`
RELEVANT = 0.38  # until it is measured
CALIBRATION = ("questions", "passages", "pairs", "messages", "memories")  # kinds of texts
SCALE = RelevanceScale(chance=0.36, strong=0.74)  # until it is measured


class RemoteEmbedder:
    """An `Embedder` on a server. Call `warm_up` first; it may fail.

    Args:
        url, model, key: the endpoint up to and with `/v1`; `key`: None to send none.
        dimensions: requested from the server, if its model can shorten vectors; 0: its default.
        max_tokens: tokens (o200k) of a passage that are embedded; part of the recipe.
        relevant: cosine below which a passage is not relevant; 0: measured.
        query_bytes: size of the cache of query vectors.
        query_seconds: longest wait for the vector of a query.
        retries, breaker, clock: for tests.
    """

    def __init__(
        self,
        url: str,
        model: str,
        key: str | None = None,
        *,
        dimensions: int = 0,
        max_tokens: int = 2_000,
        relevant: float = 0.0,
        retries: int = RETRIES,
        query_seconds: float = QUERY_SECONDS,
        breaker: CircuitBreaker | None = None,
        clock: Callable[[], float] = time.monotonic,
        query_bytes: int = CacheLimits.of().queries,
    ) -> None:
        # It names the server too, since equally named models on two servers may differ.
        self._prefix = f"remote/1/{place(url)}/{model}/{max_tokens}"
        self.name = self.recipe = f"{self._prefix}/{dimensions}"
        self.dimensions = dimensions
        self.relevant, self.scale = relevant or RELEVANT, SCALE
        self._endpoint = Endpoint(url, key, model, dimensions, retries, MAX_TEXTS)
        self._max_tokens, self._query_seconds = max_tokens, query_seconds
        self._measure = not relevant
        self._learned = False
        self._learning = asyncio.Lock()
        # replaced when the server answers
        self._trouble = f"{self._endpoint.host} was not asked yet"
        self._batches = EmbeddingBatches(self._patient)
        self._queries = QueryCache(query_bytes)
        self._breaker, self._clock = breaker or CircuitBreaker(), clock
        self._probing: asyncio.Task[None] | None = None
        self._closed = False

    async def ready(self) -> None:
        """Return at once: the loading time of a server's model is unknown."""
        self._open()

    async def embed(self, texts: Sequence[str]) -> Matrix:
        """Return (n, dimensions) float32 unit rows, in the order given; for background work."""
        await self._learn()
        sent, sizes = await asyncio.to_thread(self._prepared, texts)
        rows = np.zeros((len(texts), self.dimensions), np.float32)
        full = [index for index, text in enumerate(sent) if text]
        if full:
            batches = self._batches.rows([sent[i] for i in full], [sizes[i] for i in full])
            rows[full] = await batches
        return rows

    async def embed_query(self, text: str) -> Matrix:
        """Return (dimensions,) float32, read-only, for the first 512 tokens of `text`.

        One attempt within `query_seconds`; raises `EmbedderUnavailable` at once while the server is
        down, or was never reached.
        """
        [row] = await self._query_rows([text])
        return row

    async def embed_queries(self, texts: Sequence[str]) -> Matrix:
        """Return (n, dimensions) float32, each row as from `embed_query`, in one call."""
        rows = await self._query_rows(texts)
        return np.array(rows, np.float32).reshape(-1, self.dimensions)

    async def _query_rows(self, texts: Sequence[str]) -> list[Matrix]:
        self._open()
        if not self.dimensions:
            self._find_out()
            raise EmbedderUnavailable(self._trouble)
        cut = [_cut(text, QUERY_TOKENS) for text in texts]
        known: dict[str, Matrix] = {"": np.zeros(self.dimensions, np.float32)}
        for text in dict.fromkeys(cut):
            row = self._queries.get(text) if text else None
            if row is not None:
                known[text] = row
        missing = [text for text in dict.fromkeys(cut) if text not in known]
        if missing:
            known |= zip(missing, await self._asked(missing), strict=True)
        return [known[text] for text in cut]

    async def _asked(self, texts: list[str]) -> list[Matrix]:
        if not self._breaker.admits(self._clock()):
            self._find_out()
            raise EmbedderUnavailable(f"{self._endpoint.host} is paused after a failure")
        generation = self._queries.generation
        rows = list(await self._quick(texts))
        if generation == self._queries.generation:
            for text, row in zip(texts, rows, strict=True):
                self._queries.put(text, row)
        return rows

    def reads(self, text: str) -> bool:
        """Return True: the vocabulary of a server's model is unknown."""
        return True

    def forget(self) -> None:
        self._queries.clear()

    async def warm_up(self) -> None:
        """Learn dimensions and threshold. Raises `EmbedderUnavailable` if the server does not
        work."""
        try:
            async with asyncio.timeout(START_SECONDS):
                await self._learn()
        except TimeoutError:
            self._trouble = f"{self._endpoint.host} did not answer in time"
            raise EmbedderUnavailable(self._trouble) from None

    async def close(self) -> None:
        """Close. Running and later calls raise `EmbedderUnavailable`."""
        self._closed = True
        self._queries.clear()
        if self._probing:
            self._probing.cancel()
            await asyncio.wait([self._probing])
        await self._endpoint.close()

    async def _learn(self) -> None:
        self._open()
        async with self._learning:
            if self._learned:
                return
            try:
                await self._measured()
            except EmbedderUnavailable as error:
                self._trouble = error.message
                raise
            self._learned = True

    async def _measured(self) -> None:
        """Measure the threshold and the scale; the calls set the dimensions."""
        names = CALIBRATION if self._measure else CALIBRATION[2:]
        texts = [calibration_texts(name) for name in names]
        rows = await self._batches.few([text for part in texts for text in part])
        ends = np.cumsum([len(part) for part in texts])
        parts = np.split(rows, ends[:-1])
        if self._measure:
            self.relevant = measured_relevance(*parts[:2])
        self.scale = measured_scale(*parts[-3:])

    def _prepared(self, texts: Sequence[str]) -> tuple[list[str], list[int]]:
        sent = [_cut(text, self._max_tokens) for text in texts]
        return sent, tokens.count_many(sent)

    async def _patient(self, texts: list[str]) -> Matrix:
        wait = self._breaker.retry_after(self._clock())
        if wait > LONGEST_WAIT:
            raise EmbedderUnavailable(f"{self._endpoint.host} asked for a pause of {wait:.0f} s")
        await asyncio.sleep(wait)
        rows = await self._watched(self._endpoint.rows(texts, seconds=CALL_SECONDS), PATIENCE)
        self._breaker.alive()
        self._find_out()
        return rows

    async def _quick(self, texts: list[str]) -> Matrix:
        rows = await self._watched(self._query(texts), self._query_seconds)
        self._breaker.worked()
        return rows

    async def _query(self, texts: list[str]) -> Matrix:
        try:
            return await self._endpoint.rows(texts, seconds=self._query_seconds, retry=False)
        except ConnectionLost:  # often an idle connection that was just closed: try a new one
            pass
        except RequestRefused:  # some models accept no more than 512 tokens of their own
            shorter = [tokens.prefix(text, SHORT) for text in texts]
            if shorter == texts:
                raise
            texts = shorter
        return await self._endpoint.rows(texts, seconds=self._query_seconds, retry=False)

    def _find_out(self) -> None:
        """Probe a server that counts as down, or was never reached, if it is time to, while nobody
        waits."""
        if self._closed or (self._probing and not self._probing.done()):
            return
        if self._breaker.due(self._clock(), never=not self.dimensions):
            self._probing = asyncio.create_task(self._probe(), name="embedder-probe")

    async def _probe(self) -> None:
        with suppress(EmbedderUnavailable):
            if not self.dimensions:
                await self.warm_up()
            await self._quick([HARMLESS])
            log.info("embedder.back")

    async def _watched(self, call: Coroutine[Any, Any, Matrix], seconds: float) -> Matrix:
        """Return the rows of a call that has `seconds` in all; failures are reported to the
        breaker."""
        try:
            async with asyncio.timeout(seconds):
                rows = await call
            self._same_width(rows)
        except RequestRefused:
            raise
        except (EmbedderUnavailable, TimeoutError, RuntimeError) as error:
            if self._closed:
                raise EmbedderUnavailable("the remote embedder is closed") from None
            if isinstance(error, RuntimeError):
                raise
            self._breaker.failed(
                self._clock(),
                error.seconds if isinstance(error, ComeLater) else 0.0,
                slow=isinstance(error, (TimeoutError, NotInTime)),
            )
            if isinstance(error, TimeoutError):
                raise EmbedderUnavailable(f"{self._endpoint.host} did not answer in time") from None
            raise
        return rows

    def _same_width(self, rows: Matrix) -> None:
        width = rows.shape[1]
        if self.dimensions and width != self.dimensions:
            raise EmbedderUnavailable(
                f"{self._endpoint.host} answered with vectors of {width} numbers, "
                f"not {self.dimensions}"
            )
        if not self.dimensions:
            self.dimensions, self.recipe = width, f"{self._prefix}/{width}"

    def _open(self) -> None:
        if self._closed:
            raise EmbedderUnavailable("the remote embedder is closed")


def _cut(text: str, limit: int) -> str:
    """Return the first `limit` tokens without lone surrogates; "" if there is nothing to embed."""
    head = text[: limit * CHARACTERS_PER_TOKEN].encode(errors="replace").decode()
    head = tokens.prefix(head, limit)
    return head if head.strip() else ""
