"""Around every request: its trace, errors, counts, one log line, and an end when the client goes.

A handler runs as a task beside a watch on the connection. When the client hangs up, the task is
cancelled wherever it stands: in memory, waiting for the upstream's headers, or in mid-stream.
What this file does not do: know any route.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memtree.errors import MemTreeError, RequestTimeout
from memtree.tracing import watched
from proxy.http import error_response, request_body
from proxy.http.headers import Headers
from proxy.observability import log, request_trace
from proxy.observability.metrics import Metrics
from proxy.observability.timing import Spans
from proxy.server.upload_timeout import Upload

CLIENT_GONE = 499  # nginx's number, for the log alone


class Edge:
    """ASGI middleware around all others of ours."""

    def __init__(
        self,
        app: ASGIApp,
        overflow_status: int,
        metrics: Metrics,
        upload_seconds: float = 30.0,
        spans: Spans | None = None,
        head: Callable[[Scope, Headers], Headers] = lambda _, headers: headers,
    ) -> None:
        """`spans`: None where there are no traces. `head`: what else becomes of the headers of an
        answer, an error's included."""
        self.app = app
        self._head = head
        self._spans = spans
        self._upload_seconds = upload_seconds
        self._metrics = metrics
        self._overflow_status = overflow_status

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        seen = request_trace.begin(scope, self._spans, self._metrics.traffic)
        self._metrics.traffic.begin()
        with watched(seen):
            await self._exchanged(scope, receive, send, seen)

    async def _exchanged(
        self, scope: Scope, receive: Receive, send: Send, seen: request_trace.Trace
    ) -> None:
        def head(headers: Headers) -> Headers:
            seen.pattern = request_trace.pattern(scope)
            return self._head(scope, seen.named(headers))

        exchange = HttpExchange(receive, send, Upload(self._upload_seconds), head)
        if not request_body.announced(scope):
            await exchange.begin()
        work = asyncio.create_task(self._answer(scope, exchange, seen))
        watch = asyncio.create_task(exchange.gone())
        try:
            await asyncio.wait((work, watch), return_when=asyncio.FIRST_COMPLETED)
            if exchange.finished or work.done():
                await work
            else:
                seen.status = CLIENT_GONE
        finally:
            work.cancel()
            watch.cancel()
            await asyncio.gather(work, watch, return_exceptions=True)
            self._end(scope, seen)

    def _end(self, scope: Scope, seen: request_trace.Trace) -> None:
        seen.pattern = request_trace.pattern(scope)
        seconds = time.perf_counter() - seen.begun
        self._metrics.count(seen)
        self._metrics.traffic.end(seen, seconds)
        seen.end()
        seen.log(seconds * 1000)

    async def _answer(
        self, scope: Scope, exchange: HttpExchange, seen: request_trace.Trace
    ) -> None:
        try:
            await self.app(scope, exchange.receive, exchange.send)
        except ClientDisconnect:
            exchange.status = CLIENT_GONE
        except MemTreeError as error:
            seen.error = error.code
            await self._fail(error, scope, exchange, seen)
        except Exception as error:  # noqa: BLE001  the process loop: one request must not end it
            log.failure("http.internal_error", error, route=seen.route)
            seen.error = MemTreeError.code
            await self._fail(error, scope, exchange, seen)
        seen.status = exchange.status

    async def _fail(
        self, error: Exception, scope: Scope, exchange: HttpExchange, seen: request_trace.Trace
    ) -> None:
        if exchange.client_gone:
            exchange.status = CLIENT_GONE
            return
        if exchange.status:
            # In mid-stream: the server closes a connection whose answer is not complete, and the
            # client sees a cut stream. A clean end would pass half an answer off as a whole one.
            log.event("http.cut", route=seen.route, why=type(error).__name__)
            return
        headers = [*seen.headers(), *seen.own_id()]
        response = error_response.render(error, self._overflow_status, headers)
        if isinstance(error, RequestTimeout):
            # RFC 9110 section 15.5.9: the server does not want to wait any longer for the rest.
            response.headers["connection"] = "close"
        await response(scope, exchange.receive, exchange.send)


class HttpExchange:
    """One request and its answer: `receive` and `send` that notice how far both are."""

    def __init__(
        self, receive: Receive, send: Send, upload: Upload, head: Callable[[Headers], Headers]
    ) -> None:
        """`head`: what becomes of the headers of the answer."""
        self._head = head
        self._receive = receive
        self._upload = upload
        self._send = send
        self._first: Message | None = None
        self._read = asyncio.Event()  # nobody needs `receive` any more
        self._gone = asyncio.Event()
        self.status = 0
        self.finished = False

    @property
    def client_gone(self) -> bool:
        return self._gone.is_set()

    async def begin(self) -> None:
        """For a request without a body, which its handler may never read: a client that hangs up
        is noticed from the beginning."""
        self._first = await self.receive()

    async def receive(self) -> Message:
        if self._first is not None:
            first, self._first = self._first, None
            return first
        if self._read.is_set():
            await self._gone.wait()
            return {"type": "http.disconnect"}
        message = await self._upload.next(self._receive)
        if message["type"] == "http.disconnect":
            self._gone.set()
        if not message.get("more_body"):
            self._read.set()
        return message

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message = {**message, "headers": self._head(list(message.get("headers", ())))}
        elif not message.get("more_body"):
            # Before the send: the server reports an end to `receive` as soon as all is out.
            self.finished = True
        await self._send(message)

    async def gone(self) -> None:
        """Returns when the client has hung up, or the answer is out."""
        await self._read.wait()
        while not self._gone.is_set():
            message = await self._receive()
            if message["type"] == "http.disconnect":
                self._gone.set()
