"""Delete memories, restore deleted ones, erase them for good, and sweep away rows besides them.

Whole threads, which are the passages of documents, can be replaced. Memories of one scope or
several are removed at once: deleted, or erased with `purge`. The rows besides memories are proofs,
revocations, events, shown sets and unused vectors.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from memtree.agents.agent_memory import AgentScopes
from memtree.clock import DAY
from memtree.memories.memory import Memory, NewMemory, Tombstone
from memtree.memories.memory_store import MemoryFilter, MemoryRef
from memtree.memories.scope import Scope
from memtree.ports.context_store import RECIPE_DAYS
from memtree.stores.memories import stored_schemas
from memtree.stores.memories.adding import insert
from memtree.stores.memories.changing import put_tombstones
from memtree.stores.memories.memory_reading import (
    duplicates,
    kept,
    lineage,
    members,
    resolved,
    stored,
    with_twins,
)
from memtree.stores.memories.scopes import (
    ScopeRow,
    begin,
    begin_all,
    begin_known,
    begin_number,
    begin_of_rows,
    commit,
    count_tenant,
    count_vectors,
    known_scope,
    meant,
    stamp,
    take_numbers,
)
from memtree.stores.memories.table_rows import (
    STANDING,
    ErasedRow,
    RowState,
    encoded,
    filtering,
    plain,
    standing,
)
from memtree.stores.schema import insert_into
from memtree.stores.sql import Sql

ROWS = 1_000  # rows read with their texts at a time
# Time of deletion that rules out a restore: the next sweep erases these rows.
FOR_GOOD = 1e-9
MINE = "scope = :scope AND number IN :numbers[]"
_DELETE = f"""
    UPDATE memories SET deleted = :deleted, counted = 0, changed = :changed, event = :changed
    WHERE {MINE}"""
# No event: watchers heard of it when these were superseded.
_DELETE_PAST = f"UPDATE memories SET deleted = :deleted, changed = :changed WHERE {MINE}"
_UNDELETE = f"""
    UPDATE memories SET deleted = 0, changed = :changed, event = :changed,
        counted = CASE WHEN superseded_by = '' AND duplicate_of = '' THEN 1 ELSE 0 END
    WHERE {MINE}"""
_UNDELETE_PAST = f"UPDATE memories SET deleted = 0, changed = :changed WHERE {MINE}"
_THREAD = f"""
    SELECT {STANDING} FROM memories
    WHERE scope = :scope AND counted = 1 AND thread_id <> '' AND thread_id = :thread_id
    ORDER BY number"""
_COPY_VECTORS = """
    INSERT INTO memory_vectors (scope, recipe, number, data)
    SELECT scope, recipe, :number, data FROM memory_vectors
    WHERE scope = :scope AND number = :old"""
_COUNT_VECTORS = """
    UPDATE memories SET vectors = (
        SELECT count(*) FROM memory_vectors
        WHERE memory_vectors.scope = memories.scope AND memory_vectors.number = memories.number)
    WHERE scope = :scope AND number IN :numbers[]"""
_UNPAIR = "DELETE FROM memory_conflicts WHERE scope = :scope AND other IN :numbers[]"
_OF_MEMORIES = (
    "memories",
    "memory_conflicts",
    "memory_vectors",
    "memory_history",
    "memory_tombstones",
    "memory_group_members",
    "shown_memories",
)
# Rows that a scope has besides its memories. A tenant's plan is not deleted, since the tenant does
# not own it.
_OF_SCOPES = (
    "memory_tombstones",
    "memory_groups",
    "memory_group_members",
    "memory_settings",
    "extracted_messages",
)
_TELL = insert_into("erased_memories")
_UNLINK = "UPDATE memories SET data = :data, changed = :changed WHERE scope = :scope AND id = :id"
# Their bytes may still be in the files: see `Database.scrub`.
_NOTE = "INSERT INTO deletions DEFAULT VALUES"
_ENDED_SCOPES = """
    SELECT scope FROM memories WHERE deleted > 0 AND deleted <= :before
    UNION SELECT scope FROM memories WHERE expires > 0 AND expires <= :before ORDER BY 1"""
_ENDED_HERE = f"""
    SELECT {STANDING} FROM memories WHERE scope = :scope AND number IN (
        SELECT number FROM memories WHERE +scope = :scope AND deleted > 0 AND deleted <= :before
        UNION SELECT number FROM memories
        WHERE scope = :scope AND expires > 0 AND expires <= :before
        ORDER BY number LIMIT {ROWS})"""
_SCOPES = "SELECT number FROM memory_scopes WHERE tenant = :tenant ORDER BY number"
_FIRST = f"SELECT {STANDING} FROM memories WHERE scope = :scope ORDER BY number LIMIT {ROWS}"
_ENDED_ROWS = (
    ("wallet_proofs", "expires <= :now"),
    ("grant_revocations", "expires <= :now"),
    ("erased_memories", "at <= :yesterday"),
    ("shown_memories", "expires <= :now"),
    ("provider_objects", "expires <= :now"),
)
# Unused by the context store's count: the same models embed both.
_UNUSED = f"SELECT recipe FROM recipes WHERE idle >= {RECIPE_DAYS}"
_UNUSED_HERE = f"scope = :scope AND recipe IN ({_UNUSED})"
_UNCOUNT = f"""
    UPDATE memories SET changed = :changed, vectors = vectors - (
        SELECT count(*) FROM memory_vectors WHERE memory_vectors.scope = memories.scope
        AND memory_vectors.number = memories.number AND recipe IN ({_UNUSED}))
    WHERE scope = :scope AND number IN (SELECT number FROM memory_vectors WHERE {_UNUSED_HERE})"""
_MATCHING = "SELECT number, id FROM memories WHERE scope = :scope AND {} ORDER BY number"
_HOLDING = """
    SELECT number FROM memory_scopes WHERE {} AND EXISTS (
        SELECT 1 FROM memories WHERE memories.scope = memory_scopes.number AND {})
    ORDER BY number"""

Wanted: TypeAlias = "Sequence[MemoryRef] | MemoryFilter"


def in_parts(numbers: Sequence[int]) -> Iterator[Sequence[int]]:
    return (numbers[at : at + ROWS] for at in range(0, len(numbers), ROWS))


async def remove(
    sql: Sql,
    scope: ScopeRow,
    rows: Sequence[RowState],
    *,
    reason: str | None,
    now: float,
    deleted: float = 0.0,
) -> int:
    """Soft-delete rows, with their duplicates and the memories they superseded. Returns how many of
    them counted. `deleted`: the time of deletion, if it is not now."""
    past = {row.number for row in await lineage(sql, scope.number, rows) if not row.deleted}
    gone = [row.number for row in [*rows, *await duplicates(sql, scope.number, rows)]]
    past -= set(gone)
    values = {"scope": scope.number, "deleted": deleted or now, "changed": scope.next}
    await sql.run(_DELETE, {**values, "numbers": gone})
    if past:
        await sql.run(_DELETE_PAST, {**values, "numbers": sorted(past)})
    counted = [row for row in rows if row.counted]
    await count_vectors(sql, scope, [row.number for row in counted], -1)
    await leave_tombstones(sql, scope, counted, reason, now)
    return len(counted)


async def undelete(
    sql: Sql, scope: Scope, refs: Sequence[MemoryRef], *, now: float
) -> list[Memory]:
    """Restore deleted memories and return them. Skips those that have expired, those superseded by
    a memory that is deleted itself (they return with it), and those whose unique values another
    memory has now."""
    at = await begin_known(sql, scope)
    resolved_rows = await resolved(sql, at.number, refs) if at else []
    rows = [r for r in resolved_rows if r.deleted > FOR_GOOD and not r.deleted < r.expires <= now]
    if at is None or not rows:
        return []
    after = await stored(sql, at.number, [row.superseded_by for row in rows if row.superseded_by])
    ended = {row.id for row in after if row.deleted}
    rows = await _with_their_values(
        sql, at, [row for row in rows if row.superseded_by not in ended], now
    )
    if not rows:
        return []
    values = {"scope": at.number, "changed": at.next}
    times = {row.deleted for row in rows}
    before = [r for r in await lineage(sql, at.number, rows) if r.deleted in times]
    back = {row.number for row in [*rows, *await duplicates(sql, at.number, rows)]}
    past = {row.number for row in before} - back
    counted = [row.number for row in rows if not row.superseded_by]
    await sql.run(_UNDELETE, {**values, "numbers": sorted(back)})
    await sql.run(_UNDELETE_PAST, {**values, "numbers": sorted(past)})
    stones = {"scope": at.number, "numbers": counted}
    await sql.run(f"DELETE FROM memory_tombstones WHERE {MINE}", stones)
    await count_vectors(sql, at, counted, 1)
    await commit(sql, at, counted=len(counted))
    return [row._replace(deleted=0.0).memory() for row in rows]


async def _with_their_values(
    sql: Sql, scope: ScopeRow, rows: Sequence[RowState], now: float
) -> list[RowState]:
    """Return the rows without those whose unique values belong to another live memory, or to a
    later row. A superseded memory has none."""
    back = sorted(row for row in rows if not row.superseded_by)
    keyed = [stored_schemas.keyed(row.memory(), row.unique_key) for row in back]
    keys = await stored_schemas.unique_keys(sql, scope, keyed)
    there = await stored_schemas.holders(sql, scope, keys, now)
    with_keys = list(zip(back, keys, strict=True))
    last = {key: row.number for row, key in with_keys}
    rivals = {
        row.number for row, key in with_keys if key and (key in there or last[key] != row.number)
    }
    new = [
        {"scope": scope.number, "number": row.number, "unique_key": key}
        for row, key in with_keys
        if key != row.unique_key
    ]
    await sql.run_many(stored_schemas.PUT_KEY, new)
    return [row for row in rows if row.number not in rivals]


async def leave_tombstones(
    sql: Sql, scope: ScopeRow, rows: Sequence[RowState], reason: str | None, now: float
) -> None:
    if reason is not None:
        stones = [Tombstone(row.id, row.number, now, reason) for row in rows]
        await put_tombstones(sql, scope, stones)


async def replace_thread(
    sql: Sql,
    scope: Scope,
    thread_id: str,
    memories: Sequence[NewMemory],
    *,
    most: int,
    now: float,
) -> int:
    """Replace the thread's memories by these. Unchanged texts keep their vectors."""
    at = await begin(sql, scope)
    values = {"scope": at.number, "thread_id": plain(thread_id)}
    old = standing(await sql.fetch(_THREAD, values))
    if old:
        await remove(sql, at, old, reason=None, now=now, deleted=FOR_GOOD)
    if memories:
        first = await take_numbers(
            sql, at, len(memories), most=most, now=now, live=len(memories) - len(old)
        )
        await insert(sql, at, memories, first)
        there = {row.text_hash: row.number for row in old if row.vectors}
        hashes = {first + place: each.text_hash for place, each in enumerate(memories)}
        same = {number: there[of] for number, of in hashes.items() if of in there}
        copies = [{"scope": at.number, "number": new, "old": was} for new, was in same.items()]
        if copies:
            await sql.run_many(_COPY_VECTORS, copies)
            await sql.run(_COUNT_VECTORS, {"scope": at.number, "numbers": list(same)})
            await count_vectors(sql, at, list(same), 1)
    if old or memories:
        await commit(sql, at, counted=len(memories) - len(old))
    return len(old)


