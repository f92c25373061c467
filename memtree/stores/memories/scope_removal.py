"""Remove memories of one scope or several: delete them, or erase them with `purge`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeAlias

from memtree.agents.agent_memory import AgentScopes
from memtree.memories.memory_store import MemoryFilter, MemoryRef
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


Wanted: TypeAlias = "Sequence[MemoryRef] | MemoryFilter"


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
