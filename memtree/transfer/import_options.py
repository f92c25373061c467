"""Options of an import, the store that it needs, and how it goes through a file."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Protocol, TypeVar

from memtree.agents.agent_memory import AgentMemories
from memtree.agents.schema_book import SchemaBook
from memtree.agents.schemas_memory_schema import SchemaStore
from memtree.memories.memory_store import MemoryMaintenance, MemoryStore
from memtree.memories.saving import MemorySaving
from memtree.memories.scope import Scope
from memtree.memories.user_memories import MemoryGroups, UserSettingsStore
from memtree.ports.clock import Clock
from memtree.process.threads import counted
from memtree.transfer.file_items import AUTO

BATCH, BATCH_SECONDS = 200, 0.25  # lines that are read, and memories that are stored, at once
OFF_LOOP_BYTES = 16 * 1024  # a larger file is read in a thread: 100 lines take 30 ms
LINE_BYTES = 256  # a file may have a line more for each: our own exports take as many or more

Result = TypeVar("Result")


class TransferStore(
    MemoryStore,
    MemoryGroups,
    UserSettingsStore,
    MemoryMaintenance,
    AgentMemories,
    SchemaStore,
    Protocol,
):
    """Store as export and import need it."""


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """`dry_run`: nothing is stored, the report says what would be. `keep_ids`: the scope is to
    become what an export holds, with its ids, histories, tombstones and settings."""

    format: str = AUTO
    dry_run: bool = False
    keep_ids: bool = False


@dataclass(frozen=True, slots=True)
class ImportParts:
    """`most`: memories of a tenant (0: any number). `allow_secrets`: in the data of agents.
    `most_lines`: of a short file."""

    store: TransferStore
    schemas: SchemaBook
    saving: MemorySaving
    clock: Clock
    new_memory_id: Callable[[], str]
    new_group_id: Callable[[], str]
    max_text_chars: int
    most: int
    allow_secrets: bool = False
    most_lines: int = 1_000_000

    def too_many(self, lines: int, size: int) -> str:
        """Why no more than these lines of a file of `size` bytes are read; empty while more are. A
        line costs some 0.2 ms of CPU however short it is."""
        most = self.most_lines + size // LINE_BYTES
        return f"the file has more than {most:,} entries; import the rest as another file" * (
            lines >= most
        )

    async def room(self, scope: Scope) -> int | None:
        """How many live memories the tenant may have beside those that it has; None: any."""
        if not self.most:
            return None
        scopes = await self.store.memory_scopes(scope.tenant)
        return max(0, self.most - sum(count for _, count in scopes))


async def off_loop(size: int, work: Callable[[], Result]) -> Result:
    """`work` here, or in a thread where a file of `size` bytes would hold up everybody else."""
    if size > OFF_LOOP_BYTES:
        return await asyncio.to_thread(counted, work)
    return counted(work)


def _some(results: Iterator[Result]) -> list[Result]:
    """A batch: what somebody hung up on ends with it."""
    batch: list[Result] = []
    end = time.thread_time() + BATCH_SECONDS
    for result in islice(results, BATCH):
        batch.append(result)
        if time.thread_time() > end:
            break
    return batch


async def batches(size: int, results: Iterator[Result]) -> AsyncIterator[list[Result]]:
    """Yield the results of reading a file of `size` bytes, some at a time."""
    while batch := await off_loop(size, lambda: _some(results)):
        yield batch
        await asyncio.sleep(0)  # a small file is many memories, too
