"""A file as new memories of an agent: what `file_import.py` does for texts, under schemas.

Nothing that is stored is overwritten, a batch is stored whole or not at all, and the same file
again adds what is still missing.

Find the memories of a file that an agent's scope does not have yet, and store those.

Direct mode stores two equal memories as two, and a file may hold two. So what is there already is
counted: of as many equal ones as the scope has, the file adds those beyond. Where a schema says
which memories are one (`uniqueOn`), the one that was there before the import stays, and of those of
the file the last counts.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial

from memtree.agents.agent_memory import StructuredWrite, WriteOutcome
from memtree.agents.schemas_memory_schema import canonical
from memtree.memories.memory import Memory, NewMemory
from memtree.memories.memory_store import MemoryFilter, all_pages
from memtree.memories.scope import Scope
from memtree.transfer.file_items import (
    FileItem,
    FileMemory,
    FileSchema,
    ImportReport,
    LineResult,
    LineStatus,
)
from memtree.transfer.file_schemas import FileSchemas
from memtree.transfer.import_options import (
    ImportOptions,
    ImportParts,
    off_loop,
)
from memtree.transfer.import_rules import structured
from memtree.transfer.memory_file import MemoryFile
from memtree.transfer.transfer_file_import import NewLine, NewMemoriesRun, TakenMemory


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
        async for memories in all_pages(self._parts.store, self._scope):
            self._end = max(self._end, memories[0].number + 1)
            size = sum(len(memory.text) for memory in memories)
            await off_loop(size, partial(self._know, memories))

    async def begin_kind(self, kind: str) -> None:
        """Learn what is unique of it: its schema came after `begin`."""
        if self._end:
            wanted = MemoryFilter(kind=kind)
            async for memories in all_pages(self._parts.store, self._scope, wanted, self._end):
                size = sum(len(memory.text) for memory in memories)
                await off_loop(size, partial(self._know_keys, memories))

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


class AgentImport(NewMemoriesRun):
    """One import. `run` it once. Groups and settings are of users: an agent has none."""

    def __init__(self, parts: ImportParts, scope: Scope, options: ImportOptions) -> None:
        super().__init__(parts, scope, options)
        self._schemas = FileSchemas(parts.schemas, scope.tenant, dry_run=options.dry_run)
        self._lines = AgentLines(parts, scope, self._schemas, dry_run=options.dry_run)

    async def run(self, raw: bytes) -> ImportReport:
        file = await self._read(raw)
        await self._schemas.begin()
        await self._lines.begin()
        with self._storing():
            async for batch in self._batches(len(raw), self._prepared(file)):
                for each in batch:
                    if isinstance(each, LineResult):
                        self._report.add(each)
                    elif isinstance(each, FileSchema):
                        await self._take_schema(each)
                    self._note_ends(each)
                new = [each for each in batch if isinstance(each, NewLine)]
                await self._take(await self._sound(new))
        self._report.schemas = self._schemas.kept
        return self._reported(file.format)

    def _prepared(self, file: MemoryFile) -> Iterator[NewLine | FileItem]:
        """Runs in a thread where the file is large."""
        parts = self._parts
        for item in file.items:
            if not isinstance(item, FileMemory):
                yield item
                continue
            made = structured(
                item,
                parts.new_memory_id(),
                parts.clock.now(),
                parts.max_text_chars,
                file.format,
                parts.allow_secrets,
            )
            yield made if isinstance(made, LineResult) else NewLine(item, made)

    async def _take_schema(self, item: FileSchema) -> None:
        kind = item.schema.kind
        known = self._schemas.knows(kind)
        if result := await self._schemas.take(item):
            self._report.add(result)
        if not known and self._schemas.knows(kind):
            await self._lines.begin_kind(kind)

    async def _sound(self, lines: Sequence[NewLine]) -> list[NewLine]:
        """Return the lines that keep to their schema; the others are told."""
        problems = await self._schemas.problems([line.memory for line in lines])
        for line, problem in zip(lines, problems, strict=True):
            if problem:
                result = LineResult(line.item.line, LineStatus.INVALID, "schema", problem)
                self._report.add(result)
        return [line for line, problem in zip(lines, problems, strict=True) if not problem]

    async def _store(self, lines: Sequence[NewLine]) -> Sequence[TakenMemory]:
        return await self._lines.store([line.memory for line in lines])
