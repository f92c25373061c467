"""Scopes and tenants: their counters and locks, and the scopes that a request of an agent means.

A write starts with `begin`, which locks the scope's row, and only then reads rows to decide. It
locks its tenant's row after that, never before: so no two writers wait for each other in a circle,
counts of a scope are handed out in the order in which their writes become visible, and a reader
that has seen a count has seen all that came before it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from memtree.agents.agent_memory import AgentScopes
from memtree.errors import MemoryLimit
from memtree.memories.memory_store import ScopeState
from memtree.memories.scope import Scope, ScopeKind
from memtree.stores.memories.table_rows import EXPIRED, SCOPE, plain, scope_values
from memtree.stores.schema import insert_into
from memtree.stores.sql import Sql

_COLUMNS = "number, tenant, kind, owner, subject, changed, counted, purges"
_FIND = f"""
    SELECT {_COLUMNS} FROM memory_scopes
    WHERE tenant = :tenant AND kind = :scope_kind AND owner = :owner AND subject = :subject"""
_NEW = """
    INSERT INTO memory_scopes (tenant, kind, owner, subject, changed, counted, purges)
    VALUES (:tenant, :scope_kind, :owner, :subject, 0, 0, 0) ON CONFLICT DO NOTHING"""
_PUT = """
    UPDATE memory_scopes SET changed = :changed, counted = :counted, purges = :purges
    WHERE number = :scope"""
_TENANT = "SELECT last, counted FROM memory_tenants WHERE tenant = :tenant"
_NEW_TENANT = """
    INSERT INTO memory_tenants (tenant, last, counted) VALUES (:tenant, 0, 0)
    ON CONFLICT DO NOTHING"""
_PUT_TENANT = """
    UPDATE memory_tenants SET last = last + :numbers, counted = counted + :counted
    WHERE tenant = :tenant"""
_TENANT_EXPIRED = f"""
    SELECT count(*) FROM memories
    WHERE scope IN (SELECT number FROM memory_scopes WHERE tenant = :tenant) AND {EXPIRED}"""
_STATE = f"""
    SELECT changed, counted, purges,
        (SELECT count(*) FROM memories WHERE scope = memory_scopes.number AND {EXPIRED}),
        (SELECT count(DISTINCT pairs.number) FROM memory_conflicts AS pairs
            JOIN memories AS newer
            ON newer.scope = pairs.scope AND newer.number = pairs.number AND newer.counted = 1
            JOIN memories AS older
            ON older.scope = pairs.scope AND older.number = pairs.other AND older.counted = 1
            WHERE pairs.scope = memory_scopes.number),
        (SELECT count(*) FROM memories
            WHERE scope = memory_scopes.number AND memories.counted = 1 AND standing = 1)
    FROM memory_scopes WHERE number = {SCOPE}"""
_RECIPES = """
    SELECT recipe, count(*) FROM memory_vectors WHERE scope = :scope AND number IN :numbers[]
    GROUP BY recipe ORDER BY recipe"""
_MORE = "(scope, recipe) DO UPDATE SET counted = memory_recipes.counted + excluded.counted"
_COUNT_RECIPE = insert_into("memory_recipes", _MORE)
_SCOPES = """
    SELECT number, tenant, kind, owner, subject FROM memory_scopes WHERE number IN :numbers[]"""
_NUMBERS = """
    SELECT number, kind, owner, subject FROM memory_scopes
    WHERE tenant = :tenant AND kind IN :kinds[] AND owner IN :owners[] AND subject IN :subjects[]"""


class ScopeRow(NamedTuple):
    """A scope's counters as read in this transaction."""

    number: int
    tenant: str
    kind: str
    owner: str
    subject: str
    changed: int
    counted: int
    purges: int

    @property
    def scope(self) -> Scope:
        return Scope(self.tenant, ScopeKind(self.kind), self.owner, self.subject)

    @property
    def next(self) -> int:
        """Return the change count of this transaction."""
        return self.changed + 1


async def begin(sql: Sql, scope: Scope) -> ScopeRow:
    """Lock the scope until the end of the transaction. A new scope is created."""
    row = await begin_known(sql, scope)
    while row is None:
        await sql.run(_NEW, scope_values(scope))
        row = await begin_known(sql, scope)
    return row


async def begin_known(sql: Sql, scope: Scope) -> ScopeRow | None:
    """Lock the scope if it holds anything; None otherwise."""
    return await known_scope(sql, scope, sql.lock)


