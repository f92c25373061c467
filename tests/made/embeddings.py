"""An OpenAI-compatible embeddings endpoint on a real socket that answers by script.

Its vectors are bags of hashed words, so texts that share words are near. Every request is kept.
Steps are used up one a request; afterwards it answers well.
"""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import uvicorn

from tests.fakes import HashingEmbedder

Rows = list[list[float]]


@dataclass(frozen=True, slots=True)
class Status:
    """An error in place of an answer."""

    code: int
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Raw:
    """These very bytes, with status 200."""

    body: bytes
    kind: str = "application/json"
    packed: bool = False  # sent as gzip


@dataclass(frozen=True, slots=True)
class Silence:
    """Nothing, until the client goes away."""


@dataclass(frozen=True, slots=True)
class Half:
    """A good answer that breaks off in the middle."""


@dataclass(frozen=True, slots=True)
class Endless:
    """An answer that goes on until the client goes away, or has been given `most` bytes."""

    most: int = 64 << 20


Spoken = Status | Raw | Half | Callable[[Rows], dict[str, Any]]
Step = Spoken | Silence | Endless


@dataclass(frozen=True, slots=True)
class Asked:
    body: dict[str, Any]
    headers: dict[str, str]
    path: str

    @property
    def texts(self) -> list[str]:
        return list(self.body["input"])


class Embeddings:
    """The ASGI app. `most`: texts that it takes in a call; `longest`: characters of a text;
    `never`: a word in the texts that it refuses."""

    def __init__(self, width: int = 64) -> None:
        self.width = width
        self.steps: list[Step] = []
        self.always: Step | None = None
        self.asked: list[Asked] = []
        self.most, self.longest = 10_000, 10**9
        self.never: str | None = None
        self.key: str | None = None
        self.url = ""
        self.open, self.peak = 0, 0
        self.flood = 0  # bytes that an endless answer had when it ended

    @property
    def texts(self) -> list[str]:
        return [text for one in self.asked for text in one.texts]

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        raw, more = b"", True
        while more:
            message = await receive()
            raw, more = raw + message.get("body", b""), message.get("more_body", False)
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        asked = Asked(json.loads(raw), headers, scope["path"])
        self.asked.append(asked)
        self.open += 1
        self.peak = max(self.peak, self.open)
        try:
            step = self.steps.pop(0) if self.steps else self.always
            if isinstance(step, Silence):
                while (await receive())["type"] != "http.disconnect":
                    pass
                return
            if isinstance(step, Endless):
                self.flood = await _flood(receive, send, step.most)
                return
            await asyncio.sleep(0)  # so that calls of one moment meet
            await send_answer(send, *self._answer(asked, step))
        finally:
            self.open -= 1

    def _answer(self, asked: Asked, step: Spoken | None) -> tuple[int, dict[str, str], bytes]:
        kind = {"content-type": "application/json"}
        if self.key and asked.headers.get("authorization") != f"Bearer {self.key}":
            step = Status(401)
        elif len(asked.texts) > self.most:
            step = Status(422)
        elif max(len(text) for text in asked.texts) > self.longest:
            step = Status(413)
        elif self.never and any(self.never in text for text in asked.texts):
            step = Status(400)
        if isinstance(step, Status):
            # As unkind servers do: the text and the key come back in the error.
            said = {"error": {"message": f"bad: {asked.texts} {asked.headers}"}}
            return step.code, kind | step.headers, json.dumps(said).encode()
        if isinstance(step, Raw) and step.packed:
            headers = {"content-type": step.kind, "content-encoding": "gzip"}
            return 200, headers, gzip.compress(step.body)
        if isinstance(step, Raw):
            return 200, {"content-type": step.kind}, step.body
        rows = [self.row(text) for text in asked.texts]
        if isinstance(step, Half):
            whole = json.dumps(in_order(rows)).encode()
            return 200, kind | {"content-length": str(len(whole))}, whole[: len(whole) // 2]
        return 200, kind, json.dumps((step or in_order)(rows)).encode()

    def row(self, text: str) -> list[float]:
        hashing = HashingEmbedder()
        hashing.dimensions = self.width
        return [3.0 * float(number) for number in hashing.row(text)]


def in_order(rows: Rows) -> dict[str, Any]:
    data = [
        {"object": "embedding", "index": index, "embedding": row} for index, row in enumerate(rows)
    ]
    return {"object": "list", "data": data, "model": "m", "usage": {"prompt_tokens": 1}}


def in_base64(rows: Rows) -> dict[str, Any]:
    packed = [base64.b64encode(np.array(row, "<f4").tobytes()).decode() for row in rows]
    return in_order(packed)  # type: ignore[arg-type]


@asynccontextmanager
async def serving(app: Embeddings, port: int = 0) -> AsyncIterator[Embeddings]:
    """The endpoint on a port, 0: of its own; `app.url` leads there."""
    # With the protocol named, or asyncio lets Nagle's algorithm delay each answer by 40 ms.
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind(("127.0.0.1", port))
    app.url = f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
    config = uvicorn.Config(app, log_level="critical", lifespan="off", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    task = asyncio.create_task(server.serve(sockets=[listening]))
    while not server.started:  # noqa: ASYNC110  uvicorn has no event for it
        await asyncio.sleep(0.005)
    try:
        yield app
    finally:
        server.should_exit = True
        await task
        listening.close()


async def send_answer(send: Any, status: int, headers: dict[str, str], body: bytes) -> None:
    pairs = [(name.encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": body})


async def _flood(receive: Any, send: Any, most: int) -> int:
    gone = asyncio.create_task(_gone(receive))
    await send({"type": "http.response.start", "status": 200, "headers": []})
    sent = 0
    while sent < most and not gone.done():
        await send({"type": "http.response.body", "body": b" " * 65_536, "more_body": True})
        sent += 65_536
    gone.cancel()
    return sent


async def _gone(receive: Any) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
