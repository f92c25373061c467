"""Memories as the JSON of chat memory, and their changes as server-sent events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from memtree.memories.duplicates import NearMemory
from memtree.memories.memory import Memory
from memtree.memories.ports import ChangeEvent
from memtree.memories.rules.expiry import shown
from memtree.memories.rules.relation import Relation
from memtree.memories.search.hits import MemoryHit

Json = dict[str, Any]


def memory_json(memory: Memory) -> Json:
    return {
        "id": memory.id,
        "content": memory.text,
        "category": memory.category,
        "source_type": memory.source_type,
        "created_at": shown(memory.created),
        "updated_at": shown(memory.updated),
        "expires_at": None if memory.expires is None else shown(memory.expires),
        "tags": memory.tags,
        "message_id": (memory.source.message or None) if memory.source else None,
        "tainted": memory.tainted,
        "version": memory.version,
    }


def hit_json(hit: MemoryHit) -> Json:
    return {**memory_json(hit.memory), "relevance": round(hit.relevance, 2)}


def updates_json(near: Sequence[NearMemory]) -> list[Json]:
    """The memories that a new one may replace, the nearest first."""
    return [
        {
            "id": one.memory.id,
            "content": one.memory.text,
            "relevance": round(one.relevance, 2),
            "differs": one.differs,
        }
        for one in near
        if one.relation is Relation.POSSIBLE_UPDATE
    ]


def event(change: ChangeEvent, count: int) -> bytes:
    """`count`: of the chat's memories. Holds no text."""
    data = {"type": change.type, "id": change.id, "count": count, "version": change.version}
    return b"id: %d\ndata: %s\n\n" % (change.changed, msgspec.json.encode(data))
