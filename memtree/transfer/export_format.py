"""Write memories as the lines of our own export, and read these lines strictly.

A line is one JSON object. What is as by default is left out. Without the last line a file is cut
off.

    {"type": "export", "format": "memtree-memories", "version": 1, "exported_at": "..."}
    {"type": "settings", ...}   {"type": "group", ...}      (of users)
    {"type": "schema", ...}                                 (of agents)
    {"type": "memory", "id": "mem_...", "text": "...", ..., "versions": [...]}
    {"type": "tombstone", ...}
    {"type": "end", "memories": 2, ...}

A field of a wrong type makes its line invalid, so no memory is half of what it was. A line that
says no more than a text is read as well. `memory_transfer` decides what is exported.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import lru_cache
from typing import Any, TypeVar

import msgspec

from memtree.agents.memory_schema import MemorySchema
from memtree.errors import BadRequest
from memtree.memories.checked_fields import canonical_tags, shown, timestamp
from memtree.memories.memory import EntityMention, Memory, MemorySource, PossibleUpdate, Tombstone
from memtree.memories.memory_store import MemoryRecord
from memtree.memories.memory_topics import pinned
from memtree.memories.scope import checked_id
from memtree.memories.user_memories import (
    MAX_DESCRIPTION_CHARS,
    MAX_TITLE_CHARS,
    MOST_TOP_K,
    MemoryGroup,
    SettingsChange,
    UserSettings,
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
        # Told for whoever reads the file: the older memory has a line of its own.
        possible_update_of=[
            {"id": each.id, "differs": list(each.differs)} for each in memory.updates
        ]
        or None,
        replaced_at=_time(record.replaced),
        groups=list(groups) or None,
        versions=[_given(_said(version)) for version in record.versions] or None,
        tombstone=_given(_left(tombstone)) if tombstone else None,
    )


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
        if entry.value.get("format") != FORMAT or entry.value.get("version") != VERSION:
            raise BadRequest(
                f"the file is not an export of the format {FORMAT} in version {VERSION}; a later "
                "version of the server may read it"
            )
        yield FileHeader(entry.line)
        return
    try:
        yield _item(entry.line, FieldReader(entry.value))
    except BadRequest as error:
        yield LineResult(entry.line, LineStatus.INVALID, "field", error.message)


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

    def each(self, name: str, most: int = 0) -> list[FieldReader]:
        """`most`: objects (0: any number)."""
        values = self.list(name)
        if not all(isinstance(value, dict) for value in values):
            raise BadRequest(f"{name} must be an array of objects", param=name)
        if most and len(values) > most:
            raise BadRequest(f"{name} must be at most {most}", param=name)
        return [FieldReader(value) for value in values]

    def list(self, name: str) -> list[Any]:
        return self._value(name, list, "an array") or []


def _item(line: int, fields: FieldReader) -> FileItem:
    match fields.text("type") or "memory":
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
    groups = fields.list("groups")
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
        source=None if source is None else _read_source(source),
        version=fields.whole("version", 1, 1),
        confidence=fields.number("confidence", CONFIDENCE, 0, 1),
        happened=fields.time("happened_at"),
        mentions=tuple(
            EntityMention(each.text("name", _MOST_NAME), each.text("type", _MOST_NAME))
            for each in fields.each("mentions", _MOST_MENTIONS)
        ),
    )


def _updates(fields: FieldReader) -> tuple[PossibleUpdate, ...]:
    updates: list[PossibleUpdate] = []
    for each in fields.each("possible_update_of", _MOST_UPDATES):
        id_, differs = each.id("id"), each.list("differs")
        if not all(isinstance(text, str) and len(text) <= _MOST_DIFFERS for text in differs):
            raise BadRequest("differs must be an array of short texts", param="differs")
        if id_ is not None:
            updates.append(PossibleUpdate(id_, "", tuple(" ".join(t.split()) for t in differs)))
    return tuple(updates)


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


def _read_source(fields: FieldReader) -> MemorySource:
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
