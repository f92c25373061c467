"""Stage 2: open the embedder that the settings name, and embed leaves with it from a queue.

The embedder is opened without making the server wait for it. A missing one is not an error: ranking
is then BM25 alone, and `trouble` says why. A server uses a remote embedder that was down at
start-up as soon as it answers; a short-lived command continues without it.

The queue has its jobs in memory, and one worker task in the server's own loop. If the process ends,
no data is lost: results are committed batch by batch, and the remaining leaves are submitted again
when their history is posted again. The model runs in the embedder's own threads at a low priority,
so requests stay quick. Workers of a queue in Redis call `embed_leaves`, too.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain, islice
from typing import TYPE_CHECKING

import numpy as np

from memtree.clock import Clock
from memtree.config import Settings
from memtree.errors import BadRequest, EmbedderUnavailable, Unavailable, importing
from memtree.history.chat_history import History
from memtree.jobs.job_queue import MAX_BYTES, MAX_JOBS, Job, Jobs, StageTotals, WorkingQueue, job
from memtree.ports.context_store import TreeStore
from memtree.ports.indexing_stages import Pending
from memtree.ports.models import Embedder
from memtree.process import tracing
from memtree.process.bounded import CacheLimits, TenantRows
from memtree.ranking.segments import segments
from memtree.ranking.vectors import pack
from memtree.tree.node import LeafWork

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Row = NDArray[np.float32]


log = logging.getLogger("memtree.indexer")


async def nothing() -> None:
    """Load nothing: the embedder is ready."""


@dataclass(frozen=True, slots=True)
class OpenedEmbedder:
    """`memories`: of memories, which may be another one; loaded on first use. `trouble`: why there
    is no embedder, or what is wrong with it; "" if all is well. `load`: does the work that the
    first use of `embedder` would otherwise wait for; raises `EmbedderUnavailable`."""

    embedder: Embedder | None
    memories: Embedder | None
    trouble: str = ""
    load: Callable[[], Awaitable[None]] = nothing

    async def close(self) -> None:
        """Close both."""
        for each in dict.fromkeys((self.embedder, self.memories)):
            if each is not None:
                await each.close()


async def open_embedder(settings: Settings, *, patient: bool) -> tuple[Embedder | None, str]:
    """Return the loaded embedder, and what is wrong with it.

    `patient`: keep a remote one that does not answer yet. Raises `BadRequest` if a required setting
    is missing.
    """
    opened = await loaded(await open_unloaded(settings, patient=patient))
    return opened.embedder, opened.trouble


async def loaded(opened: OpenedEmbedder) -> OpenedEmbedder:
    """Return the embedder loaded, or none with the reason if it cannot be loaded."""
    try:
        await opened.load()
    except EmbedderUnavailable as error:
        await opened.close()
        return _without(error.message)
    return opened


async def open_unloaded(settings: Settings, *, patient: bool) -> OpenedEmbedder:
    """Open the embedder for loading later; checks that its files exist and are the right ones."""
    if settings.embedder == "none":
        return OpenedEmbedder(None, None, "switched off")
    if settings.embedder == "remote" or (settings.embedder == "auto" and settings.embedding_model):
        return await _remote(settings, patient=patient)
    try:
        # Half a second, where it is used.
        from memtree.models.local_embedder import MULTILINGUAL, LocalEmbedder, MemoryEmbedder  # noqa: PLC0415
    except ImportError as error:
        return _without(f"{error.name} is not installed, and may not exist for this machine")
    query_bytes = settings.cache_limits.queries // 2
    english = LocalEmbedder(query_bytes=query_bytes)
    multilingual = LocalEmbedder(MULTILINGUAL, query_bytes=query_bytes)
    try:
        await asyncio.to_thread(english.locate)
    except EmbedderUnavailable as error:
        return _without(error.message)
    try:
        await asyncio.to_thread(multilingual.locate)
    except EmbedderUnavailable as error:
        log.warning("embedder.unavailable, memories go by the English one: %s", error.message)
        return OpenedEmbedder(english, english, load=english.warm_up)
    memories = MemoryEmbedder(english, multilingual)
    return OpenedEmbedder(english, memories, load=english.warm_up)


def _without(trouble: str) -> OpenedEmbedder:
    log.warning("embedder.unavailable, ranking by words alone: %s", trouble)
    return OpenedEmbedder(None, None, trouble)


async def _remote(settings: Settings, *, patient: bool) -> OpenedEmbedder:
    with importing("a remote embedder", "remote", "embedding_model"):
        # Takes half a second and 25 MB, so only users of it should pay.
        from memtree.models.remote_embedder import QUERY_SECONDS, RemoteEmbedder  # noqa: PLC0415

    if not settings.embedding_base_url or not settings.embedding_model:
        raise BadRequest(
            "the remote embedder needs embedding_base_url and embedding_model",
            param="embedding_base_url",
        )
    embedder = RemoteEmbedder(
        settings.embedding_base_url,
        settings.embedding_model,
        settings.embedding_api_key,
        dimensions=settings.embedding_dimensions,
        max_tokens=settings.embedding_tokens,
        relevant=settings.embedding_relevant,
        query_bytes=settings.cache_limits.queries,
        query_seconds=max(QUERY_SECONDS, settings.embedding_seconds),
    )
    try:
        await embedder.warm_up()
    except EmbedderUnavailable as error:
        if patient:
            log.warning("embedder.unavailable, retried later: %s", error.message)
            return OpenedEmbedder(embedder, embedder, error.message)
        await embedder.close()
        return _without(error.message)
    return OpenedEmbedder(embedder, embedder)


ROW_BYTES = 400  # of a vector besides its numbers: key, place, array
KEY_BYTES = 16


class VectorCache:
    """An embedder that remembers its newest vectors, by tenant and text: a passage that appears
    again in another leaf is not embedded again.

    Leaves are identified by their content, but a history that lost its beginning, or got a message
    in the middle, has some leaves with new boundaries around the same passages. A client that drops
    its oldest message in every turn would have the leaves near its beginning embedded once a turn:
    in a chat of 200 turns over a window of 30,000 tokens, every passage 3.3 times.

    Bounded, per process, never shared between tenants; keyed by a hash with a secret of the
    process."""

    def __init__(self, embedder: Embedder, most: int = CacheLimits.of().vectors) -> None:
        """`most`: bytes. With 384 dimensions a vector takes 2,000, for some 80 tokens."""
        self._embedder = embedder
        self._rows: TenantRows[bytes, Row] = TenantRows(most, lambda _, row: ROW_BYTES + row.nbytes)
        self._key = secrets.token_bytes(KEY_BYTES)
        self._forgotten: dict[str, int] = {}
        self._all = 0  # how often all tenants were forgotten
        self.calls: Counter[str] = Counter()  # calls of the embedder by outcome: ok, failed

    @property
    def nbytes(self) -> int:
        return self._rows.nbytes

    @property
    def size(self) -> int:
        """Return the number of cached vectors of all tenants."""
        return len(self._rows)

    @property
    def tenants(self) -> set[str]:
        """Return the tenants with cached vectors."""
        return self._rows.tenants

    async def recipe(self) -> str:
        """Return the embedder's recipe, querying it if it is not known yet; call this before
        `embed`. Raises `EmbedderUnavailable`.
        """
        if not self._embedder.dimensions:
            await self._embedder.embed([])
        return self._embedder.recipe

    async def embed(self, tenant: str, texts: Sequence[str]) -> Row:
        """Return an array (n, dimensions), one row a text. Raises `EmbedderUnavailable`, and then
        caches nothing."""
        names = [(tenant, self._hash(text)) for text in texts]
        cached = ((name, self._rows.get(name)) for name in names)
        rows = {name: row for name, row in cached if row is not None}
        new = {name: text for name, text in zip(names, texts, strict=True) if name not in rows}
        if new:
            generation = self._generation(tenant)
            matrix = await self._called(list(new.values()))
            rows.update(zip(new, matrix, strict=True))
            if generation == self._generation(tenant):
                for name in dict.fromkeys(names):
                    self._rows.put(name, rows[name].copy())  # a view keeps its whole batch alive
        ordered = [rows[name] for name in names]
        return np.array(ordered, np.float32).reshape(-1, self._embedder.dimensions)

    async def _called(self, texts: list[str]) -> Row:
        outcome = "failed"
        try:
            matrix = await self._embedder.embed(texts)
            outcome = "ok"
        finally:
            self.calls[outcome] += 1
        return matrix

    def forget(self, tenant: str) -> None:
        """Drop the tenant's vectors; those of a running batch are not cached either."""
        self._forgotten[tenant] = self._forgotten.get(tenant, 0) + 1
        self._rows.forget(tenant)

    def forget_all(self) -> None:
        """Drop the vectors of all tenants."""
        self._all += 1
        self._rows.clear()

    def _generation(self, tenant: str) -> tuple[int, int]:
        return self._all, self._forgotten.get(tenant, 0)

    def _hash(self, text: str) -> bytes:
        data = text.encode("utf-8", "surrogatepass")
        return blake2b(data, digest_size=KEY_BYTES, key=self._key).digest()


