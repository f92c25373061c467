"""User memories and their groups as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memtree.memories.fields.times import shown
from memtree.memories.memory import Memory, MemorySource
from memtree.memories.users.user_memories import MemoryGroup, UserSettings
from memtree_proxy.memories.answers import updates_json

Json = dict[str, Any]


def memory_json(
    memory: Memory, now: float, group: MemoryGroup | None = None, group_ids: Sequence[str] = ()
) -> Json:
    """Render a memory. `now`: the time (unix seconds) for which its state is told. `group`: the
    group that the row shows; `group_ids`: all groups that it is in."""
    source = memory.source
    return {
        "id": memory.id,
        "number": memory.number,
        "text": memory.text,
        "category": memory.category,
        "tags": memory.tags,
        "created_at": shown(memory.created),
        "updated_at": shown(memory.updated),
        "expires_at": _time(memory.expires),
        "deleted_at": _time(memory.deleted),
        "last_confirmed_at": _time(memory.last_confirmed),
        "group_id": group.id if group else None,
        "group_title": group.title if group else None,
        "group_ids": list(group_ids),
        "source_type": memory.source_type,
        "conversation_id": (source.address or None) if source else None,
        "source": _source(source) if source and source.digest else None,
        "tainted": memory.tainted,
        "standing": bool(memory.standing),
        "state": memory.state(now),
        "possible_update_of": updates_json(memory, "text"),
        "version": memory.version,
        "supersedes": memory.supersedes,
        "superseded_by": memory.superseded_by or memory.duplicate_of,
    }


def group_json(group: MemoryGroup) -> Json:
    return {
        "id": group.id,
        "title": group.title,
        "description": group.description,
        "category": group.category,
        "member_count": group.members,
        "created_at": shown(group.created),
        "updated_at": shown(group.updated),
    }


def settings_json(settings: UserSettings, plan: str) -> Json:
    return {
        "memories_save_enabled": settings.save,
        "memories_chat_history_enabled": settings.history,
        "top_k": settings.top_k,
        "score_threshold": settings.threshold,
        "plan": plan,
    }


def _source(source: MemorySource) -> Json:
    """Where it was said: the slice of a message, and the history that the message ends."""
    return {
        "digest": source.digest,
        "start": source.start,
        "end": source.end,
        "address": source.address or None,
        "origin": source.origin or None,
        "recorded_at": _time(source.recorded),
    }


def _time(seconds: float | None) -> str | None:
    return None if seconds is None else shown(seconds)
