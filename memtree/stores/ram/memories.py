"""Memories that are gone with the process: in a SQLite database without a file."""

from __future__ import annotations

import sqlite3
from typing import TypeVar

from memtree.stores.memories.sql import Work, finish
from memtree.stores.memories.store import SqlMemories
from memtree.stores.ram.database import RamPart
from memtree.stores.sqlite.connection import transaction
from memtree.stores.sqlite.statements import SqliteSql

T = TypeVar("T")


class RamMemories(SqlMemories, RamPart):
    """`MemoryStore` and `MemoryMaintenance`."""

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
