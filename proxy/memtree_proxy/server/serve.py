"""Serve over HTTP: open the store, listen, and collect garbage between requests.

The composition root of the server: settings in, a listening process out. It also schedules the
collector of cyclic garbage: new objects often, all objects seldom.

No request proceeds while it runs, and Python scans all live objects once enough new ones exist:
with a conversation of a million tokens that took 30 to 150 ms every few requests, for caches
without any cycles. Here objects that survive a full collection are frozen, so that the next one
scans only newer ones. Frozen objects are still freed as soon as nothing refers to them; only a
cycle that survived a full collection and became garbage later has to wait for the next scan of
everything. That scan runs when no request is active, and every quarter of an hour in a server that
is never idle. (From Python 3.14 on the collector works in small steps by itself; then only the
objects of start-up are frozen.)
"""

from __future__ import annotations

import argparse
import asyncio
import ctypes
import gc
import signal
import socket
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from types import FrameType
from typing import Any, cast

import uvicorn
from starlette.types import ASGIApp

from memtree import __version__
from memtree.config import ON, Settings
from memtree.errors import BadRequest, StoreUnavailable
from memtree.jobs.runtime import Runtime, open_runtime
from memtree.process.threads import FairThreads
from memtree.setting_values import without_password
from memtree.stores import shown_store
from memtree.text import rule_sentences, tokens
from memtree.tree import extraction
from memtree_indexer.queues import open_redis_queues
from memtree_proxy.http.auth import LocalUser, is_loopback, new_secret
from memtree_proxy.http.observers import UNWATCHED, Observers, index_metrics, watching
from memtree_proxy.server.app import Services, create_app
from memtree_proxy.server.browser_guard import BrowserPolicy
from memtree_proxy.server.health_report import health_report
from memtree_proxy.server.http_protocol import GuardedProtocol, guarded
from memtree_proxy.server.listener import (
    accept_backlog,
    allow_many_files,
    bound,
    listen,
    shown_address,
)
from memtree_proxy.server.state_file import state_file
from memtree_proxy.server.wrapped_runs import Leases, sweep
from memtree_proxy.upstream.upstreams import Upstreams, anthropic_base, is_apart

# New objects before the youngest generation is collected, such collections before the middle one
# is, and those before a full one. A full one scans some 30,000 objects: 2 to 8 ms. Python's own
# (700, 10, 10) take twice the CPU time at a million tokens.
THRESHOLDS = (3_000, 4, 1)
OLDEST = 2
FULL_COLLECTIONS = 10  # before a scan of everything is worth its time: 300,000 new objects
LONGEST_SECONDS = 15 * 60  # without a scan of everything, if some request is always active
LOOK_SECONDS = 5.0  # between two checks that the server is idle
GIVE_SECONDS = 60.0  # between two releases of memory if it is never idle


@contextmanager
def short_collections() -> Iterator[None]:
    """Keep collections short, however many objects live, while the block runs."""
    before = gc.get_threshold()
    collect_everything()
    gc.set_threshold(*THRESHOLDS)
    gc.callbacks.append(_freeze_survivors)
    try:
        yield
    finally:
        gc.callbacks.remove(_freeze_survivors)
        gc.set_threshold(*before)


def collect_everything() -> int:
    """Scan all live objects, frozen or not, and freeze those left. Returns how many objects were
    garbage. At a million tokens it takes some 100 ms."""
    gc.unfreeze()
    collected = gc.collect()
    gc.freeze()
    return collected


def is_due(collections: int, seconds: float, *, resting: bool) -> bool:
    """Return True if it is time to scan everything. `collections`, `seconds`: full collections and
    time since the last such scan."""
    worth = collections >= FULL_COLLECTIONS
    return worth and (resting or seconds >= LONGEST_SECONDS)


async def collect_at_rest(
    requests: Callable[[], tuple[int, int]],
    every: float = LOOK_SECONDS,
    give_back: Callable[[], object] | None = None,
) -> None:
    """Scan everything when it is due, until cancelled. `requests`: returns how many were answered
    so far, and how many are active; the server is idle if none came between two checks and none is
    active. `give_back`: called once in each idle phase, and otherwise each minute, to release
    memory that the allocator keeps after large requests. It takes 70 ms of another thread for 500
    MB."""
    give_back = give_back or allocator_trim()
    done, at, answered, given = full_collections(), time.monotonic(), -1, 0
    given_at = at
    while True:
        await asyncio.sleep(every)
        before, (answered, under_way) = answered, requests()
        resting = answered == before and not under_way
        if is_due(full_collections() - done, time.monotonic() - at, resting=resting):
            collect_everything()
            done, at = full_collections(), time.monotonic()
        gives = resting or time.monotonic() - given_at >= GIVE_SECONDS
        if gives and answered != given:
            given, given_at = answered, time.monotonic()
            await asyncio.to_thread(give_back)


