"""Changing memories of several scopes in one transaction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from memtree.memories.agents.agent_memory import LocatedMemory
from memtree.memories.memory import MemoryChange, Unset
from memtree.memories.scope import Scope
from memtree.stores.memories.agent.scopes import begin_of_rows
from memtree.stores.memories.changing import next_version
from memtree.stores.memories.counters import count_tenant, stamp
from memtree.stores.memories.lookup import kept
from memtree.stores.sql import Sql


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
