"""`RamStore`: the same behaviour as the other stores, gone with the process.

For tests and for `memtree compress` on a single file. Each port's methods are in the files beside
this one, over the dicts of `database`.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from typing import TypeVar

from memtree.ports.store import StoreStats
from memtree.stores.dump import problems
from memtree.stores.memories.sql import Work, finish
from memtree.stores.memories.store import SqlMemories
from memtree.stores.ram.claims import RamClaims
from memtree.stores.ram.conversations import RamConversations
from memtree.stores.ram.database import RamDatabase, RamPart
from memtree.stores.ram.keys import RamKeys
from memtree.stores.ram.plans import RamPlans
from memtree.stores.ram.retention import RamRetention
from memtree.stores.ram.snapshot import RamCopies, RamSnapshot
from memtree.stores.ram.trees import RamTrees
from memtree.stores.sqlite.connection import transaction
from memtree.stores.sqlite.statements import SqliteSql

T = TypeVar("T")


class RamStore(RamTrees, RamPlans, RamConversations, RamRetention, RamClaims, RamKeys, RamCopies):
    """All ports of a store in dicts. `database` may be shared with other ports."""

    def __init__(self, *, now: Callable[[], float] = time.time) -> None:
        super().__init__(RamDatabase(), now)

    async def check(self) -> list[str]:
        self.database.require_open()
        return problems(RamSnapshot(self.database))

    async def stats(self) -> StoreStats:
        self.database.require_open()
        tenants = self.database.tenants.values()
        nodes = sum(len(data.nodes) for data in tenants)
        leaves = sum(row.level == 0 for data in tenants for row in data.nodes.values())
        addresses = sum(len(data.addresses) for data in tenants)
        return StoreStats(nodes, leaves, addresses, sum(len(data.vectors) for data in tenants), 0)

    def memories(self) -> RamMemories:
        return RamMemories(self.database, self.now)

    async def close(self) -> None:
        self.database.close()


class RamMemories(SqlMemories, RamPart):
    """`MemoryStore` and `MemoryMaintenance`, in a SQLite database without a file."""

    async def read_memories(self, work: Work[T]) -> T:
        return await self.write_memories(work)

    async def write_memories(self, work: Work[T]) -> T:
        self.database.require_open()
        db = self.database.memories
        return transaction(db, lambda db: finish(work(SqliteSql(db))))

    async def sweep_memories(self, now: float, deleted_days: int) -> int:
        def know_recipes(db: sqlite3.Connection) -> None:
            db.execute("DELETE FROM recipes")
            db.executemany("INSERT INTO recipes VALUES (?, ?, ?)", self.database.recipes.values())

        self.database.require_open()
        transaction(self.database.memories, know_recipes)
        return await super().sweep_memories(now, deleted_days)

    async def scrub_memories(self, *, at_once: bool) -> None:
        """There is no file."""
