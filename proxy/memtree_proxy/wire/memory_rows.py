"""Rows of memories, and the answers built from them, for chats and users alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from memtree.memories.book import SaveResult
from memtree.memories.memory import Memory
from memtree.memories.relation.relation import Relation
from memtree.memories.search.ranking import MemoryHit
from memtree.memories.times import shown
from memtree.memories.user_memories import MemoryGroup
from memtree_proxy.wire.values import Answer, maybe_time, where_given


class ShownRow(NamedTuple):
    """Memory as answers show it. `now`: unix seconds at which its state holds. `twins`: ids of
    memories that say the same. `group`: the group shown in a user's row; `groups`: ids of all its
    groups."""

    memory: Memory
    now: float
    twins: Sequence[str] = ()
    group: MemoryGroup | None = None
    groups: Sequence[str] = ()


def said(memory: Memory) -> dict[str, Any]:
    """Return what a version of a memory says, beside its text."""
    return {
        "category": memory.category,
        "tags": memory.tags,
        "expires_at": maybe_time(memory.expires),
        "tainted": memory.tainted,
        "version": memory.version,
    }


def state_of(row: ShownRow, update: type[Answer]) -> dict[str, Any]:
    """Return the fields that show a memory's state. `update`: the Struct of a memory that it may
    replace."""
    memory = row.memory
    return {
        "state": memory.state(row.now).value,
        "standing": bool(memory.standing),
        "possible_update_of": [
            update(id=each.id, text=each.text, differs=each.differs) for each in memory.updates
        ],
        "twins": row.twins,
        "created_at": shown(memory.created),
        "updated_at": shown(memory.updated),
        "deleted_at": maybe_time(memory.deleted),
        "last_confirmed_at": maybe_time(memory.last_confirmed),
    }


def saved(result: SaveResult, update: type[Answer]) -> dict[str, Any]:
    """Return the fields that show the duplicate check of a saved memory."""
    near = () if result.existing else result.near
    return {
        "possible_update_of": [
            update(
                id=each.memory.id,
                text=each.memory.text,
                relevance=round(each.relevance, 2),
                differs=each.differs,
            )
            for each in near
            if each.relation is Relation.POSSIBLE_UPDATE
        ],
        "dedup": where_given("deferred" if result.deferred else ""),
        "degraded": where_given(result.degraded),
    }


def nearness(hit: MemoryHit) -> dict[str, Any]:
    """Return the fields that show how near a hit is to the query."""
    return {"relevance": round(hit.relevance, 2), "weak": where_given(hit.weak)}
