"""Find the memories of a file that an agent's scope does not have yet, and store those.

Direct mode stores two equal memories as two, and a file may hold two. So what is there already is
counted: of as many equal ones as the scope has, the file adds those beyond. Where a schema says
which memories are one (`uniqueOn`), the one that was there before the import stays, and of those of
the file the last counts.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from functools import partial
from typing import NamedTuple

from memtree.memories.agents.agent_memory import StructuredWrite, WriteOutcome
from memtree.memories.agents.schemas.unique_on import canonical
from memtree.memories.memory import Memory, NewMemory
from memtree.memories.ports import ANY, MemoryFilter
from memtree.memories.scope import Scope
from memtree.memories.transfer.file_schemas import FileSchemas
from memtree.memories.transfer.import_options import ImportParts, off_loop

_PAGE = 1_000


class TakenMemory(NamedTuple):
    """A memory of the file: stored, or there already under this id. None: in a dry run."""

    id: str | None
    existing: bool


class AgentLines:
    """Lines of one import. `begin` it first."""

    def __init__(
        self, parts: ImportParts, scope: Scope, schemas: FileSchemas, *, dry_run: bool
    ) -> None:
        self._parts, self._scope, self._dry = parts, scope, dry_run
        self._schemas = schemas
        self._there: Counter[bytes] = Counter()  # equal memories of the scope, not met yet
        self._ids: dict[bytes, str] = {}
        self._keys: dict[bytes, str] = {}  # unique values that were there before
        self._end = 0  # all that was there before has smaller numbers

    async def begin(self) -> None:
        """Learn what the scope has."""
        async for memories in self._pages(ANY, None):
            self._end = max(self._end, memories[0].number + 1)
            size = sum(len(memory.text) for memory in memories)
            await off_loop(size, partial(self._know, memories))

    async def begin_kind(self, kind: str) -> None:
        """Learn what is unique of it: its schema came after `begin`."""
        if self._end:
            async for memories in self._pages(MemoryFilter(kind=kind), self._end):
                size = sum(len(memory.text) for memory in memories)
                await off_loop(size, partial(self._know_keys, memories))

    async def _pages(
        self, wanted: MemoryFilter, before: int | None
    ) -> AsyncIterator[Sequence[Memory]]:
        """Newest first."""
        while True:
            page = await self._parts.store.page(self._scope, wanted, before=before, limit=_PAGE)
            if page.memories:
                yield page.memories
            if not page.more or not page.memories:
                return
            before = page.memories[-1].number

    def _know(self, memories: Sequence[Memory]) -> None:
        for memory in memories:
            said = digest(memory)
            self._there[said] += 1
            self._ids.setdefault(said, memory.id)
        self._know_keys(memories)

    def _know_keys(self, memories: Sequence[Memory]) -> None:
        for memory in memories:
            if key := self._schemas.unique_key(memory):
                self._keys.setdefault(key, memory.id)

    async def store(self, memories: Sequence[NewMemory]) -> list[TakenMemory]:
        """All or none of those that are not there; a dry run stores none. Raises `MemoryLimit`."""
        taken: list[TakenMemory | None] = []
        writes: list[StructuredWrite] = []
        repeats: Counter[bytes] = Counter()
        for memory in memories:
            said, key = digest(memory), self._schemas.unique_key(memory)
            if key and key in self._keys:
                taken.append(TakenMemory(self._keys[key], existing=True))
            elif not key and self._there[said] > repeats[said]:
                repeats[said] += 1
                taken.append(TakenMemory(self._ids[said], existing=True))
            else:
                taken.append(None)
                writes.append(StructuredWrite(memory, key))
        stored: list[TakenMemory] = [TakenMemory(None, existing=False)] * len(writes)
        if writes and not self._dry:
            results = await self._parts.store.write(self._scope, writes, most=self._parts.most)
            stored = [
                TakenMemory(result.memory.id, result.outcome is WriteOutcome.UNCHANGED)
                for result in results or ()
            ]
        for said, count in repeats.items():  # `-=` goes through all that is there
            self._there[said] -= count
        new = iter(stored)
        return [each or next(new) for each in taken]


def digest(memory: Memory | NewMemory) -> bytes:
    """Digest what a memory says: equal for two that say the same."""
    said = memory.text if memory.data is None else canonical(memory.data)
    whole = json.dumps([memory.kind, memory.data is None, said])
    return hashlib.blake2b(whole.encode(), digest_size=16).digest()
