"""Find stored memories by their ids, numbers and texts, in a known scope."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from memtree.memories.memory_store import MemoryFilter, MemoryRef
from memtree.memories.scope import Scope, ScopeKind
from memtree.stores.memories.rows import (
    LARGEST,
    LIVE,
    SCOPE,
    STANDING,
    RowState,
    plain,
    scope_values,
    standing,
    storable,
)
from memtree.stores.memories.scopes import ScopeRow
from memtree.stores.sql import Row, Sql

_NAMED = f"""
    SELECT {STANDING} FROM memories WHERE scope = :scope AND number IN (
        SELECT number FROM memories WHERE scope = :scope AND id IN :ids[]
        UNION SELECT number FROM memories WHERE scope = :scope AND number IN :numbers[])"""
_OF_TEXT = f"""
    SELECT {STANDING} FROM memories
    WHERE scope = :scope AND text_hash = :text_hash AND +{LIVE}
    ORDER BY +number LIMIT 1"""  # `+` makes the planner use the index of texts
_DUPLICATES = f"""
    SELECT {STANDING} FROM memories
    WHERE scope = :scope AND duplicate_of <> '' AND duplicate_of IN :ids[]"""
_BEFORE = f"""
    SELECT {STANDING} FROM memories
    WHERE scope = :scope AND superseded_by <> '' AND superseded_by IN :ids[]"""
# Left out for namespaces of a tenant: they hold passages of documents, which may repeat.
_TWINS = f"""
    SELECT {STANDING} FROM memories
    WHERE scope = :scope AND text_hash IN (
        SELECT text_hash FROM memories WHERE scope = :scope AND number IN :numbers[])"""
_LINKS = """
    SELECT superseded_by, number, id FROM memories
    WHERE scope = :scope AND superseded_by <> ''"""
_MEMBERS = f"""
    SELECT number FROM memory_group_members WHERE scope = {SCOPE} AND group_id = :group"""
# For more ids at once, PostgreSQL reads a whole scope until it has statistics.
_AT_ONCE = 100
_NEAR = 8  # single steps into the past before all links are read
_ROWS = 1_000  # rows read with their texts at a time


async def stored(sql: Sql, scope: int, refs: Sequence[MemoryRef]) -> list[RowState]:
    """Return the stored rows, whatever their state, in the order of the refs."""
    # No database can hold the others.
    ids = [ref for ref in refs if isinstance(ref, str) and storable(ref)]
    numbers = [ref for ref in refs if isinstance(ref, int) and 0 < ref <= LARGEST]
    if not ids and not numbers:
        return []
    values = {"scope": scope, "ids": ids, "numbers": numbers}
    by_ref: dict[MemoryRef, RowState] = {}
    for row in standing(await sql.fetch(_NAMED, values)):
        by_ref[row.id] = by_ref[row.number] = row
    return list({by_ref[ref].number: by_ref[ref] for ref in refs if ref in by_ref}.values())


async def resolved(sql: Sql, scope: int, refs: Sequence[MemoryRef]) -> list[RowState]:
    """Return the rows of the refs; a duplicate is replaced by the memory that counts for it."""
    rows = await stored(sql, scope, refs)
    if not any(row.duplicate_of for row in rows):
        return rows
    mains = await stored(sql, scope, [row.duplicate_of for row in rows if row.duplicate_of])
    by_id = {row.id: row for row in mains}
    counted = (by_id.get(row.duplicate_of) if row.duplicate_of else row for row in rows)
    return list({row.number: row for row in counted if row is not None}.values())


async def kept(sql: Sql, scope: int, refs: Sequence[MemoryRef]) -> list[RowState]:
    """Return memories that are not deleted, also expired and superseded ones."""
    return [row for row in await resolved(sql, scope, refs) if not row.deleted]


async def with_twins(
    sql: Sql, scope: ScopeRow, rows: Sequence[RowState], *, deleted: bool = False
) -> list[RowState]:
    """Return these rows, and after them all of the same kind and text, whatever their state.
    `deleted`: deleted ones as well."""
    if not rows or scope.kind == ScopeKind.NAMESPACE:
        return list(rows)
    values = {"scope": scope.number, "numbers": [row.number for row in rows]}
    said = {(row.text_hash, _kind_of(row)) for row in rows}
    candidates = standing(await sql.fetch(_TWINS, values))
    twins = (row for row in candidates if (row.text_hash, _kind_of(row)) in said)
    every = {row.number: row for row in rows}
    return list((every | {row.number: row for row in twins if deleted or not row.deleted}).values())


async def live(
    sql: Sql, scope: int, refs: Sequence[MemoryRef], now: float, *, follow: bool = True
) -> list[RowState]:
    """Return live memories. `follow`: the id of a duplicate stands for the memory that counts."""
    rows = await (resolved if follow else stored)(sql, scope, refs)
    return [row for row in rows if row.live(now)]


async def duplicates(sql: Sql, scope: int, rows: Iterable[RowState]) -> list[RowState]:
    """Return the duplicates that these rows stand for."""
    return await _naming(sql, _DUPLICATES, scope, rows)


async def _naming(sql: Sql, statement: str, scope: int, rows: Iterable[RowState]) -> list[RowState]:
    ids = [row.id for row in rows]
    fetched: list[Row] = []
    for at in range(0, len(ids), _AT_ONCE):
        values = {"scope": scope, "ids": ids[at : at + _AT_ONCE]}
        fetched += await sql.fetch(statement, values)
    return standing(fetched)


async def members(sql: Sql, scope: Scope, wanted: MemoryFilter) -> dict[str, list[int]]:
    """Return the member numbers that a filter for a group needs. Read beforehand: until PostgreSQL
    has statistics, it would read the members once for each memory."""
    if wanted.group is None:
        return {}
    values = {**scope_values(scope), "group": plain(wanted.group)}
    return {"members": [number for (number,) in await sql.many("i", _MEMBERS, values)]}


async def lineage(sql: Sql, scope: int, rows: Sequence[RowState]) -> list[RowState]:
    """Return these rows, their duplicates, and the memories they superseded, which may hold older
    wordings."""
    every = {row.number: row for row in rows}
    new = list(rows)
    while new:
        past = await _past(sql, scope, new)
        same = await duplicates(sql, scope, {row.number: row for row in [*new, *past]}.values())
        every |= {row.number: row for row in past}
        new = list({row.number: row for row in same if row.number not in every}.values())
        every |= {row.number: row for row in new}
    return list(every.values())


async def _past(sql: Sql, scope: int, rows: Sequence[RowState]) -> list[RowState]:
    """Return the memories that these superseded, directly or not. A fact restated daily has a long
    past, so after a few single steps all links of the scope are read at once."""
    by_number: dict[int, RowState] = {}
    new = list(rows)
    for _ in range(_NEAR):
        before = await _naming(sql, _BEFORE, scope, new)
        new = [row for row in before if row.number not in by_number]
        by_number |= {row.number: row for row in new}
        if not new:
            return list(by_number.values())
    links: dict[str, list[tuple[int, str]]] = {}
    for after, number, id_ in await sql.fetch(_LINKS, {"scope": scope}):
        links.setdefault(after, []).append((number, id_))
    numbers: dict[int, None] = {}
    ends = [row.id for row in new]
    while ends:
        for number, id_ in links.pop(ends.pop(), ()):
            numbers[number] = None
            ends.append(id_)
    every = list(numbers)
    for at in range(0, len(every), _ROWS):
        by_number |= {row.number: row for row in await stored(sql, scope, every[at : at + _ROWS])}
    return list(by_number.values())


def _kind_of(row: RowState) -> tuple[str, bytes]:
    """Return kind and text hash. Texts with the same canonical form may come from data that differ
    in case."""
    memory = row.memory()
    return memory.kind, msgspec.json.encode(memory.data, order="deterministic")


async def of_text(sql: Sql, scope: int, text_hash: bytes, now: float) -> RowState | None:
    """Return the oldest live memory with this text."""
    values = {"scope": scope, "text_hash": text_hash, "now": now}
    return next(iter(standing(await sql.fetch(_OF_TEXT, values))), None)