# ---------------------------------------------------------------- leaves


def first_batch(work: Iterable[LeafWork], tokens: int) -> list[LeafWork]:
    """Return the leaves to embed in one batch: the first ones, until they have `tokens` or more."""
    batch: list[LeafWork] = []
    for each in work:
        if batch and sum(leaf.tokens for leaf in batch) >= tokens:
            break
        batch.append(each)
    return batch


async def embed_leaves(
    store: TreeStore, passages: VectorCache, history: History, work: Sequence[LeafWork]
) -> None:
    """Embed these leaves and commit their vectors together. Leaves that have vectors are skipped:
    they may have been submitted before the recipe was known.

    Raises `EmbedderUnavailable` or `StoreUnavailable`, and then stores nothing.
    """
    recipe = await passages.recipe()
    stored = await store.vectors(history.tenant, recipe, [each.id for each in work])
    work = [each for each in work if each.id not in stored]
    texts = await asyncio.to_thread(segment_texts, history, work)
    matrix = await passages.embed(history.tenant, [*chain(*texts)])
    counts = iter([len(each) for each in texts])
    rows, begin = {}, 0
    for each in work:
        sizes = list(islice(counts, len(each.leaf.passages)))
        rows[each.leaf.id] = pack(matrix[begin : begin + sum(sizes)], sizes)
        begin += sum(sizes)
    await store.put_vectors(history.tenant, recipe, rows)


