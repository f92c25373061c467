"""`SqliteStore`: all ports of a store in one file. The default; nothing to install.

Reads and writes have a thread and a connection each, so neither blocks the event loop, and in WAL
mode readers do not wait for writers. Any number of processes may use the file. Each port's methods
stand with their SQL: `trees`, `plans`, `retention`, `claims`, `keys`, `snapshot`. Does not hold
message text or credentials.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from memtree.errors import StoreCorrupt
from memtree.ports.store import StoreStats
from memtree.stores.dump import problems
from memtree.stores.memories.store import SqlMemories
from memtree.stores.sql import Work, finish
from memtree.stores.sqlite.claims import SqliteClaims
from memtree.stores.sqlite.conversations import SqliteConversations
from memtree.stores.sqlite.database import BUSY_TIMEOUT, SqliteDatabase, SqlitePart
from memtree.stores.sqlite.keys import SqliteKeys
from memtree.stores.sqlite.plans import SqlitePlans
from memtree.stores.sqlite.retention import SWEEP_BYTES, SqliteRetention, scrub, unscrubbed
from memtree.stores.sqlite.snapshot import SqliteCopies, SqliteSnapshot
from memtree.stores.sqlite.statements import SqliteSql
from memtree.stores.sqlite.trees import SqliteTrees

T = TypeVar("T")

_STATS = """
    SELECT (SELECT count(*) FROM nodes), (SELECT count(*) FROM nodes WHERE level > 0),
        (SELECT count(*) FROM addresses), (SELECT count(*) FROM vectors)"""


class SqliteStore(
    SqliteTrees,
    SqlitePlans,
    SqliteConversations,
    SqliteRetention,
    SqliteClaims,
    SqliteKeys,
    SqliteCopies,
):
    """Raises as `SqliteDatabase` does. `database` may be shared with other ports; `close` closes
    it for all of them."""

    def __init__(
        self,
        path: Path,
        *,
        busy_timeout: float = BUSY_TIMEOUT,
        now: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(SqliteDatabase(path, busy_timeout), now)

    async def check(self) -> list[str]:
        """In a thread and with a connection of its own: it may take a second per million tokens."""
        self.database.require_open()
        return await asyncio.to_thread(self._check)

    def _check(self) -> list[str]:
        try:
            with self.database.snapshot() as db:
                snapshot = SqliteSnapshot(db)
                return snapshot.damage() + problems(snapshot)
        except StoreCorrupt as error:
            return [error.message]

    async def stats(self) -> StoreStats:
        def work(db: sqlite3.Connection) -> StoreStats:
            nodes, inner, addresses, vectors = db.execute(_STATS).fetchone()
            return StoreStats(nodes, nodes - inner, addresses, vectors, self.database.bytes())

        return await self.database.read(work)

    def memories(self) -> SqliteMemories:
        return SqliteMemories(self.database, self.now)

    async def close(self) -> None:
        await self.database.close()


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
