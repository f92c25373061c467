"""Schemas of a tenant's structured memories, and the unique values that they declare.

The database enforces uniqueness (`unique_memories`); the code here decides beforehand which memory
is superseded. A memory that no longer counts keeps its key, in case it is restored. An expired one
blocks nobody: it gives up its key and is not superseded, since it ended by itself.

The stored schema of the kind says which values are unique, and is read in the same transaction: the
writer may have read an older one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

import msgspec

from memtree.agents.memory_schema import MemorySchema, UniqueKey, same_content, unique_key
from memtree.errors import BadRequest, Conflict, VersionConflict
from memtree.memories.memory import Memory, NewMemory
from memtree.memories.scope import Scope, ScopeKind
from memtree.stores.memories.scopes import ScopeRow, begin_all, lock_tenant
from memtree.stores.memories.table_rows import (
    LARGEST,
    LIVE,
    SCOPE,
    STANDING,
    RowState,
    SchemaRow,
    plain,
    read_memory,
    scope_values,
    standing,
    storable,
)
from memtree.stores.schema import upsert_into
from memtree.stores.sql import Sql, reader, storing

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

_CORRUPT = "A stored schema does not decode ({})."
_read_names = reader(_CORRUPT, msgspec.json.Decoder(tuple[str, ...]).decode)
_ROWS = 1_000  # rows decoded at a time
_COLUMNS = "kind, unique_on, created, updated, data"
_ALL = f"SELECT {_COLUMNS} FROM memory_schemas WHERE tenant = :tenant"
_WHOLE = f"{_ALL} AND kind = :kind"
_ONE = "SELECT unique_on FROM memory_schemas WHERE tenant = :tenant AND kind = :kind"
_HOW_MANY = "SELECT count(*) FROM memory_schemas WHERE tenant = :tenant"
_PUT = upsert_into("memory_schemas", "tenant, kind", "unique_on", "updated", "data")
_DELETE = "DELETE FROM memory_schemas WHERE tenant = :tenant AND kind = :kind"
_SCOPES = """
    SELECT number FROM memory_scopes
    WHERE tenant = :tenant AND kind = :scope_kind AND EXISTS (
        SELECT 1 FROM memories WHERE scope = memory_scopes.number
        AND memories.counted = 1 AND memories.kind = :kind)
    ORDER BY number"""
_LIVE_ROWS = f"""
    SELECT number, data FROM memories
    WHERE scope = :scope AND kind = :kind AND number < :before AND {LIVE}
    ORDER BY number DESC LIMIT :limit"""
_CLEAR = "UPDATE memories SET unique_key = '' WHERE scope = :scope AND kind = :kind"


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


async def unique_keys(sql: Sql, scope: ScopeRow, items: Sequence[KeyedRow]) -> list[str]:
    """Return the keys of memories of a scope, by the schemas of their kinds. Only scopes of agents
    have schemas."""
    kinds = sorted({each.kind for each in items if each.kind})
    if scope.kind != ScopeKind.AGENT or not kinds:
        return ["" for _ in items]
    await lock_tenant(sql, scope.tenant)  # no schema may change meanwhile
    rows = await sql.fetch(_UNIQUE_ON, {"tenant": scope.tenant, "kinds": kinds})
    schemas = {kind: MemorySchema(kind, "", _read_names(names.encode())) for kind, names in rows}
    return [
        unique_column(each.kind, key_of(schemas[each.kind], each.data))
        if each.kind in schemas
        else each.otherwise
        for each in items
    ]


def key_of(schema: MemorySchema, data: Mapping[str, Any] | None) -> bytes:
    """Return the key of the data under a schema. Raises `BadRequest` if the data is not JSON."""
    with storing("memory"):
        return unique_key(schema, data or {})


async def holders(
    sql: Sql, scope: ScopeRow, keys: Iterable[str], now: float
) -> dict[str, RowState]:
    """Return the live memories that have these keys. Expired ones have lost theirs."""
    wanted = sorted({key for key in keys if key})
    if not wanted:
        return {}
    rows = standing(await sql.fetch(_HOLDERS, {"scope": scope.number, "keys": wanted}))
    expired = [row.number for row in rows if not row.live(now)]
    if expired:
        await sql.run(_GIVE_UP, {"scope": scope.number, "numbers": expired})
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


class ScopesChanged(Exception):
    """Other scopes must be locked than were, and scopes are locked before the tenant: retry the
    transaction."""


class _SchemaPart(NamedTuple):
    """Part of a schema that is stored encoded."""

    document: str
    description: str


_read_part = reader(_CORRUPT, msgspec.msgpack.Decoder(_SchemaPart).decode)


async def schemas(sql: Sql, tenant: str) -> list[MemorySchema]:
    unsorted = [read_schema(*row) for row in await sql.fetch(_ALL, {"tenant": tenant})]
    return sorted(unsorted, key=lambda each: each.kind)  # the databases order texts differently


async def put_schema(
    sql: Sql,
    tenant: str,
    schema: MemorySchema,
    unique_key: UniqueKey,
    *,
    most: int,
    now: float,
    once: bool = False,
    expected: MemorySchema | None = None,
) -> bool:
    if not storable(schema.kind):
        raise BadRequest("The kind of a schema must be plain text.", param="kind")
    values = {"tenant": tenant, "kind": schema.kind}
    same = await _unique_on(sql, values) == schema.unique_on
    scopes = await _begin(sql, values) if not same else []
    await lock_tenant(sql, tenant)
    if expected is not None:
        await _require(sql, values, expected)
    old = await _unique_on(sql, values)
    if old is not None and once:
        return False
    if same and old != schema.unique_on:  # another process did the same meanwhile
        raise ScopesChanged
    if old is None:
        ((count,),) = await sql.fetch(_HOW_MANY, values)
        if count >= most:
            raise Conflict(
                f"There are {count} schemas, and at most {most} are allowed: delete some."
            )
    await sql.run(_PUT, _row(tenant, schema)._asdict())
    if old != schema.unique_on:
        await _make_unique(sql, scopes, schema.kind, unique_key if schema.unique_on else None, now)
    return old is None


async def _require(sql: Sql, values: Mapping[str, Any], expected: MemorySchema) -> None:
    """Raise unless the stored schema equals `expected`. Compares the content: two changes within
    one tick of the clock have equal times."""
    stored = [read_schema(*row) for row in await sql.fetch(_WHOLE, values)]
    if [same_content(schema, expected) for schema in stored] != [True]:
        raise VersionConflict(
            "The schema of this kind was changed or deleted meanwhile.", param="kind"
        )


async def _unique_on(sql: Sql, values: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Return the schema's unique fields; None if there is no such schema."""
    rows = await sql.fetch(_ONE, values)
    return _read_names(rows[0][0].encode()) if rows else None


