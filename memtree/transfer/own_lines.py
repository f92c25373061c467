"""Reading the lines of our own export (`export_lines.py`), and lines that say no more than a text.

Strictly: a field of a wrong type makes its line invalid, so nothing is half of what it was.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from memtree.agents.schemas_memory_schema import MemorySchema
from memtree.errors import BadRequest
from memtree.memories.memory import EntityMention, Memory, MemorySource, PossibleUpdate, Tombstone
from memtree.memories.memory_store import MemoryRecord
from memtree.memories.scope import checked_id
from memtree.memories.standing import pinned
from memtree.memories.tags import canonical_tags
from memtree.memories.times import timestamp
from memtree.memories.user_memories import (
    MAX_DESCRIPTION_CHARS,
    MAX_TITLE_CHARS,
    MOST_TOP_K,
    MemoryGroup,
    SettingsChange,
)
from memtree.transfer.export_lines import (
    CONFIDENCE,
    FORMAT,
    IMPORTANCE,
    VERSION,
)
from memtree.transfer.file_items import (
    FileEnd,
    FileGroup,
    FileHeader,
    FileItem,
    FileMemory,
    FileSchema,
    FileSettings,
    FileTombstone,
    LineResult,
    LineStatus,
)
from memtree.transfer.foreign_formats import Entries, items_of
from memtree.transfer.json_entries import FileEntry

_MOST_NAME = 1_000  # characters of what names something
_MOST_GROUPS = 1_000  # of one memory
_MOST_MENTIONS = 1_000  # of one memory
_MOST_UPDATES, _MOST_DIFFERS = 100, 300  # conflicts of one memory; characters of what differs
_LARGEST = 2**53
Value = TypeVar("Value")


def own_items(entries: Entries) -> Iterator[FileItem]:
    """Raises `BadRequest` for an export of a later version than this one reads."""
    return items_of(entries, _own)


def _own(entry: FileEntry) -> Iterator[FileItem]:
    if entry.value.get("type") == "export":
        _check_header(entry.value)
        yield FileHeader(entry.line)
        return
    try:
        yield _item(entry.line, FieldReader(entry.value))
    except BadRequest as error:
        yield LineResult(entry.line, LineStatus.INVALID, "field", error.message)


def _check_header(fields: Mapping[str, Any]) -> None:
    if fields.get("format") != FORMAT or fields.get("version") != VERSION:
        raise BadRequest(
            f"the file is not an export of the format {FORMAT} in version {VERSION}; a later "
            "version of the server may read it"
        )


class FieldReader:
    """The fields of a line. Each method raises `BadRequest` naming the field."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self._fields = fields

    def _value(self, name: str, kind: type[Value], called: str) -> Value | None:
        value = self._fields.get(name)
        if value is not None and not isinstance(value, kind):
            raise BadRequest(f"{name} must be {called}", param=name)
        return value

    def text(self, name: str, most: int = 0) -> str:
        """Empty where it is absent. `most`: characters (0: any number)."""
        value = self._value(name, str, "a text") or ""
        if most and len(value) > most:
            raise BadRequest(f"{name} must have at most {most} characters", param=name)
        return value

    def named(self, name: str) -> str | None:
        return self.text(name, _MOST_NAME) or None

    def id(self, name: str) -> str | None:
        value = self._fields.get(name)
        return None if value is None else checked_id(value, name)

    def time(self, name: str) -> float | None:
        seconds = timestamp(self._fields.get(name), name)
        return None if seconds is None else round(seconds * 1_000_000) / 1_000_000

    def number(self, name: str, default: float, low: float, high: float) -> float:
        value = self._fields.get(name, default)
        wrong = isinstance(value, bool) or not isinstance(value, int | float)
        if wrong or not math.isfinite(value) or not low <= value <= high:
            raise BadRequest(f"{name} must be a number from {low:g} to {high:g}", param=name)
        return float(value)

    def whole(self, name: str, default: int, low: int = 0, high: int = _LARGEST) -> int:
        value = self.number(name, default, low, high)
        if value != int(value):
            raise BadRequest(f"{name} must be a whole number", param=name)
        return int(value)

    def flag(self, name: str) -> bool | None:
        return self._value(name, bool, "true or false")

    def object(self, name: str) -> Mapping[str, Any] | None:
        return self._value(name, dict, "an object")

    def inner(self, name: str) -> FieldReader | None:
        value = self.object(name)
        return None if value is None else FieldReader(value)

    def each(self, name: str) -> list[FieldReader]:
        values = self.list(name)
        if not all(isinstance(value, dict) for value in values):
            raise BadRequest(f"{name} must be an array of objects", param=name)
        return [FieldReader(value) for value in values]

    def list(self, name: str) -> list[Any]:
        return self._value(name, list, "an array") or []


def _item(line: int, fields: FieldReader) -> FileItem:
    kind = fields.text("type") or "memory"
    match kind:
        case "memory":
            return _memory(line, fields)
        case "group":
            return FileGroup(line, _group(fields))
        case "schema":
            return FileSchema(line, _schema(fields))
        case "settings":
            return FileSettings(line, _settings(fields))
        case "tombstone":
            id_ = fields.id("id")
            if id_ is None:
                raise BadRequest("id is required", param="id")
            return FileTombstone(line, _tombstone(id_, fields))
        case "end":
            return FileEnd(line, fields.whole("memories", 0))
    raise BadRequest("type must be a type of line that exports contain", param="type")


