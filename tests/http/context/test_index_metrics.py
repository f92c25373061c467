"""How far indexing is behind and what it has done, as `/metrics` tells it."""

from __future__ import annotations

import asyncio
import dataclasses

import pytest
from prometheus_client.parser import text_string_to_metric_families

from memtree.errors import EmbedderUnavailable, QueueUnavailable
from memtree.history.message import Message
from memtree.jobs.embedding import InProcessQueue
from memtree.jobs.growing import INLINE_TOKENS, StageOne
from memtree.jobs.job_queue import Backlog, StageTotals
from memtree.stores import RamStore
from memtree.tree.growth import Tail
from memtree.tree.node import EMPTY, LeafWork
from memtree_proxy.http import metrics
from memtree_proxy.http.metrics import Metrics
from memtree_proxy.http.process_metrics import IndexMetrics
from tests.fakes import HashingEmbedder
from tests.http.served.fakes import client_of, services
from tests.http.served.running import PATIENCE, waited_for
from tests.made.trees import places
from tests.properties.strategies import batch, history_of, leaves_of, prose


class SetClock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.seconds = 1_000.0

    def now(self) -> float:
        return self.seconds

    def monotonic(self) -> float:
        return self.seconds


class Refusing(HashingEmbedder):
    """An embedder that refuses as often as it is told to, and lets time pass."""

    def __init__(self, clock: SetClock, refusals: int = 0) -> None:
        super().__init__()
        self._clock, self.refusals = clock, refusals

    async def embed(self, texts):
        self._clock.seconds += 2.0
        if self.refusals:
            self.refusals -= 1
            raise EmbedderUnavailable("away")
        return await super().embed(texts)


def history(seed: int = 0, count: int = 6):
    said = [
        Message.of({"role": ("user", "assistant")[n % 2], "content": prose(seed + n, 380)})
        for n in range(count)
    ]
    return history_of(said, "t")


def work_of(posted, count: int = 4) -> list[LeafWork]:
    grown = batch(posted)
    found = leaves_of(grown.frontier, {node.id: node for node in grown.nodes})[:count]
    return [LeafWork(leaf, spot.first) for leaf, spot in zip(found, places(found), strict=True)]


async def told(collector: IndexMetrics) -> dict[tuple[str, ...], float]:
    """By name and label values."""
    page = Metrics()
    page.show_also(collector)
    await page.gather()
    return {
        (sample.name.removeprefix("memtree_"), *(sample.labels[k] for k in sorted(sample.labels))):
        sample.value
        for family in text_string_to_metric_families(bytes(page.page().body).decode())
        for sample in family.samples
    }  # fmt: skip


async def test_lag_is_the_age_of_the_oldest_job_and_falls_when_it_is_done():
    clock, store = SetClock(), RamStore()
    queue = InProcessQueue(store, Refusing(clock), clock)
    page = IndexMetrics({"2": queue}, {"2": queue.done}, queue.embedded)
    empty = await told(page)
    assert empty["queue_up", "2"] == 1
    assert empty["index_lag_seconds", "2"] == empty["queue_jobs", "2"] == 0
    first, second = history(), history(50)
    for posted in (first, second):
        work = work_of(posted)
        queue.submit(posted, posted.addresses[1], work)
        clock.seconds += 7.0
    found = await told(page)
    tokens = sum(one.tokens for posted in (first, second) for one in work_of(posted))
    assert found["index_lag_seconds", "2"] == 14.0
    assert found["queue_jobs", "2"] == 2
    assert found["queue_tokens", "2"] == tokens
    assert found["indexed_tokens_total", "2"] == 0
    queue.start()
    await queue.join()
    done = await told(page)
    await queue.close()
    assert done["index_lag_seconds", "2"] == done["queue_tokens", "2"] == 0
    assert done["indexed_tokens_total", "2"] == tokens
    assert done["index_batches_total", "done", "2"] == 2
    assert done["index_busy_seconds_total", "2"] == 4.0
    assert done["embedder_batches_total", "ok"] == 2


async def test_failures_are_counted_by_their_code():
    clock, store = SetClock(), RamStore()
    queue = InProcessQueue(store, Refusing(clock, refusals=1), clock)
    posted = history()
    queue.submit(posted, posted.addresses[1], work_of(posted))
    queue.start()
    await waited_for(lambda: queue.done.batches)
    found = await told(IndexMetrics({}, {"2": queue.done}, queue.embedded))
    await queue.close(0)
    assert found["index_batches_total", "embedder_unavailable", "2"] == 1
    assert found["embedder_batches_total", "failed"] == 1
    assert found["indexed_tokens_total", "2"] == 0
    assert not [name for name in found if name[0] == "queue_up"]


@pytest.mark.parametrize("size", [1, INLINE_TOKENS + 1])
async def test_stage_one_counts_what_is_new_and_final(size: int):
    """Inline and in a thread, and a run that two share once."""
    builder, posted = StageOne(child=False), history(count=40)
    half = len(posted) // 2

    def tail(first: int, last: int, frontier=EMPTY, loose=None) -> Tail:
        return Tail(
            frontier, loose or {}, tuple(one.raw for one in posted.messages[first:last]),
            tuple(fact.digest for fact in posted.facts[first:last]),
            posted.addresses[first + 1 : last + 1], posted.volatile.tags, first,
        )  # fmt: skip

    early, _ = await asyncio.gather(*(builder.grow(tail(0, half), size) for _ in range(2)))
    runs = 2 if size == 1 else 1
    assert builder.done.tokens == runs * early.frontier.tokens > 0
    first = early.frontier.messages
    nodes = {node.id: node for node in early.nodes}
    loose = {id_: nodes[id_] for id_ in early.frontier.nodes}
    before = builder.done.tokens
    late = await builder.grow(tail(first, len(posted), early.frontier, loose), size)
    assert builder.done.tokens - before == late.frontier.tokens - early.frontier.tokens > 0
    await builder.close()


class Elsewhere:
    """A queue over a network."""

    def __init__(self) -> None:
        self.error: Exception | None = None
        self.hangs = False

    async def backlog(self) -> Backlog:
        if self.hangs:
            await asyncio.Event().wait()
        if self.error:
            raise self.error
        return Backlog(3, 4_000, 55.0)


async def test_a_queue_that_does_not_tell_is_down_and_its_old_numbers_are_gone():
    queue, other = Elsewhere(), Elsewhere()
    page = IndexMetrics({"2": queue, "3": other}, {"1": StageTotals()})
    found = await told(page)
    assert found["index_lag_seconds", "2"] == 55.0
    queue.error = QueueUnavailable("Redis is away")
    found = await told(page)
    assert found["queue_up", "2"] == 0
    assert ("index_lag_seconds", "2") not in found
    assert found["queue_up", "3"] == 1
    assert found["queue_tokens", "3"] == 4_000


async def test_a_queue_that_hangs_does_not_keep_the_page(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(metrics, "PATIENCE", 0.01)
    queue = Elsewhere()
    queue.hangs = True
    built = services(None)
    built = dataclasses.replace(built, collectors=(IndexMetrics({"2": queue}, {}),))
    async with client_of(built) as client:
        async with asyncio.timeout(PATIENCE):
            page = await client.get("/metrics")
    assert page.status_code == 200
    assert 'memtree_queue_up{stage="2"} 0.0' in page.text