def allocator_trim() -> Callable[[], object]:
    """Return a function that returns free memory of the C library to the system, if that is
    supported: otherwise the memory for a body of 4 MB stays with the process."""
    try:
        trim = ctypes.CDLL(None).malloc_trim
    except (OSError, TypeError, AttributeError):  # Windows, macOS and musl lack it
        return lambda: None
    return lambda: trim(0)


def full_collections() -> int:
    """Return the number of full collections in this process."""
    return int(gc.get_stats()[OLDEST]["collections"])


def _freeze_survivors(phase: str, info: dict[str, Any]) -> None:
    if phase == "stop" and info["generation"] == OLDEST:
        gc.freeze()


# Longer than clients keep an idle connection (Go 90 s, undici 4 s, httpx 5 s): the client must be
# the side that closes first, or a request may arrive on a connection that is just being closed.
KEEP_ALIVE_SECONDS = 95
# time in which a store on a server must answer before the server reports it as unavailable
STORE_SECONDS = 3.0
WARM_AFTER_SECONDS = 4.0  # a server that is stopped soon starts no child
# after this time it listens, and callers that waited for it were answered
LISTENS_AFTER_SECONDS = 0.2
# from the end of a lease until its process, which may have been killed, is gone
SWEEP_SECONDS = 1.0
TURNS_TO_BEGIN = 3  # of asyncio's loop, from accepting a connection until its protocol is called
SIGNALS = (signal.SIGINT, signal.SIGTERM)


async def run(options: argparse.Namespace, settings: Settings) -> int:
    """Serve until a signal comes. `options.for_wraps`: this server is for `memtree wrap`, and ends
    after so many seconds without a run. Raises `BadRequest` or a store error if it cannot start."""
    idle: float | None = options.for_wraps
    BrowserPolicy.of(settings)  # errors in these settings are reported first
    asyncio.get_running_loop().set_default_executor(FairThreads())
    with bound(settings.host, settings.port) as sockets:
        async with open_runtime(settings, lasting=True, queues=open_redis_queues) as runtime:
            await refuse_open_door(settings, runtime)
            secret = new_secret()
            local = LocalUser(secret)
            leases = None if idle is None else Leases(settings, local, sweeping(settings))
            async with (
                watching(settings) as watch,
                open_services(settings, runtime, watch, local, leases) as services,
            ):
                app = create_app(services)

                def stopping() -> None:
                    app.state.streams.stop()
                    if leases is not None:
                        leases.stop()

                server = Server(listening(app, settings), stopping)
                allow_many_files()
                # Signals are handled from the line on that announces the server
                with short_collections(), server.capture_signals():
                    waits = await store_is_away(runtime, settings)
                    port = listen(sockets, settings.host)
                    announce(settings, runtime, port, waits)
                    with state_file(settings, port, secret, for_wraps=leases is not None):
                        async with (
                            beside(load_behind(runtime)),
                            beside(end_unused(server, runtime, leases, idle)),
                        ):
                            await server.serve(sockets)
    return 0


async def compile_phrases() -> None:
    """Compile patterns outside the event loop: otherwise the first history would wait for them,
    and the first turn in a language, with all others, 100 ms. Child processes compile nothing
    here."""
    await asyncio.to_thread(extraction.warm_up)
    steps = rule_sentences.warm_up()
    while await asyncio.to_thread(next, steps, True) is None:
        pass


@asynccontextmanager
async def beside(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Do this work while the block runs."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def load_behind(runtime: Runtime) -> None:
    """Load what the first requests need while the server answers already. The first history of a
    new server is often a long one: a child process is started for it soon after start-up, and ended
    a minute later if none came."""
    await asyncio.sleep(LISTENS_AFTER_SECONDS)
    await asyncio.to_thread(tokens.count, "")  # loads the vocabulary
    await runtime.load()
    await asyncio.sleep(WARM_AFTER_SECONDS)
    if runtime.builder:
        runtime.builder.warm()
        await compile_phrases()


def sweeping(settings: Settings) -> Callable[[], None]:
    """Return a function that removes the files of killed runs, a moment after it is called."""

    def soon() -> None:
        asyncio.get_running_loop().call_later(SWEEP_SECONDS, sweep, settings.data_folder)

    return soon


async def end_unused(
    server: Server, runtime: Runtime, leases: Leases | None, idle: float | None
) -> None:
    """End a server for `memtree wrap` that has had no run for `idle` seconds, once its work is
    done."""
    if leases is None or idle is None:
        return
    while True:
        await leases.unused(idle)
        await runtime.worked_off()
        if not leases.in_use and not server.requests()[1]:
            break
        await asyncio.sleep(LISTENS_AFTER_SECONDS)
    server.handle_exit(signal.SIGTERM, None)


def listening(app: ASGIApp, settings: Settings) -> uvicorn.Config:
    """Return uvicorn's configuration."""
    return uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        http=guarded(settings),
        ws="none",
        proxy_headers=False,  # only `FailedKeys` reads the address that a proxy reports
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,  # relayed answers have the upstream's date
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=settings.shutdown_seconds,
    )


