"""Memories as the lines of an export, one JSON object each.

    {"type": "export", "format": "memtree-memories", "version": 1, "exported_at": "..."}
    {"type": "settings", ...}   {"type": "group", ...}      (of users)
    {"type": "schema", ...}                                 (of agents)
    {"type": "memory", "id": "mem_...", "text": "...", ..., "versions": [...]}
    {"type": "tombstone", ...}
    {"type": "end", "memories": 2, ...}

Without the last line a file is cut off. What is as by default is left out. `own_lines.py` reads
them. What this file does not do: decide what is exported (`memory_transfer.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache
from typing import Any

import msgspec

from memtree.agents.schemas_memory_schema import MemorySchema
from memtree.memories.memory import Memory, MemorySource, PossibleUpdate, Tombstone
from memtree.memories.memory_store import MemoryRecord
from memtree.memories.times import shown
from memtree.memories.user_memories import MemoryGroup, UserSettings

FORMAT, VERSION = "memtree-memories", 1
IMPORTANCE, CONFIDENCE = 0.5, 1.0  # by default


def header_line(exported: float) -> bytes:
    return _line(type="export", format=FORMAT, version=VERSION, exported_at=shown(exported))


def settings_line(settings: UserSettings) -> bytes:
    return _line(
        type="settings",
        memories_save_enabled=bool(settings.save),
        memories_chat_history_enabled=settings.history,
        top_k=settings.top_k,
        score_threshold=settings.threshold,
    )


def group_line(group: MemoryGroup) -> bytes:
    return _line(
        type="group",
        id=group.id,
        title=group.title,
        description=group.description or None,
        category=group.category,
        created_at=exact_time(group.created),
        updated_at=exact_time(group.updated),
    )


def schema_line(schema: MemorySchema) -> bytes:
    # As it is: in JSON the ends of lines only stand between values, never in them.
    document = schema.document.replace("\n", " ").replace("\r", " ")
    return _line(
        type="schema",
        name=schema.kind,
        description=schema.description or None,
        unique_on=list(schema.unique_on) or None,
        json_schema=msgspec.Raw(document.encode()),
        created_at=exact_time(schema.created),
        updated_at=exact_time(schema.updated),
    )


def memory_line(record: MemoryRecord, groups: Sequence[str]) -> bytes:
    """`groups`: ids of the groups that it is in."""
    memory, tombstone = record.memory, record.tombstone
    said = _said(memory)
    return _line(
        type="memory",
        id=memory.id,
        memory_id=memory.number,
        **said,
        supersedes=memory.supersedes,
        superseded_by=memory.superseded_by,
        duplicate_of=memory.duplicate_of,
        possible_update_of=[_update(each) for each in memory.updates] or None,
        replaced_at=_time(record.replaced),
        groups=list(groups) or None,
        versions=[_given(_said(version)) for version in record.versions] or None,
        tombstone=_given(_left(tombstone)) if tombstone else None,
    )


def _update(update: PossibleUpdate) -> dict[str, Any]:
    """Told for whoever reads the file: the older memory has a line of its own."""
    return {"id": update.id, "differs": list(update.differs)}


def tombstone_line(tombstone: Tombstone) -> bytes:
    return _line(type="tombstone", id=tombstone.id, **_left(tombstone))


def end_line(
    *, memories: int, groups: int, tombstones: int, changed: bool, schemas: int = 0
) -> bytes:
    """`changed`: something was written while it was exported."""
    return _line(
        type="end",
        memories=memories,
        groups=groups,
        schemas=schemas or None,
        tombstones=tombstones,
        changed_meanwhile=changed or None,
    )


@lru_cache(maxsize=8)  # of a memory that nobody changed all times are the same
def exact_time(seconds: float) -> str:
    """ISO 8601 with milliseconds, or with microseconds where there are some.

    >>> exact_time(1772879400.25)
    '2026-03-07T10:30:00.250Z'
    """
    milliseconds, parts = divmod(round(seconds * 1_000_000), 1_000)
    return f"{shown(milliseconds / 1_000)[:-1]}{parts:03}Z" if parts else shown(seconds)


def _said(memory: Memory) -> dict[str, Any]:
    """Return the words of a version of a memory."""
    return {
        "version": memory.version,
        "text": memory.text,
        "category": memory.category,
        "tags": list(memory.tags) or None,
        "kind": memory.kind or None,
        "data": memory.data,
        "source_type": memory.source_type,
        "source_provider": memory.source_provider,
        "importance": None if memory.importance == IMPORTANCE else memory.importance,
        "capture_mode": memory.capture_mode,
        "session_id": memory.session_id,
        "thread_id": memory.thread_id,
        "created_at": exact_time(memory.created),
        "updated_at": exact_time(memory.updated),
        "expires_at": _time(memory.expires),
        "last_confirmed_at": _time(memory.last_confirmed),
        "tainted": memory.tainted or None,
        "standing": bool(memory.standing) or None,
        "confidence": None if memory.confidence == CONFIDENCE else memory.confidence,
        "happened_at": _time(memory.happened),
        "mentions": [mention._asdict() for mention in memory.mentions] or None,
        "source": None if memory.source is None else _source(memory.source),
    }


def _source(source: MemorySource) -> dict[str, Any]:
    said = asdict(source)
    said["recorded_at"] = _time(said.pop("recorded"))
    return {name: value for name, value in said.items() if value}


def _left(tombstone: Tombstone) -> dict[str, Any]:
    return {
        "at": exact_time(tombstone.at),
        "reason": tombstone.reason or None,
        "text": tombstone.text or None,
        "replaced_by": tombstone.replaced_by,
    }


def _time(seconds: float | None) -> str | None:
    return None if seconds is None else exact_time(seconds)


def _line(**fields: Any) -> bytes:
    return msgspec.json.encode(_given(fields)) + b"\n"


def _given(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
