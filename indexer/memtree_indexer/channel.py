"""Publish and subscribe between the processes on one store: a subscription that is kept alive.

When the connection is lost, Redis forgets the subscription and keeps no message for later. So the
listener is called when a subscription begins, since earlier messages were missed, and `live` says
if it works: while the channel is lost no query is sent to Redis, and no request loses a second.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Protocol, TypeVar

from redis.asyncio import Redis
from redis.asyncio.client import PubSub
from redis.exceptions import RedisError

from memtree.errors import QueueUnavailable
from memtree_indexer.connection import RedisConnection

log = logging.getLogger("memtree.queue")

# followed by the database's number, since channels are shared by all databases
CHANNEL = "memtree:told:"
BEAT = 2.0  # seconds of silence after which Redis is pinged, and which it has to answer
# Unanswered pings after which the connection counts as lost. One is not enough: if this process
# itself is held up, the time is over before it reads an answer that has arrived.
UNANSWERED = 2
AGAIN = 0.5  # seconds between two attempts
ANSWER = 0.5  # of a command's time limit, which is a second: a chat may be waiting

T = TypeVar("T")


class Listener(Protocol):
    def began(self) -> None:
        """Messages arrive from now on; earlier ones were missed."""
        ...

    def heard(self, message: bytes) -> None: ...

    def alive(self) -> None:
        """Redis answered after silence."""
        ...

    def lost(self) -> None:
        """No message arrives any more, until `began` is called again."""
        ...


class Channel:
    """A subscription. Call `open()` and `close()` in a running event loop."""

    def __init__(
        self, link: RedisConnection, listener: Listener, *, answer: float | None = None
    ) -> None:
        """`answer`: seconds that Redis has for an answer, None: half of those for a command."""
        self._link, self._listener = link, listener
        self._answer = ANSWER * link.seconds if answer is None else answer
        database = link.client.connection_pool.connection_kwargs.get("db") or 0
        self.name = f"{CHANNEL}{database}"
        self._subscribed = asyncio.Event()
        self._doubted = self._said = False
        self._task: asyncio.Task[None] | None = None
        self._background: set[asyncio.Task[None]] = set()

    @property
    def live(self) -> bool:
        """Return True if messages arrive, and the last query was answered."""
        return self._subscribed.is_set() and not self._doubted

    async def open(self) -> None:
        """Start listening; wait for the subscription as long as for an answer."""
        self._task = asyncio.create_task(self._run(), name="channel")
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._answer):
                await self._subscribed.wait()

    async def close(self) -> None:
        await self.drain()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None

    async def ask(self, action: Callable[[Redis], Awaitable[T]]) -> T:
        """Run `action` as `RedisConnection.run` does, but with a shorter time limit. Without an
        answer the channel is not live until Redis answers again. Raises `QueueUnavailable`."""
        try:
            async with asyncio.timeout(self._answer):
                return await self._link.run(action)
        except TimeoutError as error:
            self._doubted = True
            raise QueueUnavailable("Redis is slow") from error
        except QueueUnavailable:
            self._doubted = True
            raise

    @property
    def idle(self) -> bool:
        """Return True if no work runs in the background."""
        return not self._background

    async def drain(self) -> None:
        """Wait for background work: each answer takes a second at most."""
        await asyncio.gather(*self._background, return_exceptions=True)

    def behind(self, work: Coroutine[Any, Any, None]) -> None:
        """Run the work in the background."""
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def _run(self) -> None:
        while True:
            try:
                async with self._link.client.pubsub() as subscription:
                    await subscription.subscribe(self.name)
                    await self._listen(subscription)
            except (RedisError, OSError) as error:
                self._lost(error)
            except Exception as error:
                log.exception("channel.failed")
                self._lost(error)
            await asyncio.sleep(AGAIN)

    async def _listen(self, subscription: PubSub) -> None:
        """Listen until the connection is lost. Raises errors of Redis's package."""
        pings = 0
        while True:
            message: dict[str, Any] | None = await subscription.get_message(timeout=BEAT)
            if message is not None:
                pings = 0
                self._came(message)
            elif pings == UNANSWERED:
                raise TimeoutError("no sign of life")
            else:
                pings += 1
                await subscription.ping()

    def _came(self, message: dict[str, Any]) -> None:
        self._doubted = False
        if message["type"] == "message":
            self._listener.heard(message["data"])
        elif message["type"] == "subscribe":  # also after the client has reconnected by itself
            self._subscribed.set()
            self._said = False
            self._listener.began()
        else:
            self._listener.alive()

    def _lost(self, error: Exception) -> None:
        if not self._said:  # once during an outage
            self._said = True
            log.warning("channel.lost error=%s", type(error).__name__)
        self._subscribed.clear()
        self._listener.lost()
