"""Changing and deleting memories of several scopes in one transaction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from memtree.memories.agents.agent_memory import AgentScopes, LocatedMemory
from memtree.memories.memory import MemoryChange, Unset
from memtree.memories.ports import MemoryFilter
from memtree.memories.scope import Scope
from memtree.stores.memories.agent.scopes import begin_of_rows, meant
from memtree.stores.memories.changing import next_version
from memtree.stores.memories.counters import begin_all, count_tenant, stamp
from memtree.stores.memories.deletion import delete_here, delete_matching_here
from memtree.stores.memories.erasing import purge_here, purge_matching_here
from memtree.stores.memories.lookup import kept
from memtree.stores.memories.rows import filtering
from memtree.stores.sql import Sql

_HOLDING = """
    SELECT number FROM memory_scopes WHERE {} AND EXISTS (
        SELECT 1 FROM memories WHERE memories.scope = memory_scopes.number AND {})
    ORDER BY number"""


async def change_all(
    sql: Sql, rows: Sequence[tuple[Scope, str]], change: MemoryChange, *, now: float
) -> list[LocatedMemory]:
    changed: dict[tuple[Scope, str], LocatedMemory] = {}
    of_tenants: Counter[str] = Counter()
    for at, ids in await begin_of_rows(sql, rows):
        counted, found = 0, False
        # Of two that get the same unique values the first gives way.
        one_by_one = not isinstance(change.data, Unset)
        for part in [[each] for each in ids] if one_by_one else [ids]:
            for row in await kept(sql, at.number, part):
                memory, more = await next_version(sql, at, row, change, now)
                changed[at.scope, row.id] = LocatedMemory(at.scope, memory)
                counted, found = counted + more, True
        if found:
            await stamp(sql, at, counted=counted)
            of_tenants[at.tenant] += counted
    for tenant in sorted(of_tenants):
        await count_tenant(sql, tenant, of_tenants[tenant])
    return in_order_of(changed, rows)


def in_order_of(
    changed: dict[tuple[Scope, str], LocatedMemory], rows: Sequence[tuple[Scope, str]]
) -> list[LocatedMemory]:
    """As asked for; what was asked for by the id of a duplicate comes last."""
    asked = (each for each in rows if each in changed)
    return [changed[each] for each in dict.fromkeys((*asked, *changed))]


async def delete_all(
    sql: Sql, rows: Sequence[tuple[Scope, str]], *, purge: bool, now: float
) -> list[tuple[Scope, str]]:
    gone: list[tuple[Scope, str]] = []
    counted: Counter[str] = Counter()
    how = purge_here if purge else delete_here
    for at, ids in await begin_of_rows(sql, rows):
        deleted, count = await how(sql, at, ids, reason=None, now=now)
        gone += [(at.scope, id_) for id_ in deleted]
        counted[at.tenant] += count
    for tenant in sorted(counted):
        await count_tenant(sql, tenant, -counted[tenant])
    return gone


async def delete_matching_all(
    sql: Sql, scopes: AgentScopes, wanted: MemoryFilter, *, purge: bool, now: float
) -> list[tuple[Scope, str]]:
    """Groups are of one scope, so a filter for one lets nothing through here."""
    if wanted.group is not None:
        return []
    condition, values = meant(scopes)
    matching, more = filtering(wanted, now)
    holding = await sql.fetch(_HOLDING.format(condition, matching), {**values, **more})
    gone: list[tuple[Scope, str]] = []
    counted = 0
    how = purge_matching_here if purge else delete_matching_here
    for at in await begin_all(sql, [number for (number,) in holding]) if holding else ():
        deleted, count = await how(sql, at, wanted, reason=None, now=now)
        gone += [(at.scope, id_) for id_ in deleted]
        counted += count
    await count_tenant(sql, scopes.tenant, -counted)
    return gone
