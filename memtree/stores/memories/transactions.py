"""What a back end says: how a transaction is run."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from memtree.stores.memories.sql import Work

T = TypeVar("T")


class MemoryTransactions:
    now: Callable[[], float]

    async def read_memories(self, work: Work[T]) -> T:
        """`work` on one state of the store."""
        raise NotImplementedError

    async def write_memories(self, work: Work[T]) -> T:
        """All of `work` or nothing; what returned is there after a crash."""
        raise NotImplementedError

    async def scrub_memories(self, *, at_once: bool) -> None:
        """Get the bytes of erased rows out of the files. `at_once`: however long it takes."""
        raise NotImplementedError
