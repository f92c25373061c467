"""Compiled schemas of the newest tenants that used them, by their text.

A schema that was changed has another text, so another process's change holds from the next look at
the store on. Bounded by the bytes of the texts: a compiled schema takes some ten times as much.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict

from memtree.memories.schemas.document.limits import checked_schema
from memtree.memories.schemas.memory_schema import MemorySchema
from memtree.memories.schemas.validation import CompiledSchema, compiled

MAX_ENTRIES = 500
MAX_BYTES = 4 << 20  # of their texts


class CompiledSchemas:
    """Safe for concurrent calls of one event loop."""

    def __init__(self, entries: int = MAX_ENTRIES, size: int = MAX_BYTES) -> None:
        self._most, self._size = entries, size
        self._rows: OrderedDict[tuple[str, str], CompiledSchema] = OrderedDict()
        self._held = 0

    def __len__(self) -> int:
        return len(self._rows)

    async def of(self, tenant: str, schema: MemorySchema) -> CompiledSchema:
        """Compiled in a thread: the first one loads the library."""
        key = (tenant, schema.document)
        found = self._rows.get(key)
        if found is None:
            found = await asyncio.to_thread(_compiled, schema.document)
            self._keep(key, found)
        if key in self._rows:
            self._rows.move_to_end(key)
        return found

    def _keep(self, key: tuple[str, str], found: CompiledSchema) -> None:
        if key not in self._rows:
            self._rows[key] = found
            self._held += len(key[1])
        while len(self._rows) > self._most or (self._held > self._size and len(self._rows) > 1):
            (_, text), _ = self._rows.popitem(last=False)
            self._held -= len(text)


def _compiled(text: str) -> CompiledSchema:
    return compiled(checked_schema(text))