async def known_scope(sql: Sql, scope: Scope, lock: str = "") -> ScopeRow | None:
    """Return the scope's counters for reading; None if it holds nothing."""
    rows = await sql.fetch(_FIND + lock, scope_values(scope))
    return ScopeRow._make(rows[0]) if rows else None


async def begin_all(sql: Sql, numbers: Sequence[int]) -> list[ScopeRow]:
    """Lock several scopes in the order of their numbers, so that no two writers wait for each
    other."""
    statement = f"SELECT {_COLUMNS} FROM memory_scopes WHERE number IN :numbers[] ORDER BY number"
    rows = await sql.fetch(statement + sql.lock, {"numbers": sorted(numbers)})
    return [ScopeRow._make(row) for row in rows]


async def begin_number(sql: Sql, number: int) -> ScopeRow:
    statement = f"SELECT {_COLUMNS} FROM memory_scopes WHERE number = :scope{sql.lock}"
    return ScopeRow._make((await sql.fetch(statement, {"scope": number}))[0])


async def commit(sql: Sql, scope: ScopeRow, *, counted: int = 0, purged: bool = False) -> None:
    """Count a change. `counted`: by how many the live memories grow."""
    await stamp(sql, scope, counted=counted, purged=purged)
    await count_tenant(sql, scope.tenant, counted)


async def stamp(sql: Sql, scope: ScopeRow, *, counted: int, purged: bool = False) -> None:
    """Count the change in the scope only: if several scopes change, their tenant is counted at the
    end."""
    values = {
        "scope": scope.number,
        "changed": scope.next,
        "counted": scope.counted + counted,
        "purges": scope.purges + purged,
    }
    await sql.run(_PUT, values)


async def count_tenant(sql: Sql, tenant: str, counted: int) -> None:
    if counted:
        await sql.run(_PUT_TENANT, {"tenant": tenant, "numbers": 0, "counted": counted})


async def take_numbers(
    sql: Sql,
    scope: ScopeRow,
    count: int,
    *,
    most: int = 0,
    now: float = 0.0,
    live: int | None = None,
) -> int:
    """Reserve `count` unused numbers and return the first. Raises `MemoryLimit` if the tenant would
    have more than `most` live memories (0: any number). `live`: by how many this transaction adds
    live memories, if that is not `count`."""
    more = count if live is None else live
    tenant = {"tenant": scope.tenant}
    last, counted = await lock_tenant(sql, scope.tenant)
    if most and more > 0 and counted + more > most:
        ((expired,),) = await sql.fetch(_TENANT_EXPIRED, {**tenant, "now": now})
        if counted - expired + more > most:
            raise MemoryLimit(
                f"There are {counted - expired} memories, and at most {most} are allowed: delete "
                "some, or raise the limit."
            )
    await sql.run(_PUT_TENANT, {**tenant, "numbers": count, "counted": 0})
    return last + 1


async def lock_tenant(sql: Sql, tenant: str) -> tuple[int, int]:
    """Lock the tenant, and return its last number and how many of its memories count. Call this
    after locking all scopes of the transaction."""
    values = {"tenant": tenant}
    rows = await sql.fetch(_TENANT + sql.lock, values)
    while not rows:
        await sql.run(_NEW_TENANT, values)
        rows = await sql.fetch(_TENANT + sql.lock, values)
    ((last, counted),) = rows
    return int(last), int(counted)


async def state(sql: Sql, scope: Scope, now: float) -> ScopeState:
    rows = await sql.fetch(_STATE, {**scope_values(scope), "now": now})
    if not rows:
        return ScopeState()
    ((changed, counted, purges, expired, conflicts, standing),) = rows
    return ScopeState(changed, counted - expired, purges, conflicts, standing)


async def count_vectors(sql: Sql, scope: ScopeRow, numbers: Sequence[int], sign: int) -> None:
    """Adjust the number of vectors, because these memories count from now on (`sign` 1) or no
    longer (-1)."""
    values = {"scope": scope.number, "numbers": list(numbers)}
    for recipe, count in await sql.fetch(_RECIPES, values):
        await count_recipe(sql, scope, recipe, sign * count)


async def count_recipe(sql: Sql, scope: ScopeRow, recipe: str, count: int) -> None:
    values = {"scope": scope.number, "recipe": recipe, "counted": count}
    await sql.run(_COUNT_RECIPE, values)


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
