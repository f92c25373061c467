"""`Peers` over Redis: one proxy at a time grows a long history, and all hear of deletions.

A turn is a key that lapses by itself and is prolonged while it is held, so a process that was
killed holds up the others for five seconds. Its end is told over the channel. Keys and messages
hold hashes of addresses and the ids of tenants, nothing else.

    take -> free: held, prolonged ... -> let go and told
         -> another one's: wait until it is told or has lapsed -> look into the store again
         -> Redis down, or no answer within a second: nobody is asked
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from types import TracebackType
from typing import Any

import msgspec
from redis.asyncio import Redis

from indexer.redis.channel import Channel
from indexer.redis.link import Link
from memtree.errors import QueueUnavailable
from memtree.peers import OWN, Turn

log = logging.getLogger("memtree.queue")

KEY = "memtree:turn:"
LEASE = 5.0  # seconds; a process that cannot prolong for so long is dead or of no use
PROLONG = 1.5  # seconds
ANSWER = 1.0  # seconds that Redis has: a chat waits for it
SOON = 0.05  # seconds; the least wait, so that a lapsing turn is not asked for in a circle
MAX_OWED = 1_000  # tenants; of more, all are told to let go of everything

# KEYS: the turn, then those of prefixes, newest first. ARGV: owner, milliseconds.
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
# Also for a server that came back without what it held.
KEEP = """
local owner = redis.call('GET', KEYS[1])
if not owner or owner == ARGV[1] then redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) end
"""
LET_GO = """
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
redis.call('PUBLISH', ARGV[2], ARGV[3])
"""


class Ended(msgspec.Struct, frozen=True, tag="ended"):
    """A turn has come to its end, well or not."""

    name: str


class Forgotten(msgspec.Struct, frozen=True, tag="forgotten"):
    """Something of this tenant was deleted (None: of some, too many to name)."""

    sender: str
    tenant: str | None


_MESSAGES = msgspec.json.Decoder(Ended | Forgotten)


class Shared:
    """The `Peers` of one process. `start()` and `close()` belong to a running loop."""

    def __init__(
        self,
        link: Link,
        *,
        lease: float = LEASE,
        answer: float = ANSWER,
    ) -> None:
        """`lease`: seconds; `answer`: seconds that Redis has for one."""
        self._link = link
        self._forgotten: Callable[[str | None], object] = _nobody
        self._lease, self._answer = lease, answer
        self._me = secrets.token_hex(16)
        self._channel = Channel(link, self)
        self._turns: dict[str, Held] = {}
        self._waiting: dict[str, set[asyncio.Event]] = {}
        self._owed: dict[str | None, None] = {}  # deletions that nobody was told of yet
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def live(self) -> bool:
        """The others can be asked and heard, as far as is known."""
        return self._channel.live

    async def start(self, forgotten: Callable[[str | None], object]) -> None:
        """`forgotten`: called for deletions of other processes, with None where some may have been
        missed, as before the channel began. Waits a second for Redis, no longer."""
        self._forgotten = forgotten
        await self._channel.open(self._answer)

    async def close(self) -> None:
        """Tell what is to be told yet, as far as Redis takes it now."""
        if self._owed:
            self._behind(self._tell())
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._channel.close()

    # -- turns -------------------------------------------------------------------------------

    async def take(self, tenant: str, addresses: Sequence[bytes]) -> Turn | None:
        """See `Peers.take`."""
        names = [name(tenant, address) for address in reversed(addresses)]
        if not self.live or names[0] in self._turns:
            return self._turns.get(names[0], OWN)
        with self._told(names) as ended:  # before asking: the end may be told before the answer
            try:
                at, lapses = await self._ask(names)
            except QueueUnavailable:
                return OWN
            if not at:
                return self._turns.get(names[0]) or Held(names[0], self)
            await self._wait(ended, lapses / 1000)
        return None

    async def _ask(self, names: Sequence[str]) -> tuple[int, int]:
        """Which of these is taken, counted from 1 (0: it is ours), and in how many milliseconds
        that one lapses. Raises `QueueUnavailable`."""
        keys = [KEY + name for name in names]
        lease = int(self._lease * 1000)
        asking = asyncio.ensure_future(
            self._run(lambda redis: redis.eval(TAKE, len(keys), *keys, self._me, lease))
        )
        try:
            at, lapses = await asyncio.shield(asking)
        except asyncio.CancelledError:  # it may be taken all the same, but not before it is asked
            self._behind(self._give_back(asking, names[0]))
            raise
        return at, lapses

    async def _give_back(self, asking: asyncio.Future[Any], name: str) -> None:
        await asyncio.gather(asking, return_exceptions=True)
        await self.let_go(name)

    async def _wait(self, ended: asyncio.Event, seconds: float) -> None:
        log.info("turn.elsewhere")
        began = asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout(max(seconds, SOON)):
                await ended.wait()
        except TimeoutError:
            pass  # lapsed, or prolonged since
        log.info("turn.waited ms=%.0f", (asyncio.get_running_loop().time() - began) * 1000)

    def holds(self, held: Held) -> None:
        self._turns[held.name] = held

    def ended(self, held: Held) -> None:
        """No request of this process has the turn any more. Nobody waits for Redis here."""
        if self._turns.get(held.name) is held:
            del self._turns[held.name]
            self._behind(self.let_go(held.name))

    async def keep(self, name: str) -> None:
        """Prolong a turn for as long as this is not cancelled."""
        lease = int(self._lease * 1000)
        while True:
            await asyncio.sleep(self._lease * PROLONG / LEASE)
            try:
                await self._run(lambda redis: redis.eval(KEEP, 1, KEY + name, self._me, lease))
            except QueueUnavailable:
                continue  # the others do without it, and so can this one

    async def let_go(self, name: str) -> None:
        if not self.live or name in self._turns:
            return  # it lapses, or another request of this process has it
        told, channel = msgspec.json.encode(Ended(name)), self._channel.name
        try:
            await self._run(
                lambda redis: redis.eval(LET_GO, 1, KEY + name, self._me, channel, told)
            )
        except QueueUnavailable:
            return

    @contextmanager
    def _told(self, names: Sequence[str]) -> Iterator[asyncio.Event]:
        """Set when one of these turns ends."""
        event = asyncio.Event()
        for one in names:
            self._waiting.setdefault(one, set()).add(event)
        try:
            yield event
        finally:
            for one in names:
                self._waiting[one].discard(event)
                if not self._waiting[one]:
                    del self._waiting[one]

    # -- deletions ---------------------------------------------------------------------------

    async def forgotten(self, tenant: str) -> None:
        """See `Peers.forgotten`."""
        self._owe(tenant)
        if self.live:
            await self._tell()

    def _owe(self, tenant: str | None) -> None:
        if tenant is None or len(self._owed) >= MAX_OWED:
            self._owed.clear()
            tenant = None
        if None not in self._owed:
            self._owed[tenant] = None

    async def _tell(self) -> None:
        owed, self._owed = self._owed, {}
        while owed:
            told = msgspec.json.encode(Forgotten(self._me, next(iter(owed))))
            try:
                await self._run(partial(_publish, self._channel.name, told))
            except QueueUnavailable:
                break
            owed.pop(next(iter(owed)))
        for tenant in owed:
            self._owe(tenant)

    # -- what the channel says ---------------------------------------------------------------

    def began(self) -> None:
        """A `Listener`: who was deaf for a time may have missed deletions."""
        self._forgotten(None)
        self.alive()

    def alive(self) -> None:
        if self._owed:
            self._behind(self._tell())

    def heard(self, message: bytes) -> None:
        try:
            told = _MESSAGES.decode(message)
        except msgspec.MsgspecError:  # of another version
            log.warning("channel.unreadable bytes=%d", len(message))
            return
        if isinstance(told, Ended):
            for event in self._waiting.get(told.name, ()):
                event.set()
        elif told.sender != self._me:
            log.info("deletion.heard")
            self._forgotten(told.tenant)

    def lost(self) -> None:
        """Nobody is told of an end now: who waits goes on alone."""
        for events in self._waiting.values():
            for event in events:
                event.set()

    # -- Redis -------------------------------------------------------------------------------

    async def _run(self, action: Callable[[Redis], Awaitable[Any]]) -> Any:
        """Raises `QueueUnavailable` after a second at the latest."""
        try:
            async with asyncio.timeout(self._answer):
                return await self._link.run(action)
        except TimeoutError as error:
            self._channel.doubt()
            raise QueueUnavailable("Redis is slow") from error
        except QueueUnavailable:
            self._channel.doubt()
            raise

    def _behind(self, work: Awaitable[None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


class Held:
    """A turn of this process. Several of its requests may have it at once: their runs of stage 1
    are joined anyway."""

    def __init__(self, name: str, shared: Shared) -> None:
        self.name = name
        self._shared = shared
        self._users = 0
        self._prolonging: asyncio.Task[None] | None = None

    async def __aenter__(self) -> None:
        self._users += 1
        if self._prolonging is None:
            self._shared.holds(self)
            self._prolonging = asyncio.create_task(self._shared.keep(self.name), name="turn")

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._users -= 1
        if not self._users and self._prolonging is not None:
            self._prolonging.cancel()
            self._prolonging = None
            self._shared.ended(self)


def _nobody(_tenant: str | None) -> None:
    return None


async def _publish(channel: str, message: bytes, redis: Redis) -> None:
    await redis.publish(channel, message)


def name(tenant: str, address: bytes) -> str:
    """32 hex digits that tell neither."""
    return sha256(b"memtree turn\0" + tenant.encode() + b"\0" + address).hexdigest()[:32]