async def erase(sql: Sql, scope: ScopeRow, rows: Sequence[RowState], now: float) -> tuple[int, int]:
    """Erase rows, their duplicates and the memories they superseded. Returns how many memories were
    erased, and how many of them counted."""
    gone = await lineage(sql, scope.number, rows)
    counted = [row for row in gone if row.counted]
    await count_vectors(sql, scope, [row.number for row in counted], -1)
    values = {"scope": scope.number, "numbers": [row.number for row in gone]}
    for table in _OF_MEMORIES:
        await sql.run(f"DELETE FROM {table} WHERE {MINE}", values)
    await sql.run(_UNPAIR, values)
    await _unlink(sql, scope, gone)
    events = (
        ErasedRow(scope.number, row.number, row.id, row.version, scope.next, now) for row in counted
    )
    await sql.run_many(_TELL, [event._asdict() for event in events])
    return len(gone), len(counted)


async def _commit(sql: Sql, scope: ScopeRow, counted: int) -> None:
    await stamp_erased(sql, scope, counted)
    await count_tenant(sql, scope.tenant, -counted)


async def stamp_erased(sql: Sql, scope: ScopeRow, counted: int) -> None:
    await sql.run("DELETE FROM memory_segments WHERE scope = :scope", {"scope": scope.number})
    await stamp(sql, scope, counted=-counted, purged=True)
    await sql.run(_NOTE, {})


