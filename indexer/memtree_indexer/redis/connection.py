"""The one client of Redis that a process has, and whether Redis is there.

Whoever asks gets an answer within seconds, or `QueueUnavailable`; an outage is logged when it
begins and when it ends, not with every call. There is nothing to reconnect: the next call tries.
"""

from __future__ import annotations

import logging
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

log = logging.getLogger("memtree.queue")

CONNECT, COMMAND = 1.0, 2.0  # seconds
CONNECTIONS = 32  # of one process: a burst of requests must not use up the server's
BLOCKING = 5.0  # seconds that a command may take in a thread: it may wait for work

T = TypeVar("T")


class RedisConnection:
    """`client` may be used alone (pub/sub); it raises the errors of its package then."""

    def __init__(self, url: str, *, command: float = COMMAND) -> None:
        """`command`: seconds that a command may take. Raises as `blocking`."""
        self.client: Redis = Redis.from_url(
            url,
            socket_connect_timeout=CONNECT,
            socket_timeout=command,
            # Once more at once, for a connection of the pool that a restart has closed.
            retry=Retry(NoBackoff(), 1, supported_errors=(Lost,)),
            max_connections=CONNECTIONS,
            protocol=2,
        )
        pool: Any = self.client.connection_pool
        pool.make_connection()  # finds what the URL should not have
        self._down = False

    @property
    def seconds(self) -> float:
        """Seconds that a command may take: `command`, or what the URL says (`?socket_timeout=`)."""
        return float(self.client.connection_pool.connection_kwargs["socket_timeout"])

    @property
    def up(self) -> bool:
        """The last call was answered."""
        return not self._down

    async def run(self, action: Callable[[Redis], Awaitable[T]]) -> T:
        """Run `action` with the client and return its result. Raises `QueueUnavailable`; the action
        may have been done all the same, or twice, so it must be one that can be repeated."""
        try:
            result = await action(self.client)
        except (RedisError, OSError) as error:
            raise self.lost(error) from error
        self.answered()
        return result

    async def close(self) -> None:
        await self.client.aclose()

    def lost(self, error: Exception) -> QueueUnavailable:
        """A call of anybody failed; returns what to raise."""
        # The kind alone: what an error says may quote a command or an address with its password.
        kind = type(error).__name__
        if not self._down:
            self._down = True
            log.warning("queue.unavailable error=%s", kind)
        return QueueUnavailable(f"Redis cannot be used: {kind}")

    def answered(self) -> None:
        """Note that Redis answered some call, which ends an outage."""
        if self._down:
            self._down = False
            log.info("queue.back")


def blocking(url: str) -> Blocking:
    """A client for threads: RQ knows no other. Raises the errors of its package when it is used,
    `TypeError` or `ValueError` for a URL with parts that it does not know."""
    client = Blocking.from_url(
        url,
        socket_connect_timeout=CONNECT,
        socket_timeout=BLOCKING,
        retry=BlockingRetry(NoBackoff(), 1, supported_errors=(Lost,)),
        protocol=2,
    )
    client.connection_pool.make_connection()
    return client
