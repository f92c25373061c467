"""Tenants: their locks, and the small number that stands for a tenant's name in the rows. It saves
0.5 MB per million tokens."""

from __future__ import annotations

from collections.abc import Sequence

from memtree.stores.sql import Row, Sql

NUMBER = "SELECT number FROM tenants WHERE name = :tenant"
TENANT = f"tenant = ({NUMBER})"  # condition on rows
_NEW = "INSERT INTO tenants (name) VALUES (:tenant) ON CONFLICT DO NOTHING"


async def begin(sql: Sql, tenant: str, *, alone: bool = False) -> None:
    """Take a writer's lock: the first statement of a transaction. `alone`: exclusive, for a
    deletion."""
    await sql.lock_name("memtree tenant", tenant, shared=not alone)


async def known_tenant(sql: Sql, tenant: str) -> int | None:
    rows = await sql.fetch(NUMBER, {"tenant": tenant})
    return int(rows[0][0]) if rows else None


async def tenant_number(sql: Sql, tenant: str, known: Sequence[Row]) -> int:
    """Return the tenant's number; a new tenant gets one. `known`: the rows that NUMBER returned."""
    if known:
        return int(known[0][0])
    await sql.run(_NEW, {"tenant": tenant})
    number = await known_tenant(sql, tenant)
    assert number is not None
    return number
