"""Find and read stored memories of one known scope, and pairs of which one may replace the other.

Memories are found by their ids, numbers and texts, and read by id, in pages, in past versions, and
as changes since a count.

Such a pair, newer and older, is in a table until a person settles it. It is open while both count.
A row that was ever the newer of a pair is marked `conflicting`, so that reading other memories
needs no extra query.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import msgspec

from memtree.memories.memory import Memory, PossibleUpdate, Tombstone
from memtree.memories.memory_store import ChangeEvent, MemoryFilter, MemoryPage, MemoryRef
from memtree.memories.scope import Scope, ScopeKind
from memtree.stores.memories.scopes import ScopeRow, begin_known, commit, state
from memtree.stores.memories.table_rows import (
    LARGEST,
    LIVE,
    SCOPE,
    STANDING,
    STORED,
    ConflictRow,
    RowState,
    encoded,
    filtering,
    plain,
    read_memory,
    read_tombstone,
    scope_values,
    standing,
    storable,
)
from memtree.stores.schema import upsert_into
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


_NUMBER = f"SELECT {SCOPE.strip()}"
_PAGE = f"""
    SELECT {STORED} FROM memories WHERE scope = {SCOPE} AND number < :before AND {{}}
    ORDER BY number DESC LIMIT :limit"""
_VERSIONS = """
    SELECT number, version, data FROM memory_history
    WHERE scope = :scope AND number IN :numbers[] AND version IN :versions[]"""
_HISTORY = """
    SELECT data FROM memory_history WHERE scope = :scope AND number = :number
    ORDER BY version DESC"""
_TOMBSTONES = f"""
    SELECT data FROM memory_tombstones WHERE scope = {SCOPE} AND NOT EXISTS (
        SELECT 1 FROM memories WHERE memories.scope = memory_tombstones.scope
        AND memories.number = memory_tombstones.number AND deleted > 0 AND superseded_by <> '')
    ORDER BY at DESC, number DESC LIMIT :limit"""
_EVENTS = f"""
    SELECT event, counted, id, version, number FROM memories
    WHERE scope = {SCOPE} AND event > :after AND event <= :last
    UNION ALL
    SELECT event, 0, id, version, number FROM erased_memories
    WHERE scope = {SCOPE} AND event > :after AND event <= :last"""
_CHANGES = f"""
    SELECT event, counted, id, version FROM ({_EVENTS}) AS events ORDER BY event, number"""
_NEXT = """
    SELECT event FROM (SELECT event FROM {} WHERE scope = {} AND event > :after
    ORDER BY event LIMIT :limit) AS first_{}"""
_LAST = f"""
    {_NEXT.format("memories", SCOPE, "memories")}
    UNION ALL {_NEXT.format("erased_memories", SCOPE, "erased")}
    ORDER BY event LIMIT 1 OFFSET :skipped"""
_SCOPES = """
    SELECT tenant, kind, owner, subject, counted - (
        SELECT count(*) FROM memories WHERE scope = memory_scopes.number
        AND counted = 1 AND expires > 0 AND expires <= :now)
    FROM memory_scopes WHERE {}counted > 0 ORDER BY tenant, kind, owner, subject"""


async def known(sql: Sql, scope: Scope) -> int:
    """Return the scope's number; 0, which no scope has, if it holds nothing."""
    ((number,),) = await sql.fetch(_NUMBER, scope_values(scope))
    return int(number or 0)


async def get(
    sql: Sql, scope: Scope, refs: Sequence[MemoryRef], *, over: bool, deleted: bool, now: float
) -> list[Memory]:
    number = await known(sql, scope)
    if deleted:
        rows = await stored(sql, number, refs)
    else:
        rows = await (kept(sql, number, refs) if over else live(sql, number, refs, now))
    return await with_updates(sql, number, [row.memory() for row in rows], now)


