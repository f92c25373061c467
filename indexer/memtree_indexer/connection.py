"""A process's only client of Redis, and whether Redis is reachable.

A call is answered within seconds, or raises `QueueUnavailable`; an outage is logged when it begins
and when it ends, not with every call. There is no reconnect logic: the next call tries again, but
after one that waited in vain only a probe does, and others fail at once (`CircuitBreaker`).
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from redis import Redis as Blocking
from redis.asyncio import Redis
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
