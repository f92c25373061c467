"""Schemas of a tenant's structured memories, and the unique fields that they declare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from memtree.errors import BadRequest, Conflict, StoreCorrupt, VersionConflict
from memtree.memories.agents.schemas.memory_schema import MemorySchema, UniqueKey, same_content
from memtree.memories.scope import ScopeKind
from memtree.stores.memories.tables.counters import ScopeRow, begin_all, lock_tenant
from memtree.stores.memories.tables.expiry import LIVE
from memtree.stores.memories.tables.rows import LARGEST, read_memory, storable
from memtree.stores.memories.tables.unique_keys import PUT_KEY, read_names, unique_column
from memtree.stores.sql import Sql

_ROWS = 1_000  # rows decoded at a time
_COLUMNS = "kind, unique_on, created, updated, data"
_ALL = f"SELECT {_COLUMNS} FROM memory_schemas WHERE tenant = :tenant"
_WHOLE = f"{_ALL} AND kind = :kind"
_ONE = "SELECT unique_on FROM memory_schemas WHERE tenant = :tenant AND kind = :kind"
_HOW_MANY = "SELECT count(*) FROM memory_schemas WHERE tenant = :tenant"
_PUT = """
    INSERT INTO memory_schemas (tenant, kind, unique_on, created, updated, data)
    VALUES (:tenant, :kind, :unique_on, :created, :updated, :data)
    ON CONFLICT (tenant, kind) DO UPDATE SET unique_on = excluded.unique_on,
        updated = excluded.updated, data = excluded.data"""
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


class ScopesChanged(Exception):
    """Other scopes must be locked than were, and scopes are locked before the tenant: retry the
    transaction."""


class _SchemaPart(NamedTuple):
    """Part of a schema that is stored encoded."""

    document: str
    description: str


_decode = msgspec.msgpack.Decoder(_SchemaPart).decode


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
    await sql.run(_PUT, {"tenant": tenant, **_columns(schema)})
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
    return read_names(rows[0][0]) if rows else None


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
            key = unique_column(kind, unique_key(read_memory(data, 0.0, "", "").data or {}))
            if key and key not in held:
                held.add(key)
                new.append({"scope": scope.number, "number": number, "unique_key": key})
        if new:
            await sql.run_many(PUT_KEY, new)


def read_schema(
    kind: str, unique_on: str, created: float, updated: float, data: bytes
) -> MemorySchema:
    """Decode a schema. Raises `StoreCorrupt`."""
    try:
        kept = _decode(data)
    except msgspec.DecodeError as error:
        raise StoreCorrupt(f"A stored schema does not decode ({error}).") from error
    names = read_names(unique_on)
    return MemorySchema(kind, kept.document, names, kept.description, created, updated)


def _columns(schema: MemorySchema) -> dict[str, Any]:
    kept = _SchemaPart(schema.document, schema.description)
    try:
        data, names = msgspec.msgpack.encode(kept), msgspec.json.encode(schema.unique_on).decode()
    except ValueError as error:  # from lone surrogates
        raise BadRequest(f"A schema cannot be stored: {type(error).__name__}.") from None
    return {
        "kind": schema.kind,
        "unique_on": names,
        "created": schema.created,
        "updated": schema.updated,
        "data": data,
    }
