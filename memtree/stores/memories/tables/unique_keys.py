"""Unique values of memories: which they are, and which memory has them.

The database enforces uniqueness (`unique_memories`); the code here decides beforehand which memory
is superseded. A memory that no longer counts keeps its key, in case it is restored. An expired one
blocks nobody: it gives up its key and is not superseded, since it ended by itself.

The stored schema of the kind says which values are unique, and is read in the same transaction: the
writer may have read an older one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

import msgspec

from memtree.errors import BadRequest, StoreCorrupt
from memtree.memories.agents.schemas.memory_schema import MemorySchema, unique_key
from memtree.memories.memory import Memory, NewMemory
from memtree.memories.scope import Scope, ScopeKind
from memtree.stores.memories.tables.counters import ScopeRow, lock_tenant
from memtree.stores.memories.tables.rows import (
    SCOPE,
    STANDING,
    RowState,
    plain,
    scope_values,
    standing,
)
from memtree.stores.sql import Sql

_UNIQUE_ON = """
    SELECT kind, unique_on FROM memory_schemas WHERE tenant = :tenant AND kind IN :kinds[]"""
# In the order of the index: until PostgreSQL has statistics, it might use another one.
_HOLDERS = f"""
    SELECT {STANDING} FROM memories
    WHERE scope = :scope AND counted = 1 AND unique_key <> '' AND unique_key IN :keys[]
    ORDER BY unique_key"""
_HOLDERS_OF = f"""
    SELECT {STANDING} FROM memories
    WHERE scope = {SCOPE} AND counted = 1 AND unique_key <> '' AND unique_key IN :keys[]
    ORDER BY unique_key"""
_GIVE_UP = """
    UPDATE memories SET unique_key = '' WHERE scope = :scope AND number IN :numbers[]"""
PUT_KEY = """
    UPDATE memories SET unique_key = :unique_key WHERE scope = :scope AND number = :number"""

_decode_names = msgspec.json.Decoder(tuple[str, ...]).decode


class KeyedRow(NamedTuple):
    """Row that gets a key. `otherwise`: the key it has if its kind has no schema."""

    kind: str
    data: Mapping[str, Any] | None
    otherwise: str = ""


def keyed(memory: Memory | NewMemory, otherwise: str = "") -> KeyedRow:
    return KeyedRow(plain(memory.kind), memory.data, otherwise)


def unique_column(kind: str, key: bytes) -> str:
    """Hash a kind and its unique values for the column `unique_key`; "" if there are none. The
    result has a fixed size.

    >>> unique_column("profile", b"") == "" != unique_column("profile", b"1")
    True
    """
    named = plain(kind).encode() + b"\0" + key
    return sha256(named).hexdigest()[:32] if key else ""


def read_names(unique_on: str) -> tuple[str, ...]:
    """Decode the names of a schema's unique fields. Raises `StoreCorrupt`."""
    try:
        return _decode_names(unique_on)
    except msgspec.DecodeError as error:
        raise StoreCorrupt(f"A stored schema does not decode ({error}).") from error


async def unique_keys(sql: Sql, scope: ScopeRow, items: Sequence[KeyedRow]) -> list[str]:
    """Return the keys of memories of a scope, by the schemas of their kinds. Only scopes of agents
    have schemas."""
    kinds = sorted({each.kind for each in items if each.kind})
    if scope.kind != ScopeKind.AGENT or not kinds:
        return ["" for _ in items]
    await lock_tenant(sql, scope.tenant)  # no schema may change meanwhile
    rows = await sql.fetch(_UNIQUE_ON, {"tenant": scope.tenant, "kinds": kinds})
    schemas = {kind: MemorySchema(kind, "", read_names(names)) for kind, names in rows}
    return [
        unique_column(each.kind, key_of(schemas[each.kind], each.data))
        if each.kind in schemas
        else each.otherwise
        for each in items
    ]


def key_of(schema: MemorySchema, data: Mapping[str, Any] | None) -> bytes:
    """Return the key of the data under a schema. Raises `BadRequest` if the data is not JSON."""
    try:
        return unique_key(schema, data or {})
    except (TypeError, ValueError, RecursionError) as error:
        raise BadRequest(f"A memory cannot be stored: {type(error).__name__}.") from None


async def holders(
    sql: Sql, scope: ScopeRow, keys: Iterable[str], now: float
) -> dict[str, RowState]:
    """Return the live memories that have these keys. Expired ones have lost theirs."""
    wanted = sorted({key for key in keys if key})
    if not wanted:
        return {}
    rows = standing(await sql.fetch(_HOLDERS, {"scope": scope.number, "keys": wanted}))
    await _give_up(sql, scope, [row.number for row in rows if not row.live(now)])
    return {row.unique_key: row for row in rows if row.live(now)}


async def unique_holders(
    sql: Sql, scope: Scope, kind: str, keys: Sequence[bytes], now: float
) -> dict[bytes, Memory]:
    """Return the memories of one kind that have these keys, without changing anything."""
    columns = {unique_column(kind, key): key for key in keys if key}
    if not columns:
        return {}
    values = {**scope_values(scope), "keys": sorted(columns)}
    rows = standing(await sql.fetch(_HOLDERS_OF, values))
    return {columns[row.unique_key]: row.memory() for row in rows if row.live(now)}


async def _give_up(sql: Sql, scope: ScopeRow, numbers: Collection[int]) -> None:
    if numbers:
        await sql.run(_GIVE_UP, {"scope": scope.number, "numbers": sorted(numbers)})


async def rivals(
    sql: Sql, scope: ScopeRow, rows: Sequence[tuple[int, str]], now: float
) -> set[int]:
    """Return the numbers of those rows whose unique values belong to a live memory, or to a later
    row. `rows`: number and key of memories that are about to count (again)."""
    there = await holders(sql, scope, [key for _, key in rows], now)
    last = {key: number for number, key in rows if key}
    return {number for number, key in rows if key and (key in there or last[key] != number)}
