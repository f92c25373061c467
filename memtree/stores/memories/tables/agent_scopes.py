"""Select scopes of a tenant's agents, and change several of them in one transaction."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from memtree.memories.agents.agent_memory import AgentScopes
from memtree.memories.scope import Scope, ScopeKind
from memtree.stores.memories.tables.counters import ScopeRow, begin_all
from memtree.stores.memories.tables.rows import plain
from memtree.stores.sql import Sql

_SCOPES = """
    SELECT number, tenant, kind, owner, subject FROM memory_scopes WHERE number IN :numbers[]"""
_NUMBERS = """
    SELECT number, kind, owner, subject FROM memory_scopes
    WHERE tenant = :tenant AND kind IN :kinds[] AND owner IN :owners[] AND subject IN :subjects[]"""


def meant(scopes: AgentScopes, *, numbered: bool = False) -> tuple[str, dict[str, Any]]:
    """Return a condition on rows of `memory_scopes`, and its values. `numbered`: the query gives
    the rows' numbers, so no database should read all scopes of the tenant.

    >>> meant(AgentScopes("t", None, None))
    ('memory_scopes.tenant = :tenant AND memory_scopes.kind = :scope_kind',\
 {'tenant': 't', 'scope_kind': 'agent'})
    """
    tenant = "memory_scopes.tenant || ''" if numbered else "memory_scopes.tenant"
    parts = [f"{tenant} = :tenant", "memory_scopes.kind = :scope_kind"]
    values: dict[str, Any] = {"tenant": scopes.tenant, "scope_kind": ScopeKind.AGENT.value}
    for name, value in (("owner", scopes.agent), ("subject", scopes.subject)):
        if value is not None:
            parts.append(f"{name} = :{name}")
            values[name] = plain(value)
    return " AND ".join(parts), values


async def numbers_of(sql: Sql, scopes: Collection[Scope]) -> dict[Scope, int]:
    """Return the numbers of the scopes that hold anything."""
    numbers: dict[Scope, int] = {}
    for tenant in sorted({each.tenant for each in scopes}):
        mine = [each for each in scopes if each.tenant == tenant]
        values = {
            "tenant": tenant,
            "kinds": sorted({each.kind.value for each in mine}),
            "owners": sorted({plain(each.owner) for each in mine}),
            "subjects": sorted({plain(each.subject) for each in mine}),
        }
        for number, kind, owner, subject in await sql.fetch(_NUMBERS, values):
            numbers[Scope(tenant, ScopeKind(kind), owner, subject)] = number
    return {each: numbers[each] for each in scopes if each in numbers}


async def scopes_of(sql: Sql, numbers: Collection[int]) -> dict[int, Scope]:
    rows = await sql.fetch(_SCOPES, {"numbers": sorted(numbers)}) if numbers else []
    return {
        number: Scope(tenant, ScopeKind(kind), owner, subject)
        for number, tenant, kind, owner, subject in rows
    }


async def begin_of_rows(
    sql: Sql, rows: Sequence[tuple[Scope, str]]
) -> list[tuple[ScopeRow, list[str]]]:
    """Lock the scopes of these rows. Returns each with the ids requested from it."""
    ids: dict[Scope, list[str]] = {}
    for scope, id_ in dict.fromkeys(rows):
        ids.setdefault(scope, []).append(id_)
    numbers = await numbers_of(sql, ids)
    begun = await begin_all(sql, list(numbers.values())) if numbers else []
    return [(at, ids[at.scope]) for at in begun]
