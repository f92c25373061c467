"""The schemas of a file and of the tenant: which are kept, and what they say of memories.

A schema of the file is kept where its kind has none; another one that is there stays.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence

from memtree.agents.limits import checked_schema
from memtree.agents.schema_book import PutSchema, SchemaBook
from memtree.agents.schema_validation import CompiledSchema, compiled, violation_of
from memtree.agents.schemas_memory_schema import MemorySchema, checked_kind, unique_key
from memtree.errors import BadRequest, Conflict, SchemaInvalid
from memtree.memories.memory import Memory, NewMemory
from memtree.transfer.file_items import FileSchema, LineResult, LineStatus

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
        try:
            there, created = await self._of_kind(item.schema)
        except (SchemaInvalid, BadRequest, Conflict) as error:
            return LineResult(item.line, LineStatus.INVALID, "schema", error.message)
        if created:
            self.kept += 1
            return None
        if _said(there) == _said(item.schema):
            return None
        why = "another schema of this name is there, and stays"
        return LineResult(item.line, LineStatus.SKIPPED, "schema_differs", why)

    async def _of_kind(self, new: MemorySchema) -> PutSchema:
        """The one that is there, or else the new one."""
        if new.kind in self._known:
            return PutSchema(self._known[new.kind], created=False)
        put = await self._keep(new)
        self._known[new.kind] = put.schema
        return put

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
