"""Port of a store of schemas."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from memtree.memories.agents.schemas.memory_schema import MemorySchema

UniqueKey = Callable[[Mapping[str, Any]], bytes]


class SchemaStore(Protocol):
    """Raises as `MemoryStore` does."""

    async def schemas(self, tenant: str) -> list[MemorySchema]:
        """By kind."""
        ...

    async def put_schema(
        self,
        tenant: str,
        schema: MemorySchema,
        unique_key: UniqueKey,
        *,
        most: int,
        once: bool = False,
        expected: MemorySchema | None = None,
    ) -> bool:
        """Keep it, or replace the one of its kind (whose `created` stays; with `once` that one
        stays, and nothing changes); whether it is new. With `expected` it only replaces one whose
        document, unique fields and description are those: otherwise `VersionConflict`.
        `Conflict` where the tenant has `most` others. `unique_key`: of the data of a memory, b""
        for none: where other fields are to be unique, the unique values of the kind's live memories
        are made anew in the same step; of those with equal ones the newest holds them, and all stay
        live. Whoever stores one meanwhile does so before it or after it."""
        ...

    async def delete_schema(self, tenant: str, kind: str) -> bool:
        """Delete the schema; return True if there was one. Its memories stay; their unique values
        go."""
        ...
