"""Memories in a SQLite file."""

from __future__ import annotations

import sqlite3
from typing import TypeVar

from memtree.stores.memories.sql import Work, finish
from memtree.stores.memories.store import SqlMemories
from memtree.stores.sqlite.database import SqlitePart
from memtree.stores.sqlite.retention import SWEEP_BYTES, scrub, unscrubbed
from memtree.stores.sqlite.statements import SqliteSql

T = TypeVar("T")


class SqliteMemories(SqlMemories, SqlitePart):
    """`MemoryStore` and `MemoryMaintenance`."""

    async def read_memories(self, work: Work[T]) -> T:
        def one_state(db: sqlite3.Connection) -> T:
            db.execute("BEGIN")
            try:
                return finish(work(SqliteSql(db)))
            finally:
                db.execute("ROLLBACK")

        return await self.database.read(one_state)

    async def write_memories(self, work: Work[T]) -> T:
        return await self.database.write(lambda db: finish(work(SqliteSql(db))))

    async def scrub_memories(self, *, at_once: bool) -> None:
        """Of a large file at the next deletion, unless it must be at once: see `retention`."""
        small = at_once or self.database.bytes() <= SWEEP_BYTES
        if small and await self.database.read(unscrubbed):
            await self.database.write_bare(scrub)
