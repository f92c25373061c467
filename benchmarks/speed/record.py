"""Record which bytes go upstream, request by request, to be compared between two trees.

    python -m benchmarks.speed record --out before.txt [--embedder local] [--part NAME]
    python -m benchmarks.speed record --against before.txt [--part NAME]

The real app in process, its clock standing still within a session and moving on by half a minute
a request, all indexing done before the next request. A line for each request: session, mode,
request, status, sha256 of what went upstream, sha256 of what came back, headers of ours.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys
import tempfile
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any

import httpx

from benchmarks.data import Data
from benchmarks.speed.clients import sessions
from benchmarks.speed.clients.sessions import RecordedSession, Request
from memtree.config import MODES, Settings
from memtree.jobs import runtime as runtime_file
from memtree.jobs.runtime import Runtime, open_runtime
from memtree_proxy.server.app import create_app
from memtree_proxy.server.serve import open_services
from tests.http.served.running import running

TARGET = 6_000
BEGINNING = 1_750_000_000.0
STEP, PAUSE, PAUSES = 30.0, 900.0, 17  # seconds between requests, and now and then a longer pause
# Of a process, of a request, or of the time that something took
NOT_RECORDED = {"x-memtree-request-id", "x-memtree-ms"}
PARTS = ("generated", "odd", "tools", "data")


class StandingClock(runtime_file.SystemClock):
    """The time of day moves where it is told to; what measures time goes on."""

    seconds = BEGINNING

    def now(self) -> float:
        return StandingClock.seconds


class Recorder:
    """An upstream that answers at once and keeps what it got."""

    def __init__(self) -> None:
        self.seen: list[bytes] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        body, more = [scope["path"].encode(), b"\n"], True
        while more:
            message = await receive()
            body.append(message.get("body", b""))
            more = message.get("more_body", False)
        self.seen.append(b"".join(body))
        answer = b'{"id": "x", "content": [], "output": [], "choices": []}'
        headers = [(b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": answer})


def parsed(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", type=Path, help="write there instead of to the screen")
    parser.add_argument("--against", type=Path, help="a record: tell what differs from it")
    parser.add_argument("--embedder", default="none", choices=("none", "local"))
    parser.add_argument("--part", choices=PARTS, action="append", help="only this")
    parser.add_argument("--mode", choices=MODES, action="append", help="only this")


def run(options: argparse.Namespace, data: Data | None) -> int:
    logging.getLogger("memtree").setLevel(logging.ERROR)  # a line for each request
    runtime_file.SystemClock = StandingClock  # type: ignore[misc]
    found = _sessions(options.part or PARTS, data)
    lines = asyncio.run(_recorded(list(found), options.mode or MODES, options.embedder))
    text = "".join(f"{line}\n" for line in lines)
    if options.against:
        return _compared(options.against.read_text("utf-8").splitlines(), lines)
    if options.out:
        options.out.write_text(text, "utf-8")
        print(f"{len(lines)} requests, sha256 {sha256(text.encode()).hexdigest()}")
    else:
        sys.stdout.write(text)
    return 0


def _compared(before: Iterable[str], lines: list[str]) -> int:
    """Lines are named by their first three fields; what only one of them has is passed over."""
    known = {tuple(line.split(" | ")[:3]): line for line in before}
    pairs = [(known.get(tuple(line.split(" | ")[:3])), line) for line in lines]
    differing = [(old, new) for old, new in pairs if old is not None and old != new]
    for old, new in differing[:20]:
        print(f"before: {old}\nnow:    {new}")
    compared = sum(old is not None for old, _ in pairs)
    print(f"{compared} requests compared, {len(differing)} differ")
    return 1 if differing or not compared else 0


def _sessions(parts: Iterable[str], data: Data | None) -> Iterator[RecordedSession]:
    known = {
        "generated": sessions.generated,
        "odd": sessions.odd,
        "tools": sessions.tools_offered,
        "data": lambda: sessions.of_data(data) if data else iter(()),
    }
    return chain.from_iterable(known[part]() for part in parts)


async def _recorded(found: list[RecordedSession], modes: Iterable[str], embedder: str) -> list[str]:
    lines = []
    async with _app(embedder) as (http, runtime, upstream):
        for mode in modes:
            for session in found:
                StandingClock.seconds = BEGINNING
                for number, request in enumerate(session.requests):
                    line = await _line(http, upstream, session, mode, request)
                    lines.append(line)
                    await runtime.settle()
                    StandingClock.seconds += STEP if number % PAUSES else PAUSE
                print(mode, session.name, len(session.requests), file=sys.stderr)
    return lines


async def _line(
    http: httpx.AsyncClient,
    upstream: Recorder,
    session: RecordedSession,
    mode: str,
    request: Request,
) -> str:
    upstream.seen.clear()
    headers = {
        "content-type": "application/json",
        "authorization": f"Bearer {session.name} {mode}",
        "x-memtree-key": f"{session.name} {mode}",
        "x-polychat-memory": "on",
        "x-memtree-mode": mode,
        **request.headers,
    }
    answer = await http.post(request.path, content=request.body, headers=headers)
    sent = b"\n".join(upstream.seen)
    own = sorted(
        f"{name}={value}"
        for name, value in answer.headers.items()
        if name.startswith(("x-memtree-", "x-polychat-")) and name not in NOT_RECORDED
    )
    named = [
        session.name,
        mode,
        request.name,
        str(answer.status_code),
        f"{len(upstream.seen)} sent",
    ]
    back = "" if request.index_only else sha256(answer.content).hexdigest()[:16]
    return " | ".join([*named, sha256(sent).hexdigest(), back, *own])


@asynccontextmanager
async def _app(embedder: str) -> AsyncIterator[tuple[httpx.AsyncClient, Runtime, Recorder]]:
    upstream = Recorder()
    with running(upstream) as address, tempfile.TemporaryDirectory(prefix="memtree-bench-") as home:
        settings = Settings(
            store=f"sqlite:///{home}/record.db",
            embedder=embedder,
            upstream=f"{address}/v1",
            anthropic_upstream=f"{address}/v1",
            target_tokens=TARGET,
            window=("*=2000000",),
        )
        async with (
            open_runtime(settings) as runtime,
            open_services(settings, runtime) as services,
        ):
            transport: Any = httpx.ASGITransport(create_app(services))
            client = httpx.AsyncClient(transport=transport, base_url="http://app", timeout=600)
            async with client as http:
                yield http, runtime, upstream
