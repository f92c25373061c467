"""Memories that may replace others, until a person settles it: a table of pairs, newer and older.

A pair is open while both count. A row that was ever the newer of a pair is marked `conflicting`, so
that reading other memories needs no extra query.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memtree.memories.memory import Memory, PossibleUpdate
from memtree.memories.scope import Scope
from memtree.stores.memories.lookup import kept
from memtree.stores.memories.rows import encoded, read_memory
from memtree.stores.memories.scopes import ScopeRow, begin_known, commit
from memtree.stores.memories.table_rows import ConflictRow
from memtree.stores.schema import upsert_into
from memtree.stores.sql import Sql

_OPEN = """
    SELECT pairs.number, older.id, older.data, pairs.differs
    FROM memory_conflicts AS pairs JOIN memories AS older
        ON older.scope = pairs.scope AND older.number = pairs.other
    WHERE pairs.scope = :scope AND pairs.number IN :numbers[] AND older.counted = 1
        AND (older.expires = 0 OR older.expires > :now)
    ORDER BY pairs.number, pairs.place, pairs.other"""
_PUT = upsert_into("memory_conflicts", "scope, number, other", "differs")
_MARK = """
    UPDATE memories SET data = :data, changed = :changed, event = :changed
    WHERE scope = :scope AND number = :number"""
_SETTLE = """
    DELETE FROM memory_conflicts WHERE scope = :scope
    AND ((number = :one AND other = :two) OR (number = :two AND other = :one))"""


async def with_updates(
    sql: Sql, scope: int, memories: Sequence[Memory], now: float
) -> list[Memory]:
    """Return the memories, each with the ids of those that it may replace."""
    numbers = [memory.number for memory in memories if memory.conflicting]
    if not numbers:
        return list(memories)
    updates: dict[int, list[PossibleUpdate]] = {}
    values = {"scope": scope, "numbers": numbers, "now": now}
    for number, id_, data, differs in await sql.fetch(_OPEN, values):
        old = tuple(differs.split("\n")) if differs else ()
        updates.setdefault(number, []).append(PossibleUpdate(id_, read_memory(data).text, old))
    return [replace(each, updates=tuple(updates.get(each.number, ()))) for each in memories]


async def put(sql: Sql, scope: Scope, id_: str, updates: Sequence[PossibleUpdate]) -> None:
    at = await begin_known(sql, scope)
    rows = await kept(sql, at.number, [id_]) if at else []
    if at is None or not rows:
        return
    others = {row.id: row.number for row in await kept(sql, at.number, [u.id for u in updates])}
    number = rows[0].number
    pairs = [
        ConflictRow(at.number, number, others[update.id], place, "\n".join(update.differs))
        for place, update in enumerate(updates)
        if others.get(update.id, number) != number
    ]
    if pairs:
        await sql.run_many(_PUT, [pair._asdict() for pair in pairs])
        await _mark(sql, at, number, rows[0].data)
        await commit(sql, at)


async def settle(sql: Sql, scope: Scope, one: str, two: str) -> bool:
    """Keep both memories of a conflict. Returns True if the two were in conflict."""
    at = await begin_known(sql, scope)
    rows = await kept(sql, at.number, [one, two]) if at else []
    if at is None or len(rows) < 2:
        return False
    values = {"scope": at.number, "one": rows[0].number, "two": rows[1].number}
    query = _SETTLE.replace("DELETE", "SELECT 1")
    if not await sql.fetch(query, values):
        return False
    await sql.run(_SETTLE, values)
    for row in rows:
        if row.memory().conflicting:
            await _mark(sql, at, row.number, row.data)
    await commit(sql, at)
    return True


async def _mark(sql: Sql, scope: ScopeRow, number: int, data: bytes) -> None:
    """Mark the memory as conflicting. Watchers of the scope receive a change."""
    marked = replace(read_memory(data), conflicting=True)
    values = {"scope": scope.number, "number": number, "changed": scope.next}
    await sql.run(_MARK, {**values, "data": encoded(marked)})
