"""A small OpenAI-compatible upstream for tests: records exact bytes, answers by its `mode`.

It is a bare ASGI app, so that nothing between the socket and the record touches a byte.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import threading
import zlib
from dataclasses import dataclass, field
from typing import Any

from tests import spoken_model

PLAIN: dict[str, Any] = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "model": "fake",
    "choices": [{"index": 0, "finish_reason": "stop",
                 "message": {"role": "assistant", "content": "pong"}}],
    "usage": {"prompt_tokens": 7, "completion_tokens": 1, "total_tokens": 8},
}  # fmt: skip
PLAIN_BYTES = json.dumps(PLAIN).encode()
GZIP_BYTES = gzip.compress(PLAIN_BYTES, mtime=0)
JSON = [(b"content-type", b"application/json")]
SSE = [(b"content-type", b"text/event-stream")]


def event(text: str) -> bytes:
    delta = {"index": 0, "delta": {"content": text}, "finish_reason": None}
    chunk = {"id": "1", "object": "chat.completion.chunk", "model": "fake", "choices": [delta]}
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


@dataclass
class Seen:
    """One request as it came in. `reached`: it has been read; `gone`: its client hung up."""

    method: str
    path: bytes
    query: bytes
    headers: list[tuple[bytes, bytes]]
    body: bytes = b""
    reached: threading.Event = field(default_factory=threading.Event, repr=False)
    gone: threading.Event = field(default_factory=threading.Event, repr=False)

    def header(self, name: str) -> list[str]:
        return [value.decode() for key, value in self.headers if key.lower() == name.encode()]


class FakeUpstream:
    """`mode`: json, sse, slow-sse, gzip, gzip-sse, error, hang, cut, cut-length, echo, headers,
    bytes, not-modified, early, narrow, narrow-sse, script, spoken.

    `narrow` refuses bodies over `fits` bytes with `status` and `refusal`; `narrow-sse` says so in
    the first event of a stream with status 200. `spoken` fills schemas, and refuses bodies with the
    field `refuses`."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.mode = "json"
        self.status = 500
        self.answer_status, self.answer_body = 200, b""
        self.answer_headers: list[tuple[bytes, bytes]] = []
        self.fits = 0
        self.refusal = b""
        self.refuses = ""
        self.script: list[Any] = []
        self.encoded = b""
        self.seen: list[Seen] = []
        self.reached = threading.Event()
        self.gone = threading.Event()

    @property
    def last(self) -> Seen:
        return self.seen[-1]

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        seen = Seen(
            scope["method"], scope["raw_path"], scope["query_string"], list(scope["headers"])
        )
        # The next test's upstream has others: a client of this one may hang up as late as that.
        seen.reached, seen.gone = self.reached, self.gone
        self.seen.append(seen)
        if self.mode == "early":
            await reply(send, 413, JSON, b'{"error":"early"}')
            return
        while True:
            message = await receive()
            seen.body += message.get("body", b"")
            if not message.get("more_body"):
                break
        seen.reached.set()
        await getattr(self, "_" + self.mode.replace("-", "_"))(seen, receive, send)

    async def _json(self, seen: Seen, receive: Any, send: Any) -> None:
        await reply(send, 200, JSON, PLAIN_BYTES)

    async def _headers(self, seen: Seen, receive: Any, send: Any) -> None:
        await reply(send, 200, JSON + self.answer_headers, PLAIN_BYTES)

    async def _bytes(self, seen: Seen, receive: Any, send: Any) -> None:
        await reply(send, self.answer_status, self.answer_headers, self.answer_body)

    async def _echo(self, seen: Seen, receive: Any, send: Any) -> None:
        await reply(send, 200, [(b"content-type", b"application/octet-stream")], seen.body)

    async def _gzip(self, seen: Seen, receive: Any, send: Any) -> None:
        await reply(send, 200, [*JSON, (b"content-encoding", b"gzip")], GZIP_BYTES)

    async def _gzip_sse(self, seen: Seen, receive: Any, send: Any) -> None:
        """Each event is flushed, as a real server does."""
        packer = zlib.compressobj(wbits=31)
        pieces = [packer.compress(event(word)) + packer.flush(zlib.Z_SYNC_FLUSH) for word in "abc"]
        pieces.append(packer.compress(b"data: [DONE]\n\n") + packer.flush())
        self.encoded = b"".join(pieces)
        await start(send, [*SSE, (b"content-encoding", b"gzip")])
        for one in pieces:
            await piece(send, one)
        await send({"type": "http.response.body"})

    async def _error(self, seen: Seen, receive: Any, send: Any) -> None:
        body = b'{"error": {"message":"upstream says no",  "code":"x"}}'
        await reply(send, self.status, [*JSON, (b"retry-after", b"7")], body)

    async def _script(self, seen: Seen, receive: Any, send: Any) -> None:
        """The pieces of `script` one by one: bytes, a number of seconds to be silent, `cut` or
        `hang` as the end. Before the first bytes the head goes out."""
        begun = False
        for step in self.script:
            if step == "hang":
                await self._watch(seen, receive)
                return
            if step == "cut":
                return
            if isinstance(step, float):
                await asyncio.sleep(step)
                continue
            if not begun:
                await start(send, [*SSE, *self.answer_headers], 200)
                begun = True
            await piece(send, step)
        await send({"type": "http.response.body"})

    async def _spoken(self, seen: Seen, receive: Any, send: Any) -> None:
        posted = json.loads(seen.body)
        if self.refuses in posted:
            error = {"message": "not supported", "param": self.refuses}
            await reply(send, 400, JSON, json.dumps({"error": error}).encode())
            return
        choice = PLAIN["choices"][0] | {"message": {"role": "assistant",
            "content": spoken_model.reply(posted["messages"][1]["content"])}}  # fmt: skip
        await reply(send, 200, JSON, json.dumps(PLAIN | {"choices": [choice]}).encode())

    async def _narrow(self, seen: Seen, receive: Any, send: Any) -> None:
        if len(seen.body) <= self.fits:
            streams = json.loads(seen.body).get("stream")
            await (self._sse if streams else self._json)(seen, receive, send)
            return
        await reply(send, self.status, [*JSON, *self.answer_headers], self.refusal)

    async def _narrow_unmeasured(self, seen: Seen, receive: Any, send: Any) -> None:
        """Answer as `_narrow` does, in a body whose length is not told."""
        await start(send, [*JSON, *self.answer_headers], self.status)
        large = len(seen.body) > self.fits
        await send({"type": "http.response.body", "body": self.refusal if large else PLAIN_BYTES})

    async def _narrow_sse(self, seen: Seen, receive: Any, send: Any) -> None:
        if len(seen.body) <= self.fits:
            await self._sse(seen, receive, send)
            return
        await start(send, SSE)
        await piece(send, b": PROCESSING\n\n")
        await asyncio.sleep(0.02)
        await send({"type": "http.response.body", "body": b"data: " + self.refusal + b"\n\n"})

    async def _not_modified(self, seen: Seen, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 304, "headers": [(b"etag", b"1")]})
        await send({"type": "http.response.body"})

    async def _sse(self, seen: Seen, receive: Any, send: Any) -> None:
        await start(send, SSE)
        for word in ("one", "two", "three"):
            await piece(send, event(word))
        await send({"type": "http.response.body", "body": b"data: [DONE]\n\n"})

    async def _slow_sse(self, seen: Seen, receive: Any, send: Any) -> None:
        """An event every 50 ms, until the other side hangs up."""
        await start(send, SSE)
        watch = asyncio.create_task(self._watch(seen, receive))
        while not watch.done():
            await piece(send, event("tick"))
            await asyncio.wait((watch,), timeout=0.05)

    async def _hang(self, seen: Seen, receive: Any, send: Any) -> None:
        await self._watch(seen, receive)

    async def _silent_sse(self, seen: Seen, receive: Any, send: Any) -> None:
        """Headers and one event, then nothing."""
        await start(send, SSE)
        await piece(send, event("one"))
        await self._watch(seen, receive)

    async def _cut(self, seen: Seen, receive: Any, send: Any) -> None:
        """Returning without a last piece makes uvicorn close the connection."""
        await start(send, SSE)
        await piece(send, event("one"))
        await asyncio.sleep(0.05)

    async def _cut_length(self, seen: Seen, receive: Any, send: Any) -> None:
        await start(send, [*JSON, (b"content-length", b"1000")])
        await piece(send, b"{")
        await asyncio.sleep(0.05)

    async def _watch(self, seen: Seen, receive: Any) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        seen.gone.set()


async def start(send: Any, headers: list[tuple[bytes, bytes]], status: int = 200) -> None:
    await send({"type": "http.response.start", "status": status, "headers": headers})


async def piece(send: Any, body: bytes) -> None:
    await send({"type": "http.response.body", "body": body, "more_body": True})


async def reply(send: Any, status: int, headers: list[tuple[bytes, bytes]], body: bytes) -> None:
    await start(send, [*headers, (b"content-length", str(len(body)).encode())], status)
    await send({"type": "http.response.body", "body": body})
