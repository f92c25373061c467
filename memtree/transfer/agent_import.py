"""Import a file as new memories of an agent, under schemas.

A schema of the file is kept where its kind has none; another one that is there stays. Nothing that
is stored is overwritten, a batch is stored whole or not at all, and the same file again adds what
is still missing.

Direct mode stores two equal memories as two, and a file may hold two. So what is there already is
counted: of as many equal ones as the scope has, the file adds those beyond. Where a schema says
which memories are one (`uniqueOn`), the one that was there before the import stays, and of those of
the file the last counts.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial

from memtree.agents.agent_memory import StructuredWrite, WriteOutcome
from memtree.agents.memory_schema import MemorySchema, canonical, checked_kind, unique_key
from memtree.agents.schema_book import PutSchema, SchemaBook
from memtree.agents.schema_limits import checked_schema
from memtree.agents.schema_validation import CompiledSchema, compiled, violation_of
from memtree.errors import BadRequest, Conflict, SchemaInvalid
from memtree.memories.memory import Memory, NewMemory
from memtree.memories.memory_store import MemoryFilter, all_pages
from memtree.memories.scope import Scope
from memtree.transfer.file_import import (
    ImportOptions,
    ImportParts,
    NewLine,
    NewMemoriesRun,
    TakenMemory,
    off_loop,
)
from memtree.transfer.file_items import (
    FileItem,
    FileMemory,
    FileSchema,
    ImportReport,
    LineResult,
    LineStatus,
)
from memtree.transfer.import_rules import importable
from memtree.transfer.memory_file import MemoryFile

_UNKNOWN = "kind: there is no schema of this name."


class FileSchemas:
    """Schemas of one import. `begin` it first. `kept`: how many schemas the file brought."""

    def __init__(self, book: SchemaBook, tenant: str, *, dry_run: bool) -> None:
        self._book, self._tenant, self._dry = book, tenant, dry_run
        self._known: dict[str, MemorySchema] = {}
        self._rehearsed: dict[str, CompiledSchema] = {}  # those that a dry run does not store
        self.kept = 0

    async def begin(self) -> None:
        schemas = await self._book.list(self._tenant)
        self._known = {schema.kind: schema for schema in schemas}

    def knows(self, kind: str) -> bool:
        return kind in self._known

    async def take(self, item: FileSchema) -> LineResult | None:
        """Why it was not kept; None where it was, or the same is there."""
        new = item.schema
        there, created = self._known.get(new.kind), False
        if there is None:
            try:
                there, created = await self._keep(new)
            except (SchemaInvalid, BadRequest, Conflict) as error:
                return LineResult(item.line, LineStatus.INVALID, "schema", error.message)
            self._known[new.kind] = there
        self.kept += created
        if created or _said(there) == _said(new):
            return None
        why = "another schema of this name is there, and stays"
        return LineResult(item.line, LineStatus.SKIPPED, "schema_differs", why)

    async def _keep(self, new: MemorySchema) -> PutSchema:
        """Another request may have made one of its kind since `begin`: that one stays."""
        if self._dry:
            checked = checked_schema(new.document, new.unique_on)
            self._rehearsed[new.kind] = await asyncio.to_thread(compiled, checked)
            return PutSchema(new, created=True)
        try:
            return await self._book.create(
                self._tenant, new.kind, new.document, new.unique_on, new.description
            )
        except Conflict:
            schemas = await self._book.list(self._tenant)
            there = next((schema for schema in schemas if schema.kind == new.kind), None)
            if there is None:  # there are too many
                raise
            return PutSchema(there, created=False)

    async def problems(self, memories: Sequence[NewMemory]) -> list[str]:
        """Return the fault that the schemas find in each memory, "" where nothing is wrong. The
        stored schemas are read once for all."""
        problems = [self._problem(memory) for memory in memories]
        left = [memory for memory, why in zip(memories, problems, strict=True) if why is None]
        items = [(memory.kind, memory.data or {}, "") for memory in left]
        violations = await self._book.violations(self._tenant, items) if items else ()
        errors = iter(["" if error is None else error.message for _, error in violations])
        return [next(errors) if why is None else why for why in problems]

    def _problem(self, memory: NewMemory) -> str | None:
        """None: the stored schemas say."""
        if memory.kind in self._rehearsed:
            broken = violation_of(self._rehearsed[memory.kind], memory.data or {})
            return "" if broken is None else broken.message("data")
        if self._rehearsed and memory.kind not in self._known:
            return _UNKNOWN
        try:
            checked_kind(memory.kind, "kind")
        except BadRequest as error:
            return error.message
        return None

    def unique_key(self, memory: Memory | NewMemory) -> bytes:
        """b"" where nothing of it is unique."""
        schema = self._known.get(memory.kind)
        if schema is None or memory.data is None:
            return b""
        return unique_key(schema, memory.data)


def _said(schema: MemorySchema) -> tuple[object, frozenset[str]]:
    return json.loads(schema.document), frozenset(schema.unique_on)


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
            made = importable(
                item,
                parts.new_memory_id(),
                parts.clock.now(),
                parts.max_text_chars,
                file.format,
                of_agent=True,
                allow_secrets=parts.allow_secrets,
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
