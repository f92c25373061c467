"""How memories read and write: a search and a page need several statements of one state, and what
was saved is there after a crash."""

from __future__ import annotations

from typing import TypeVar

from memtree.stores.parts import SqlPart
from memtree.stores.sql import Work

T = TypeVar("T")


class MemoryTransactions(SqlPart):
    async def read_memories(self, work: Work[T]) -> T:
        return await self.database.read_state(work)

    async def write_memories(self, work: Work[T]) -> T:
        return await self.database.write(work, durable=True)

    async def scrub_memories(self, *, at_once: bool) -> None:
        await self.database.scrub(at_once=at_once)
