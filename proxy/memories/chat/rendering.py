"""Memories as the JSON of chat memory."""

from __future__ import annotations

from typing import Any

from memtree.memories.memory import Memory
from memtree.memories.rules.expiry import shown
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
