"""Remove memories of one scope or several: delete them, or erase them with `purge`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from memtree.memories.agents.agent_memory import AgentScopes
from memtree.memories.ports import MemoryFilter, MemoryRef
from memtree.memories.scope import Scope
from memtree.stores.memories.deletion import in_parts, leave_tombstones, remove
from memtree.stores.memories.erasing import erase, stamp_erased
from memtree.stores.memories.lookup import kept, members, resolved, stored, with_twins
from memtree.stores.memories.rows import filtering
from memtree.stores.memories.scopes import (
    ScopeRow,
    begin_all,
    begin_known,
    begin_of_rows,
    count_tenant,
    known_scope,
    meant,
    stamp,
)
from memtree.stores.sql import Sql

_MATCHING = "SELECT number, id FROM memories WHERE scope = :scope AND {} ORDER BY number"
_HOLDING = """
    SELECT number FROM memory_scopes WHERE {} AND EXISTS (
        SELECT 1 FROM memories WHERE memories.scope = memory_scopes.number AND {})
    ORDER BY number"""


async def delete(
    sql: Sql,
    scope: Scope,
    refs: Sequence[MemoryRef],
    *,
    reason: str | None = None,
    purge: bool,
    now: float,
) -> list[str]:
    at = await begin_known(sql, scope)
    if at is None:
        return []
    gone, counted = await _remove_named(sql, at, refs, reason=reason, purge=purge, now=now)
    await count_tenant(sql, at.tenant, -counted)
    return gone


async def delete_matching(
    sql: Sql, scope: Scope, wanted: MemoryFilter, *, reason: str | None, purge: bool, now: float
) -> list[str]:
    at = await begin_known(sql, scope)
    if at is None:
        return []
    gone, counted = await _remove_matching(sql, at, wanted, reason=reason, purge=purge, now=now)
    await count_tenant(sql, at.tenant, -counted)
    return gone


async def delete_all(
    sql: Sql, rows: Sequence[tuple[Scope, str]], *, purge: bool, now: float
) -> list[tuple[Scope, str]]:
    gone: list[tuple[Scope, str]] = []
    counted: Counter[str] = Counter()
    for at, ids in await begin_of_rows(sql, rows):
        removed, count = await _remove_named(sql, at, ids, reason=None, purge=purge, now=now)
        gone += [(at.scope, id_) for id_ in removed]
        counted[at.tenant] += count
    for tenant in sorted(counted):
        await count_tenant(sql, tenant, -counted[tenant])
    return gone


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
    gone: list[tuple[Scope, str]] = []
    counted = 0
    for at in await begin_all(sql, [number for (number,) in holding]) if holding else ():
        removed, count = await _remove_matching(sql, at, wanted, reason=None, purge=purge, now=now)
        gone += [(at.scope, id_) for id_ in removed]
        counted += count
    await count_tenant(sql, scopes.tenant, -counted)
    return gone


async def deletable(
    sql: Sql, scope: Scope, wanted: Sequence[MemoryRef] | MemoryFilter, *, purge: bool, now: float
) -> list[str]:
    """Return the ids that a deletion, or an erasure, would name."""
    at = await known_scope(sql, scope)
    if at is None:
        return []
    gone: dict[int, str] = {}
    if isinstance(wanted, MemoryFilter):
        gone = await _matching(sql, at, replace(wanted, deleted=wanted.deleted and purge), now)
        parts = [await stored(sql, at.number, part) for part in in_parts(list(gone))]
    else:
        parts = [await (resolved if purge else kept)(sql, at.number, wanted)]
    for rows in parts:
        gone |= {row.number: row.id for row in await with_twins(sql, at, rows, deleted=purge)}
    return list(gone.values())


async def _remove_named(
    sql: Sql,
    scope: ScopeRow,
    refs: Sequence[MemoryRef],
    *,
    reason: str | None,
    purge: bool,
    now: float,
) -> tuple[list[str], int]:
    """Remove the named memories. Returns the ids, and how many of the removed rows counted: their
    tenant still counts them. `purge`: erases them, live or not."""
    named = await stored(sql, scope.number, refs) if purge else []
    rows = await (resolved if purge else kept)(sql, scope.number, refs)
    rows = await with_twins(sql, scope, rows, deleted=purge)
    if not rows:
        return [], 0
    if purge:
        every = {row.number: row for row in [*rows, *named]}
        counted = await erase(sql, scope, list(every.values()), now)
        await leave_tombstones(sql, scope, rows, reason, now)
    else:
        counted = await remove(sql, scope, rows, reason=reason, now=now)
    await _stamp(sql, scope, counted, purge=purge)
    return [row.id for row in rows], counted


async def _remove_matching(
    sql: Sql, scope: ScopeRow, wanted: MemoryFilter, *, reason: str | None, purge: bool, now: float
) -> tuple[list[str], int]:
    matching = await _matching(sql, scope, replace(wanted, deleted=wanted.deleted and purge), now)
    counted, gone = 0, dict(matching)
    for part in in_parts(list(matching)):
        rows = await stored(sql, scope.number, part)
        # Some were deleted together with the memories that superseded them.
        rows = [row for row in rows if purge or not row.deleted]
        rows = await with_twins(sql, scope, rows, deleted=purge)
        if purge:
            counted += await erase(sql, scope, rows, now)
            await leave_tombstones(sql, scope, [row for row in rows if row.counted], reason, now)
        else:
            counted += await remove(sql, scope, rows, reason=reason, now=now)
        gone |= {row.number: row.id for row in rows}
    if matching:
        await _stamp(sql, scope, counted, purge=purge)
    return list(gone.values()), counted


async def _stamp(sql: Sql, scope: ScopeRow, counted: int, *, purge: bool) -> None:
    if purge:
        await stamp_erased(sql, scope, counted)
    else:
        await stamp(sql, scope, counted=-counted)


async def _matching(sql: Sql, scope: ScopeRow, wanted: MemoryFilter, now: float) -> dict[int, str]:
    """Return ids by number, in the order of numbers."""
    condition, values = filtering(wanted, now)
    values |= {"scope": scope.number, **await members(sql, scope.scope, wanted)}
    return dict(await sql.fetch(_MATCHING.format(condition), values))