async def page(
    sql: Sql,
    scope: Scope,
    wanted: MemoryFilter,
    *,
    before: int | None,
    limit: int,
    now: float,
) -> MemoryPage:
    condition, values = filtering(wanted, now)
    last = LARGEST if before is None else max(0, min(before, LARGEST))
    values |= {**scope_values(scope), "before": last, "limit": limit + 1}
    values |= await members(sql, scope, wanted)
    rows = await sql.fetch(_PAGE.format(condition), values)
    memories = [read_memory(*row) for row in rows[:limit]]
    if any(each.conflicting for each in memories):
        memories = await with_updates(sql, await known(sql, scope), memories, now)
    return MemoryPage(tuple(memories), len(rows) > limit, (await state(sql, scope, now)).total)


async def versions(
    sql: Sql, scope: Scope, wanted: Sequence[tuple[str, int]], now: float
) -> dict[tuple[str, int], Memory]:
    number = await known(sql, scope)
    stored_rows = await stored(sql, number, [id_ for id_, _ in wanted])
    rows = [row for row in stored_rows if not row.deleted]
    by_version = {(row.id, row.version): row.memory() for row in rows}
    older = [version for each, version in wanted if (each, version) not in by_version]
    if rows and older:
        by_number = {row.number: row for row in rows}
        storable = [each for each in older if 0 < each <= LARGEST]
        values = {"scope": number, "numbers": list(by_number), "versions": storable}
        for at, version, data in await sql.fetch(_VERSIONS, values):
            row = by_number[at]
            by_version[row.id, version] = row._replace(data=data).memory()
    updated = await with_updates(sql, number, list(by_version.values()), now)
    by_version = dict(zip(by_version, updated, strict=True))
    return {each: by_version[each] for each in wanted if each in by_version}


async def twins(sql: Sql, scope: Scope, ids: Sequence[str]) -> dict[str, list[str]]:
    number = await known(sql, scope)
    rows = await stored(sql, number, ids)
    by_main: dict[str, list[str]] = {}
    for row in sorted(await duplicates(sql, number, rows)):
        if not row.deleted:
            by_main.setdefault(row.duplicate_of, []).append(row.id)
    return by_main


async def history(sql: Sql, scope: Scope, ref: MemoryRef) -> list[Memory]:
    number = await known(sql, scope)
    rows = await resolved(sql, number, [ref])
    if not rows or rows[0].deleted:
        return []
    values = {"scope": number, "number": rows[0].number}
    older = await sql.fetch(_HISTORY, values)
    row = rows[0]
    every = [row.data, *(data for (data,) in older)]
    return [read_memory(data, 0.0, row.superseded_by, row.duplicate_of) for data in every]


async def tombstones(sql: Sql, scope: Scope, limit: int) -> list[Tombstone]:
    rows = await sql.fetch(_TOMBSTONES, {**scope_values(scope), "limit": limit})
    return [read_tombstone(data) for (data,) in rows]


async def changes(sql: Sql, scope: Scope, after: int, limit: int) -> list[ChangeEvent]:
    """Return changes after a count. Changes with one count are returned together, so there may be
    more than `limit`: a reader that continues after the last one misses nothing."""
    values = {**scope_values(scope), "after": min(max(after, 0), LARGEST)}
    skipped = max(0, limit - 1)
    last = await sql.fetch(_LAST, {**values, "limit": skipped + 1, "skipped": skipped})
    end = last[0][0] if last else LARGEST
    rows = await sql.fetch(_CHANGES, {**values, "last": end})
    return [
        ChangeEvent(event, _event(counted, version), id_, version)
        for event, counted, id_, version in rows
    ]


def _event(counted: int, version: int) -> str:
    return "deleted" if not counted else "created" if version == 1 else "updated"


async def memory_scopes(sql: Sql, tenant: str | None, now: float) -> list[tuple[Scope, int]]:
    own = "" if tenant is None else "tenant = :tenant AND "
    rows = await sql.fetch(_SCOPES.format(own), {"tenant": tenant or "", "now": now})
    return [
        (Scope(name, ScopeKind(kind), owner, subject), count)
        for name, kind, owner, subject, count in rows
        if count
    ]
