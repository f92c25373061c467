"""The queues of stages 2 and 3 as a proxy sees them when the work is done elsewhere."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from indexer.jobs import Job, job
from indexer.progress import Backlog
from indexer.redis.connection import RedisConnection
from indexer.redis.ledger import EMBED, SUMMARIES, JobEntry
from indexer.redis.outbox import Outbox
from indexer.redis.payloads import tenant_name
from indexer.summarizing.spending import Spending
from memtree.bounded import remember
from memtree.conversation.history import History
from memtree.errors import QueueUnavailable
from memtree.ports.queues import Pending, SummaryStatus
from memtree.tree.node import Node
from memtree.tree.work import LeafWork, NodeWork

WORKERS = "memtree:workers"  # sorted set: processes by the time until which they are known to live
STATE = "memtree:state:"  # of a tenant's summaries, where it is not "ok"


class _Stage:
    """What one stage's jobs of a tenant are: in the outbox, and in Redis as far as it answers."""

    def __init__(self, stage: str, outbox: Outbox, link: RedisConnection) -> None:
        self.stage, self.link = stage, link
        self.jobs = outbox.jobs[stage]
        self._last: OrderedDict[str, list[JobEntry]] = OrderedDict()

    async def entries(self, tenant: str) -> list[JobEntry]:
        """The last known ones where Redis does not answer."""
        key = f"memtree:ledger:{self.stage}:{tenant_name(tenant)}"
        try:
            rows = await self.link.run(lambda client: _rows(client, key))
        except QueueUnavailable:
            return self._last.get(tenant, [])
        remember(self._last, tenant, rows)
        return rows

    async def both(self, tenant: str) -> tuple[list[Job[Any]], list[JobEntry]]:
        """Jobs of the outbox, and those in Redis that these are not about to replace.

        In this order: what is sent meanwhile is met once, and never missed."""
        here = self.jobs.of(tenant)
        entries = await self.entries(tenant)
        known = {address for one in here for address in one.history.addresses}
        return here, [one for one in entries if bytes.fromhex(one.start) not in known]

    async def pending(self, tenant: str) -> Pending:
        here, beside = await self.both(tenant)
        there = [one for one in beside if not one.owed]
        tokens = sum(one.tokens for one in here) + sum(one.tokens for one in there)
        return Pending(tokens, len(here) + len(there))

    def forget(self, tenant: str) -> None:
        self._last.pop(tenant, None)

    async def backlog(self) -> Backlog:
        """Raises `QueueUnavailable`."""
        found = await self.link.run(lambda client: _all(client, self.stage))
        oldest = min((one.since for one in found), default=0.0)
        age = max(0.0, time.time() - oldest) if found else 0.0
        return Backlog(len(found), sum(one.tokens for one in found), age)


class RedisQueue:
    """An `IndexQueue` whose work is done by `memtree worker`."""

    def __init__(self, outbox: Outbox, link: RedisConnection) -> None:
        self._outbox, self._stage = outbox, _Stage(EMBED, outbox, link)

    @property
    def dropped(self) -> int:
        return self._stage.jobs.dropped

    async def backlog(self) -> Backlog:
        return await self._stage.backlog()

    def submit(
        self,
        history: History,
        start: bytes,
        leaves: Sequence[LeafWork],
        *,
        backfill: bool = False,
    ) -> None:
        if leaves:
            self._outbox.put(EMBED, job(history, start, leaves, backfill=backfill))

    async def pending(self, tenant: str) -> Pending:
        return await self._stage.pending(tenant)

    async def forget(self, tenant: str, addresses: Collection[bytes] | None) -> int:
        self._stage.forget(tenant)
        return await self._outbox.forget(EMBED, tenant, addresses)


class RedisSummaries:
    """A `SummaryQueue` whose work is done by `memtree worker`."""

    def __init__(self, outbox: Outbox, link: RedisConnection, spending: Spending) -> None:
        self._outbox, self._stage = outbox, _Stage(SUMMARIES, outbox, link)
        self._link, self._spending = link, spending

    @property
    def dropped(self) -> int:
        return self._stage.jobs.dropped

    async def backlog(self) -> Backlog:
        return await self._stage.backlog()

    def submit(
        self,
        history: History,
        start: bytes,
        work: Sequence[NodeWork],
        nodes: Mapping[bytes, Node],
        *,
        backfill: bool = False,
    ) -> None:
        """`nodes` stay here: the worker reads them from the store."""
        if work:
            self._outbox.put(SUMMARIES, job(history, start, work, backfill=backfill))

    async def pending(self, tenant: str) -> Pending:
        return await self._stage.pending(tenant)

    async def status(self, tenant: str) -> SummaryStatus:
        """`unavailable` also where Redis does not answer, or no worker lives."""
        here, beside = await self._stage.both(tenant)
        count = sum(len(one.work) for one in here) + sum(one.count for one in beside)
        count += self._stage.jobs.owed(tenant)
        return await self._spending.status(tenant, await self._state(tenant), count)

    async def forget(self, tenant: str, addresses: Collection[bytes] | None) -> int:
        self._stage.forget(tenant)
        return await self._outbox.forget(SUMMARIES, tenant, addresses)

    async def _state(self, tenant: str) -> str:
        try:
            found: Any = await self._link.run(
                lambda client: client.get(STATE + tenant_name(tenant))
            )
            living = await workers(self._link)
        except QueueUnavailable:
            return "unavailable"
        if found:
            return str(found.decode())
        return "ok" if living else "unavailable"


async def workers(link: RedisConnection) -> int:
    """Worker processes that live. Raises `QueueUnavailable`."""
    return int(await link.run(lambda client: client.zcount(WORKERS, time.time(), "+inf")))


async def _rows(client: Any, key: str) -> list[JobEntry]:
    found = await client.hgetall(key)
    return [JobEntry.read(row) for name, row in found.items() if name != b"rev"]


async def _all(client: Any, stage: str) -> list[JobEntry]:
    """Jobs of all tenants that wait, those given up aside."""
    found = []
    for tenant in await client.smembers(f"memtree:tenants:{stage}"):
        found += await _rows(client, f"memtree:ledger:{stage}:{tenant.decode()}")
    return [one for one in found if not one.owed]
