"""Live changes of the memories of a scope: one stream of server-sent events for each listener.

    the store's change counter -> what changed since -> {type, id, count, version}

The counter is the store's own, so a change made through another proxy shows here as well, and a
listener that comes back with `Last-Event-ID` misses nothing. A stream ends when its client hangs
up, when its credential is no longer let in, and when the server stops.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass

import msgspec
from starlette.responses import Response
from starlette.types import Receive, Send
from starlette.types import Scope as Connection

from memtree.errors import MemTreeError, RateLimited
from memtree.memories.book import MemoryBook
from memtree.memories.ports import ChangeEvent
from memtree.memories.scope import Scope
from memtree_proxy.observability import log
from memtree_proxy.wire.json_schema import STRING, Json, content, described

MOST_STREAMS = 8  # of one tenant
KEEPALIVE = b": keep-alive\n\n"
_RETRY_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class EventPace:
    """Seconds: `check`: between looks at the credential, `beat`: between signs of life."""

    check: float = 5.0
    beat: float = 15.0


EVENT_PACE = EventPace()


def event_stream(counted: str) -> tuple[str, Json]:
    """Describe the answer of a route of events. `counted`: what the count of an event is of."""
    shape = described(
        STRING,
        'Events with `id: <count>` and `data: {"type": "created" | "updated" | "deleted", "id": '
        f'"mem_...", "count": <{counted}>, "version": <of this one>}}`, and comments as '
        "signs of life.",
    )
    return "The events, as long as anybody listens.", content(shape, "text/event-stream")


class EventStreams:
    """All streams of this process."""

    def __init__(self, book: MemoryBook, pace: EventPace = EVENT_PACE) -> None:
        self._book = book
        self._pace = pace
        self._open: Counter[str] = Counter()
        self._stopped = asyncio.Event()

    def __len__(self) -> int:
        return self._open.total()

    def stop(self) -> None:
        """The server stops: every stream ends at once, and those that are begun later."""
        self._stopped.set()

    async def open(
        self, scope: Scope, after: int | None, allowed: Callable[[], Awaitable[bool]]
    ) -> EventStreamResponse:
        """`after`: the count of the last event that the listener has seen; None: it wants what
        changes from now on. `allowed`: whether the credential is still let in as this tenant.

        Raises `RateLimited` where the tenant has as many streams as it may, and store errors.
        """
        state = await self._book.state(scope)
        at = state.changed if after is None else min(after, state.changed)
        return EventStreamResponse(self, scope, at, allowed)

    def enter(self, tenant: str) -> None:
        """Take a place; `leave` must follow."""
        if self._open[tenant] >= MOST_STREAMS:
            raise RateLimited(
                f"At most {MOST_STREAMS} streams of events are open at once.",
                retry_after=_RETRY_SECONDS,
            )
        self._open[tenant] += 1

    def leave(self, tenant: str) -> None:
        self._open[tenant] -= 1
        if not self._open[tenant]:
            del self._open[tenant]

    async def events(
        self, scope: Scope, after: int, allowed: Callable[[], Awaitable[bool]]
    ) -> AsyncGenerator[bytes]:
        """The pieces of one stream, the count to come back with first."""
        yield b"id: %d\n\n" % after
        spoke = time.monotonic()
        stopped = asyncio.create_task(self._stopped.wait())
        try:
            while not stopped.done():
                changed = asyncio.create_task(self._book.changed(scope, after, self._pace.check))
                try:
                    await asyncio.wait((changed, stopped), return_when=asyncio.FIRST_COMPLETED)
                    if stopped.done() or not await allowed():
                        return
                    state = await changed
                finally:
                    changed.cancel()
                    await asyncio.gather(changed, return_exceptions=True)
                while after < state.changed:
                    rows = await self._book.changes(scope, after)
                    for row in rows:
                        yield _event(row, state.total)
                        spoke, after = time.monotonic(), row.changed
                    if not rows:
                        after = state.changed
                if time.monotonic() - spoke >= self._pace.beat:
                    yield KEEPALIVE
                    spoke = time.monotonic()
        finally:
            stopped.cancel()
            await asyncio.gather(stopped, return_exceptions=True)


class EventStreamResponse(Response):
    """One stream, which takes a place of its tenant while it is open."""

    def __init__(
        self,
        streams: EventStreams,
        scope: Scope,
        after: int,
        allowed: Callable[[], Awaitable[bool]],
    ) -> None:
        streams.enter(scope.tenant)
        self._streams, self._scope, self._after, self._allowed = streams, scope, after, allowed
        self.background = None
        self.status_code = 200
        self.raw_headers = [
            (b"content-type", b"text/event-stream"),
            (b"cache-control", b"no-store"),
            (b"x-accel-buffering", b"no"),  # nginx would keep the events to itself
        ]

    async def __call__(self, connection: Connection, receive: Receive, send: Send) -> None:
        head = {"status": self.status_code, "headers": self.raw_headers}
        events = self._streams.events(self._scope, self._after, self._allowed)
        try:
            await send({"type": "http.response.start", **head})
            if connection["method"] != "HEAD":
                async with aclosing(events):
                    async for piece in events:
                        await send({"type": "http.response.body", "body": piece, "more_body": True})
        except MemTreeError as error:
            # The store is gone for a while: the listener comes back with its last event.
            log.event("memories.events_failed", why=error.code)
        finally:
            self._streams.leave(self._scope.tenant)
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def _event(change: ChangeEvent, count: int) -> bytes:
    """`count`: memories of the scope. Holds no text."""
    data = {"type": change.type, "id": change.id, "count": count, "version": change.version}
    return b"id: %d\ndata: %s\n\n" % (change.changed, msgspec.json.encode(data))
