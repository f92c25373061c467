"""Fill new columns of old rows from the encoded memories."""

from __future__ import annotations

from typing import Any

from memtree.errors import StoreCorrupt
from memtree.stores.memories.tables.rows import read_memory, time_column
from memtree.stores.sql import Row, Sql

_ROWS = 500
_SCOPES = "SELECT number FROM memory_scopes ORDER BY number"
_MEMORIES = """
    SELECT number, data FROM memories WHERE scope = :scope AND number > :above
    ORDER BY number LIMIT :limit"""
_HISTORY = """
    SELECT number, version, data FROM memory_history
    WHERE scope = :scope AND number IN :numbers[]"""
_FILL = """
    UPDATE memories SET created = :created, updated = :updated, tainted = :tainted
    WHERE scope = :scope AND number = :number"""
_FILL_HISTORY = """
    UPDATE memory_history SET updated = :updated, expires = :expires
    WHERE scope = :scope AND number = :number AND version = :version"""
_PAST = """
    superseded_by <> '' AND deleted = 0 AND EXISTS (
        SELECT 1 FROM memories AS newer WHERE newer.scope = memories.scope
        AND newer.id = memories.superseded_by AND newer.deleted > 0)"""
_DELETE_PAST = f"""
    UPDATE memories SET deleted = (
        SELECT newer.deleted FROM memories AS newer WHERE newer.scope = memories.scope
        AND newer.id = memories.superseded_by)
    WHERE {_PAST}"""


async def fill(sql: Sql) -> None:
    """Fill the times of memories and versions. The memories that a deleted one superseded become
    deleted as well."""
    await _fill_times(sql)
    while await sql.fetch(f"SELECT 1 FROM memories WHERE {_PAST} LIMIT 1", {}):
        await sql.run(_DELETE_PAST, {})


async def _fill_times(sql: Sql) -> None:
    """Fill times, a few rows at a time. A row that does not decode stays as it is; the store's
    check reports it."""
    for (scope,) in await sql.fetch(_SCOPES, {}):
        above = 0
        values = {"scope": scope, "limit": _ROWS}
        while rows := await sql.fetch(_MEMORIES, {**values, "above": above}):
            above = rows[-1][0]
            numbers = [number for number, _ in rows]
            older = await sql.fetch(_HISTORY, {"scope": scope, "numbers": numbers})
            await _put(sql, _FILL, [_times(scope, number, data) for number, data in rows])
            await _put(sql, _FILL_HISTORY, [_of_version(scope, row) for row in older])


async def _put(sql: Sql, statement: str, rows: list[dict[str, Any] | None]) -> None:
    given = [row for row in rows if row]
    if given:
        await sql.run_many(statement, given)


def _times(scope: int, number: int, data: bytes) -> dict[str, Any] | None:
    try:
        memory = read_memory(data, 0.0, "", "")
    except StoreCorrupt:
        return None
    return {
        "scope": scope,
        "number": number,
        "created": memory.created,
        "updated": memory.updated,
        "expires": time_column(memory.expires),
        "tainted": int(memory.tainted),
    }


def _of_version(scope: int, row: Row) -> dict[str, Any] | None:
    number, version, data = row
    times = _times(scope, number, data)
    return times and {**times, "version": version}