MIN_TOKENS = 2  # a passage of one token carries no meaning; it gets a zero vector


def segment_texts(history: History, work: Sequence[LeafWork]) -> list[list[str]]:
    """Return the segments of every passage of these leaves, in order; a single empty one for a
    passage that is not worth a vector."""
    texts = []
    for each in work:
        for passage in each.leaf.passages:
            view = history.view(each.first + passage.message).text
            worth = passage.tokens >= MIN_TOKENS
            texts.append(segments(view[passage.start : passage.end]) if worth else [""])
    return texts


# ---------------------------------------------------------------- the queue


# about a second of two cores; a killed process loses at most this much, DESIGN section 3
BATCH_TOKENS = 12_000


class InProcessQueue(WorkingQueue[Job[LeafWork]]):
    """An `IndexQueue` that also does the work. Call `start()` and `close()` in a running event
    loop."""

    def __init__(
        self,
        store: TreeStore,
        embedder: Embedder,
        clock: Clock,
        *,
        batch_tokens: int = BATCH_TOKENS,
        max_jobs: int = MAX_JOBS,
        max_bytes: int = MAX_BYTES,
        cache_bytes: int = CacheLimits.of().vectors,
    ) -> None:
        super().__init__(Jobs(max_jobs, max_bytes), clock, "indexer")
        self._store = store
        self._passages = VectorCache(embedder, cache_bytes)
        self._batch_tokens = batch_tokens
        self.done = StageTotals()

    @property
    def passages(self) -> VectorCache:
        """Return the cache of passage vectors that the queue fills."""
        return self._passages

    @property
    def embedded(self) -> Counter[str]:
        """Calls of the embedder by outcome."""
        return self._passages.calls

    def submit(
        self,
        history: History,
        start: bytes,
        leaves: Sequence[LeafWork],
        *,
        backfill: bool = False,
    ) -> None:
        if leaves:
            new = job(history, start, leaves, backfill=backfill)
            new.since = self._clock.monotonic()
            self.jobs.add(new)

    async def pending(self, tenant: str) -> Pending:
        return self.jobs.pending(tenant)

    async def forget(self, tenant: str, addresses: Collection[bytes] | None) -> int:
        gone = self.jobs.forget(tenant, addresses)
        self._passages.forget(tenant)
        return gone

    async def close(self, patience: float = 5.0) -> None:
        """Continue for at most `patience` seconds, then stop between two batches."""
        if self._task is None:
            return
        try:
            async with asyncio.timeout(patience):
                await self.join()
        except TimeoutError:
            log.info("indexer.stopped jobs_left=%d", len(self.jobs))
        self.jobs.clear()
        await self._stop()

    async def _run(self) -> None:
        while True:
            now = self._clock.monotonic()
            job = next(self.jobs.due(now), None)
            if job is None:
                await self.jobs.sleep(now)
                continue
            self.jobs.move_to_end(job)  # tenants take turns
            try:
                with tracing.behind("embed", job.watch):
                    await self._batch(job)
            except Unavailable as error:
                self.done.fail(error.code)
                self.jobs.retry(job, self._clock.monotonic(), error.code)
            except Exception:
                self.done.fail("internal_error")
                log.exception("indexer.job_failed")
                self.jobs.give_up(job)

    async def _batch(self, job: Job[LeafWork]) -> None:
        batch = first_batch(job.work.values(), self._batch_tokens)
        begun = self._clock.monotonic()
        await embed_leaves(self._store, self._passages, job.history, batch)
        tokens = sum(leaf.tokens for leaf in batch)
        self.done.add(tokens, self._clock.monotonic() - begun)
        job.tries = 0
        self.jobs.done(job.tenant, [leaf.id for leaf in batch])


class NoQueue:
    """Queue of installs without an embedder: there is no stage 2, so nothing is ever pending."""

    def submit(
        self,
        history: History,
        start: bytes,
        leaves: Sequence[LeafWork],
        *,
        backfill: bool = False,
    ) -> None:
        return None

    async def pending(self, tenant: str) -> Pending:
        return Pending(0, 0)

    async def forget(self, tenant: str, addresses: Collection[bytes] | None) -> int:
        return 0
