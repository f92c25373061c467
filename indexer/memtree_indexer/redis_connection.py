"""Hold a process's only client of Redis, and its subscription to what other processes publish.

A call is answered within seconds, or raises `QueueUnavailable`; an outage is logged when it begins
and when it ends, not with every call. There is no reconnect logic: the next call tries again, but
after one that waited in vain only a probe does, and others fail at once (`CircuitBreaker`).

The subscription, of all processes on one store, is kept alive. When the connection is lost, Redis
forgets the subscription and keeps no message for later. So the listener is called when a
subscription begins, since earlier messages were missed, and `live` says if it works: while the
channel is lost no query is sent to Redis, and no request loses a second.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Protocol, TypeVar

from redis import Redis as Blocking
from redis.asyncio import Redis
from redis.asyncio.client import PubSub
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as Lost
from redis.exceptions import RedisError
from redis.retry import Retry as BlockingRetry

from memtree.errors import QueueUnavailable
from memtree.process.circuit_breaker import CircuitBreaker

log = logging.getLogger("memtree.queue")

CONNECT, COMMAND = 1.0, 2.0  # seconds
CONNECTIONS = 32  # in one process: a burst of requests must not exhaust the server's
PROBE = 0.5  # seconds that a command has which finds out if Redis is back
BLOCKING = 5.0  # seconds that a command may take in a thread, where it may wait for work

T = TypeVar("T")


class RedisConnection:
    """`client` may be used directly (pub/sub); then it raises the errors of its package."""

    def __init__(self, url: str, *, command: float = COMMAND) -> None:
        """`command`: seconds that a command may take. Raises as `blocking`."""
        self.client: Redis = Redis.from_url(
            url,
            socket_connect_timeout=CONNECT,
            socket_timeout=command,
            # Retries once, immediately, for a pooled connection that was closed by a restart.
            retry=Retry(NoBackoff(), 1, supported_errors=(Lost,)),
            max_connections=CONNECTIONS,
            protocol=2,
        )
        pool: Any = self.client.connection_pool
        pool.make_connection()  # reports unknown options of the URL
        self._down = False
        self._circuit = CircuitBreaker.of_store()

    @property
    def seconds(self) -> float:
        """Return the seconds that a command may take: `command`, or the URL's
        `?socket_timeout=`."""
        return float(self.client.connection_pool.connection_kwargs["socket_timeout"])

    @property
    def up(self) -> bool:
        """Return True if the last call was answered."""
        return not self._down

    async def run(self, action: Callable[[Redis], Awaitable[T]]) -> T:
        """Run `action` with the client and return its result. Raises `QueueUnavailable`; the action
        may have run anyway, or twice, so it must be repeatable."""
        began = time.monotonic()
        probes = not self._circuit.admits(began)
        if probes and not self._circuit.due(began):
            raise QueueUnavailable(self._circuit.reason)
        try:
            async with asyncio.timeout(PROBE if probes else None):
                result = await action(self.client)
        except (RedisError, OSError) as error:  # `TimeoutError` is an `OSError`
            unavailable = self.lost(error)
            self._circuit.waited(began, time.monotonic(), unavailable.message)
            raise unavailable from error
        self.answered()
        return result

    async def close(self) -> None:
        await self.client.aclose()

    def lost(self, error: Exception) -> QueueUnavailable:
        """Record that a call failed, by any caller; returns the error to raise."""
        # The type alone: the message of an error may quote a command or an address with its
        # password.
        kind = type(error).__name__
        if not self._down:
            self._down = True
            log.warning("queue.unavailable error=%s", kind)
        return QueueUnavailable(f"Redis cannot be used: {kind}")

    def answered(self) -> None:
        """Record that Redis answered some call, which ends an outage."""
        self._circuit.worked(time.monotonic())
        if self._down:
            self._down = False
            log.info("queue.back")


def blocking(url: str) -> Blocking:
    """Return a client for threads, the only kind that RQ supports. It raises the errors of its
    package; raises `TypeError` or `ValueError` for a URL with unknown options."""
    client = Blocking.from_url(
        url,
        socket_connect_timeout=CONNECT,
        socket_timeout=BLOCKING,
        retry=BlockingRetry(NoBackoff(), 1, supported_errors=(Lost,)),
        protocol=2,
    )
    client.connection_pool.make_connection()
    return client


# followed by the database's number, since channels are shared by all databases
CHANNEL = "memtree:told:"
BEAT = 2.0  # seconds of silence after which Redis is pinged, and which it has to answer
# Unanswered pings after which the connection counts as lost. One is not enough: if this process
# itself is held up, the time is over before it reads an answer that has arrived.
UNANSWERED = 2
AGAIN = 0.5  # seconds between two attempts
ANSWER = 0.5  # of a command's time limit, which is a second: a chat may be waiting


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