class Server(uvicorn.Server):
    """uvicorn's server, except that it does not raise a caught signal again after it has stopped:
    that would end the process before the index queue is drained and the store is closed."""

    def __init__(self, config: uvicorn.Config, stopping: Callable[[], None]) -> None:
        """`stopping`: called as soon as it must stop, while it still waits for answers to end."""
        super().__init__(config)
        self._stopping = stopping

    async def main_loop(self) -> None:
        garbage = asyncio.create_task(collect_at_rest(self.requests))
        try:
            await super().main_loop()
        finally:
            garbage.cancel()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Shut down as the parent does, but serve connections that wait to be accepted: closing the
        listening socket would reset them, and after a busy moment there may be many."""
        late = accept_backlog(sockets or [])
        for server in self.servers:
            server.close()
        for listener in sockets or []:
            listener.close()
        loop = asyncio.get_running_loop()
        for connection in late:
            try:
                await loop.connect_accepted_socket(self._protocol, connection)
            except OSError:  # macOS allows no option on a socket whose client has disconnected
                connection.close()
        for _ in range(TURNS_TO_BEGIN):
            await asyncio.sleep(0)
        await super().shutdown(sockets)

    def _protocol(self) -> asyncio.Protocol:
        new = cast("type[GuardedProtocol]", self.config.http_protocol_class)
        return new(self.config, self.server_state, self.lifespan.state)

    def requests(self) -> tuple[int, int]:
        """Return how many requests were answered, and how many are active."""
        return self.server_state.total_requests, len(self.server_state.tasks)

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
    settings: Settings,
    runtime: Runtime,
    watch: Observers = UNWATCHED,
    local: LocalUser | None = None,
    leases: Leases | None = None,
) -> AsyncIterator[Services]:
    upstreams = Upstreams.of_settings(settings)
    try:
        queue = runtime.summaries.queue if runtime.summaries else None
        store = runtime.store
        yield Services(
            runtime.memory,
            runtime.memory_services,
            store,
            upstreams,
            settings,
            summaries=queue,
            tallies=store,
            requests=store if settings.requests_log == ON else None,
            collectors=(*watch.collectors, index_metrics(runtime)),
            caches=runtime.caches,
            spans=watch.spans,
            health=health_report(settings, runtime),
            local=local,
            tenants=lambda: kept_tenants(runtime),
            leases=leases,
        )
    finally:
        await upstreams.close()


async def kept_tenants(runtime: Runtime) -> set[str]:
    """Return the names of all tenants with context memory or saved memories."""
    names = {row.name for row in await runtime.store.tenants()}
    return names | {scope.tenant for scope, _ in await runtime.memories.memory_scopes(None)}


async def refuse_open_door(settings: Settings, runtime: Runtime) -> None:
    """Raise unless the port is on loopback or keys are required: without keys anybody who reaches
    the port has access."""
    if settings.open or is_loopback(settings.host) or await runtime.store.has_keys():
        return
    raise BadRequest(
        f"refusing to listen on {settings.host} without access keys: create one with "
        "`memtree keys create LABEL`, or pass --open to let everybody in",
        param="host",
    )


async def store_is_away(runtime: Runtime, settings: Settings) -> bool:
    """Return True if the store is a database server that does not answer: it may start later. A
    file on this machine is waited for, since opening it may take longer than that on a busy
    machine."""
    if not settings.store.startswith("postgres"):
        await runtime.store.has_keys()
        return False
    try:
        async with asyncio.timeout(STORE_SECONDS):
            await runtime.store.has_keys()
    except (StoreUnavailable, TimeoutError):
        return True
    return False


def announce(settings: Settings, runtime: Runtime, port: int, store_is_away: bool = False) -> None:
    """Print what a person needs first: where to point the client, and which features are on."""
    while_ = " until it is there" if runtime.embedder else ""
    trouble = runtime.opened.trouble
    ranking = f"words alone{while_}: {trouble}" if trouble else "words and meaning"
    away = " does not answer: until it does, chats go on without memory" * store_is_away
    address = f"http://{shown_address(settings.host, port)}"
    messages = anthropic_base(settings) or "none (/messages answers 503)"
    lines = [
        f"MemTree {__version__}  {address}/v1",
        *([f"  pages     {address}/ui"] if settings.ui else []),
        f"  upstream  {settings.upstream or 'none (chat routes answer 503)'}",
        *([f"  messages  {messages}"] if is_apart(settings) else []),
        f"  store     {shown_store(settings.store)}{away}",
        *([f"  queue     {without_password(settings.queue)}"] if runtime.shared else []),
        f"  ranking   {ranking}",
        f"  summaries {settings.summary_model or 'extracted, without a model'}",
        "  memory    send the header `x-polychat-memory: on`"
        + " (on by default)" * settings.memory,
    ]
    print("\n".join(lines), file=sys.stderr, flush=True)
