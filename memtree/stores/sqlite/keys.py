"""`KeyStore` and its SQL: access keys and the hashes of their values."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from memtree.ports.store import KeyRow
from memtree.stores.access_keys import new_key, taken, value_hash, value_hashes
from memtree.stores.sqlite.database import SqlitePart, reading, writing

_TENANT = "SELECT tenant FROM key_values JOIN keys ON id = key WHERE hash = ?"
_LIST = """
    SELECT id, label, tenant, count(hash), created FROM keys JOIN key_values ON id = key
    GROUP BY id ORDER BY created, id"""


def tenant_of(db: sqlite3.Connection, credential: str) -> str | None:
    row = db.execute(_TENANT, (value_hash(credential),)).fetchone()
    return row[0] if row else None


def has_keys(db: sqlite3.Connection) -> bool:
    return db.execute("SELECT 1 FROM keys LIMIT 1").fetchone() is not None


def add_key(db: sqlite3.Connection, key: KeyRow, hashes: Sequence[str]) -> None:
    db.execute("INSERT INTO keys VALUES (?, ?, ?, ?)", (key.id, key.label, key.tenant, key.created))
    try:
        rows = [(digest, key.id) for digest in hashes]
        db.executemany("INSERT INTO key_values VALUES (?, ?)", rows)
    except sqlite3.IntegrityError:
        raise taken() from None


def list_keys(db: sqlite3.Connection) -> list[KeyRow]:
    return [KeyRow(*row) for row in db.execute(_LIST)]


def revoke_key(db: sqlite3.Connection, key_id: str) -> bool:
    db.execute("DELETE FROM key_values WHERE key = ?", (key_id,))
    return db.execute("DELETE FROM keys WHERE id = ?", (key_id,)).rowcount > 0


class SqliteKeys(SqlitePart):
    """`KeyStore`."""

    tenant_of = reading(tenant_of)
    has_keys = reading(has_keys)
    list_keys = reading(list_keys)
    revoke_key = writing(revoke_key)

    async def add_key(self, label: str, values: Sequence[str]) -> str:
        hashes = value_hashes(values)
        key = new_key(label, len(hashes), self.now())
        await self.database.write(lambda db: add_key(db, key, hashes))
        return key.id
