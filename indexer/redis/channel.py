"""What the processes on one store tell each other at once: a subscription that is kept alive.

Redis forgets who was subscribed when the connection is lost, and keeps nothing for later. So this
file says when a subscription begins, since what was told before it was missed, and whether it is
alive: who knows that nothing can be heard need not ask anything, and loses no second over it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import Any, Protocol

from redis.asyncio.client import PubSub
from redis.exceptions import RedisError

from indexer.redis.link import Link

log = logging.getLogger("memtree.queue")

CHANNEL = "memtree:told:"  # and the database's number: channels know no databases
BEAT = 2.0  # seconds of silence after which Redis is asked for a sign of life, and has for it
AGAIN = 0.5  # seconds between two attempts


class Listener(Protocol):
    def began(self) -> None:
        """From now on messages come; those before were missed."""
        ...

    def heard(self, message: bytes) -> None: ...

    def alive(self) -> None:
        """A sign of life after silence."""
        ...

    def lost(self) -> None:
        """Nothing comes any more, until it begins again."""
        ...


class Channel:
    """`open()` and `close()` belong to a running loop."""

    def __init__(self, link: Link, listener: Listener, *, beat: float = BEAT) -> None:
        self._link, self._listener, self._beat = link, listener, beat
        database = link.client.connection_pool.connection_kwargs.get("db") or 0
        self.name = f"{CHANNEL}{database}"
        self._subscribed = asyncio.Event()
        self._doubted = self._said = False
        self._task: asyncio.Task[None] | None = None

    @property
    def live(self) -> bool:
        """Messages come, and whoever asked last was answered."""
        return self._subscribed.is_set() and not self._doubted

    def doubt(self) -> None:
        """A command was not answered in time: not alive until the next sign of life."""
        self._doubted = True

    async def open(self, patience: float) -> None:
        """Begin to listen; wait for the subscription for at most `patience` seconds."""
        self._task = asyncio.create_task(self._run(), name="channel")
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(patience):
                await self._subscribed.wait()

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None

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
        """Until the connection is lost. Raises errors of Redis's package."""
        asked = False
        while True:
            message: dict[str, Any] | None = await subscription.get_message(timeout=self._beat)
            if message is not None:
                asked = False
                self._came(message)
            elif asked:
                raise TimeoutError("no sign of life")
            else:
                asked = True
                await subscription.ping()

    def _came(self, message: dict[str, Any]) -> None:
        self._doubted = False
        if message["type"] == "message":
            self._listener.heard(message["data"])
        elif message["type"] == "subscribe":  # also after the client has connected anew by itself
            self._subscribed.set()
            self._said = False
            self._listener.began()
        else:
            self._listener.alive()

    def _lost(self, error: Exception) -> None:
        if not self._said:  # once in an outage
            self._said = True
            log.warning("channel.lost error=%s", type(error).__name__)
        self._subscribed.clear()
        self._listener.lost()