def _memory(line: int, fields: FieldReader) -> FileMemory:
    id_ = fields.id("id")
    memory = replace(_version(id_ or "", fields), updates=_updates(fields))
    groups = fields.list("groups")[: _MOST_GROUPS + 1]
    if len(groups) > _MOST_GROUPS:
        raise BadRequest(f"groups must be at most {_MOST_GROUPS}", param="groups")
    left = fields.inner("tombstone")
    record = MemoryRecord(
        memory,
        tuple(_version(id_, version) for version in fields.each("versions")) if id_ else (),
        _tombstone(id_, left) if id_ and left else None,
        fields.time("replaced_at"),
    )
    if any(version.version >= memory.version for version in record.versions):
        raise BadRequest("versions must be older than the memory itself", param="versions")
    return FileMemory(
        line,
        memory.text,
        created=fields.time("created_at"),
        groups=tuple(checked_id(group, "groups") for group in groups),
        record=record if id_ else None,
        **memory.said_of_it(),
    )


def _version(id_: str, fields: FieldReader) -> Memory:
    created = fields.time("created_at") or 0.0
    source = fields.inner("source")
    updated = fields.time("updated_at")
    tainted = bool(fields.flag("tainted"))
    return Memory(
        id=id_,
        number=fields.whole("memory_id", 0),
        text=fields.text("text"),
        created=created,
        updated=created if updated is None else updated,
        kind=fields.text("kind", _MOST_NAME),
        data=fields.object("data"),
        category=fields.named("category"),
        tags=canonical_tags(fields.list("tags")),
        source_type=fields.named("source_type") or "user",
        source_provider=fields.named("source_provider"),
        importance=fields.number("importance", IMPORTANCE, 0, 1),
        capture_mode=fields.named("capture_mode"),
        session_id=fields.named("session_id"),
        thread_id=fields.named("thread_id"),
        expires=fields.time("expires_at"),
        last_confirmed=fields.time("last_confirmed_at"),
        supersedes=fields.id("supersedes"),
        superseded_by=fields.id("superseded_by"),
        duplicate_of=fields.id("duplicate_of"),
        tainted=tainted,
        standing=pinned(fields.text("text"), bool(fields.flag("standing")) and not tainted),
        source=None if source is None else _source(source),
        version=fields.whole("version", 1, 1),
        confidence=fields.number("confidence", CONFIDENCE, 0, 1),
        happened=fields.time("happened_at"),
        mentions=_mentions(fields),
    )


def _updates(fields: FieldReader) -> tuple[PossibleUpdate, ...]:
    name = "possible_update_of"
    listed = fields.each(name)
    if len(listed) > _MOST_UPDATES:
        raise BadRequest(f"{name} must be at most {_MOST_UPDATES}", param=name)
    updates: list[PossibleUpdate] = []
    for each in listed:
        id_, differs = each.id("id"), each.list("differs")
        if not all(isinstance(text, str) and len(text) <= _MOST_DIFFERS for text in differs):
            raise BadRequest("differs must be an array of short texts", param="differs")
        if id_ is not None:
            updates.append(PossibleUpdate(id_, "", tuple(" ".join(t.split()) for t in differs)))
    return tuple(updates)


def _mentions(fields: FieldReader) -> tuple[EntityMention, ...]:
    mentions = fields.each("mentions")
    if len(mentions) > _MOST_MENTIONS:
        raise BadRequest(f"mentions must be at most {_MOST_MENTIONS}", param="mentions")
    return tuple(
        EntityMention(each.text("name", _MOST_NAME), each.text("type", _MOST_NAME))
        for each in mentions
    )


def _schema(fields: FieldReader) -> MemorySchema:
    """Read a schema's fields; whoever keeps it tells whether it is one."""
    name, document = fields.named("name"), fields.object("json_schema")
    if name is None or document is None:
        param = "json_schema" if name else "name"
        raise BadRequest("a schema must have a name and a json_schema", param=param)
    unique = fields.list("unique_on")
    if not all(isinstance(each, str) for each in unique):
        raise BadRequest("unique_on must be an array of names", param="unique_on")
    return MemorySchema(
        name,
        written(document, "json_schema"),
        tuple(unique),
        fields.text("description"),
        fields.time("created_at") or 0.0,
        fields.time("updated_at") or 0.0,
    )


def written(value: object, name: str) -> str:
    """JSON text. Raises `BadRequest` naming the field."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        text.encode()
    except (ValueError, RecursionError):
        raise BadRequest(f"{name} must be plain JSON", param=name) from None
    return text


def _source(fields: FieldReader) -> MemorySource:
    return MemorySource(
        message=fields.text("message", _MOST_NAME),
        start=fields.whole("start", 0),
        end=fields.whole("end", 0),
        digest=fields.text("digest", _MOST_NAME),
        address=fields.text("address", _MOST_NAME),
        origin=fields.text("origin", _MOST_NAME),
        recorded=fields.time("recorded_at"),
    )


def _tombstone(id_: str, fields: FieldReader) -> Tombstone:
    return Tombstone(
        id_,
        0,
        fields.time("at") or 0.0,
        fields.text("reason", _MOST_NAME),
        fields.text("text"),
        fields.id("replaced_by"),
    )


def _group(fields: FieldReader) -> MemoryGroup:
    id_, title = fields.id("id"), fields.text("title", MAX_TITLE_CHARS).strip()
    if id_ is None or not title:
        raise BadRequest("a group must have an id and a title", param="id" if title else "title")
    created = fields.time("created_at") or 0.0
    updated = fields.time("updated_at")
    return MemoryGroup(
        id_,
        title,
        created,
        created if updated is None else updated,
        fields.text("description", MAX_DESCRIPTION_CHARS),
        fields.named("category"),
    )


def _settings(fields: FieldReader) -> SettingsChange:
    return SettingsChange(
        save=bool(fields.flag("memories_save_enabled")),
        history=bool(fields.flag("memories_chat_history_enabled")),
        top_k=fields.whole("top_k", 3, 1, MOST_TOP_K),
        threshold=fields.number("score_threshold", 0.5, 0, 1),
    )