async def ended_scopes(sql: Sql, before: float) -> list[int]:
    """Return the scopes with memories that were deleted or expired before that time."""
    return [number for (number,) in await sql.fetch(_ENDED_SCOPES, {"before": before})]


async def erase_ended(sql: Sql, number: int, before: float, now: float) -> int:
    """Erase a limited number of such rows of one scope and return how many; 0 when none is left."""
    scope = await begin_number(sql, number)
    rows = standing(await sql.fetch(_ENDED_HERE, {"scope": number, "before": before}))
    if not rows:
        return 0
    gone, counted = await erase(sql, scope, rows, now)
    await _commit(sql, scope, counted)
    return gone


async def scopes_of(sql: Sql, tenant: str) -> list[int]:
    """Return all scopes of a tenant, also those without live memories."""
    return [number for (number,) in await sql.fetch(_SCOPES, {"tenant": tenant})]


async def erase_scope(sql: Sql, number: int, now: float) -> int:
    """Erase everything in one scope, tombstones too."""
    scope = await begin_number(sql, number)
    values = {"scope": number}
    erased = counted = 0
    while rows := standing(await sql.fetch(_FIRST, values)):
        gone, of_them = await erase(sql, scope, rows, now)
        erased, counted = erased + gone, counted + of_them
    for table in _OF_SCOPES:
        if await sql.fetch(f"SELECT 1 FROM {table} WHERE scope = :scope LIMIT 1", values):
            await sql.run(f"DELETE FROM {table} WHERE scope = :scope", values)
            await sql.run(_NOTE, {})
    if erased:
        await _commit(sql, scope, counted)
    return erased


