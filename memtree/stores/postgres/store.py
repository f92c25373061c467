"""`PostgresStore`: all ports of a store. Each port's methods stand with their SQL: `trees`,
`plans`, `retention`, `claims`, `keys`, `snapshot`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TypeVar

from memtree.errors import StoreCorrupt
from memtree.ports.store import StoreStats
from memtree.stores.dump import problems
from memtree.stores.memories.store import SqlMemories
from memtree.stores.postgres.claims import PostgresClaims
from memtree.stores.postgres.conversations import PostgresConversations
from memtree.stores.postgres.dsn import read_dsn
from memtree.stores.postgres.keys import PostgresKeys
from memtree.stores.postgres.migrations import TABLES, migrate_all
from memtree.stores.postgres.plans import PostgresPlans
from memtree.stores.postgres.pool import DURABLE, Pool, PostgresPart
from memtree.stores.postgres.queries import Connection, rows
from memtree.stores.postgres.retention import (
    BYTES,
    SMALL_BYTES,
    PostgresRetention,
    bytes_of,
    scrub,
    unscrubbed,
)
from memtree.stores.postgres.snapshot import PostgresCopies, one_state
from memtree.stores.postgres.statements import PostgresSql
from memtree.stores.postgres.trees import PostgresTrees
from memtree.stores.sql import Work

T = TypeVar("T")

_STATS = f"""
    SELECT (SELECT count(*) FROM nodes), (SELECT count(*) FROM nodes WHERE level = 0),
        (SELECT count(*) FROM addresses), (SELECT count(*) FROM vectors), ({BYTES})"""
_ONE_STATE = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
# A plan that was kept from when the table was empty reads all of it, until the server's own upkeep
# has counted its rows.
_FRESH_PLANS = "SET LOCAL plan_cache_mode TO force_custom_plan"


class PostgresStore(
    PostgresTrees,
    PostgresPlans,
    PostgresConversations,
    PostgresRetention,
    PostgresClaims,
    PostgresKeys,
    PostgresCopies,
):
    """All ports of a store in one schema of a PostgreSQL database.

    `BadRequest` for an address that cannot be read. A server that cannot be reached is no reason
    not to begin: every method raises `StoreUnavailable` at once while that is so, and works again
    within a second of the server's return. Nothing is sent before the first call. `database` may
    be shared with other ports; `close` closes it for all of them.
    """

    def __init__(
        self, url: str, shown: str = "postgresql", *, now: Callable[[], float] = time.time
    ) -> None:
        dsn = read_dsn(url, shown)
        super().__init__(Pool(dsn, lambda db: migrate_all(db, dsn.schema)), now)

    async def check(self) -> list[str]:
        """In a thread and on a connection of its own: it may take a second per million tokens."""
        await self.database.reach()
        try:
            return await asyncio.to_thread(self._check)
        except StoreCorrupt as error:
            return [error.message]

    def _check(self) -> list[str]:
        with one_state(self.database.dsn) as snapshot:
            return problems(snapshot)

    async def stats(self) -> StoreStats:
        ((*counts,),) = await self.database.run(lambda db: rows(db, _STATS, tables=list(TABLES)))
        return StoreStats(*counts)

    def memories(self) -> PostgresMemories:
        return PostgresMemories(self.database, self.now)

    async def close(self) -> None:
        await self.database.close()


class PostgresMemories(SqlMemories, PostgresPart):
    """`MemoryStore` and `MemoryMaintenance`."""

    async def read_memories(self, work: Work[T]) -> T:
        async def one_state(db: Connection) -> T:
            await db.execute(_ONE_STATE)
            await db.execute(_FRESH_PLANS)
            return await work(PostgresSql(db))

        return await self.database.hurry(one_state)

    async def write_memories(self, work: Work[T]) -> T:
        async def durable(db: Connection) -> T:
            await db.execute(DURABLE)
            await db.execute(_FRESH_PLANS)
            return await work(PostgresSql(db))

        return await self.database.hurry(durable)

    async def scrub_memories(self, *, at_once: bool) -> None:
        """Of a large store at the next sweep: see `retention`."""
        if not await self.database.run(unscrubbed):
            return
        if not at_once or await self.database.run(bytes_of) <= SMALL_BYTES:
            async with self.database.apart() as db:
                await scrub(db)
