"""`Peers` over Redis: one proxy at a time grows a long history, and all are notified of deletions.

A notice that could not be published is kept until Redis is back. Messages hold hashes of addresses
and the ids of tenants, nothing else.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Sequence
from functools import partial

import msgspec
from redis.asyncio import Redis

from memtree.errors import QueueUnavailable
from memtree.ports.growth import GrowthLock
from memtree_indexer.redis.build_lock import LEASE, BuildLocks, LockReleased
from memtree_indexer.redis.connection import RedisConnection
from memtree_indexer.redis.pubsub import Channel

log = logging.getLogger("memtree.queue")

MAX_OWED = 1_000  # tenants; if there are more, the notice is that everything must be dropped


class DeletionNotice(msgspec.Struct, frozen=True, tag="forgotten"):
    """Something of this tenant was deleted (None: of several tenants, too many to name)."""

    sender: str
    tenant: str | None


_MESSAGES = msgspec.json.Decoder(LockReleased | DeletionNotice)


class RedisPeers:
    """The `Peers` of one process. Call `start()` and `close()` in a running event loop."""

    def __init__(
        self,
        link: RedisConnection,
        *,
        lease: float = LEASE,
        answer: float | None = None,
    ) -> None:
        """`lease`: seconds; `answer`: as for the channel."""
        self._forgotten: Callable[[str | None], object] = _nobody
        self._me = secrets.token_hex(16)
        self.channel = Channel(link, self, answer=answer)
        self.locks = BuildLocks(self.channel, lease)
        self._owed: dict[str | None, None] = {}  # an ordered set, see `owed`

    @property
    def owed(self) -> tuple[str | None, ...]:
        """Return the tenants whose deletions the others do not know yet; None: of several."""
        return tuple(self._owed)

    @property
    def live(self) -> bool:
        """Return True if the others can be reached and heard, as far as is known."""
        return self.channel.live

    async def start(self, forgotten: Callable[[str | None], object]) -> None:
        """Start listening to other processes; waits at most a second for Redis. `forgotten`: called
        with the tenant of each deletion, and with None if some may have been missed, such as those
        before the channel began."""
        self._forgotten = forgotten
        await self.channel.open()

    async def close(self) -> None:
        """Publish pending notices, as far as Redis accepts them now, and end."""
        if self._owed:
            self.channel.behind(self._publish_owed())
        await self.channel.close()

    async def take(self, tenant: str, addresses: Sequence[bytes]) -> GrowthLock | None:
        """Take the lock: see `Peers.take`."""
        return await self.locks.take(tenant, addresses)

    async def forgotten(self, tenant: str) -> None:
        """Notify the others: see `Peers.forgotten`."""
        self._owe(tenant)
        if self.live:
            await self._publish_owed()

    def _owe(self, tenant: str | None) -> None:
        if tenant is None or len(self._owed) >= MAX_OWED:
            self._owed.clear()
            tenant = None
        if None not in self._owed:
            self._owed[tenant] = None

    async def _publish_owed(self) -> None:
        """Publish pending notices. Those that could not be published stay pending, also if the
        request that waits for it is cancelled."""
        owed, self._owed = self._owed, {}
        try:
            while owed:
                notice = msgspec.json.encode(DeletionNotice(self._me, next(iter(owed))))
                await self.channel.ask(partial(_publish, self.channel.name, notice))
                owed.pop(next(iter(owed)))
        except QueueUnavailable:
            pass  # published when the connection works again
        finally:
            for tenant in owed:
                self._owe(tenant)

    # -- messages from the channel -----------------------------------------------------------

    def began(self) -> None:
        """Report that deletions may have been missed while the channel was lost. Called as a
        `Listener`."""
        self._forgotten(None)
        self.alive()

    def alive(self) -> None:
        if self._owed:
            self.channel.behind(self._publish_owed())

    def heard(self, message: bytes) -> None:
        try:
            notice = _MESSAGES.decode(message)
        except msgspec.MsgspecError:  # from another version
            log.warning("channel.unreadable bytes=%d", len(message))
            return
        if isinstance(notice, LockReleased):
            self.locks.wake(notice.name)
        elif notice.sender != self._me:
            log.info("deletion.received")
            self._forgotten(notice.tenant)

    def lost(self) -> None:
        self.locks.wake_all()


def _nobody(_tenant: str | None) -> None:
    return None


async def _publish(channel: str, message: bytes, redis: Redis) -> None:
    await redis.publish(channel, message)
