"""Stand around every request: record it, answer its errors, end it when its client is gone.

Around a request are its trace, errors, counts, one log line, and cancellation. When the client
hangs up, the connection reports it (`HangUp`), without a task that waits for it, and the request's
task is cancelled wherever it is: in memory, waiting for the upstream's headers, or in mid-stream.
This module knows no routes.

uvicorn writes a head, a body and an end separately, which are three system calls for a small
answer; `AnswerWriter` sends the head together with the data after it, and a head without data waits
for at most one turn of the event loop.

An upload is limited in its pauses and in its whole time. Only time in which the server waits for
the client counts: a body that is relayed to a slow upstream is read slowly, and that is not the
client's fault.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memtree.context.answer import Answer
from memtree.context.sent_requests import SentRequests
from memtree.errors import MemTreeError, RequestTimeout
from memtree.ports.request_log import CLIENT_GONE
from memtree.process import threads
from memtree.process.tracing import watched
from memtree_proxy.http import error_response, log, request_body, request_trace
from memtree_proxy.http.body_budget import BodyBudget, BodyHold
from memtree_proxy.http.error_response import ErrorAnswers
from memtree_proxy.http.headers import Headers
from memtree_proxy.http.metrics import Metrics
from memtree_proxy.http.timing import Spans

MIN_BYTES_PER_SECOND = 1_000
CRAWL = 4  # factor for the longest pause: how long a body may arrive more slowly than that


class AnswerWriter:
    """Writer of one connection, whose answers come one after the other. It implements the part of a
    transport that uvicorn's `RequestResponseCycle` uses."""

    __slots__ = ("_head", "_loop", "_next_is_head", "_transport")

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._head = b""
        self._next_is_head = True

    def write(self, data: bytes) -> None:
        if self._next_is_head:
            self._next_is_head = False
            self._head = data
            self._loop.call_soon(self.flush)
        elif self._head or data:
            head, self._head = self._head, b""
            self._transport.write(head + data)

    def flush(self) -> None:
        head, self._head = self._head, b""
        if head:
            self._transport.write(head)

    def end(self) -> None:
        """Mark the end of the answer."""
        self.flush()
        self._next_is_head = True

    def close(self) -> None:
        self.flush()
        self._transport.close()

    def is_closing(self) -> bool:
        return self._transport.is_closing()


class HangUp:
    """Watches one connection for a disconnect; the connection has one active request at a time."""

    KEY = "memtree.hang_up"  # key in the scope of a request
    __slots__ = ("_gone", "_told")

    def __init__(self) -> None:
        self._gone = False
        self._told: Callable[[], None] | None = None

    def watch(self, callback: Callable[[], None]) -> None:
        """Call `callback` when the client disconnects, also if it did so before its request
        began."""
        self._told = callback
        if self._gone:
            self.tell()

    def unwatch(self, callback: Callable[[], None]) -> None:
        """Stop watching for `callback`. The next request of the connection may watch already: a
        handler may still have work after its answer is sent."""
        if self._told == callback:
            self._told = None

    def tell(self) -> None:
        self._gone = True
        callback, self._told = self._told, None
        if callback is not None:
            callback()