async def delete_schema(sql: Sql, tenant: str, kind: str) -> bool:
    values = {"tenant": tenant, "kind": kind}
    if not storable(kind) or await _unique_on(sql, values) is None:
        return False
    scopes = await _begin(sql, values)
    if await _unique_on(sql, values) is None:
        return False
    await sql.run(_DELETE, values)
    await _make_unique(sql, scopes, kind, None, 0.0)
    return True


async def _begin(sql: Sql, values: Mapping[str, Any]) -> list[ScopeRow]:
    """Lock the scopes that hold memories of the kind, then their tenant: another process that
    writes in another scope meanwhile waits for the tenant and then finds the new schema. Raises
    `ScopesChanged` if such a write came first."""
    parameters = {**values, "scope_kind": ScopeKind.AGENT.value}
    numbers = await sql.fetch(_SCOPES, parameters)
    begun = await begin_all(sql, [number for (number,) in numbers]) if numbers else []
    await lock_tenant(sql, values["tenant"])
    if set(await sql.fetch(_SCOPES, parameters)) - set(numbers):
        raise ScopesChanged
    return begun


async def _make_unique(
    sql: Sql, scopes: Sequence[ScopeRow], kind: str, unique_key: UniqueKey | None, now: float
) -> None:
    for at in scopes:
        await sql.run(_CLEAR, {"scope": at.number, "kind": kind})
        if unique_key is not None:
            await _hold(sql, at, kind, unique_key, now)


async def _hold(sql: Sql, scope: ScopeRow, kind: str, unique_key: UniqueKey, now: float) -> None:
    """Give the scope's memories of the kind their unique keys, newest first, so that the newest
    keeps a key that several share."""
    here: dict[str, Any] = {"scope": scope.number, "kind": kind, "now": now, "limit": _ROWS}
    held: set[str] = set()
    before = LARGEST
    while rows := await sql.fetch(_LIVE_ROWS, {**here, "before": before}):
        before = rows[-1][0]
        new: list[dict[str, Any]] = []
        for number, data in rows:
            key = unique_column(kind, unique_key(read_memory(data).data or {}))
            if key and key not in held:
                held.add(key)
                new.append({"scope": scope.number, "number": number, "unique_key": key})
        await sql.run_many(PUT_KEY, new)


def read_schema(
    kind: str, unique_on: str, created: float, updated: float, data: bytes
) -> MemorySchema:
    """Decode a schema. Raises `StoreCorrupt`."""
    kept = _read_part(data)
    names = _read_names(unique_on.encode())
    return MemorySchema(kind, kept.document, names, kept.description, created, updated)


def _row(tenant: str, schema: MemorySchema) -> SchemaRow:
    part = _SchemaPart(schema.document, schema.description)
    with storing("schema"):
        data, names = msgspec.msgpack.encode(part), msgspec.json.encode(schema.unique_on).decode()
    return SchemaRow(tenant, schema.kind, names, schema.created, schema.updated, data)
