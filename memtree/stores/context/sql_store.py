"""`SqlStore`: all ports of a store in one object, whichever database it is."""

from __future__ import annotations

import asyncio

from memtree.errors import StoreCorrupt
from memtree.ports.context_store import StoreSchema, StoreStats
from memtree.stores.context.plans import Plans
from memtree.stores.context.retention import Retention
from memtree.stores.context.store_copy import Copies, problems
from memtree.stores.context.stored_conversations import Conversations
from memtree.stores.context.tenants import Keys
from memtree.stores.context.trees import Trees
from memtree.stores.memories.sql_memories import SqlMemories
from memtree.stores.schema import SINCE, VERSION

_STATS = """
    SELECT (SELECT count(*) FROM nodes), (SELECT count(*) FROM nodes WHERE level > 0),
        (SELECT count(*) FROM addresses), (SELECT count(*) FROM vectors)"""


class SqlStore(Trees, Plans, Conversations, Retention, Keys, Copies):
    """All ports over one `Database`, and raises as that does. Other ports may share the database;
    `close` closes it for all of them."""

    async def check(self) -> list[str]:
        """Check the whole store, in a thread and on a connection of its own: it may take a second
        per million tokens."""
        await self.database.reach()
        return await asyncio.to_thread(self._check)

    def _check(self) -> list[str]:
        try:
            with self.database.snapshot() as snapshot:
                return snapshot.damage() + problems(snapshot)
        except StoreCorrupt as error:
            return [error.message]

    async def stats(self) -> StoreStats:
        [(nodes, inner, addresses, vectors)] = await self.database.read(
            lambda sql: sql.many("iiii", _STATS, {}), patient=True
        )
        size = await self.database.bytes()
        return StoreStats(
            nodes, nodes - inner, addresses, vectors, size, StoreSchema(VERSION, SINCE)
        )

    def memories(self) -> SqlMemories:
        return SqlMemories(self.database, self.now)

    async def close(self) -> None:
        await self.database.close()