async def _unlink(sql: Sql, scope: ScopeRow, gone: Sequence[RowState]) -> None:
    """Clear the links of memories that superseded one of the erased ones."""
    ids = {row.id for row in gone}
    after = [row.superseded_by for row in gone if row.superseded_by not in ids | {""}]
    for row in await stored(sql, scope.number, after):
        memory = row.memory()
        if memory.supersedes not in ids:
            continue
        plain = replace(
            memory, supersedes=None, deleted=None, superseded_by=None, duplicate_of=None
        )
        values = {"scope": scope.number, "id": row.id, "changed": scope.next}
        await sql.run(_UNLINK, {**values, "data": encoded(plain)})


async def any_ended(sql: Sql, now: float) -> bool:
    values = {"yesterday": now - DAY, "now": now}
    tables = " OR ".join(f"EXISTS (SELECT 1 FROM {table} WHERE {at})" for table, at in _ENDED_ROWS)
    return bool((await sql.fetch(f"SELECT {tables}", values))[0][0])


async def drop_ended(sql: Sql, now: float) -> None:
    values = {"yesterday": now - DAY, "now": now}
    for table, ended in _ENDED_ROWS:
        await sql.run(f"DELETE FROM {table} WHERE {ended}", values)


async def scopes_of_unused(sql: Sql) -> list[int]:
    """Return the scopes with vectors or segments under recipes that are no longer used."""
    rows = await sql.fetch(
        f"SELECT scope FROM memory_recipes WHERE recipe IN ({_UNUSED})"
        f" UNION SELECT scope FROM memory_segments WHERE recipe IN ({_UNUSED}) ORDER BY 1",
        {},
    )
    return [scope for (scope,) in rows]


async def drop_unused(sql: Sql, number: int) -> None:
    """Delete the scope's unused vectors. Checks again that each is unused, since another process
    may have begun to use them."""
    scope = await begin_number(sql, number)
    values = {"scope": number, "changed": scope.next}
    await sql.run(_UNCOUNT, values)
    for table in ("memory_vectors", "memory_recipes", "memory_segments"):
        await sql.run(f"DELETE FROM {table} WHERE {_UNUSED_HERE}", values)
    await commit(sql, scope)


async def delete(
    sql: Sql, scope: Scope, refs: Wanted, *, reason: str | None, purge: bool, now: float
) -> list[str]:
    at = await begin_known(sql, scope)
    wanted = [(at, refs)] if at else []
    return [id_ for _, id_ in await _delete(sql, wanted, reason=reason, purge=purge, now=now)]


async def delete_matching(
    sql: Sql, scope: Scope, wanted: MemoryFilter, *, reason: str | None, purge: bool, now: float
) -> list[str]:
    return await delete(sql, scope, wanted, reason=reason, purge=purge, now=now)


