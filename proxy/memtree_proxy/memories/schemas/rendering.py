"""Schemas as JSON, in one shape that clients of both forms read."""

from __future__ import annotations

from typing import Any

import msgspec

from memtree.memories.agents.lifetime import milliseconds
from memtree.memories.agents.schemas.memory_schema import MemorySchema

Json = dict[str, Any]


def schema_json(schema: MemorySchema) -> Json:
    """`schema`: its JSON text, as it was posted; `json_schema`: the same as an object."""
    return {
        "name": schema.kind,
        "kind": schema.kind,
        "description": schema.description,
        "uniqueOn": list(schema.unique_on),
        "schema": schema.document,
        "json_schema": msgspec.Raw(schema.document.encode()),
        "createdAt": milliseconds(schema.created),
        "updatedAt": milliseconds(schema.updated),
    }
