"""What a back end says: how a transaction is run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TypeVar

from memtree.stores.sql import Work

T = TypeVar("T")


class MemoryTransactions(ABC):
    now: Callable[[], float]

    @abstractmethod
    async def read_memories(self, work: Work[T]) -> T:
        """`work` on one state of the store."""

    @abstractmethod
    async def write_memories(self, work: Work[T]) -> T:
        """All of `work` or nothing; what returned is there after a crash."""

    @abstractmethod
    async def scrub_memories(self, *, at_once: bool) -> None:
        """Get the bytes of erased rows out of the files. `at_once`: however long it takes."""
