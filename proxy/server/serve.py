"""The composition root of the server: settings in, a listening process out."""

from __future__ import annotations

import asyncio
import gc
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from types import FrameType

import uvicorn
from starlette.types import ASGIApp

from indexer.runtime import Runtime, open_runtime
from memtree import __version__
from memtree.config import SHADOW, Settings
from memtree.errors import BadRequest
from memtree.setting_values import without_password
from memtree.stores import shown_store
from proxy.access.auth import is_loopback
from proxy.access.browser_policy import BrowserPolicy
from proxy.observability.setup import UNWATCHED, Observers, index_metrics, watching
from proxy.server.app import Services, create_app
from proxy.server.http_protocol import guarded
from proxy.server.listener import bound, listen, shown_address
from proxy.server.open_files import allow_many_files
from proxy.upstream.client import Upstream

# Longer than clients keep an idle connection (Go 90 s, undici 4 s, httpx 5 s): the side that closes
# first must be theirs, or a request may run into a connection that is just being closed.
KEEP_ALIVE_SECONDS = 95
SIGNALS = (signal.SIGINT, signal.SIGTERM)


async def serve(settings: Settings) -> None:
    """Serve until a signal comes. Raises `BadRequest` or a store error when it cannot begin."""
    BrowserPolicy.of(settings)  # a mistake in these settings is said first
    with bound(settings.host, settings.port) as sockets:
        async with open_runtime(settings, shared=True) as runtime:
            await refuse_open_door(settings, runtime)
            async with (
                watching(settings) as watch,
                open_services(settings, runtime, watch) as services,
            ):
                app = create_app(services)
                server = Server(listening(app, settings), app.state.streams.stop)
                settle_garbage()
                allow_many_files()
                announce(settings, runtime, listen(sockets, settings.host))
                await server.serve(sockets)


def listening(app: ASGIApp, settings: Settings) -> uvicorn.Config:
    """How the server listens."""
    return uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        http=guarded(settings),
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,  # a relayed answer brings the upstream's
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=settings.shutdown_seconds,
    )


def settle_garbage() -> None:
    """What is loaded by now stays for good: without it in the collector's lists a full collection
    takes 5 ms instead of 27, in which no request moves."""
    gc.collect()
    gc.freeze()


class Server(uvicorn.Server):
    """uvicorn's own raises a caught signal again when it has stopped, and the process would end
    before the index queue is drained and the store is closed."""

    def __init__(self, config: uvicorn.Config, stopping: Callable[[], None]) -> None:
        """`stopping`: called as soon as it is to stop, while it waits for answers to end."""
        super().__init__(config)
        self._stopping = stopping

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._stopping()
        super().handle_exit(sig, frame)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        try:
            for number in SIGNALS:
                loop.add_signal_handler(number, self.handle_exit, number, None)
        except NotImplementedError:  # Windows
            with super().capture_signals():
                yield
            return
        try:
            yield
        finally:
            for number in SIGNALS:
                loop.remove_signal_handler(number)


@asynccontextmanager
async def open_services(
    settings: Settings, runtime: Runtime, watch: Observers = UNWATCHED
) -> AsyncIterator[Services]:
    upstream = Upstream(settings.upstream) if settings.upstream else None
    try:
        queue = runtime.summaries.queue if runtime.summaries else None
        store = runtime.store
        yield Services(
            runtime.memory,
            runtime.memory_services,
            store,
            upstream,
            settings,
            summaries=queue,
            tallies=store,
            collectors=(*watch.collectors, index_metrics(runtime)),
            spans=watch.spans,
        )
    finally:
        if upstream is not None:
            await upstream.close()


async def refuse_open_door(settings: Settings, runtime: Runtime) -> None:
    """Without keys anybody who reaches the port is let in, so the port stays on loopback."""
    if settings.open or is_loopback(settings.host) or await runtime.store.has_keys():
        return
    raise BadRequest(
        f"refusing to listen on {settings.host} without access keys: create one with "
        "`memtree keys create LABEL`, or pass --open to let everybody in",
        param="host",
    )


def announce(settings: Settings, runtime: Runtime, port: int) -> None:
    """What a person wants to see first: where to point the client, and what is on."""
    while_ = " until it is there" if runtime.embedder else ""
    ranking = f"words alone{while_}: {runtime.trouble}" if runtime.trouble else "words and meaning"
    lines = [
        f"MemTree {__version__}  http://{shown_address(settings.host, port)}/v1",
        f"  upstream  {settings.upstream or 'none (chat routes answer 503)'}",
        f"  store     {shown_store(settings.store)}",
        *([f"  queue     {without_password(settings.queue)}"] if runtime.redis else []),
        f"  ranking   {ranking}",
        f"  summaries {settings.summary_model or 'extracted, without a model'}",
        f"  memory    {_switch(settings)}",
    ]
    print("\n".join(lines), file=sys.stderr, flush=True)


def _switch(settings: Settings) -> str:
    if settings.mode == SHADOW:
        return "shadow: chats go through unchanged, and what memory would keep is measured"
    return "send the header `x-polychat-memory: on`" + (
        " (on by default)" if settings.memory else ""
    )
