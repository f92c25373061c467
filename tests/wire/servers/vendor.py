"""Shared parts of the fake servers of both APIs: they read a request, judge it by the rules of
their API, and answer it with the next step, or with a fault that was put in its way.

    server = MessagesServer(); server.steps.append(Say("hello")); server.steps.append(CutStream(3))

Without a step `reply` makes the answer. Each request is kept with its exact bytes; those that
break a rule get a 400 that names it, and are counted in `invalid`.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from memtree_proxy.http.headers import OWN_HEADERS
from tests.made.scripted import Say
from tests.wire.rule_break import Fields, RuleBreak

JSON = [(b"content-type", b"application/json")]
SSE = [(b"content-type", b"text/event-stream; charset=utf-8")]
CHARS_PER_TOKEN = 4
UNFINISHED = Say("What is said here is long enough for a few pieces.")


@dataclass(frozen=True, slots=True)
class HttpFault:
    """An error in place of an answer. `body`: exact bytes."""

    status: int
    body: bytes
    headers: tuple[tuple[bytes, bytes], ...] = ()


@dataclass(frozen=True, slots=True)
class StreamFault:
    """A stream that says `event` behind its first `pieces` pieces, and ends."""

    event: bytes
    pieces: int = 3
    said: Say = UNFINISHED


@dataclass(frozen=True, slots=True)
class CutStream:
    """An answer that breaks off behind its first `pieces` pieces: the connection closes."""

    pieces: int = 3
    said: Say = UNFINISHED


@dataclass(frozen=True, slots=True)
class Silence:
    """No answer until the other side hangs up; `pieces` of one before that."""

    pieces: int = 0


@dataclass(frozen=True, slots=True)
class Late:
    """An answer behind a pause of this many seconds, before its head or before its second piece."""

    seconds: float
    said: Say = UNFINISHED
    in_stream: bool = False


VendorStep = Say | HttpFault | StreamFault | CutStream | Silence | Late


@dataclass(slots=True)
class VendorRequest:
    """One request as it came in, what it breaks, and what was answered."""

    method: str
    path: str
    query: bytes
    headers: list[tuple[bytes, bytes]]
    raw: bytes = b""
    breaks: list[RuleBreak] = field(default_factory=list)
    status: int = 0
    answered: bytes = b""

    @property
    def body(self) -> Fields:
        return dict(json.loads(self.raw))

    def header(self, name: str) -> str | None:
        found = [value for key, value in self.headers if key.lower() == name.encode()]
        return found[0].decode("latin-1") if found else None


Reply = Callable[[Fields, int], Say]


def thoughtful(body: Fields, number: int) -> Say:
    return Say(f"answer {number}", reasoning=f"thought {number}")


class VendorServer:
    """An ASGI app. `fits`: tokens (a quarter of the bytes) that a prompt may have. `encode`:
    whether answers are sent compressed. `paths`: of what is judged and answered, ends of paths."""

    paths: tuple[str, ...] = ()

    def __init__(self, reply: Reply = thoughtful, *, encode: bool = False) -> None:
        self.gone = threading.Event()
        self.seen: list[VendorRequest] = []
        self.steps: deque[VendorStep] = deque()
        self.reset(reply, encode=encode)

    def reset(self, reply: Reply = thoughtful, *, encode: bool = False) -> None:
        """Make it as new, for the next test."""
        self.reply = reply
        self.encode = encode
        self.fits: int | None = None
        self.answers = 0
        self.steps.clear()
        self.seen.clear()
        self.gone.clear()

    @property
    def invalid(self) -> list[str]:
        """Return what was wrong with the requests that came, one line each."""
        return [
            f"request {number}: {one}"
            for number, request in enumerate(self.seen)
            for one in request.breaks
        ]

    @property
    def last(self) -> VendorRequest:
        return self.seen[-1]

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        seen = VendorRequest(
            scope["method"], scope["path"], scope["query_string"], list(scope["headers"])
        )
        more = True
        while more:
            message = await receive()
            seen.raw += message.get("body", b"")
            more = message.get("more_body", False)
        if seen.path != "/health":  # a test beside this one asks for its own server, which is gone
            self.seen.append(seen)
        if seen.method != "POST" or not seen.path.endswith(self.paths):
            await self.other(seen, send)
            return
        await self._judged(seen, receive, send)

    async def _judged(self, seen: VendorRequest, receive: Any, send: Any) -> None:
        body = _object(seen.raw)
        if body is None:
            seen.breaks = [RuleBreak("no-json", "body")]
        else:
            seen.breaks = [*self.judge(body, seen), *leaked(seen)]
        tokens = len(seen.raw) // CHARS_PER_TOKEN
        if body is None or seen.breaks:
            await self._refuse(seen, self.refusal(seen.breaks), send)
        elif self.fits is not None and tokens > self.fits:
            await self._refuse(seen, self.too_long(tokens, self.fits), send)
        else:
            step = self.steps.popleft() if self.steps else self.reply(body, self.answers)
            if isinstance(step, HttpFault):
                await self._refuse(seen, step, send)
                return
            self.answers += 1
            await self._play(step, body, seen, receive, send)

    async def _play(
        self, step: Any, body: Fields, seen: VendorRequest, receive: Any, send: Any
    ) -> None:
        if isinstance(step, Silence):
            if step.pieces:
                await self._send_pieces(self.pieces(Say("one"), body)[: step.pieces], seen, send)
            await self._watch(receive)
            return
        if isinstance(step, Late) and not step.in_stream:
            await asyncio.sleep(step.seconds)
        said = step if isinstance(step, Say) else step.said
        pieces = self.pieces(said, body)
        if isinstance(step, CutStream):
            await self._send_pieces(pieces[: step.pieces], seen, send)
            await asyncio.sleep(0.02)  # what was written leaves before the connection is closed
        elif isinstance(step, StreamFault):
            await self._send_pieces([*pieces[: step.pieces], step.event], seen, send)
            await send({"type": "http.response.body", "body": b""})
        elif isinstance(step, Late) and step.in_stream:
            await self._send_pieces(pieces[:1], seen, send)
            await asyncio.sleep(step.seconds)
            await self._send_pieces(pieces[1:], seen, send, head=False)
            await send({"type": "http.response.body", "body": b""})
        else:
            await self._whole(pieces, body, seen, send)

    async def _send_pieces(
        self, pieces: list[bytes], seen: VendorRequest, send: Any, *, head: bool = True
    ) -> None:
        if head:
            seen.status = 200
            begun = {"type": "http.response.start", "status": 200}
            await send({**begun, "headers": [*SSE, *self.own_headers(seen)]})
        for piece in pieces:
            seen.answered += piece
            await send({"type": "http.response.body", "body": piece, "more_body": True})

    async def _whole(
        self, pieces: list[bytes], body: Fields, seen: VendorRequest, send: Any
    ) -> None:
        headers = SSE if body.get("stream") else JSON
        answered = b"".join(pieces)
        if self.encode:
            pieces = [gzip.compress(answered, mtime=0)]
            headers = [*headers, (b"content-encoding", b"gzip")]
        seen.status, seen.answered = 200, b"".join(pieces)
        headers = [*headers, *self.own_headers(seen)]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        for piece in pieces:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    async def _refuse(self, seen: VendorRequest, fault: HttpFault, send: Any) -> None:
        seen.status, seen.answered = fault.status, fault.body
        headers = [*JSON, *self.own_headers(seen), *fault.headers]
        headers.append((b"content-length", str(len(fault.body)).encode()))
        begun = {"type": "http.response.start", "status": fault.status}
        await send({**begun, "headers": headers})
        await send({"type": "http.response.body", "body": fault.body})

    async def _watch(self, receive: Any) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self.gone.set()

    async def answer_json(self, seen: VendorRequest, value: object, send: Any) -> None:
        await self._refuse(seen, HttpFault(200, json.dumps(value).encode()), send)

    # ------------------------------------------------------------ of one API

    def judge(self, body: Fields, seen: VendorRequest) -> list[RuleBreak]:
        raise NotImplementedError

    def refusal(self, breaks: list[RuleBreak]) -> HttpFault:
        raise NotImplementedError

    def too_long(self, tokens: int, most: int) -> HttpFault:
        raise NotImplementedError

    def pieces(self, said: Say, body: Fields) -> list[bytes]:
        """The answer to this request: the events of its stream, or the one body."""
        raise NotImplementedError

    def own_headers(self, seen: VendorRequest) -> list[tuple[bytes, bytes]]:
        return []

    async def other(self, seen: VendorRequest, send: Any) -> None:
        """Another path."""
        await self._refuse(seen, HttpFault(404, b'{"error":{"message":"no such path"}}'), send)


def _object(raw: bytes) -> Fields | None:
    try:
        body = json.loads(raw)
    except ValueError:
        return None
    return body if isinstance(body, dict) else None


def leaked(seen: VendorRequest) -> list[RuleBreak]:
    """Headers that are ours alone."""
    own = OWN_HEADERS
    return [
        RuleBreak("own-header", name.decode())
        for name, _ in seen.headers
        if name.lower() in own or name.lower().startswith(b"x-memtree-")
    ]


def sse(event: str, data: Fields) -> bytes:
    words = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return f"event: {event}\ndata: {words}\n\n".encode()


def cut_up(words: str, size: int = 7) -> list[str]:
    return [words[at : at + size] for at in range(0, len(words), size)]
