"""Open the observability of a process from the settings: warnings, event loop, traces."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from prometheus_client.registry import Collector

from memtree.config import Settings
from memtree.errors import importing
from memtree.jobs.embedding import InProcessQueue
from memtree.jobs.job_queue import PendingQueue, StageTotals
from memtree.jobs.runtime import Runtime
from memtree_indexer.queues import redis_queues
from memtree_proxy.http.log import counting
from memtree_proxy.http.process_metrics import IndexMetrics, LoopLag, ProcessMetrics
from memtree_proxy.http.timing import Spans

if TYPE_CHECKING:
    from memtree_proxy.http.otel import Tracing


@dataclass(frozen=True, slots=True)
class Observers:
    """Parts that observe the app. `collectors`: metrics of the process. `spans`: None if traces are
    off."""

    collectors: tuple[Collector, ...] = ()
    spans: Spans | None = None


UNWATCHED = Observers()


@asynccontextmanager
async def watching(settings: Settings) -> AsyncIterator[Observers]:
    """Observe this process while the block runs. Raises `BadRequest` if traces are configured and
    their library is missing."""
    tracing, pulse = open_tracing(settings), LoopLag()
    pulse.start()
    try:
        with counting() as tally:
            yield Observers((ProcessMetrics(tally), pulse), tracing)
    finally:
        await pulse.close()
        if tracing is not None:
            await asyncio.to_thread(tracing.close)


def open_tracing(settings: Settings) -> Tracing | None:
    """Open tracing; None without `otel_endpoint`. Raises `BadRequest`."""
    if settings.otel_endpoint is None:
        return None
    with importing("otel_endpoint", "otel", "otel_endpoint"):
        # The optional `otel` extra, which takes 0.2 s, so only users of it should pay.
        from memtree_proxy.http.otel import Tracing  # noqa: PLC0415
    return Tracing(settings.otel_endpoint, propagate=settings.otel_propagate)


def index_metrics(runtime: Runtime) -> IndexMetrics:
    """Return metrics of the work that waits in this process or in Redis, and of what this process
    has indexed."""
    queues: dict[str, PendingQueue] = {}
    done: dict[str, StageTotals] = {"1": runtime.builder.done} if runtime.builder else {}
    embedded: Counter[str] = Counter()
    if isinstance(runtime.queue, InProcessQueue):
        queues["2"], done["2"] = runtime.queue, runtime.queue.done
        embedded = runtime.queue.embedded
    if runtime.summaries:
        queues["3"], done["3"] = runtime.summaries.queue, runtime.summaries.queue.done
    if redis := redis_queues(runtime):
        queues["2"] = redis.queue
        if redis.summaries:
            queues["3"] = redis.summaries
    return IndexMetrics(queues, done, embedded)
