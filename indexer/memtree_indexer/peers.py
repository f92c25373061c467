"""`Peers` over Redis: one proxy at a time grows a long history, and all are notified of deletions.

The lock for growing is a key that expires by itself. It is renewed while it is held: a killed
process blocks the others for ten seconds, and one that is paused for a few seconds keeps it. Its
release is published on the channel.

    take -> free: held, renewed ... -> released, published
         -> held by another process: wait for the release or the expiry -> read the store again
         -> Redis is down, or gives no answer within a second: granted locally

A notice of a deletion that could not be published is kept until Redis is back. Keys and messages
hold hashes of addresses and the ids of tenants, nothing else.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from typing import Any

import msgspec
from redis.asyncio import Redis

from memtree.errors import QueueUnavailable
from memtree.ports.indexing_stages import OWN, GrowthLock
from memtree_indexer.redis_connection import Channel, RedisConnection

log = logging.getLogger("memtree.queue")

KEY = "memtree:turn:"
LEASE = 10.0  # seconds; a process that cannot renew it for so long is dead or unusable
RENEW = 0.15  # of a lease
SOON = 0.05  # seconds; the shortest wait, so that an expiring lock is not polled in a tight loop

# KEYS: the lock, then those of prefixes, newest first. ARGV: owner, milliseconds.
TAKE = """
local owner = redis.call('GET', KEYS[1])
if owner and owner ~= ARGV[1] then return {1, redis.call('PTTL', KEYS[1])} end
if not owner then
  for i = 2, #KEYS do
    if redis.call('EXISTS', KEYS[i]) == 1 then return {i, redis.call('PTTL', KEYS[i])} end
  end
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return {0, 0}
"""
KEEP = """
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
"""
LET_GO = """
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
redis.call('PUBLISH', ARGV[2], ARGV[3])
"""


class LockReleased(msgspec.Struct, frozen=True, tag="ended"):
    """A lock was released, whether the tree was built or not."""

    name: str


class BuildLocks:
    """The locks that one process holds or waits for."""

    def __init__(self, channel: Channel, lease: float = LEASE) -> None:
        """`lease`: seconds after which a lock expires unless it is renewed."""
        self._channel, self._lease = channel, lease
        self._me = secrets.token_hex(16)
        self.held: dict[str, HeldLock] = {}  # by the name of an address, as are those below
        # requests that wait for the release of the lock
        self.waiting: dict[str, set[asyncio.Event]] = {}

    async def take(self, tenant: str, addresses: Sequence[bytes]) -> GrowthLock | None:
        """Take the lock: see `Peers.take`."""
        names = [lock_name(tenant, address) for address in reversed(addresses)]
        if not self._channel.live or names[0] in self.held:
            return self.held.get(names[0], OWN)
        # before asking, since the release may come before the answer
        with self._released(names) as ended:
            try:
                at, lapses = await self._ask(names)
            except QueueUnavailable:
                return OWN
            if not at:
                return self.held.get(names[0]) or HeldLock(names[0], self)
            await self._wait(ended, lapses / 1000)
        return None

    async def _ask(self, names: Sequence[str]) -> tuple[int, int]:
        """Ask Redis which of these locks is taken, counted from 1 (0: this process holds it), and
        in how many milliseconds that lock expires. Raises `QueueUnavailable`."""
        keys = [KEY + name for name in names]
        lease = int(self._lease * 1000)
        asking = asyncio.ensure_future(
            self._channel.ask(lambda redis: redis.eval(TAKE, len(keys), *keys, self._me, lease))
        )
        try:
            at, lapses = await asyncio.shield(asking)
        # the lock may be taken all the same, but not before Redis is asked
        except asyncio.CancelledError:
            self._channel.behind(self._give_back(asking, names[0]))
            raise
        return at, lapses

    async def _give_back(self, asking: asyncio.Future[Any], name: str) -> None:
        await asyncio.gather(asking, return_exceptions=True)
        await self.let_go(name)

    async def _wait(self, ended: asyncio.Event, seconds: float) -> None:
        log.info("build.elsewhere")
        began = asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout(max(seconds, SOON)):
                await ended.wait()
        except TimeoutError:
            pass  # expired, or renewed meanwhile
        log.info("build.waited ms=%.0f", (asyncio.get_running_loop().time() - began) * 1000)

    def holds(self, held: HeldLock) -> None:
        self.held[held.name] = held

    def ended(self, held: HeldLock) -> None:
        """Release a lock that no request of this process uses any more. Does not wait for Redis."""
        if self.held.get(held.name) is held:
            del self.held[held.name]
            self._channel.behind(self.let_go(held.name))

    async def keep(self, name: str) -> None:
        """Renew a lock until this is cancelled."""
        lease = int(self._lease * 1000)
        while True:
            await asyncio.sleep(self._lease * RENEW)
            try:
                await self._channel.ask(
                    lambda redis: redis.eval(KEEP, 1, KEY + name, self._me, lease)
                )
            except QueueUnavailable:
                continue  # the others continue without it, and so does this process

    async def let_go(self, name: str) -> None:
        if not self._channel.live or name in self.held:
            return  # it expires, or another request of this process holds it
        notice, channel = msgspec.json.encode(LockReleased(name)), self._channel.name
        try:
            await self._channel.ask(
                lambda redis: redis.eval(LET_GO, 1, KEY + name, self._me, channel, notice)
            )
        except QueueUnavailable:
            return

    @contextmanager
    def _released(self, names: Sequence[str]) -> Iterator[asyncio.Event]:
        """Yield an event that is set when one of these locks is released."""
        event = asyncio.Event()
        for name in names:
            self.waiting.setdefault(name, set()).add(event)
        try:
            yield event
        finally:
            for name in names:
                self.waiting[name].discard(event)
                if not self.waiting[name]:
                    del self.waiting[name]

    # -- messages from the channel -----------------------------------------------------------

    def wake(self, name: str) -> None:
        """Handle the release of this lock."""
        for event in self.waiting.get(name, ()):
            event.set()

    def wake_all(self) -> None:
        """Resume all waiting requests: the channel is lost, so no release will be heard."""
        for name in self.waiting:
            self.wake(name)


class HeldLock:
    """A lock of this process. Several of its requests may hold it at once: they share one run of
    stage 1 anyway."""

    def __init__(self, name: str, locks: BuildLocks) -> None:
        self.name = name
        self._locks = locks
        self._users = 0
        self._renewing: asyncio.Task[None] | None = None

    async def __aenter__(self) -> None:
        self._users += 1
        if self._renewing is None:
            self._locks.holds(self)
            self._renewing = asyncio.create_task(self._locks.keep(self.name), name="build-lock")

    async def __aexit__(self, *_error: object) -> None:
        self._users -= 1
        if not self._users and self._renewing is not None:
            self._renewing.cancel()
            self._renewing = None
            self._locks.ended(self)


def lock_name(tenant: str, address: bytes) -> str:
    """Return 32 hex digits that reveal neither tenant nor address."""
    return sha256(b"memtree turn\0" + tenant.encode() + b"\0" + address).hexdigest()[:32]


# ---------------------------------------------------------------- the peers


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
        self._forgotten: Callable[[str | None], object] = lambda _tenant: None
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


async def _publish(channel: str, message: bytes, redis: Redis) -> None:
    await redis.publish(channel, message)
