"""How long a request takes in each dialect, side by side: the next turn of a history of a million
tokens with memory, and what the server adds to a small request where memory is off.

One real server process and one upstream that answers at once and reads nothing. The same made-up
conversation is posted in all three dialects, by turns, so that a busy machine slows all of them.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import httpx

from benchmarks.processes.server import free_port, ready
from benchmarks.report import Row
from benchmarks.subject import Bench
from tests.http.served.running import running
from tests.wire.conversations import Exchange, as_chat, as_messages, as_responses, conversation

TURNS, SMALL_TURNS = 1_250, 20
WARM, SMALL = 9, 300
WARM_GOAL, SMALL_GOAL = 1.3, 1.1
TARGET = 20_000
PATHS = {
    "chat": "/v1/chat/completions",
    "messages": "/v1/messages",
    "responses": "/v1/responses",
}
ANSWER = b'{"id": "x", "content": [], "output": [], "choices": []}'


async def instant(scope: Any, receive: Any, send: Any) -> None:
    """An upstream that takes the request and says next to nothing."""
    if scope["type"] != "http":
        return
    while (await receive()).get("more_body"):
        pass
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": ANSWER})


async def run(bench: Bench) -> tuple[list[Row], list[str]]:
    talk = conversation(1, TURNS, 60)
    problems: list[str] = []
    with running(instant) as upstream:
        async with _server(upstream) as http:
            warm = await _warm(http, talk, problems)
            small = await _small(http, upstream, problems)
    rows = [Row("tokens of the history, about", len(json.dumps(as_chat(talk))) // 4)]
    rows += _beside("warm turn", warm, warm["chat"], WARM_GOAL)
    rows += _beside("added with memory off", small, small["chat"], SMALL_GOAL)
    rows.append(Row("problems", len(problems), goal=0, at_most=True))
    return rows, problems


def _beside(what: str, times: Mapping[str, float], chat: float, goal: float) -> list[Row]:
    rows = [Row(f"{what}, {name}", took, "ms") for name, took in times.items()]
    return rows + [
        Row(f"{what}, {name} of chat", round(took / chat, 2), "x", goal, True)
        for name, took in times.items()
        if name != "chat"
    ]


async def _warm(
    http: httpx.AsyncClient, talk: tuple[Exchange, ...], problems: list[str]
) -> dict[str, float]:
    """Median milliseconds of a turn behind the turn before it."""
    headers = {"x-polychat-memory": "on", "x-memtree-mode": "stable"}
    headers["x-memtree-recall-tools"] = "off"
    times: dict[str, list[float]] = {name: [] for name in PATHS}
    lengths = [len(talk) - 2 - 2 * (WARM - turn) for turn in range(WARM + 1)]
    for number, length in enumerate(lengths):
        asked = replace(talk[length], steps=())  # the next turn has its answer, and goes on
        for name, body in bodies((*talk[:length], asked)).items():
            if number == 0:
                await _learn(http, name, body, headers)
                continue
            started = time.perf_counter()
            answer = await _post(http, name, body, headers)
            times[name].append((time.perf_counter() - started) * 1000)
            if answer.headers.get("x-memtree-state") != "packed":
                problems.append(f"{name}: {answer.status_code} {answer.headers}")
    return {name: statistics.median(took) for name, took in times.items()}


async def _learn(http: httpx.AsyncClient, name: str, body: bytes, headers: dict[str, str]) -> None:
    """Until the whole history is known and folded."""
    for _ in range(60):
        answer = await _post(http, name, body, headers)
        if answer.headers.get("x-memtree-state") == "packed":
            return
        await asyncio.sleep(1)
    raise SystemExit(f"benchmarks: {name} is not folded: {answer.headers}")


async def _small(http: httpx.AsyncClient, upstream: str, problems: list[str]) -> dict[str, float]:
    """Median milliseconds more than without the server between."""
    posted = bodies(conversation(2, SMALL_TURNS, 60))
    times: dict[str, list[float]] = {name: [] for name in PATHS}
    for _ in range(SMALL):
        for name, body in posted.items():
            took = []
            for base in ("", upstream):
                started = time.perf_counter()
                answer = await _post(http, name, body, {}, base)
                took.append((time.perf_counter() - started) * 1000)
                if answer.status_code != 200:
                    problems.append(f"{name}: {answer.status_code}")
            times[name].append(took[0] - took[1])
    return {name: statistics.median(took) for name, took in times.items()}


def bodies(talk: tuple[Exchange, ...]) -> dict[str, bytes]:
    """Build the conversation's body in each dialect."""
    written = {
        "chat": {"model": "m", "messages": as_chat(talk)},
        "messages": {"model": "m", "max_tokens": 9, **as_messages(talk)},
        "responses": {"model": "m", **as_responses(talk)},
    }
    return {name: json.dumps(body).encode() for name, body in written.items()}


async def _post(
    http: httpx.AsyncClient, name: str, body: bytes, headers: dict[str, str], base: str = ""
) -> httpx.Response:
    own = {
        "content-type": "application/json",
        "authorization": f"Bearer {name}",
        "anthropic-version": "2023-06-01",
        **headers,
    }
    return await http.post(base + PATHS[name], content=body, headers=own)


@asynccontextmanager
async def _server(upstream: str) -> AsyncIterator[httpx.AsyncClient]:
    with tempfile.TemporaryDirectory(prefix="memtree-bench-") as folder:
        port = free_port()
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "memtree_proxy.cli", "serve", "--port", str(port)),
            *("--upstream", f"{upstream}/v1", "--anthropic-upstream", f"{upstream}/v1"),
            *("--store", f"sqlite:///{folder}/speed.db", "--log-level", "warning"),
            *("--embedder", "none", "--target-tokens", str(TARGET)),
        )
        try:
            url = f"http://127.0.0.1:{port}"
            async with httpx.AsyncClient(base_url=url, timeout=300, trust_env=False) as http:
                await ready(http, process)
                yield http
        finally:
            if process.returncode is None:
                process.terminate()
            await process.wait()
