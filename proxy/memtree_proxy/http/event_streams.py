"""Server-sent events about rows of a store: one stream for each listener.

    the store's counter -> new rows -> id: the row's count, data: its description

The counter belongs to the store, so rows written by another proxy appear here as well, and a
listener that returns with `Last-Event-ID` misses nothing. A stream ends when its client
disconnects, when its credential is no longer valid, and when the server stops.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple, Protocol

import msgspec
from msgspec import Meta
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from memtree.errors import MemTreeError
from memtree_proxy.http import log
from memtree_proxy.http.decoding import header
from memtree_proxy.http.rate_limits import Places

MOST_STREAMS = 8  # of one tenant
KEEPALIVE = b": keep-alive\n\n"
LAST_EVENT_HEADER = "last-event-id"
_Count = Annotated[int, Meta(ge=0, le=2**62)]
_RETRY_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class EventPace:
    """Seconds: `check`: between checks of the credential, `beat`: between heartbeats."""

    check: float = 5.0
    beat: float = 15.0


EVENT_PACE = EventPace()


class Event(NamedTuple):
    """`id`: the count to return with."""

    id: int
    data: Mapping[str, Any]


class EventFeed(Protocol):
    """Source of the events for one listener. Raises store errors."""

    async def count(self) -> int:
        """Return the count of the newest row."""
        ...

    async def changed(self, after: int, timeout: float) -> int:
        """Return the count as soon as there is a row after `after`, or after `timeout` seconds."""
        ...

    async def events(self, after: int) -> Sequence[Event]:
        """Return the next events after the count `after`, oldest first."""
        ...


class EventStreams:
    """All streams of this process."""

    def __init__(self, pace: EventPace = EVENT_PACE) -> None:
        self._pace = pace
        refusal = f"At most {MOST_STREAMS} streams of events are open at once."
        self.places = Places(MOST_STREAMS, refusal, _RETRY_SECONDS)
        self._stopped = asyncio.Event()

    def __len__(self) -> int:
        return self.places.all

    def stop(self) -> None:
        """End every stream, and those opened later, because the server stops."""
        self._stopped.set()

    async def open(
        self,
        tenant: str,
        feed: EventFeed,
        after: int | None,
        allowed: Callable[[], Awaitable[bool]],
    ) -> EventStreamResponse:
        """Open a stream of events for one listener. `after`: the count of the last event that the
        listener has seen; None: it wants changes from now on. `allowed`: returns True while the
        credential is valid for this tenant.

        Raises `RateLimited` if the tenant has the maximal number of streams, and store errors.
        """
        newest = await feed.count()
        at = newest if after is None else min(after, newest)
        return EventStreamResponse(self, tenant, feed, at, allowed)

    async def events(
        self, feed: EventFeed, after: int, allowed: Callable[[], Awaitable[bool]]
    ) -> AsyncGenerator[bytes]:
        """Yield the pieces of one stream, beginning with the count to return with."""
        yield b"id: %d\n\n" % after
        spoke = time.monotonic()
        stopped = asyncio.create_task(self._stopped.wait())
        try:
            while not stopped.done():
                changed = asyncio.create_task(feed.changed(after, self._pace.check))
                try:
                    await asyncio.wait((changed, stopped), return_when=asyncio.FIRST_COMPLETED)
                    if stopped.done() or not await allowed():
                        return
                    newest = await changed
                finally:
                    changed.cancel()
                    await asyncio.gather(changed, return_exceptions=True)
                while after < newest:
                    events = await feed.events(after)
                    for event in events:
                        yield b"id: %d\ndata: %s\n\n" % (
                            event.id,
                            msgspec.json.encode(event.data),
                        )
                        spoke, after = time.monotonic(), event.id
                    if not events:
                        after = newest
                if time.monotonic() - spoke >= self._pace.beat:
                    yield KEEPALIVE
                    spoke = time.monotonic()
        finally:
            stopped.cancel()
            await asyncio.gather(stopped, return_exceptions=True)


class EventStreamResponse(Response):
    """One stream, which occupies a place of its tenant while it is open."""

    def __init__(
        self,
        streams: EventStreams,
        tenant: str,
        feed: EventFeed,
        after: int,
        allowed: Callable[[], Awaitable[bool]],
    ) -> None:
        streams.places.enter(tenant)
        self._streams, self._tenant = streams, tenant
        self._feed, self._after, self._allowed = feed, after, allowed
        self.background = None
        self.status_code = 200
        self.raw_headers = [
            (b"content-type", b"text/event-stream"),
            (b"cache-control", b"no-store"),
            (b"x-accel-buffering", b"no"),  # nginx would buffer the events
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        head = {"status": self.status_code, "headers": self.raw_headers}
        events = self._streams.events(self._feed, self._after, self._allowed)
        try:
            await send({"type": "http.response.start", **head})
            if scope["method"] != "HEAD":
                async with aclosing(events):
                    async for piece in events:
                        await send({"type": "http.response.body", "body": piece, "more_body": True})
        except MemTreeError as error:
            # The store fails for a while: the listener will return with its last event.
            log.event("events.failed", why=error.code)
        finally:
            self._streams.places.leave(self._tenant)
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def last_event(headers: Mapping[str, str]) -> int | None:
    """Return the count after which events are wanted."""
    count: int | None = header(_Count, headers, LAST_EVENT_HEADER)
    return count
