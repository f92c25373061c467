"""Answers that begin before their content is ready, so that a waiting client does not give up.

Clients give up on a silent server after 60 to 300 seconds. A streamed answer therefore begins with
200 and a heartbeat every ten seconds (a comment, or a ping if the API has them); an answer that is
not streamed may begin with 200 and white space, which JSON allows, if the setting `json_wait` says
so. A later failure can no longer be a status: it is reported as an event, or in the body.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from memtree.errors import MemTreeError
from memtree_proxy.chat.upstream_reply import (
    EVENT_STREAM,
    beginning,
    is_event_stream,
    is_json,
    plain_pieces,
    upstream_error,
)
from memtree_proxy.dialects.dialect import Dialect
from memtree_proxy.http import error_response, log
from memtree_proxy.upstream.relay import RelayedReply

MAX_ERROR = 64 * 1024  # of an upstream's error, that are read


@dataclass(frozen=True, slots=True)
class KeepalivePace:
    """Seconds. `quiet`: how long memory may take before the client gets a heartbeat; `beat`:
    between two heartbeats."""

    quiet: float = 5.0
    beat: float = 10.0


PACE = KeepalivePace()


class KeepaliveForm(Protocol):
    """Form of heartbeats and errors in an answer that has begun."""

    media_type: str
    sign: bytes

    def failed(self, error: Mapping[str, Any]) -> bytes:
        """Return the rest of the body after a failure."""
        ...

    def fits(self, reply: RelayedReply) -> bool:
        """Return True if the upstream's answer may follow in the same body."""
        ...


class SseKeepalive:
    """A stream of events; the dialect defines its `sign` and `errors`."""

    media_type = EVENT_STREAM

    def __init__(self, dialect: Dialect) -> None:
        self.sign = dialect.sign
        self.failed = dialect.errors.failed

    def fits(self, reply: RelayedReply) -> bool:
        return is_event_stream(reply)


class JsonKeepalive:
    media_type = "application/json"
    sign = b" "

    def __init__(self, dialect: Dialect) -> None:
        self.failed = dialect.errors.whole

    def fits(self, reply: RelayedReply) -> bool:
        return is_json(reply)


class KeepaliveResponse(Response):
    """Status 200 at once, heartbeats until `reply` is ready, then its body.

    `reply` requests an answer without content-encoding, and is cancelled when the client
    disconnects. `ended`: called at the end, in any case.
    """

    def __init__(
        self,
        reply: Callable[[], Awaitable[RelayedReply]],
        form: KeepaliveForm,
        beat: float,
        ended: Callable[[], object],
    ) -> None:
        self._reply = reply
        self._ended = ended
        self._form = form
        self._beat = beat
        self.background = None
        self.status_code = 200
        self.raw_headers = [
            (b"content-type", form.media_type.encode()),
            (b"cache-control", b"no-cache"),
            (b"x-accel-buffering", b"no"),  # nginx would buffer the heartbeats
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        head = {"status": self.status_code, "headers": self.raw_headers}
        work = asyncio.ensure_future(self._reply())
        try:
            await send({"type": "http.response.start", **head})
            await send(_piece(self._form.sign))
            while not (await asyncio.wait((work,), timeout=self._beat))[0]:
                await send(_piece(self._form.sign))
            async for piece in self._rest(work):
                await send(_piece(piece))
        finally:
            work.cancel()
            self._ended()
            (reply,) = await asyncio.gather(work, return_exceptions=True)
            # it may have come while the client disconnected
            if not isinstance(reply, BaseException):
                reply.close()
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _rest(self, work: asyncio.Future[RelayedReply]) -> AsyncIterator[bytes]:
        try:
            reply = work.result()
        except MemTreeError as error:
            yield self._form.failed(named(error))
            return
        except Exception as error:  # noqa: BLE001  one request must not end the process
            log.failure("chat.internal_error", error)
            yield self._form.failed(named(error_response.internal()))
            return
        if reply.status == 200 and self._form.fits(reply):
            async for piece in plain_pieces(reply):
                yield piece
        else:
            body = await beginning(reply, MAX_ERROR)
            yield self._form.failed(upstream_error(reply.status, body))


def named(error: MemTreeError) -> dict[str, Any]:
    """Return the error's body with its status, since the status line is sent already."""
    return {**error_response.body(error), "status": error.status}


def _piece(body: bytes) -> dict[str, Any]:
    return {"type": "http.response.body", "body": body, "more_body": True}
