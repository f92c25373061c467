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
from collections.abc import AsyncIterator, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from memtree.errors import MemoryLimit
from memtree.memories.agents.agent_memory import StructuredWrite, WriteOutcome
from memtree.memories.agents.schemas.memory_schema import canonical
from memtree.memories.memory import Memory, NewMemory
from memtree.memories.ports import ANY, MemoryFilter
from memtree.memories.scope import Scope
from memtree.memories.transfer.checked import structured
from memtree.memories.transfer.file_import import LIMIT, NO_END
from memtree.memories.transfer.file_items import (
    FileEnd,
    FileHeader,
    FileItem,
    FileMemory,
    FileSchema,
    LineResult,
    LineStatus,
)
from memtree.memories.transfer.file_schemas import FileSchemas
from memtree.memories.transfer.import_options import (
    ImportOptions,
    ImportParts,
    batches,
    off_loop,
)
from memtree.memories.transfer.memory_file import MemoryFile, read_memory_file
from memtree.memories.transfer.report import ImportReport, ReportBuilder

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


class AgentLine(NamedTuple):
    """A memory of a file that may be stored, as far as its schema allows it."""

    line: int
    memory: NewMemory


class AgentImport:
    """One import. `run` it once."""

    def __init__(self, parts: ImportParts, scope: Scope, options: ImportOptions) -> None:
        self._parts, self._scope, self._dry = parts, scope, options.dry_run
        self._format = options.format
        self._report = ReportBuilder(dry_run=options.dry_run, keep_ids=False)
        self._schemas = FileSchemas(parts.schemas, scope.tenant, dry_run=options.dry_run)
        self._lines = AgentLines(parts, scope, self._schemas, dry_run=options.dry_run)
        self._room: int | None = None
        self._begun = self._ended = False

    async def run(self, raw: bytes) -> ImportReport:
        file = await off_loop(len(raw), lambda: read_memory_file(raw, self._format))
        self._room = await self._parts.room(self._scope) if self._dry else None
        await self._schemas.begin()
        await self._lines.begin()
        try:
            await self._go_through(len(raw), file)
        finally:  # also of an import that somebody hung up on, or that the store stopped
            if not self._dry:
                self._parts.saving.stored_without_vectors(self._scope)
        if self._begun and not self._ended and not self._report.stopped:
            self._report.stopped = NO_END
        self._report.schemas = self._schemas.kept
        return self._report.report(file.format)

    async def _go_through(self, size: int, file: MemoryFile) -> None:
        seen = 0
        async for batch in batches(size, self._prepared(file)):
            seen += len(batch)
            for each in batch:
                await self._note(each)
            await self._take([each for each in batch if isinstance(each, AgentLine)])
            if too_many := self._parts.too_many(seen, size):
                self._report.stopped = too_many
            if self._report.stopped:
                return

    def _prepared(self, file: MemoryFile) -> Iterator[AgentLine | FileItem]:
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
                allow_secrets=parts.allow_secrets,
            )
            yield made if isinstance(made, LineResult) else AgentLine(item.line, made)

    async def _note(self, item: AgentLine | FileItem) -> None:
        """Groups and settings are of users: an agent has none."""
        if isinstance(item, LineResult):
            self._report.add(item)
        elif isinstance(item, FileSchema):
            await self._take_schema(item)
        self._begun = self._begun or isinstance(item, FileHeader)
        self._ended = self._ended or isinstance(item, FileEnd)

    async def _take_schema(self, item: FileSchema) -> None:
        kind = item.schema.kind
        known = self._schemas.knows(kind)
        if result := await self._schemas.take(item):
            self._report.add(result)
        if not known and self._schemas.knows(kind):
            await self._lines.begin_kind(kind)

    async def _take(self, lines: list[AgentLine]) -> None:
        problems = await self._schemas.problems([line.memory for line in lines])
        sound = []
        for line, problem in zip(lines, problems, strict=True):
            if problem:
                self._report.add(LineResult(line.line, LineStatus.INVALID, "schema", problem))
            else:
                sound.append(line)
        if self._dry:
            await self._rehearse(sound)
            return
        try:
            taken = await self._lines.store([line.memory for line in sound])
        except MemoryLimit:
            await self._fill(sound)
            return
        for line, stored in zip(sound, taken, strict=True):
            self._tell(line, stored)

    async def _fill(self, lines: list[AgentLine]) -> None:
        """Store as many of a batch as there is room for, in their order."""
        for line in lines:
            try:
                (stored,) = await self._lines.store([line.memory])
            except MemoryLimit:
                self._stop(line)
                return
            self._tell(line, stored)

    async def _rehearse(self, lines: list[AgentLine]) -> None:
        for line in lines:
            (stored,) = await self._lines.store([line.memory])
            if not stored.existing and self._room is not None:
                if self._room == 0:
                    self._stop(line)
                    return
                self._room -= 1
            self._tell(line, stored)

    def _stop(self, line: AgentLine) -> None:
        self._report.stopped = f"{LIMIT}, in line {line.line}"

    def _tell(self, line: AgentLine, stored: TakenMemory) -> None:
        status = LineStatus.DUPLICATE if stored.existing else LineStatus.IMPORTED
        tainted = line.memory.tainted and not stored.existing
        self._report.add(LineResult(line.line, status, "", "", stored.id, tainted))
