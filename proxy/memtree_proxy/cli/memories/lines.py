"""Print memories in the terminal, for a person or as one JSON object on each line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memtree.memories.fields.times import shown
from memtree.memories.memory import Memory
from memtree.memories.ports import MemoryRef
from memtree_proxy.cli.foreign_text import json_line, one_line


def print_memories(memories: Sequence[Memory], as_json: bool) -> None:
    for memory in memories:
        print(json_line(row(memory)) if as_json else line(memory))


def row(memory: Memory) -> dict[str, Any]:
    """Return a memory as a JSON object without its empty fields."""
    fields = {
        "id": memory.id,
        "memory_id": memory.number,
        "text": memory.text,
        "kind": memory.kind or None,
        "data": memory.data,
        "category": memory.category,
        "tags": list(memory.tags),
        "source_type": memory.source_type,
        "created_at": shown(memory.created),
        "updated_at": shown(memory.updated),
        "expires_at": None if memory.expires is None else shown(memory.expires),
        "deleted_at": None if memory.deleted is None else shown(memory.deleted),
        "version": memory.version,
        "tainted": memory.tainted,
        "standing": bool(memory.standing),
        "possible_update_of": [
            {"id": each.id, "differs": list(each.differs)} for each in memory.updates
        ],
    }
    return {name: value for name, value in fields.items() if value not in (None, [], False)}


def line(memory: Memory) -> str:
    marks = [memory.category or "-", memory.source_type, *memory.tags]
    marks += ["deleted"] if memory.deleted is not None else []
    marks += ["unconfirmed"] if memory.tainted else []
    marks += ["standing"] if memory.standing else []
    marks += [f"may replace {each.id}: {', '.join(each.differs)}" for each in memory.updates]
    return (
        f"{memory.number:>5}  {memory.id}  {one_line(memory.text)}  ({one_line(', '.join(marks))})"
    )


def refs(given: Sequence[str]) -> list[MemoryRef]:
    """Parse ids; text of digits alone is a memory's number."""
    return [int(ref) if ref.isascii() and ref.isdecimal() else ref for ref in given]
