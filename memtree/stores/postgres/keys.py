"""`KeyStore` and its SQL: access keys and the hashes of their values."""

from __future__ import annotations

from collections.abc import Sequence

from psycopg import errors

from memtree.ports.store import KeyRow
from memtree.stores.access_keys import new_key, taken, value_hash, value_hashes
from memtree.stores.postgres.pool import DURABLE, PostgresPart, reading
from memtree.stores.postgres.queries import Connection, rows

_TENANT = "SELECT tenant FROM key_values JOIN keys ON id = key WHERE hash = %(hash)s"
_LIST = """
    SELECT id, label, tenant, count(hash), created FROM keys JOIN key_values ON id = key
    GROUP BY id ORDER BY created, id"""
_ADD_VALUES = "INSERT INTO key_values SELECT hash, %s FROM unnest(%s::text[]) AS hash"


async def tenant_of(db: Connection, credential: str) -> str | None:
    found = await rows(db, _TENANT, hash=value_hash(credential))
    return found[0][0] if found else None


async def has_keys(db: Connection) -> bool:
    return bool(await rows(db, "SELECT 1 FROM keys LIMIT 1"))


async def list_keys(db: Connection) -> list[KeyRow]:
    return [KeyRow(*row) for row in await rows(db, _LIST)]


async def add_key(db: Connection, key: KeyRow, hashes: Sequence[str]) -> None:
    await db.execute(DURABLE)
    row = (key.id, key.label, key.tenant, key.created)
    await db.execute("INSERT INTO keys VALUES (%s, %s, %s, %s)", row)
    try:
        await db.execute(_ADD_VALUES, (key.id, hashes))
    except errors.UniqueViolation:
        raise taken() from None


async def revoke_key(db: Connection, key_id: str) -> bool:
    await db.execute(DURABLE)
    await db.execute("DELETE FROM key_values WHERE key = %s", (key_id,))
    return (await db.execute("DELETE FROM keys WHERE id = %s", (key_id,))).rowcount > 0


class PostgresKeys(PostgresPart):
    """`KeyStore`."""

    tenant_of = reading(tenant_of)
    has_keys = reading(has_keys)
    list_keys = reading(list_keys)

    async def add_key(self, label: str, values: Sequence[str]) -> str:
        hashes = sorted(value_hashes(values))  # two that want the same never wait in a circle
        key = new_key(label, len(hashes), self.now())
        await self.database.transact(lambda db: add_key(db, key, hashes))
        return key.id

    async def revoke_key(self, key_id: str) -> bool:
        return await self.database.transact(lambda db: revoke_key(db, key_id))
