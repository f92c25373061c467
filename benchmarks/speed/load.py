"""Ten clients at work on the whole topology: two proxies, two workers, PostgreSQL, Redis, balancer.

    make load                        # half an hour
    make load ARGS="--minutes 5"

Each client replays a session as its program would post it, request by request with pauses, as a
tenant of its own, then begins a new one: sessions of real clients where MEMTREE_BENCH_DATA has
captures, else generated ones. Told are: requests a second, p50 and p99 by third of the run, what
was refused, how fast each process grows (a line through its resident size in the last two thirds),
and the tokens that wait to be indexed. Twenty times in a run a line says how much memory and how
many descriptors each process has, and how large the store is. All runs on one machine, the clients
too.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import aiohttp
import numpy as np

from benchmarks.data import Data
from benchmarks.report import Row
from benchmarks.speed import released
from benchmarks.speed.clients import sessions
from benchmarks.speed.clients.processes import app, memory_of
from benchmarks.speed.clients.sessions import RecordedSession, Request
from deploy.topology import Shape, topology
from memtree.ports.context_store import Store
from memtree.stores import open_store
from tests.programs.processes import descendants

CLIENTS = 10
SAMPLE = 5.0  # seconds between two looks at processes and queues
PAUSES = (0.2, 2.0)  # seconds between two requests of a client
TARGET = 8_000
LINES = 20  # in a run, each with what the processes and the store take then
DRAINING = 60.0  # seconds that the queues have at the end


@dataclass(frozen=True, slots=True)
class Done:
    at: float
    took: float


@dataclass(slots=True)
class LoadRun:
    """`lag`: tokens that waited, at each look. `sizes`: of each process, when and how many MiB.
    `descriptors`: of each process now; `stored`: MB of the store, at each line that was printed."""

    url: str
    began: float = field(default_factory=time.monotonic)
    done: list[Done] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)
    states: Counter[str] = field(default_factory=Counter)
    tenants: dict[int, str] = field(default_factory=dict)
    lag: list[int] = field(default_factory=list)
    sizes: dict[str, list[tuple[float, float]]] = field(default_factory=lambda: defaultdict(list))
    descriptors: dict[str, int] = field(default_factory=dict)
    stored: list[float] = field(default_factory=list)

    def now(self) -> float:
        return time.monotonic() - self.began


def parsed(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--clients", type=int, default=CLIENTS)
    released.parsed(parser)


def run(options: argparse.Namespace, data: Data | None) -> int:
    rows = asyncio.run(_loaded(options, _shapes(data)))
    released.show(options, "load", f"{options.clients} clients, {options.minutes:g} minutes", rows)
    return 0


def _shapes(data: Data | None) -> list[RecordedSession]:
    """Return the sessions that clients post: the longest first, so that ten clients differ."""
    found = [one for one in sessions.captured(data) if len(one.requests) > 1] if data else []
    return sorted(found or sessions.generated(), key=lambda one: -len(one.requests[-1].body))


async def _loaded(options: argparse.Namespace, shapes: Sequence[RecordedSession]) -> list[Row]:
    with app("upstream") as upstream, tempfile.TemporaryDirectory(prefix="memtree-load-") as folder:
        settings = {
            "MEMTREE_EMBEDDER": "local",
            "MEMTREE_ANTHROPIC_UPSTREAM": f"{upstream.url}/v1",
            "MEMTREE_TARGET_TOKENS": str(TARGET),
        }
        shape = Shape(upstream=f"{upstream.url}/v1", settings=settings)
        with topology(Path(folder), shape) as parts:
            run = LoadRun(parts.url)
            end = options.minutes * 60
            async with aiohttp.ClientSession() as http:
                store = open_store(parts.urls["postgres"])
                watching = asyncio.create_task(_watch(http, run, store, end / LINES))
                clients = (_client(http, run, n, shapes, end) for n in range(options.clients))
                await asyncio.gather(*clients)
                watching.cancel()
                began = time.monotonic()
                while left := await _waiting(http, run):
                    if time.monotonic() - began > DRAINING:
                        break
                    await asyncio.sleep(0.5)
                drained = time.monotonic() - began
                await store.close()
    return [
        *_rows(run, end),
        Row("waited for the queues at the end", drained, "s"),
        Row("tokens left in them then", left),
    ]


async def _client(
    http: aiohttp.ClientSession,
    run: LoadRun,
    number: int,
    shapes: Sequence[RecordedSession],
    end: float,
) -> None:
    draw, turn = Random(number), 0
    while True:
        session = shapes[(number + turn * CLIENTS) % len(shapes)]
        run.tenants[number] = f"client {number}, session {turn}"
        for request in session.requests:
            if run.now() > end:
                return
            await _post(http, run, request, run.tenants[number])
            await asyncio.sleep(draw.uniform(*PAUSES))
        turn += 1


async def _post(http: aiohttp.ClientSession, run: LoadRun, request: Request, tenant: str) -> None:
    headers = {
        "content-type": "application/json",
        **request.headers,
        "authorization": f"Bearer {tenant}",
        "x-memtree-key": tenant,
        "x-polychat-memory": "on",
    }
    began = time.perf_counter()
    try:
        async with http.post(run.url + request.path, data=request.body, headers=headers) as answer:
            await answer.read()
            if answer.status != 200:
                run.refused[str(answer.status)] += 1
            run.states[answer.headers.get("x-memtree-state", "none").split(":")[0]] += 1
    except aiohttp.ClientError as error:
        run.refused[type(error).__name__] += 1
    run.done.append(Done(run.now(), time.perf_counter() - began))


async def _watch(http: aiohttp.ClientSession, run: LoadRun, store: Store, every: float) -> None:
    """`every`: seconds between two lines."""
    while True:
        for name, pid in _processes():
            run.sizes[name].append((run.now(), memory_of(pid, "VmRSS")))
            run.descriptors[name] = _descriptors(pid)
        if run.now() >= every * len(run.stored):
            run.stored.append((await store.stats()).bytes / 1e6)
            print(_line(run), flush=True)
        run.lag.append(await _waiting(http, run))
        await asyncio.sleep(SAMPLE)


def _line(run: LoadRun) -> str:
    parts = [
        f"{name} {sizes[-1][1]:.0f} MiB {run.descriptors[name]} fd"
        for name, sizes in run.sizes.items()
    ]
    return f"{run.now() / 60:5.1f} min: {', '.join(parts)}, store {run.stored[-1]:.1f} MB"


def _descriptors(pid: int) -> int:
    """Open descriptors; 0 where the process has ended."""
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return 0


async def _waiting(http: aiohttp.ClientSession, run: LoadRun) -> int:
    """Tokens of the sessions that go on now."""
    return sum([await _pending(http, run, one) for one in list(run.tenants.values())])


async def _pending(http: aiohttp.ClientSession, run: LoadRun, tenant: str) -> int:
    headers = {"authorization": f"Bearer {tenant}", "x-memtree-key": tenant}
    async with http.get(f"{run.url}/context_memory/status", headers=headers) as answer:
        return int((await answer.json()).get("pending_tokens", 0))


def _processes() -> Iterator[tuple[str, int]]:
    """Proxies and workers, in the order of their start."""
    seen = Counter[str]()
    for pid in sorted(descendants(os.getpid())):
        try:
            command = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        for kind in ("serve", "worker"):
            if b"memtree_proxy.cli" in command and kind.encode() in command:
                seen[kind] += 1
                yield f"{kind} {seen[kind]}", pid


def _rows(run: LoadRun, end: float) -> Iterator[Row]:
    yield Row("requests", len(run.done))
    yield Row("requests a second", len(run.done) / end, "1/s")
    for third in range(3):
        part = [d.took for d in run.done if third <= 3 * d.at / end < third + 1]
        for share in (50, 99):
            if part:
                value = float(np.percentile(part, share)) * 1000
                yield Row(f"third {third + 1}: p{share}", value, "ms")
    for state, count in sorted(run.states.items()):
        yield Row(f"state {state}", count)
    yield Row("refused", run.refused.total(), goal=0, at_most=True)
    for reason, count in run.refused.items():
        print(f"refused: {reason} {count}", file=sys.stderr)
    for name, sizes in run.sizes.items():
        late = [(at, size) for at, size in sizes if at > end / 3] or sizes
        yield Row(f"{name}: resident at the end", sizes[-1][1], "MiB")
        yield Row(f"{name}: descriptors at the end", run.descriptors[name])
        if len(late) > 2:
            slope = np.polyfit([at / 3600 for at, _ in late], [size for _, size in late], 1)[0]
            yield Row(f"{name}: growth in the last two thirds", float(slope), "MiB/hour")
    if run.stored:
        yield Row("store at the end", run.stored[-1], "MB")
    if run.lag:
        yield Row("tokens that wait, median", float(np.median(run.lag)))
        yield Row("tokens that wait, most", max(run.lag))
