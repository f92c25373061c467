"""Jobs in memory: what background work waits for, bounded, one job a conversation.

A job's name is (tenant, address where work starts), so a growing chat keeps one job and the newest
payload wins; what a revert threw away is not in the newest payload and is dropped with the old one.
Jobs hold message text, in memory alone and until their work is done.

What this file does not do: work, and decide whose turn it is (`inprocess.py`, `summaries.py`).
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from memtree import tracing
from memtree.conversation.history import History
from memtree.ports.queues import Pending
from memtree.tracing import Tracer

log = logging.getLogger("memtree.indexer")

MAX_JOBS = 256
MAX_BYTES = 512 * 1024 * 1024
MAX_TRIES = 6
BACK_OFF, BACK_OFF_LIMIT = 1.0, 60.0


class Work(Protocol):
    @property
    def id(self) -> bytes: ...

    @property
    def tokens(self) -> int: ...


W = TypeVar("W", bound=Work)
Address = TypeVar("Address", bytes, str)


@dataclass(slots=True, eq=False)
class Job(Generic[W]):
    """What is to be done for one history. `work`: by id, in the order it was submitted."""

    tenant: str
    start: bytes
    history: History
    work: dict[bytes, W]
    since: float = 0.0  # monotonic seconds: its first submission
    backfill: bool = False  # others come first
    tries: int = 0
    not_before: float = 0.0  # monotonic seconds
    watch: Tracer | None = field(
        default_factory=tracing.current
    )  # of the request that submitted it
    size: int = field(init=False)  # bytes of the messages it holds
    ended: asyncio.Event = field(default_factory=asyncio.Event)  # it is in no queue any more

    def __post_init__(self) -> None:
        self.size = sum(len(message.raw) for message in self.history.messages)

    @property
    def name(self) -> tuple[str, bytes]:
        return self.tenant, self.start

    @property
    def tokens(self) -> int:
        return sum(one.tokens for one in self.work.values())


def job(history: History, start: bytes, work: Sequence[W], *, backfill: bool = False) -> Job[W]:
    by_id = {one.id: one for one in work}
    return Job(history.tenant, start, history, by_id, backfill=backfill)


def replaces(
    start: Address, addresses: Collection[Address], old: Address, has_all: Callable[[], bool]
) -> bool:
    """Whether a job that begins at `start`, of a history with these addresses, takes the place of
    the tenant's job that begins at `old`. One rule for jobs in memory and jobs in Redis.

    The old one began in the same history: what it still has to do is in the new one, or was thrown
    away by a revert. Or the new one has all its work (`has_all`, asked last, since it may be dear).
    """
    return old == start or old in addresses or has_all()


def back_off(tries: int) -> float:
    """Seconds before the next attempt, after so many in a row that failed.

    >>> [back_off(tries) for tries in (1, 2, 3, 9)]
    [1.0, 2.0, 4.0, 60.0]
    """
    return float(min(BACK_OFF_LIMIT, BACK_OFF * 2 ** (tries - 1)))


class Jobs(Generic[W]):
    """The jobs of one queue, oldest first, and the events that its worker sleeps on."""

    def __init__(
        self, max_jobs: int = MAX_JOBS, max_bytes: int = MAX_BYTES, max_tries: int = MAX_TRIES
    ) -> None:
        self._max_jobs, self._max_bytes, self._max_tries = max_jobs, max_bytes, max_tries
        self._jobs: OrderedDict[tuple[str, bytes], Job[W]] = OrderedDict()
        self._wake = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self.given_up: OrderedDict[tuple[str, bytes], set[bytes]] = OrderedDict()  # work by name
        self.dropped = 0

    def __len__(self) -> int:
        return len(self._jobs)

    def __iter__(self) -> Iterator[Job[W]]:
        """Those of the moment, so that jobs may go while they are looked at."""
        return iter(list(self._jobs.values()))

    def __contains__(self, one: Job[W]) -> bool:
        return self._jobs.get(one.name) is one

    def of(self, tenant: str) -> list[Job[W]]:
        return [one for one in self._jobs.values() if one.tenant == tenant]

    # -- in and out --------------------------------------------------------------------------

    def add(self, new: Job[W]) -> list[Job[W]]:
        """Put a job in the place of those that it replaces; returns these."""
        addresses = set(new.history.addresses)
        replaced = [one for one in self.of(new.tenant) if self._replaces(new, addresses, one)]
        for other in replaced:
            self.drop(other)
            new.tries = max(new.tries, other.tries)
            new.not_before = max(new.not_before, other.not_before)
            new.since = min(new.since, other.since)
        self._jobs[new.name] = new
        for name in [name for name in self.given_up if name[1] in addresses]:
            if name[0] == new.tenant:
                del self.given_up[name]
        self._bound()
        self._idle.clear()
        self.wake()
        return replaced

    @staticmethod
    def _replaces(new: Job[W], addresses: set[bytes], old: Job[W]) -> bool:
        return replaces(new.start, addresses, old.start, lambda: old.work.keys() <= new.work.keys())

    def drop(self, one: Job[W]) -> None:
        if one in self:
            del self._jobs[one.name]
            one.ended.set()

    def give_up(self, one: Job[W]) -> None:
        """It stays a debt until its text comes again."""
        if one in self:
            self.drop(one)
            self._lost(one)

    def done(self, tenant: str, ids: Collection[bytes]) -> None:
        """Take this work out of all jobs of the tenant: a newer payload may have come meanwhile."""
        for one in self.of(tenant):
            for id_ in ids:
                one.work.pop(id_, None)
            if not one.work:
                self.drop(one)
        for name, owed in list(self.given_up.items()):
            if name[0] == tenant:
                owed.difference_update(ids)
                if not owed:
                    del self.given_up[name]

    def forget(self, tenant: str, addresses: Collection[bytes] | None) -> int:
        """As `IndexQueue.forget`."""
        gone = [
            one
            for one in self.of(tenant)
            if addresses is None or one.history.addresses[-1] in addresses
        ]
        for one in gone:
            self.drop(one)
        for name in [name for name in self.given_up if name[0] == tenant]:
            if addresses is None or name[1] in addresses:
                del self.given_up[name]
        self.wake()
        return len(gone)

    def clear(self) -> None:
        for one in self:
            self.drop(one)

    def pending(self, tenant: str) -> Pending:
        mine = self.of(tenant)
        return Pending(sum(one.tokens for one in mine), len(mine))

    def owed(self, tenant: str) -> int:
        """Works of the tenant that were given up."""
        owed = [ids for name, ids in self.given_up.items() if name[0] == tenant]
        return len(set().union(*owed))

    # -- turns and waits ---------------------------------------------------------------------

    def turn(self, one: Job[W]) -> None:
        """It had its turn: all others come first."""
        if one in self:
            self._jobs.move_to_end(one.name)

    def due(self, now: float) -> Iterator[Job[W]]:
        due = [one for one in self._jobs.values() if one.not_before <= now]
        return iter(sorted(due, key=lambda one: one.backfill))

    def later(self, one: Job[W], now: float, code: str, wait: float = 0.0) -> None:
        """It failed: again after a while, ever more patiently and not before `wait` seconds, or
        given up. Of a job that was replaced meanwhile the newer payload waits."""
        for each in [one] if one in self else self.of(one.tenant):
            if each is one or not each.work.keys().isdisjoint(one.work):
                self._later(each, now, code, wait)

    def _later(self, one: Job[W], now: float, code: str, wait: float) -> None:
        one.tries += 1
        if one.tries >= self._max_tries:
            self.give_up(one)
            log.warning("indexer.job_given_up code=%s", code)
            return
        wait = max(wait, back_off(one.tries))
        one.not_before = now + wait
        log.warning("indexer.job_delayed code=%s seconds=%.0f", code, wait)

    def wake(self) -> None:
        self._wake.set()

    async def sleep(self, now: float, until: Sequence[float] = (), *, busy: bool = False) -> None:
        """Until something is submitted, a job's time has come or one of `until` (monotonic
        seconds). `busy`: there is work under way, of whatever job."""
        if not self._jobs and not busy:
            self._idle.set()
        times = [*until, *(one.not_before for one in self._jobs.values())]
        waits = [max(0.01, time - now) for time in times if time > now]
        try:
            async with asyncio.timeout(min(waits) if waits else None):
                await self._wake.wait()
        except TimeoutError:
            pass
        self._wake.clear()  # behind the wait: what came while the worker looked is looked at

    async def join(self) -> None:
        """Until nothing is left to do."""
        await self._idle.wait()

    # ----------------------------------------------------------------------------------------

    def _bound(self) -> None:
        while len(self._jobs) > self._max_jobs or (
            len(self._jobs) > 1 and sum(one.size for one in self._jobs.values()) > self._max_bytes
        ):
            one = next(iter(self._jobs.values()))
            self.give_up(one)
            log.warning("indexer.job_dropped tenant=%s", one.tenant[:10])

    def _lost(self, one: Job[W]) -> None:
        self.dropped += 1
        self.given_up[one.name] = set(one.work)
        while len(self.given_up) > MAX_JOBS:
            self.given_up.popitem(last=False)
