"""Check the rules between stored rows of agent memories: a part of `memories/audit.py`. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from memtree.errors import StoreCorrupt
from memtree.memories.agents.schemas.memory_schema import MemorySchema
from memtree.memories.memory import Memory
from memtree.stores.memories.agent.schemas import read_schema
from memtree.stores.memories.tables.table_rows import MemoryRow, SchemaRow
from memtree.stores.memories.tables.unique_keys import key_of, unique_column

Lines = Iterator[tuple[int, str]]  # scope (0 if the line concerns none), and the problem


@dataclass(slots=True)
class AgentAudit:
    """Rows read so far. `schemas`: by (tenant, kind); `unique`: (scope, key)."""

    schemas: dict[tuple[str, str], MemorySchema] = field(default_factory=dict)
    unique: set[tuple[int, str]] = field(default_factory=set)

    def read_schemas(self, rows: Iterable[SchemaRow]) -> Lines:
        """Read the schemas. Call this before reading memories."""
        for row in rows:
            try:
                schema = read_schema(*row[1:])
            except StoreCorrupt as error:
                yield 0, f"schema {row.kind}: {error.message}"
            else:
                self.schemas[row.tenant, row.kind] = schema

    def read_counted(self, row: MemoryRow, memory: Memory | None, tenant: str) -> Lines:
        """Check that each scope has a key once, and that it is the key of the memory's values.
        `memory`: None if it does not decode."""
        if not row.unique_key:
            return
        if (row.scope, row.unique_key) in self.unique:
            yield row.scope, f"memory {row.number}: another one has its unique values"
        self.unique.add((row.scope, row.unique_key))
        schema = self.schemas.get((tenant, row.kind))
        if memory is None or schema is None:
            return
        if unique_column(row.kind, key_of(schema, memory.data)) != row.unique_key:
            yield row.scope, f"memory {row.number}: its unique values are others"
