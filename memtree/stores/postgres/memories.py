"""Memories in PostgreSQL: which locks they take."""

from __future__ import annotations

from typing import TypeVar

from memtree.stores.memories.sql import Work
from memtree.stores.memories.store import SqlMemories
from memtree.stores.postgres.pool import DURABLE, PostgresPart
from memtree.stores.postgres.queries import Connection
from memtree.stores.postgres.retention import SMALL_BYTES, bytes_of, scrub, unscrubbed
from memtree.stores.postgres.statements import PostgresSql

T = TypeVar("T")

_ONE_STATE = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"
# A plan that was kept from when the table was empty reads all of it, until the server's own upkeep
# has counted its rows.
_FRESH_PLANS = "SET LOCAL plan_cache_mode TO force_custom_plan"


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
