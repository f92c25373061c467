"""The whole topology under load: requests a second through one and two proxies, and how long a
request takes while conversations of others are being indexed, beside an idle hour.

Proxies, workers, balancer, Redis and PostgreSQL are real processes on this machine, and so are the
clients: figures of one run are to be compared with each other alone. The models answer at once,
from a thread of the clients' process; with the local embedder the workers take every processor.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import numpy as np

from benchmarks.report import Row
from benchmarks.subject import Bench
from deploy.topology import Shape, topology
from tests.programs.sessions import coding
from tests.topology.models import serving

HISTORY = 20_000  # tokens of the conversation that asks
AT_ONCE, ASKED = 8, 400  # clients, and their requests
PROBES = 4  # clients beside the indexing: a few people
CHATS, SIZE = 20, 30_000  # conversations that are indexed meanwhile, and tokens of each
FEWEST = 100  # requests without which a percentile tells nothing


@dataclass(frozen=True, slots=True)
class Place:
    url: str
    key: str

    @property
    def headers(self) -> dict[str, str]:
        return {
            "authorization": f"Bearer {self.key}",
            "x-polychat-memory": "on",
            "content-type": "application/json",
        }


async def run(_: Bench) -> tuple[list[Row], list[str]]:
    rates = {count: await _rate(count) for count in (1, 2)}
    rows = [Row(f"chats, {name}", rates[count], "1/s") for count, name in PROXIES.items()]
    rows.append(Row("two proxies to one", rates[2] / rates[1], "x"))
    return [*rows, *await _beside("remote"), *await _beside("local")], []


PROXIES = {1: "one proxy", 2: "two proxies"}


@contextmanager
def _running(proxies: int, embedder: str) -> Iterator[str]:
    """The balancer's URL."""
    with serving() as models, tempfile.TemporaryDirectory(prefix="memtree-bench-") as folder:
        settings = {k: v for k, v in models.settings.items() if "SUMMARY" not in k}
        settings["MEMTREE_EMBEDDER"] = embedder
        shape = Shape(proxies=proxies, upstream=models.upstream, settings=settings)
        with topology(Path(folder), shape) as parts:
            yield parts.url


async def _rate(proxies: int) -> float:
    with _running(proxies, "remote") as url:
        place = Place(url, "somebody")
        async with aiohttp.ClientSession() as client:
            await _settled(client, [place])
            started = time.perf_counter()
            await _ask(client, place, AT_ONCE, ASKED)
            return ASKED / (time.perf_counter() - started)


async def _beside(embedder: str) -> list[Row]:
    with _running(2, embedder) as url:
        place = Place(url, "somebody")
        others = [Place(url, f"other {n}") for n in range(CHATS)]
        bodies = [_body(SIZE, n) for n in range(CHATS)]  # before anything is timed
        async with aiohttp.ClientSession() as client:
            await _settled(client, [place])
            idle = await _ask(client, place, PROBES, ASKED)
            posts = [_index(client, *one) for one in zip(others, bodies, strict=True)]
            arriving = await _during(client, place, asyncio.gather(*posts))
            busy = await _during(client, place, asyncio.create_task(_idle(client, others)))
    assert len(busy) >= FEWEST, f"indexing was over after {len(busy)} requests"
    rows = [
        Row(f"{embedder} embedder, {CHATS} histories arrive at once: p50", _ms(arriving, 50), "ms")
    ]
    for share in (50, 99):
        quiet, loaded, name = _ms(idle, share), _ms(busy, share), f"p{share}"
        rows += [
            Row(f"{embedder} embedder, idle: {name}", quiet, "ms"),
            Row(f"{embedder} embedder, {CHATS} indexed: {name}", loaded, "ms"),
            Row(f"{embedder} embedder: {name} to idle", loaded / quiet, "x", 2, at_most=True),
        ]
    return rows


def _ms(seconds: list[float], share: int) -> float:
    return float(np.percentile(seconds, share)) * 1e3


async def _during(
    client: aiohttp.ClientSession, place: Place, what: asyncio.Future[Any]
) -> list[float]:
    """Seconds of chats until something else is done."""
    found: list[float] = []
    while not what.done():
        found += await _ask(client, place, PROBES, PROBES)
    await what
    return found


async def _settled(client: aiohttp.ClientSession, places: list[Place]) -> None:
    for place in places:
        await _index(client, place, _body(HISTORY, 1))
    await _idle(client, places)


def _body(size: int, seed: int) -> bytes:
    return json.dumps({"messages": coding(size, seed), "index_only": True}).encode()


async def _index(client: aiohttp.ClientSession, place: Place, body: bytes) -> None:
    url = f"{place.url}/v1/context_memory"
    async with client.post(url, data=body, headers=place.headers) as answer:
        answer.raise_for_status()


async def _idle(client: aiohttp.ClientSession, places: list[Place]) -> None:
    for place in places:
        url = f"{place.url}/v1/context_memory/status"
        while True:
            async with client.get(url, headers=place.headers) as answer:
                if not (await answer.json())["pending_tokens"]:
                    break
            await asyncio.sleep(0.1)


async def _ask(
    client: aiohttp.ClientSession, place: Place, clients: int, count: int
) -> list[float]:
    """Seconds of each of `count` chats with memory, by so many clients."""
    question = {"role": "user", "content": "Which limit did we set, and why?"}
    body = json.dumps({"model": "m", "messages": [*coding(HISTORY), question]})
    left, seconds = iter(range(count)), []

    async def asking() -> None:
        for _ in left:
            started = time.perf_counter()
            async with client.post(
                f"{place.url}/v1/chat/completions", data=body, headers=place.headers
            ) as answer:
                await answer.read()
                answer.raise_for_status()
            seconds.append(time.perf_counter() - started)

    await asyncio.gather(*(asking() for _ in range(clients)))
    return seconds
