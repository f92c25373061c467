"""Keep tenants in the rows: their locks, their numbers, their access keys and their aliases.

A tenant's number is small and stands for its name in the rows, which saves 0.5 MB per million
tokens. `KeyStore` has the access keys, as hashes of their values (never the values), and the
aliases of tenants.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from hashlib import sha256

from memtree.errors import BadRequest
from memtree.ports.context_store import KeyRow, TenantRow
from memtree.stores.schema import insert_into
from memtree.stores.sql import Row, Sql, SqlPart, keeping, reading

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


_TENANT = "SELECT tenant FROM key_values JOIN keys ON id = key WHERE hash = :hash"
_LIST = """
    SELECT id, label, tenant, count(hash), created FROM keys JOIN key_values ON id = key
    GROUP BY id ORDER BY created, id"""
_TENANTS = """
    SELECT name, address_count, node_count, coalesce(expires, 0.0) FROM (
        SELECT name,
            (SELECT count(*) FROM addresses WHERE tenant = number) AS address_count,
            (SELECT count(*) FROM nodes WHERE tenant = number) AS node_count,
            (SELECT max(expires) FROM addresses WHERE tenant = number) AS expires
        FROM tenants
    ) AS counted WHERE address_count + node_count > 0"""
_PUT_KEY = insert_into("keys")
_VALUES = "SELECT hash FROM key_values WHERE key = :key"
_TAKEN = "SELECT 1 FROM key_values WHERE hash IN :hashes[]"
_DROP_VALUES = "DELETE FROM key_values WHERE key = :key"
# A key that names a tenant without an alias authenticates as that tenant. That is written out as a
# row here, so that one statement can exchange both.
_NAMES = """
    INSERT INTO tenant_aliases (name, tenant) VALUES (:source, :source), (:target, :target)
    ON CONFLICT DO NOTHING"""
_MOVE = """
    UPDATE {} SET tenant = CASE tenant WHEN :target THEN :source ELSE :instead END
    WHERE tenant IN (:source, :target)"""
_LOCK = "memtree keys"
# keeps these hashes apart from plain SHA-256 tables and from our other hashes
_SALT = b"memtree key\0"


def value_hash(credential: str) -> str:
    """Return the credential's hash, 64 hex digits. A lone surrogate (from a header that was not
    UTF-8) is hashed as it is."""
    return sha256(_SALT + credential.encode("utf-8", "surrogatepass")).hexdigest()


def value_hashes(values: Sequence[str]) -> list[str]:
    """Hash the values of a new key, without duplicates. Raises `BadRequest` if there are none."""
    if isinstance(values, str) or not values or not all(values):
        raise BadRequest("A key needs one or more values, none of them empty.", param="values")
    return [value_hash(value) for value in dict.fromkeys(values)]


async def tenant_of(sql: Sql, credential: str) -> str | None:
    rows = await sql.fetch(_TENANT, {"hash": value_hash(credential)})
    return rows[0][0] if rows else None


async def has_keys(sql: Sql) -> bool:
    return bool(await sql.fetch("SELECT 1 FROM keys LIMIT 1", {}))


async def list_keys(sql: Sql) -> list[KeyRow]:
    return [KeyRow(*row) for row in await sql.fetch(_LIST, {})]


async def aliases(sql: Sql) -> dict[str, str]:
    return dict(await sql.fetch("SELECT * FROM tenant_aliases", {}))


async def tenants(sql: Sql) -> list[TenantRow]:
    return sorted(TenantRow(*row) for row in await sql.fetch(_TENANTS, {}))


async def add_key(sql: Sql, key: KeyRow, hashes: Sequence[str]) -> None:
    await sql.lock_name(_LOCK)
    if await sql.fetch("SELECT 1 FROM keys WHERE label = :label", {"label": key.label}):
        raise BadRequest(
            f"There is a key {key.label} already; choose another label.",
            param="label",
        )
    values = {"id": key.id, "label": key.label, "tenant": key.tenant, "created": key.created}
    await sql.run(_PUT_KEY, values)
    await _put_values(sql, key.id, hashes)


async def add_values(sql: Sql, key_id: str, hashes: Sequence[str], *, only: bool) -> None:
    await sql.lock_name(_LOCK)
    if not await sql.fetch("SELECT 1 FROM keys WHERE id = :key", {"key": key_id}):
        raise BadRequest(f"There is no key {key_id}.", param="key")
    if only:
        await sql.run(_DROP_VALUES, {"key": key_id})
    own = await _values(sql, key_id)
    await _put_values(sql, key_id, [digest for digest in hashes if digest not in own])


async def remove_value(sql: Sql, key_id: str, value: str) -> None:
    await sql.lock_name(_LOCK)
    own, removed = await _values(sql, key_id), value_hash(value)
    if removed not in own:
        raise BadRequest("The key does not have this value.", param="value")
    if len(own) == 1:
        raise BadRequest(
            "It is the only value of the key: add another one first, or revoke the key.",
            param="value",
        )
    await sql.run("DELETE FROM key_values WHERE hash = :hash", {"hash": removed})


async def revoke_key(sql: Sql, key_id: str) -> bool:
    await sql.lock_name(_LOCK)
    await sql.run(_DROP_VALUES, {"key": key_id})
    return await sql.count("DELETE FROM keys WHERE id = :key", {"key": key_id}) > 0


async def move_tenant(sql: Sql, source: str, target: str, *, share: bool = False) -> None:
    await sql.lock_name(_LOCK)
    names = {"source": source, "target": target}
    await sql.run(_NAMES, names)
    for table in ("keys", "tenant_aliases"):
        await sql.run(_MOVE.format(table), {**names, "instead": source if share else target})
    await sql.run("DELETE FROM tenant_aliases WHERE name = tenant", {})


async def _values(sql: Sql, key_id: str) -> set[str]:
    return {digest for (digest,) in await sql.fetch(_VALUES, {"key": key_id})}


async def _put_values(sql: Sql, key_id: str, hashes: Sequence[str]) -> None:
    if await sql.fetch(_TAKEN, {"hashes": list(hashes)}):
        raise BadRequest("Another key has this value already.", param="values")
    rows = [{"hash": digest, "key": key_id} for digest in hashes]
    await sql.run_many(insert_into("key_values"), rows)


class Keys(SqlPart):
    """The port `KeyStore` over SQL."""

    tenant_of = reading(tenant_of)
    has_keys = reading(has_keys)
    list_keys = reading(list_keys)
    aliases = reading(aliases)
    tenants = reading(tenants)
    remove_value = keeping(remove_value)
    revoke_key = keeping(revoke_key)
    move_tenant = keeping(move_tenant)
    _add_key = keeping(add_key)
    _add_values = keeping(add_values)

    async def add_key(self, label: str, values: Sequence[str], tenant: str | None = None) -> str:
        hashes = value_hashes(values)
        # Names are random, so they reveal nothing of the values.
        id_, owner = f"key_{secrets.token_hex(8)}", tenant or secrets.token_hex(32)
        key = KeyRow(id_, label, owner, len(hashes), self.now())
        await self._add_key(key, hashes)
        return key.id

    async def add_values(self, key_id: str, values: Sequence[str], *, only: bool = False) -> None:
        await self._add_values(key_id, value_hashes(values), only=only)