class Upload:
    """The body of one request while it is received. `seconds`: the longest pause."""

    def __init__(self, seconds: float, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._monotonic = monotonic
        self._waited = 0.0
        self._size = 0

    async def next(self, receive: Receive) -> Message:
        """Receive the next message. Raises `RequestTimeout`."""
        started = self._monotonic()
        try:
            async with asyncio.timeout(self._seconds):
                message = await receive()
        except TimeoutError as error:
            raise RequestTimeout(
                f"No more of the request body arrived in {self._seconds:.0f} s."
            ) from error
        self._waited += self._monotonic() - started
        self._size += len(message.get("body", b""))
        slow = self._size < self._waited * MIN_BYTES_PER_SECOND
        if slow and self._waited > CRAWL * self._seconds and message.get("more_body"):
            raise RequestTimeout(
                f"The request body arrived at less than {MIN_BYTES_PER_SECOND} bytes a second."
            )
        return message


class RequestSink(Protocol):
    """Counts or logs ended requests. Never raises, never waits, and does not keep them."""

    def count(self, seen: request_trace.Trace) -> None: ...


@dataclass(frozen=True, slots=True)
class Recorders:
    """Recorders of ended requests. `sinks`: for chats and `/context_memory`. `sent`: knows the
    earlier requests. `spans`: None for no traces."""

    metrics: Metrics
    sinks: Sequence[RequestSink] = ()
    sent: SentRequests = field(default_factory=SentRequests)
    spans: Spans | None = None


class Edge:
    """ASGI middleware outside of all others of ours."""

    def __init__(
        self,
        app: ASGIApp,
        errors: Callable[[Scope], ErrorAnswers],
        recorders: Recorders,
        budget: BodyBudget,
        upload_seconds: float = 30.0,
        head: Callable[[Scope, Headers], Headers] = lambda _, headers: headers,
    ) -> None:
        """`errors`: the form of errors for a request. `budget`: for the bodies of all requests.
        `head`: changes the headers of an answer, also of an error."""
        self.app, self._budget = app, budget
        self._head, self._errors = head, errors
        self._recorders, self._upload_seconds = recorders, upload_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        # A request that was sent behind another one begins in the context of that.
        threads.OWNER.set("")
        seen = request_trace.begin(scope, self._recorders.spans, self._recorders.metrics)
        self._recorders.metrics.begin()
        with watched(seen):
            await self._exchanged(scope, receive, send, seen)

    async def _exchanged(
        self, scope: Scope, receive: Receive, send: Send, seen: request_trace.Trace
    ) -> None:
        def head(headers: Headers) -> Headers:
            seen.pattern = request_trace.pattern(scope)
            seen.begins(headers)
            return self._head(scope, seen.named(headers))

        exchange = HttpExchange(receive, send, Upload(self._upload_seconds), head, seen.passes)
        exchange.read = not request_body.announced(scope)
        scope[BodyHold.KEY] = hold = BodyHold(self._budget)
        task, hang_up = asyncio.current_task(), scope.get(HangUp.KEY) or HangUp()

        def give_up() -> None:
            if exchange.give_up() and task is not None:
                task.cancel()

        try:
            hang_up.watch(give_up)
            await self._answer(scope, exchange, seen)
        except asyncio.CancelledError:
            if task is None or not exchange.client_gone:
                raise  # the server is stopping
            task.uncancel()
            seen.status = CLIENT_GONE
        finally:
            hang_up.unwatch(give_up)
            if hold.size:
                hold.drop_to(0)
            self._end(scope, seen)

    def _end(self, scope: Scope, seen: request_trace.Trace) -> None:
        """Complete the record of a request, and hand it to all recorders."""
        seen.pattern = request_trace.pattern(scope)
        seen.work.seconds = time.perf_counter() - seen.work.begun
        if seen.memory.answer is not None:
            self._save(seen, seen.memory.answer)
            # it holds text, and tasks that the request began may keep the trace
            seen.memory.answer = None
        seen.count_unread()
        if seen.entry.dialect:
            for sink in self._recorders.sinks:
                sink.count(seen)
        self._recorders.metrics.end(seen)
        seen.end()
        seen.log()

    def _save(self, seen: request_trace.Trace, answer: Answer) -> None:
        """Compute what memory saved on an ended request; nothing if it is not billed."""
        tenant, several, came = seen.tenant or "", seen.rounds.recalls > 0, seen.entry.came
        known = (tenant, seen.entry.model, answer)
        saving = self._recorders.sent.saving(*known, came, seen.usage, several=several)
        if seen.billed:
            self._recorders.sent.note(*known, came, saving)
        seen.entry.saving = saving if seen.billed else saving._replace(saved=0)

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
            _release_frames(error)
        except Exception as error:  # noqa: BLE001  the process loop: one request must not end it
            log.failure("http.internal_error", error, route=seen.route)
            seen.error = MemTreeError.code
            await self._fail(error, scope, exchange, seen)
            _release_frames(error)
        seen.status = exchange.status

    async def _fail(
        self, error: Exception, scope: Scope, exchange: HttpExchange, seen: request_trace.Trace
    ) -> None:
        if exchange.client_gone:
            exchange.status = CLIENT_GONE
            return
        if exchange.status:
            # In mid-stream: the server closes a connection whose answer is not complete, and the
            # client sees a cut stream. A clean end would present half an answer as a whole one.
            log.event("http.cut", route=seen.route, why=type(error).__name__)
            return
        headers = [*seen.headers(), *seen.own_ids()]
        form = self._errors(scope)
        response = error_response.render(error, form, headers, seen.entry.id, ends=seen.relayed)
        if isinstance(error, RequestTimeout):
            # RFC 9110 section 15.5.9: the server does not want to wait any longer for the rest.
            response.headers["connection"] = "close"
        await response(scope, exchange.receive, exchange.send)


def _release_frames(error: BaseException | None) -> None:
    """Remove the traceback of an error that is answered. Its frames hold the body and, by a task,
    the error itself, so that only a scan for cycles would free them."""
    while error is not None:
        error.__traceback__, error = None, error.__cause__ or error.__context__


class HttpExchange:
    """One request and its answer: `receive` and `send` that track the progress of both. `read`: the
    whole request was received. `finished`: the whole answer was sent."""

    def __init__(
        self,
        receive: Receive,
        send: Send,
        upload: Upload,
        head: Callable[[Headers], Headers],
        passes: Callable[[bytes], None] = lambda _: None,
    ) -> None:
        """`head`: changes the headers of the answer; `passes`: called with its bytes."""
        self._head, self._passes = head, passes
        self._receive = receive
        self._upload = upload
        self._send = send
        self.status = 0
        self.read = False
        self.finished = False
        self.client_gone = False

    def give_up(self) -> bool:
        """Handle the client's hang-up; returns True if the handler must be stopped. A handler that
        reads the body finds out by itself."""
        self.client_gone = self.client_gone or (self.read and not self.finished)
        return self.client_gone

    async def receive(self) -> Message:
        if self.read:
            message = await self._receive()
        else:
            message = await self._upload.next(self._receive)
            self.read = not message.get("more_body")
        if message["type"] == "http.disconnect":
            self.client_gone = True
        return message

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message = {**message, "headers": self._head(list(message.get("headers", ())))}
        else:
            self._passes(message.get("body", b""))
            if not message.get("more_body"):
                # Before the send: the server reports an end to `receive` as soon as everything is
                # sent.
                self.finished = True
        await self._send(message)
