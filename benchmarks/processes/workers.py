"""Work in processes of its own: rates with no, one and two workers, a worker's death, and what
handing on costs a proxy's event loop.

A real proxy, real workers and a real Redis on this machine; several conversations, since one
conversation is done by one worker at a time. Rates are to be compared within one run alone.
"""

from __future__ import annotations

import asyncio
import signal
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from benchmarks import synthetic
from benchmarks.report import Row
from benchmarks.subject import Bench
from memtree.history.chat_history import History, read
from memtree.history.message import Volatile
from memtree.jobs.runtime import SystemClock
from memtree.stores import RamStore
from memtree.tree.node import LeafWork
from memtree_indexer.outbox import Outbox
from memtree_indexer.redis_connection import RedisConnection
from memtree_indexer.redis_queues import RedisQueue
from tests.made.embeddings import serving
from tests.made.summaries import Summaries
from tests.made.summaries import serving as serving_summaries
from tests.made.trees import places
from tests.programs.redis_server import redis_server
from tests.programs.server import Server
from tests.properties.strategies import batch, leaves_of
from tests.redis.processes import Held, Rig

LATENCY = 2.0  # seconds of a summariser's answer
CHATS, EMBEDDED, SUMMARISED = 8, 8_000, 24_000  # conversations, and tokens of each
LONG = 1_000_000


async def run(_: Bench) -> tuple[list[Row], list[str]]:
    rows = []
    for workers in (0, 1, 2):
        rows.append(await _embedding(workers))
    for workers in (0, 1, 2):
        rows.append(await _summarising(workers))
    return [*rows, await _death(), *await _handing_on()], []


@asynccontextmanager
async def rigged(**more: str) -> AsyncIterator[tuple[Rig, Held]]:
    with tempfile.TemporaryDirectory(prefix="memtree-bench-") as folder, redis_server() as redis:
        async with serving(Held()) as endpoint:
            assert isinstance(endpoint, Held)
            rig = Rig(Path(folder), redis, endpoint, **more)
            try:
                yield rig, endpoint
            finally:
                endpoint.gate.set()
                await asyncio.to_thread(rig.close)


async def _embedding(workers: int) -> Row:
    """With the local model, which takes what the processors have."""
    async with rigged(MEMTREE_EMBEDDER="local") as (rig, _):
        rate = await _rate(rig, workers, EMBEDDED)
    return Row(f"embedding, {_named(workers)}", rate, "tokens/min")


async def _summarising(workers: int) -> Row:
    async with serving_summaries(Summaries(latency=LATENCY)) as model:
        more = {
            "MEMTREE_EMBEDDER": "none",
            "MEMTREE_SUMMARY_BASE_URL": model.url,
            "MEMTREE_SUMMARY_MODEL": "m",
        }
        async with rigged(**more) as (rig, _):
            rate = await _rate(rig, workers, SUMMARISED)
    return Row(f"summaries at {LATENCY:g} s a call, {_named(workers)}", rate, "tokens/min")


async def _rate(rig: Rig, workers: int, size: int) -> float:
    if not workers:
        rig.variables["MEMTREE_QUEUE"] = "inprocess"
    server = await rig.serve()
    for _ in range(workers):
        rig.worker()
    await _living(rig, workers)
    started, tokens = time.monotonic(), 0
    for n in range(CHATS):
        tokens += await _post(server, f"k{n}", size, n)
    for n in range(CHATS):
        await asyncio.to_thread(server.settle, _key(f"k{n}"), 600.0)
    return tokens / (time.monotonic() - started) * 60


async def _death() -> Row:
    """From a worker's SIGKILL to the end of its job, with another one idle."""
    async with rigged() as (rig, endpoint):
        server = await rig.serve()
        first = rig.worker()
        await _living(rig, 1)
        endpoint.gate.clear()
        endpoint.arrived.clear()
        await _post(server, "a", SUMMARISED, 1)
        await endpoint.arrived.wait()
        rig.worker()
        await _living(rig, 2)
        first.send_signal(signal.SIGKILL)
        started = time.monotonic()
        endpoint.gate.set()
        await asyncio.to_thread(server.settle, _key("a"), 120.0)
        return Row(
            "a worker's death to its job's end", time.monotonic() - started, "s", 30, at_most=True
        )


async def _handing_on() -> list[Row]:
    """A turn of a long history: all its work at once (a cold one), and that of its last turn."""
    messages = [message for pair in synthetic.chat(3, LONG) for message in pair]
    history = await asyncio.to_thread(read, "bench", messages, Volatile())
    grown = batch(history)
    leaves = leaves_of(grown.frontier, {node.id: node for node in grown.nodes})
    spots = places(leaves)
    work = [LeafWork(leaf, spot.first) for leaf, spot in zip(leaves, spots, strict=True)]
    rows = [Row("handing on: history", history.tokens, "tokens")]
    with redis_server() as redis:
        link = RedisConnection(redis.url())
        outbox = Outbox(redis.url(), link, SystemClock(), parts=4)
        queue = RedisQueue(outbox, link, RamStore(), None)
        outbox.start()
        for name, part in (("all of it", work), ("its last leaf", work[-1:])):
            rows += await _handed(name, queue, outbox, history, part)
        await outbox.close()
        await link.close()
    return rows


async def _handed(
    name: str, queue: RedisQueue, outbox: Outbox, history: History, work: list[LeafWork]
) -> list[Row]:
    """Best of five: other processes take the processor, too."""
    submits, worsts, sent = [], [], []
    for _ in range(5):
        pulse = asyncio.create_task(_pulse())
        await asyncio.sleep(0.02)
        started = time.perf_counter()
        queue.submit(history, history.addresses[work[0].first + 1], work)
        submits.append(time.perf_counter() - started)
        await outbox.sent()
        sent.append(time.perf_counter() - started)
        pulse.cancel()
        worsts.append((await asyncio.gather(pulse))[0])
    return [
        Row(f"{name}: submit", min(submits) * 1e3, "ms", 5, at_most=True),
        Row(f"{name}: until it is in Redis", min(sent) * 1e3, "ms"),
        Row(f"{name}: longest stop of the event loop", min(worsts) * 1e3, "ms", 25, at_most=True),
    ]


async def _pulse() -> float:
    """The longest that the loop stood still until this is cancelled, in seconds."""
    worst, before = 0.0, time.perf_counter()
    try:
        while True:
            await asyncio.sleep(0.001)
            now = time.perf_counter()
            worst, before = max(worst, now - before - 0.001), now
    except asyncio.CancelledError:
        return worst


async def _post(server: Server, name: str, size: int, seed: int) -> int:
    messages = [message.fields for pair in synthetic.chat(seed, size) for message in pair]
    body = {"messages": messages, "index_only": True}
    answer = await asyncio.to_thread(lambda: server.post("/context_memory", body, **_key(name)))
    return int(answer.json()["memory"]["indexed_tokens"])


async def _living(rig: Rig, count: int) -> None:
    with rig.redis.client() as client:
        while int(client.zcard("memtree:workers")) < count:  # noqa: ASYNC110  they are processes
            await asyncio.sleep(0.05)


def _key(name: str) -> dict[str, str]:
    return {"authorization": f"Bearer {name}"}


def _named(workers: int) -> str:
    return {0: "in process", 1: "1 worker"}.get(workers, f"{workers} workers")
