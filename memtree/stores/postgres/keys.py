"""`KeyStore` and its SQL: access keys, the hashes of their values, and aliases of tenants."""

from __future__ import annotations

from collections.abc import Sequence

from psycopg import errors

from memtree.ports.store import KeyRow, TenantRow
from memtree.stores.access_keys import (
    label_taken,
    last_value,
    new_key,
    unknown_key,
    unknown_value,
    value_hash,
    value_hashes,
    value_taken,
)
from memtree.stores.postgres.locks import ALONE, lock_key
from memtree.stores.postgres.pool import DURABLE, PostgresPart, reading
from memtree.stores.postgres.queries import Connection, ask, rows

_TENANT = "SELECT tenant FROM key_values JOIN keys ON id = key WHERE hash = %(hash)s"
_LIST = """
    SELECT id, label, tenant, count(hash), created FROM keys JOIN key_values ON id = key
    GROUP BY id ORDER BY created, id"""
_PUT_VALUES = "INSERT INTO key_values SELECT hash, %s FROM unnest(%s::text[]) AS hash"
_VALUES = "SELECT hash FROM key_values WHERE key = %(key)s"
_TENANTS = """
    SELECT name, addresses.count, nodes.count, coalesce(addresses.expires, 0)
    FROM tenants
    CROSS JOIN LATERAL (
        SELECT count(*), max(expires) AS expires FROM addresses WHERE tenant = number
    ) AS addresses
    CROSS JOIN LATERAL (SELECT count(*) FROM nodes WHERE tenant = number) AS nodes
    WHERE addresses.count + nodes.count > 0 ORDER BY name COLLATE "C"
    """
# Who names a tenant without an alias is let in as that one: said in so many words, both can be
# exchanged in one statement.
_NAMES = """
    INSERT INTO tenant_aliases VALUES (%(source)s, %(source)s), (%(target)s, %(target)s)
    ON CONFLICT DO NOTHING"""
_MOVE = """
    UPDATE {} SET tenant = CASE tenant WHEN %(target)s THEN %(source)s ELSE %(instead)s END
    WHERE tenant IN (%(source)s, %(target)s)"""
_LOCK = lock_key("memtree keys")


async def tenant_of(db: Connection, credential: str) -> str | None:
    found = await rows(db, _TENANT, hash=value_hash(credential))
    return found[0][0] if found else None


async def has_keys(db: Connection) -> bool:
    return bool(await rows(db, "SELECT 1 FROM keys LIMIT 1"))


async def list_keys(db: Connection) -> list[KeyRow]:
    return [KeyRow(*row) for row in await rows(db, _LIST)]


async def aliases(db: Connection) -> dict[str, str]:
    return dict(await rows(db, "SELECT name, tenant FROM tenant_aliases"))


async def tenants(db: Connection) -> list[TenantRow]:
    return [TenantRow(*row) for row in await rows(db, _TENANTS)]


async def add_key(db: Connection, key: KeyRow, hashes: Sequence[str]) -> None:
    await _begin(db)
    if await rows(db, "SELECT 1 FROM keys WHERE label = %(label)s", label=key.label):
        raise label_taken(key.label)
    row = (key.id, key.label, key.tenant, key.created)
    await db.execute("INSERT INTO keys VALUES (%s, %s, %s, %s)", row)
    await _put_values(db, key.id, hashes)


async def add_values(db: Connection, key_id: str, hashes: Sequence[str], only: bool) -> None:
    await _begin(db)
    if not await rows(db, "SELECT 1 FROM keys WHERE id = %(key)s", key=key_id):
        raise unknown_key(key_id)
    if only:
        await db.execute("DELETE FROM key_values WHERE key = %s", (key_id,))
    own = {digest for (digest,) in await rows(db, _VALUES, key=key_id)}
    await _put_values(db, key_id, [digest for digest in hashes if digest not in own])


async def remove_value(db: Connection, key_id: str, value: str) -> None:
    await _begin(db)
    own, removed = {digest for (digest,) in await rows(db, _VALUES, key=key_id)}, value_hash(value)
    if removed not in own:
        raise unknown_value()
    if len(own) == 1:
        raise last_value()
    await db.execute("DELETE FROM key_values WHERE hash = %s", (removed,))


async def revoke_key(db: Connection, key_id: str) -> bool:
    await _begin(db)
    await db.execute("DELETE FROM key_values WHERE key = %s", (key_id,))
    return (await db.execute("DELETE FROM keys WHERE id = %s", (key_id,))).rowcount > 0


async def move_tenant(db: Connection, source: str, target: str, share: bool) -> None:
    await _begin(db)
    names = {"source": source, "target": target}
    await ask(db, _NAMES, **names)
    for table in ("keys", "tenant_aliases"):
        await ask(db, _MOVE.format(table), **names, instead=source if share else target)
    await db.execute("DELETE FROM tenant_aliases WHERE name = tenant")


async def _begin(db: Connection) -> None:
    """One change at a time; who is told of it may rely on it after a crash, too."""
    await db.execute(DURABLE)
    await db.execute(ALONE, (_LOCK,))


async def _put_values(db: Connection, key_id: str, hashes: Sequence[str]) -> None:
    try:
        await db.execute(_PUT_VALUES, (key_id, hashes))
    except errors.UniqueViolation:
        raise value_taken() from None


class PostgresKeys(PostgresPart):
    """`KeyStore`."""

    tenant_of = reading(tenant_of)
    has_keys = reading(has_keys)
    list_keys = reading(list_keys)
    aliases = reading(aliases)
    tenants = reading(tenants)

    async def add_key(self, label: str, values: Sequence[str], tenant: str | None = None) -> str:
        hashes = value_hashes(values)
        key = new_key(label, len(hashes), self.now(), tenant)
        await self.database.transact(lambda db: add_key(db, key, hashes))
        return key.id

    async def add_values(self, key_id: str, values: Sequence[str], *, only: bool = False) -> None:
        hashes = value_hashes(values)
        await self.database.transact(lambda db: add_values(db, key_id, hashes, only))

    async def remove_value(self, key_id: str, value: str) -> None:
        await self.database.transact(lambda db: remove_value(db, key_id, value))

    async def revoke_key(self, key_id: str) -> bool:
        return await self.database.transact(lambda db: revoke_key(db, key_id))

    async def move_tenant(self, source: str, target: str, *, share: bool = False) -> None:
        await self.database.transact(lambda db: move_tenant(db, source, target, share))
