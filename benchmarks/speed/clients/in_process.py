"""The app in this process, called as a server calls it: no client and no socket before it."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from benchmarks.speed.clients import apps
from memtree.config import Settings
from memtree.jobs.runtime import Runtime, open_runtime
from memtree_proxy.server.app import create_app
from memtree_proxy.server.serve import open_services
from tests.http.served.running import running

PIECE = 65_536  # bytes of a body that uvicorn hands on at once


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: dict[str, str]


@dataclass(frozen=True, slots=True)
class InProcess:
    app: Any
    runtime: Runtime

    async def post(
        self, path: str, body: bytes, headers: Mapping[str, str], method: str = "POST"
    ) -> Answer:
        pieces = [body[at : at + PIECE] for at in range(0, len(body), PIECE)] or [b""]
        coming = iter(range(len(pieces)))
        said: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            index = next(coming, None)
            if index is None:
                await asyncio.Event().wait()
            assert index is not None
            more = index < len(pieces) - 1
            return {"type": "http.request", "body": pieces[index], "more_body": more}

        async def send(message: dict[str, Any]) -> None:
            said.append(message)

        await self.app(_scope(method, path, body, headers), receive, send)
        fields = {name.decode(): value.decode() for name, value in said[0]["headers"]}
        return Answer(said[0]["status"], fields)


def _scope(method: str, target: str, body: bytes, headers: Mapping[str, str]) -> dict[str, Any]:
    path, _, query = target.partition("?")
    fields = {"host": "127.0.0.1", "content-length": str(len(body)), **headers}
    return {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "scheme": "http",
        "http_version": "1.1",
        "server": ("127.0.0.1", 80),
        "client": ("127.0.0.1", 9),
        "headers": [(name.encode(), value.encode()) for name, value in fields.items()],
    }


@asynccontextmanager
async def in_process(**given: Any) -> AsyncIterator[InProcess]:
    """`given`: settings. Its upstream runs in a thread of its own."""
    with running(apps.instant) as address, tempfile.TemporaryDirectory() as home:
        named = {"store": f"sqlite:///{home}/speed.db", "embedder": "none", **given}
        settings = Settings(upstream=f"{address}/v1", anthropic_upstream=f"{address}/v1", **named)
        async with (
            open_runtime(settings) as runtime,
            open_services(settings, runtime) as services,
        ):
            yield InProcess(create_app(services), runtime)
