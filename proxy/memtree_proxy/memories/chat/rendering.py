"""Memories as the JSON of chat memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memtree.memories.fields.times import shown
from memtree.memories.memory import Memory
from memtree.memories.search.hits import MemoryHit
from memtree_proxy.memories.answers import updates_json

Json = dict[str, Any]


def memory_json(memory: Memory, now: float, twins: Sequence[str] = ()) -> Json:
    """`now`: unix seconds, when it has its state. `twins`: ids of those that say the same."""
    return {
        "id": memory.id,
        "content": memory.text,
        "category": memory.category,
        "source_type": memory.source_type,
        "created_at": shown(memory.created),
        "updated_at": shown(memory.updated),
        "expires_at": _time(memory.expires),
        "deleted_at": _time(memory.deleted),
        "last_confirmed_at": _time(memory.last_confirmed),
        "tags": memory.tags,
        "message_id": (memory.source.message or None) if memory.source else None,
        "tainted": memory.tainted,
        "standing": bool(memory.standing),
        "state": memory.state(now),
        "possible_update_of": updates_json(memory, "content"),
        "twins": twins,
        "version": memory.version,
    }


def hit_json(hit: MemoryHit, now: float, twins: Sequence[str] = ()) -> Json:
    return {**memory_json(hit.memory, now, twins), "relevance": round(hit.relevance, 2)}


def _time(seconds: float | None) -> str | None:
    return None if seconds is None else shown(seconds)
