"""Read the exports of mem0 and OpenMemory.

mem0: what `get_all` answers, `{"results": [{"id", "memory", "hash", "metadata", "categories",
"created_at", "updated_at", "user_id", ...}]}` (the list alone in its older versions), or an export
under "memories". OpenMemory: `memories.json` of its backup, where memories name their categories by
id, or the lines of `memories.jsonl.gz`, which name them. Of a memory that is not active there
nothing is imported: whoever deleted, archived or paused it did not want it used.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from memtree.memories.transfer.file_items import FileItem, FileMemory, LineResult, LineStatus
from memtree.memories.transfer.formats.foreign import (
    found_tags,
    kept_data,
    moment,
    no_object,
    no_text,
)
from memtree.memories.transfer.formats.json_entries import FileEntry

_MEM0_LISTS = frozenset({"", "results", "memories"})
_OPENMEMORY_LISTS = frozenset({"", "memories"})
_ACTIVE = "active"


def mem0_items(entries: Iterable[FileEntry | LineResult]) -> Iterator[FileItem]:
    for entry in entries:
        if isinstance(entry, LineResult):
            yield entry
        elif entry.key in _MEM0_LISTS:
            yield _mem0(entry)
        elif entry.key == "relations" and isinstance(entry.value, dict):
            yield LineResult(
                entry.line,
                LineStatus.SKIPPED,
                "relation",
                "a relation of a graph; the memories that it was made from are imported",
            )


def _mem0(entry: FileEntry) -> FileItem:
    line, fields = entry.line, entry.value
    if wrong := no_object(line, fields):
        return wrong
    text = fields.get("memory")
    if not isinstance(text, str):
        return no_text(line, "memory")
    return FileMemory(
        line,
        text,
        tags=found_tags(fields.get("categories")),
        created=moment(fields.get("created_at")),
        expires=moment(fields.get("expiration_date")),
        data=kept_data(fields.get("metadata")),
        user=_text(fields.get("user_id")),
    )


def openmemory_items(entries: Iterable[FileEntry | LineResult]) -> Iterator[FileItem]:
    names: dict[str, str] = {}
    for entry in entries:
        if isinstance(entry, LineResult):
            yield entry
        elif entry.key == "categories" and isinstance(entry.value, dict):
            if name := _text(entry.value.get("name")):
                names[_text(entry.value.get("id"))] = name
        elif entry.key in _OPENMEMORY_LISTS:
            yield _openmemory(entry, names)


def _openmemory(entry: FileEntry, names: dict[str, str]) -> FileItem:
    line, fields = entry.line, entry.value
    if wrong := no_object(line, fields):
        return wrong
    state = fields.get("state", _ACTIVE)
    if state != _ACTIVE:
        known = state if state in ("paused", "archived", "deleted") else "not active"
        return LineResult(
            line, LineStatus.SKIPPED, "not_active", f"it is {known} where it comes from"
        )
    text = fields.get("content")
    if not isinstance(text, str):
        return no_text(line, "content")
    return FileMemory(
        line,
        text,
        tags=found_tags(_categories(fields, names)),
        created=moment(fields.get("created_at")),
        data=kept_data(fields.get("metadata")),
        user=_text(fields.get("user_id")),
    )


def _categories(fields: dict[str, Any], names: dict[str, str]) -> object:
    ids = fields.get("category_ids")
    if isinstance(ids, list):
        return [names[id_] for id_ in ids if isinstance(id_, str) and id_ in names]
    return fields.get("categories")


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