async def delete_all(
    sql: Sql, rows: Sequence[tuple[Scope, str]], *, purge: bool, now: float
) -> list[tuple[Scope, str]]:
    return await _delete(sql, await begin_of_rows(sql, rows), reason=None, purge=purge, now=now)


async def delete_matching_all(
    sql: Sql, scopes: AgentScopes, wanted: MemoryFilter, *, purge: bool, now: float
) -> list[tuple[Scope, str]]:
    """Delete the memories of several scopes that match a filter. A group belongs to one scope, so a
    filter for a group matches nothing."""
    if wanted.group is not None:
        return []
    condition, values = meant(scopes)
    matching, more = filtering(wanted, now)
    holding = await sql.fetch(_HOLDING.format(condition, matching), {**values, **more})
    begun = await begin_all(sql, [number for (number,) in holding]) if holding else []
    return await _delete(sql, [(at, wanted) for at in begun], reason=None, purge=purge, now=now)


async def _delete(
    sql: Sql,
    wanted: Sequence[tuple[ScopeRow, Wanted]],
    *,
    reason: str | None,
    purge: bool,
    now: float,
) -> list[tuple[Scope, str]]:
    """Remove memories of scopes that are locked, and count their tenants at the end."""
    gone: list[tuple[Scope, str]] = []
    counted: Counter[str] = Counter()
    for at, those in wanted:
        removed, count = await _remove(sql, at, those, reason=reason, purge=purge, now=now)
        gone += [(at.scope, id_) for id_ in removed]
        counted[at.tenant] += count
    for tenant in sorted(counted):
        await count_tenant(sql, tenant, -counted[tenant])
    return gone


async def deletable(
    sql: Sql, scope: Scope, wanted: Wanted, *, purge: bool, now: float
) -> list[str]:
    """Return the ids that a deletion, or an erasure, would name."""
    at = await known_scope(sql, scope)
    if at is None:
        return []
    gone: dict[int, str] = {}
    if isinstance(wanted, MemoryFilter):
        gone = await _matching(sql, at, wanted, now, purge=purge)
        parts = [await stored(sql, at.number, part) for part in in_parts(list(gone))]
    else:
        parts = [await (resolved if purge else kept)(sql, at.number, wanted)]
    for rows in parts:
        gone |= {row.number: row.id for row in await with_twins(sql, at, rows, deleted=purge)}
    return list(gone.values())


async def _remove(
    sql: Sql, scope: ScopeRow, wanted: Wanted, *, reason: str | None, purge: bool, now: float
) -> tuple[list[str], int]:
    """Remove the memories. Returns the ids, and how many of the removed rows counted: their tenant
    still counts them. `purge`: erases them, live or not."""
    by_name, counted = not isinstance(wanted, MemoryFilter), 0
    parts: list[Sequence[MemoryRef]]
    if isinstance(wanted, MemoryFilter):
        gone = await _matching(sql, scope, wanted, now, purge=purge)
        parts = list(in_parts(list(gone)))
    else:
        gone, parts = {}, [wanted]
    for part in parts:
        named = [] if by_name and not purge else await stored(sql, scope.number, part)
        if by_name:
            rows = await (resolved if purge else kept)(sql, scope.number, part)
        else:  # some were deleted together with the memories that superseded them
            rows = [row for row in named if purge or not row.deleted]
        rows = await with_twins(sql, scope, rows, deleted=purge)
        gone |= {row.number: row.id for row in rows}
        if purge and rows:
            every = {row.number: row for row in [*rows, *named]}
            _, count = await erase(sql, scope, list(every.values()), now)
            counted += count
            left = [row for row in rows if row.counted or by_name]
            await leave_tombstones(sql, scope, left, reason, now)
        elif rows:
            counted += await remove(sql, scope, rows, reason=reason, now=now)
    if gone and purge:
        await stamp_erased(sql, scope, counted)
    elif gone:
        await stamp(sql, scope, counted=-counted)
    return list(gone.values()), counted


async def _matching(
    sql: Sql, scope: ScopeRow, wanted: MemoryFilter, now: float, *, purge: bool
) -> dict[int, str]:
    """Return ids by number, in the order of numbers. Deleted memories can only be erased."""
    wanted = replace(wanted, deleted=wanted.deleted and purge)
    condition, values = filtering(wanted, now)
    values |= {"scope": scope.number, **await members(sql, scope.scope, wanted)}
    return dict(await sql.fetch(_MATCHING.format(condition), values))
