"""Rows of tenants besides memories: their wallets, proofs that were used, grants that were revoked,
plans, and digests of objects at the provider."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from memtree.errors import Conflict, Forbidden
from memtree.memories.user_memories import PLAN
from memtree.stores.memories.table_rows import plain
from memtree.stores.schema import insert_into, upsert_into
from memtree.stores.sql import Ids, Sql

# A used proof is remembered for this much longer than it is valid, since clocks of servers differ.
PROOF_SECONDS = 600.0
_USE_PROOF = insert_into("wallet_proofs", "DO NOTHING")
_USER = "SELECT tenant FROM wallet_proofs WHERE digest = :digest"
_BIND = insert_into("wallets", "DO NOTHING")
_OWNER = "SELECT tenant FROM wallets WHERE address = :address"
_OWNERS = "SELECT address, tenant FROM wallets WHERE address IN :addresses[]"
_WALLETS = "SELECT address, bound FROM wallets WHERE tenant = :tenant ORDER BY bound, address"
_RELEASE = """
    DELETE FROM wallets WHERE address = :address AND tenant = :tenant RETURNING address"""
_REVOKE = insert_into("grant_revocations", "DO NOTHING RETURNING at")
_REVOKED = "SELECT digest FROM grant_revocations WHERE digest IN :digests[bytes]"
_PLAN = "SELECT plan FROM tenant_plans WHERE tenant = :tenant"
_PUT_PLAN = upsert_into("tenant_plans", "tenant", "plan")
# A revocation outlives its tenant: otherwise the next owner of the wallet would find the grant
# valid again.
_ERASE = (
    "DELETE FROM memory_schemas WHERE tenant = :tenant",
    "DELETE FROM wallets WHERE tenant = :tenant",
    "UPDATE grant_revocations SET tenant = '', grantor = '' WHERE tenant = :tenant",
)
# The later expiry wins, so that a delayed write shortens nothing.
_LATER = " WHERE excluded.expires > provider_objects.expires"
_PUT_OBJECT = upsert_into("provider_objects", "digest", "expires") + _LATER
_KNOWN_OBJECTS = (
    "SELECT digest FROM provider_objects WHERE expires > :now AND digest IN :digests[bytes]"
)


async def prove_wallet(
    sql: Sql, address: str, tenant: str, proof: bytes, until: float, now: float
) -> None:
    used = {"digest": proof, "tenant": tenant, "expires": until + PROOF_SECONDS}
    if await _put_owned(sql, _USE_PROOF, _USER, used) != tenant:
        raise Forbidden("The proof of the wallet was used by somebody else.")
    bound = {"address": plain(address), "tenant": tenant, "bound": now}
    if await _put_owned(sql, _BIND, _OWNER, bound) != tenant:
        raise Conflict("The wallet belongs to another tenant, which has to release it.")


async def _put_owned(sql: Sql, insert: str, select: str, values: Mapping[str, Any]) -> str:
    """Insert the row and return the tenant that owns it now. Retries, since the row may be deleted
    between the two statements."""
    while True:
        await sql.run(insert, values)
        rows = await sql.fetch(select + sql.lock, values)
        if rows:
            return str(rows[0][0])


async def wallet_tenants(sql: Sql, addresses: Collection[str]) -> dict[str, str]:
    wanted = sorted({plain(each) for each in addresses})
    return dict(await sql.fetch(_OWNERS, {"addresses": wanted})) if wanted else {}


async def wallets(sql: Sql, tenant: str) -> list[tuple[str, float]]:
    rows = await sql.fetch(_WALLETS, {"tenant": tenant})
    return [(address, bound) for address, bound in rows]


async def release_wallet(sql: Sql, address: str, tenant: str) -> bool:
    return bool(await sql.fetch(_RELEASE, {"address": plain(address), "tenant": tenant}))


async def revoke_grant(
    sql: Sql, digest: bytes, grantor: str, tenant: str, expires: float, now: float
) -> bool:
    row = {"digest": digest, "grantor": plain(grantor), "tenant": tenant, "at": now}
    return bool(await sql.fetch(_REVOKE, {**row, "expires": expires}))


async def revoked_grants(sql: Sql, digests: Collection[bytes]) -> set[bytes]:
    rows = await sql.many("h", _REVOKED, {"digests": Ids(digests)})
    return {digest for (digest,) in rows}


async def erase_tenant(sql: Sql, tenant: str) -> None:
    """Erase the tenant's rows outside of scopes. Its wallets can be claimed by anybody again."""
    for statement in _ERASE:
        await sql.run(statement, {"tenant": tenant})


async def put_objects(sql: Sql, digests: Collection[bytes], expires: float) -> None:
    """Store digests in their order, so that no two writers wait for each other in a circle."""
    rows = [{"digest": digest, "expires": expires} for digest in sorted(set(digests))]
    await sql.run_many(_PUT_OBJECT, rows)


async def known_objects(sql: Sql, digests: Collection[bytes], now: float) -> set[bytes]:
    values = {"now": now, "digests": Ids(digests)}
    return {digest for (digest,) in await sql.many("h", _KNOWN_OBJECTS, values)}


async def plan(sql: Sql, tenant: str) -> str:
    rows = await sql.fetch(_PLAN, {"tenant": tenant})
    return str(rows[0][0]) if rows else PLAN


async def set_plan(sql: Sql, tenant: str, plan: str) -> None:
    await sql.run(_PUT_PLAN, {"tenant": tenant, "plan": plain(plan)})
