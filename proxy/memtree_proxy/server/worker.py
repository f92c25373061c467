"""`memtree worker`: does the jobs that proxies have put into Redis, until a signal comes.

The first signal ends slices and returns the rest to the queue; the second ends the process at once,
and other workers continue its jobs some seconds later.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING

import uvicorn
from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.exposition import choose_encoder
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from memtree import __version__
from memtree.config import Settings
from memtree.errors import BadRequest, importing
from memtree.jobs.embedding import open_embedder
from memtree.jobs.job_queue import StageTotals
from memtree.jobs.runtime import SystemClock
from memtree.jobs.summary_stage import SummaryStage, open_summarizer
from memtree.setting_values import INPROCESS, without_password
from memtree.stores import open_store, shown_store
from memtree_indexer.queues import IN_REDIS, refuse_own_memory
from memtree_proxy.http.log import Tally, counting
from memtree_proxy.http.process_metrics import IndexMetrics, ProcessMetrics, SummaryMetrics
from memtree_proxy.server.listener import bound, listen

if TYPE_CHECKING:
    from memtree_indexer.queue_worker import Worker, WorkerParts

log = logging.getLogger("memtree")

SIGNALS = (signal.SIGINT, signal.SIGTERM)
AT_ONCE = 1  # exit code after a second signal


async def run(options: argparse.Namespace, settings: Settings) -> int:
    """Run a worker. Raises `BadRequest` or a store error if it cannot start."""
    if settings.queue == INPROCESS:
        raise BadRequest(
            "a worker needs a queue in Redis: set queue (MEMTREE_QUEUE) to redis://HOST:PORT/DB",
            param="queue",
        )
    refuse_own_memory(settings)
    with importing(*IN_REDIS):
        from memtree_indexer.queue_worker import open_workshop  # noqa: PLC0415
        from memtree_indexer.redis_connection import blocking  # noqa: PLC0415  the `redis` extra
    try:
        blocking(settings.queue).close()
    except (TypeError, ValueError):  # not shown, since it may contain a password
        raise BadRequest("queue: the URL has unsupported options", param="queue") from None
    async with (
        open_parts(settings) as parts,
        open_workshop(settings, parts, burst=options.burst) as workshop,
        watched(workshop, options.health_host or settings.host, options.health_port),
    ):
        with stopping(workshop):
            announce(settings, parts)
            await workshop.run()
    return 0


@asynccontextmanager
async def open_parts(settings: Settings) -> AsyncIterator[WorkerParts]:
    """Open store, embedder and summariser of this process."""
    from memtree_indexer.queue_worker import WorkerParts  # noqa: PLC0415

    store = await asyncio.to_thread(open_store, settings.store)
    try:
        embedder, _ = await open_embedder(settings, patient=True)
        summarizer, clock = open_summarizer(settings), SystemClock()
        # Waiting for fuller calls happens before a job is handed out.
        three = (
            SummaryStage.of(settings, store, clock, summarizer, gather=0.0) if summarizer else None
        )
        if not embedder and not three:
            raise BadRequest(
                "a worker needs an embedder or a model for summaries", param="embedder"
            )
        if three:
            three.queue.start()
        try:
            yield WorkerParts(store, clock, embedder, three)
        finally:
            if three:
                await three.close(settings.worker_seconds)
            if embedder:
                await embedder.close()
    finally:
        await store.close()


@contextmanager
def stopping(workshop: Worker) -> Iterator[None]:
    """Stop the workshop on a signal while the block runs."""
    loop = asyncio.get_running_loop()

    def stop() -> None:
        if workshop.stop.is_set():
            logging.shutdown()
            os._exit(AT_ONCE)  # threads may be in calls that nothing can end
        log.info("worker.stopping")
        workshop.stop.set()

    for number in SIGNALS:
        loop.add_signal_handler(number, stop)
    try:
        yield
    finally:
        for number in SIGNALS:
            loop.remove_signal_handler(number)


@asynccontextmanager
async def watched(workshop: Worker, host: str, port: int | None) -> AsyncIterator[None]:
    """Serve `/health` and `/metrics` while the block runs; `port`: None for neither."""
    if port is None:
        yield
        return
    with bound(host, port) as sockets, counting() as tally:
        config = uvicorn.Config(
            health_app(workshop, tally), log_config=None, access_log=False, ws="none"
        )
        server = _SignalFreeServer(config)
        listen(sockets, host)
        task = asyncio.create_task(server.serve(sockets), name="health")
        try:
            yield
        finally:
            server.should_exit = True
            await asyncio.gather(task, return_exceptions=True)


class _SignalFreeServer(uvicorn.Server):
    """Leaves signals to the worker."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def health_app(workshop: Worker, tally: Tally) -> Starlette:
    """Return the app with `/health`, which is 200 while the process works; `redis` says if Redis
    answers, which restarting a worker cannot repair."""
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    registry.register(ProcessMetrics(tally))
    done: dict[str, StageTotals] = {}
    if workshop.passages:
        done["2"] = workshop.slices.done
    if workshop.summaries:
        done["3"] = workshop.summaries.done
        registry.register(SummaryMetrics(workshop.summaries))
    embedded = workshop.passages.calls if workshop.passages else None
    registry.register(IndexMetrics({}, done, embedded))

    async def health(_: Request) -> Response:
        alive = all(lane.is_alive() for lane in workshop.lanes) and not workshop.stop.is_set()
        shown = {
            "status": "ok" if alive else "stopping",
            "version": __version__,
            "redis": workshop.link.up,
            "lanes": len(workshop.lanes),
        }
        return JSONResponse(shown, 200 if alive else 503)

    async def metrics(request: Request) -> Response:
        encode, content_type = choose_encoder(request.headers.get("accept", ""))
        return Response(encode(registry), headers={"content-type": content_type})

    return Starlette(routes=[Route("/health", health), Route("/metrics", metrics)])


def announce(settings: Settings, parts: WorkerParts) -> None:
    embedder = parts.embedder.name if parts.embedder else "none: embeddings are left to others"
    lines = [
        f"MemTree {__version__} worker",
        f"  queue     {without_password(settings.queue)}",
        f"  store     {shown_store(settings.store)}",
        f"  embedder  {embedder}",
        f"  summaries {settings.summary_model or 'none: left to others'}",
    ]
    print("\n".join(lines), file=sys.stderr, flush=True)
