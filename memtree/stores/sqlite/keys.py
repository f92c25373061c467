"""`KeyStore` and its SQL: access keys, the hashes of their values, and aliases of tenants."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

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
from memtree.stores.sqlite.database import SqlitePart, reading, writing

_TENANT = "SELECT tenant FROM key_values JOIN keys ON id = key WHERE hash = ?"
_LIST = """
    SELECT id, label, tenant, count(hash), created FROM keys JOIN key_values ON id = key
    GROUP BY id ORDER BY created, id"""
_TENANTS = """
    SELECT name,
        (SELECT count(*) FROM addresses WHERE tenant = number) AS address_count,
        (SELECT count(*) FROM nodes WHERE tenant = number) AS node_count,
        coalesce((SELECT max(expires) FROM addresses WHERE tenant = number), 0.0)
    FROM tenants WHERE address_count + node_count > 0 ORDER BY name"""
# Who names a tenant without an alias is let in as that one: said in so many words, both can be
# exchanged in one statement.
_NAMES = "INSERT OR IGNORE INTO tenant_aliases VALUES (:source, :source), (:target, :target)"
_MOVE = """
    UPDATE {} SET tenant = CASE tenant WHEN :target THEN :source ELSE :instead END
    WHERE tenant IN (:source, :target)"""


def tenant_of(db: sqlite3.Connection, credential: str) -> str | None:
    row = db.execute(_TENANT, (value_hash(credential),)).fetchone()
    return row[0] if row else None


def has_keys(db: sqlite3.Connection) -> bool:
    return db.execute("SELECT 1 FROM keys LIMIT 1").fetchone() is not None


def add_key(db: sqlite3.Connection, key: KeyRow, hashes: Sequence[str]) -> None:
    if db.execute("SELECT 1 FROM keys WHERE label = ?", (key.label,)).fetchone():
        raise label_taken(key.label)
    db.execute("INSERT INTO keys VALUES (?, ?, ?, ?)", (key.id, key.label, key.tenant, key.created))
    _put_values(db, key.id, hashes)


def add_values(db: sqlite3.Connection, key_id: str, hashes: Sequence[str], only: bool) -> None:
    if db.execute("SELECT 1 FROM keys WHERE id = ?", (key_id,)).fetchone() is None:
        raise unknown_key(key_id)
    if only:
        db.execute("DELETE FROM key_values WHERE key = ?", (key_id,))
    own = {digest for (digest,) in _values(db, key_id)}
    _put_values(db, key_id, [digest for digest in hashes if digest not in own])


def remove_value(db: sqlite3.Connection, key_id: str, value: str) -> None:
    own, removed = {digest for (digest,) in _values(db, key_id)}, value_hash(value)
    if removed not in own:
        raise unknown_value()
    if len(own) == 1:
        raise last_value()
    db.execute("DELETE FROM key_values WHERE hash = ?", (removed,))


def _values(db: sqlite3.Connection, key_id: str) -> sqlite3.Cursor:
    return db.execute("SELECT hash FROM key_values WHERE key = ?", (key_id,))


def _put_values(db: sqlite3.Connection, key_id: str, hashes: Sequence[str]) -> None:
    try:
        rows = [(digest, key_id) for digest in hashes]
        db.executemany("INSERT INTO key_values VALUES (?, ?)", rows)
    except sqlite3.IntegrityError:
        raise value_taken() from None


def list_keys(db: sqlite3.Connection) -> list[KeyRow]:
    return [KeyRow(*row) for row in db.execute(_LIST)]


def revoke_key(db: sqlite3.Connection, key_id: str) -> bool:
    db.execute("DELETE FROM key_values WHERE key = ?", (key_id,))
    return db.execute("DELETE FROM keys WHERE id = ?", (key_id,)).rowcount > 0


def aliases(db: sqlite3.Connection) -> dict[str, str]:
    return dict(db.execute("SELECT name, tenant FROM tenant_aliases"))


def tenants(db: sqlite3.Connection) -> list[TenantRow]:
    return [TenantRow(*row) for row in db.execute(_TENANTS)]


def move_tenant(db: sqlite3.Connection, source: str, target: str, *, share: bool = False) -> None:
    names = {"source": source, "target": target}
    db.execute(_NAMES, names)
    for table in ("keys", "tenant_aliases"):
        db.execute(_MOVE.format(table), {**names, "instead": source if share else target})
    db.execute("DELETE FROM tenant_aliases WHERE name = tenant")


class SqliteKeys(SqlitePart):
    """`KeyStore`."""

    tenant_of = reading(tenant_of)
    has_keys = reading(has_keys)
    remove_value = writing(remove_value)
    list_keys = reading(list_keys)
    revoke_key = writing(revoke_key)
    aliases = reading(aliases)
    tenants = reading(tenants)
    move_tenant = writing(move_tenant)

    async def add_key(self, label: str, values: Sequence[str], tenant: str | None = None) -> str:
        hashes = value_hashes(values)
        key = new_key(label, len(hashes), self.now(), tenant)
        await self.database.write(lambda db: add_key(db, key, hashes))
        return key.id

    async def add_values(self, key_id: str, values: Sequence[str], *, only: bool = False) -> None:
        hashes = value_hashes(values)
        await self.database.write(lambda db: add_values(db, key_id, hashes, only))
