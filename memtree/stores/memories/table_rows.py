"""Make rows of memories and memories of rows, and write filters as SQL conditions.

Pure. The rows of all tables of memories are here. An expiry is enforced here: reads, counts and
searches leave out what has expired at `:now`. A memory without an expiry has 0. Expired memories
are erased later (`removal.py`); until then only these conditions hide them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import fields, replace
from typing import Any, NamedTuple

import msgspec

from memtree.memories.memory import Memory, MemoryChange, MemorySource, NewMemory, Tombstone, Unset
from memtree.memories.memory_store import MemoryFilter
from memtree.memories.scope import Scope
from memtree.stores.sql import Row, reader, storing


class MemoryTenantRow(NamedTuple):
    tenant: str
    last: int
    counted: int


class MemoryRow(NamedTuple):
    scope: int
    number: int
    id: str
    version: int
    changed: int
    event: int
    counted: int
    vectors: int
    expires: float
    deleted: float
    superseded_by: str
    duplicate_of: str
    kind: str
    category: str
    source_type: str
    session_id: str
    thread_id: str
    tags: str
    text_hash: bytes
    terms: bytes
    data: bytes
    created: float
    updated: float
    replaced: float
    tainted: int
    unique_key: str
    standing: int


class ConflictRow(NamedTuple):
    scope: int
    number: int
    other: int
    place: int
    differs: str


class HistoryRow(NamedTuple):
    scope: int
    number: int
    version: int
    data: bytes


class TombstoneRow(NamedTuple):
    scope: int
    number: int
    at: float
    data: bytes


class ErasedRow(NamedTuple):
    scope: int
    number: int
    id: str
    version: int
    event: int
    at: float


class MemoryVectorRow(NamedTuple):
    scope: int
    recipe: str
    number: int
    data: bytes


class MemoryRecipeRow(NamedTuple):
    scope: int
    recipe: str
    counted: int


class ShownRow(NamedTuple):
    scope: int
    conversation: bytes
    number: int
    version: int
    hit: float
    expires: float


class GroupRow(NamedTuple):
    scope: int
    id: str
    name: str
    created: float
    updated: float
    data: bytes


class GroupMemberRow(NamedTuple):
    scope: int
    group_id: str
    number: int
    added: float


class SettingsRow(NamedTuple):
    scope: int
    data: bytes


class ExtractedRow(NamedTuple):
    scope: int
    key: str
    number: int
    at: float


class SchemaRow(NamedTuple):
    tenant: str
    kind: str
    unique_on: str
    created: float
    updated: float
    data: bytes


NOT_EXPIRED = "(expires = 0 OR expires > :now)"
LIVE = f"counted = 1 AND {NOT_EXPIRED}"
EXPIRED = "counted = 1 AND expires > 0 AND expires <= :now"


def has_expired(expires: float, now: float) -> bool:
    """Return True for a row that `NOT_EXPIRED` would leave out."""
    return 0 < expires <= now


_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
LARGEST = 2**63 - 1  # largest integer of a database
SCOPE = """
    (SELECT number FROM memory_scopes WHERE tenant = :tenant AND kind = :scope_kind
    AND owner = :owner AND subject = :subject)"""
STORED = "data, deleted, superseded_by, duplicate_of"  # columns that `read_memory` takes


class RowState(NamedTuple):
    """Columns of a stored memory that decide how it may change."""

    number: int
    id: str
    version: int
    counted: int
    vectors: int
    expires: float
    deleted: float
    superseded_by: str
    duplicate_of: str
    text_hash: bytes
    terms: bytes
    data: bytes
    unique_key: str

    def live(self, now: float) -> bool:
        return bool(self.counted) and not has_expired(self.expires, now)

    def memory(self) -> Memory:
        return read_memory(self.data, self.deleted, self.superseded_by, self.duplicate_of)


_CHANGED = {each.name for each in fields(Memory)} & {each.name for each in fields(MemoryChange)}
STANDING = ", ".join(RowState._fields)


def scope_values(scope: Scope) -> dict[str, Any]:
    return {
        "tenant": scope.tenant,
        "scope_kind": scope.kind.value,
        "owner": scope.owner,
        "subject": scope.subject,
    }


# ---------------------------------------------------------------- to rows


def new_memory(new: NewMemory, number: int) -> Memory:
    return Memory(
        id=new.id,
        number=number,
        text=new.text,
        created=new.created,
        updated=new.created,
        supersedes=new.supersedes,
        standing=new.standing,
        **new.said_of_it(),
    )


def changed_memory(old: Memory, change: MemoryChange) -> Memory:
    given = {name: getattr(change, name) for name in _CHANGED}
    said = {name: value for name, value in given.items() if not isinstance(value, Unset)}
    return replace(old, **said, version=old.version + 1, updated=change.at)


def columns(memory: Memory) -> dict[str, Any]:
    """Return the columns of the memory itself. Raises `BadRequest` if it holds values that no
    database stores."""
    return {
        "number": memory.number,
        "id": memory.id,
        "version": memory.version,
        "expires": time_column(memory.expires),
        "created": memory.created,
        "updated": memory.updated,
        "tainted": int(memory.tainted),
        "standing": int(bool(memory.standing)),
        "kind": plain(memory.kind),
        "category": plain(memory.category),
        "source_type": plain(memory.source_type),
        "session_id": plain(memory.session_id),
        "thread_id": plain(memory.thread_id),
        "tags": tags_column(memory.tags),
        "data": encoded(memory),
    }


def encoded(value: Memory | Tombstone) -> bytes:
    """Encode without default values, which halves the size of a short memory."""
    with storing("memory"):
        return msgspec.msgpack.encode(_said(value))


def _said(value: Memory | Tombstone | MemorySource) -> dict[str, Any]:
    every = ((each.name, each.default, getattr(value, each.name)) for each in fields(value))
    return {
        name: _said(given) if isinstance(given, MemorySource) else given
        for name, default, given in every
        if given != default and name != "updates"  # updates have rows of their own
    }


def time_column(at: float | None) -> float:
    return 0.0 if at is None else max(at, 1e-9)


def plain(value: str | None) -> str:
    """Return text that every database accepts: PostgreSQL takes no NUL in a text, and no database
    half a surrogate pair. Both stored texts and query values pass through here."""
    return _UNSTORABLE.sub("\ufffd", value or "")


def tags_column(tags: Iterable[str]) -> str:
    r"""Join tags for the column `tags`: each stands between two line ends, so that a search finds
    whole tags only.

    >>> tags_column(["a", "b c"])
    '\na\nb c\n'
    """
    return "".join(["\n", *(_line(tag) + "\n" for tag in tags)]) if tags else ""


def _line(tag: str) -> str:
    return plain(tag).replace("\n", " ")


# ---------------------------------------------------------------- from rows

_CORRUPT = "A stored {} does not decode ({{}}); restore it from a backup."
_read = reader(_CORRUPT.format("memory"), msgspec.msgpack.Decoder(Memory).decode)
read_tombstone = reader(_CORRUPT.format("tombstone"), msgspec.msgpack.Decoder(Tombstone).decode)


def read_memory(
    data: bytes, deleted: float = 0.0, superseded_by: str = "", duplicate_of: str = ""
) -> Memory:
    """Decode a memory. Raises `StoreCorrupt`."""
    memory = _read(data)
    if not (deleted or superseded_by or duplicate_of):
        return memory
    return replace(
        memory,
        deleted=deleted or None,
        superseded_by=superseded_by or None,
        duplicate_of=duplicate_of or None,
    )


# ---------------------------------------------------------------- conditions


def storable(text: str) -> bool:
    return not _UNSTORABLE.search(text)


_IN_CONFLICT = """
    {}EXISTS (SELECT 1 FROM memory_conflicts AS pairs JOIN memories AS older
        ON older.scope = pairs.scope AND older.number = pairs.other
        WHERE pairs.scope = memories.scope AND pairs.number = memories.number
        AND older.counted = 1)"""
# The session of a twin counts as well: it does not matter which of the twins stands for all.
_IN_SESSION = """
    (session_id = :session_id OR EXISTS (SELECT 1 FROM memories AS twin
        WHERE twin.scope = memories.scope AND twin.duplicate_of <> ''
        AND twin.duplicate_of = memories.id AND twin.session_id = :session_id))"""
_COMPARED = {
    "group": "number IN :members[]",
    "text_hash": "text_hash = :text_hash",
    "tainted": "tainted = :tainted",
    "standing": "standing = :standing",
    "created_from": "created >= :created_from",
    "created_before": "created < :created_before",
}


def filtering(wanted: MemoryFilter, now: float) -> tuple[str, dict[str, Any]]:
    """Return the filter's condition and its values, besides those of `memory_reading.members`."""
    parts = ["counted = 1"]  # indexed
    if wanted.superseded or wanted.deleted:
        parts = ["duplicate_of = ''"]
        parts += ["deleted = 0"] * (not wanted.deleted)
        parts += ["superseded_by = ''"] * (not wanted.superseded)
    values: dict[str, Any] = {}
    if not wanted.expired:
        parts.append(NOT_EXPIRED)
        values["now"] = now
    for name in ("category", "kind", "source_type", "session_id", "thread_id"):
        value = getattr(wanted, name)
        if value is not None:
            parts.append(_IN_SESSION if name == "session_id" else f"{name} = :{name}")
            values[name] = plain(value)
    if wanted.conflicts is not None:
        parts.append(_IN_CONFLICT.format("" if wanted.conflicts else "NOT "))
    if wanted.thread_id:
        parts.append("thread_id <> ''")  # indexed, too
    for name, condition in _COMPARED.items():
        value = getattr(wanted, name)
        if value is not None:
            parts.append(condition)
            values[name] = value if isinstance(value, bytes) else _number_or_text(value)
    for at, tag in enumerate(wanted.tags):
        parts.append(f"instr(tags, :tag{at}) > 0")
        values[f"tag{at}"] = f"\n{_line(tag)}\n"
    return " AND ".join(parts), values


def _number_or_text(value: str | float) -> str | float:
    return plain(value) if isinstance(value, str) else float(value)


def standing(rows: Iterable[Row]) -> list[RowState]:
    return [RowState._make(row) for row in rows]
