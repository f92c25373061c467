"""The store in one SQLite file: trees, vectors and access keys. The default; nothing to install.

Reads and writes have a thread and a connection each, so neither blocks the event loop, and in WAL
mode readers do not wait for writers. Any number of processes may use the file. Does not hold
message text, credentials or plans.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from memtree.address import NODE_ID_BYTES
from memtree.errors import StoreCorrupt
from memtree.node import Frontier, Node
from memtree.ports import Batch, KeyRow, StoreStats
from memtree.stores.audit import MAX_CHILDREN, audit
from memtree.stores.bulk import insert, joined
from memtree.stores.connection import Lane, connect, create, fault
from memtree.stores.keys import new_key, taken, value_hash, value_hashes
from memtree.stores.rows import (
    AddressRow,
    FrontierRow,
    NodeRow,
    VectorRow,
    frontier_row,
    node_row,
    read_frontier,
    read_node,
)

BUSY_TIMEOUT = 5.0  # seconds that a writer waits for another process

_TENANT = "tenant = (SELECT number FROM tenants WHERE name = ?)"
_NODES = f"SELECT id, data FROM nodes WHERE {_TENANT} AND id IN ({{ids}})"
_VECTORS = f"SELECT id, data FROM vectors WHERE {_TENANT} AND recipe = ? AND id IN ({{ids}})"
_FRONTIERS = f"""
    SELECT address AS id, data FROM addresses JOIN frontiers
    ON frontiers.tenant = addresses.tenant AND key = frontier
    WHERE addresses.{_TENANT} AND address IN ({{ids}})"""
# One statement for the whole walk: it sees one state of the file, and see `bulk` for the speed.
_DESCENDANTS = f"""
    WITH RECURSIVE slot(at) AS (
        VALUES {",".join(f"({1 + NODE_ID_BYTES * slot})" for slot in range(MAX_CHILDREN))}
    ), walk(row, tenant, children) AS (
        SELECT rowid, tenant, children FROM nodes WHERE {_TENANT} AND id IN ({{ids}})
        UNION
        SELECT below.rowid, below.tenant, below.children FROM walk
        CROSS JOIN slot ON at <= length(walk.children)
        CROSS JOIN nodes AS below ON below.tenant = walk.tenant
            AND below.id = substr(walk.children, at, {NODE_ID_BYTES})
    ) SELECT id, data FROM walk CROSS JOIN nodes ON nodes.rowid = walk.row"""


class SqliteStore:
    """`TreeStore` and `KeyStore` on one file. Raises `StoreUnavailable` or `StoreCorrupt` at once
    if the file cannot be used, and again from any method while that is so."""

    def __init__(
        self,
        path: Path,
        *,
        busy_timeout: float = BUSY_TIMEOUT,
        now: Callable[[], float] = time.time,
    ) -> None:
        create(path)
        self._path = path
        self._busy_timeout = busy_timeout
        self._now = now
        self._writer = Lane(path, busy_timeout, writes=True)
        self._reader = Lane(path, busy_timeout, writes=False)
        self._writer.open()

    async def frontiers(self, tenant: str, addresses: Sequence[bytes]) -> dict[bytes, Frontier]:
        def work(db: sqlite3.Connection) -> dict[bytes, Frontier]:
            rows = joined(db, _FRONTIERS, (tenant,), addresses)
            return {address: read_frontier(data) for address, data in rows}

        return await self._reader.run(work)

    async def nodes(self, tenant: str, ids: Sequence[bytes]) -> dict[bytes, Node]:
        return await self._reader.run(lambda db: _read_nodes(db, _NODES, tenant, ids))

    async def descendants(self, tenant: str, ids: Sequence[bytes]) -> dict[bytes, Node]:
        return await self._reader.run(lambda db: _read_nodes(db, _DESCENDANTS, tenant, ids))

    async def commit(self, tenant: str, batch: Batch) -> None:
        if batch.nodes or batch.frontiers:
            await self._writer.run(lambda db: _write_batch(db, tenant, batch))

    async def vectors(self, tenant: str, recipe: str, ids: Sequence[bytes]) -> dict[bytes, bytes]:
        return await self._reader.run(
            lambda db: dict(joined(db, _VECTORS, (tenant, recipe), ids)),
        )

    async def put_vectors(self, tenant: str, recipe: str, rows: Mapping[bytes, bytes]) -> None:
        def work(db: sqlite3.Connection) -> None:
            number = _tenant_number(db, tenant)
            values = [(number, recipe, leaf, data) for leaf, data in rows.items()]
            insert(db, "INSERT OR IGNORE INTO vectors", values)

        if rows:
            await self._writer.run(work)

    async def check(self) -> list[str]:
        """In a thread and with a connection of its own: it may take a second per million tokens."""
        self._reader.require_open()
        return await asyncio.to_thread(self._check)

    def _check(self) -> list[str]:
        try:
            with closing(connect(self._path, self._busy_timeout, writes=False)) as db:
                return _problems(db)
        except StoreCorrupt as error:
            return [error.message]
        except sqlite3.Error as error:
            failed = fault(error, self._path)
            if isinstance(failed, StoreCorrupt):
                return [failed.message]
            raise failed from error

    async def stats(self) -> StoreStats:
        def work(db: sqlite3.Connection) -> StoreStats:
            nodes, inner, addresses, vectors = db.execute(
                "SELECT (SELECT count(*) FROM nodes),"
                " (SELECT count(*) FROM nodes WHERE level > 0),"
                " (SELECT count(*) FROM addresses), (SELECT count(*) FROM vectors)"
            ).fetchone()
            return StoreStats(nodes, nodes - inner, addresses, vectors, _bytes(self._path))

        return await self._reader.run(work)

    async def tenant_of(self, credential: str) -> str | None:
        digest = value_hash(credential)

        def work(db: sqlite3.Connection) -> str | None:
            row = db.execute(
                "SELECT tenant FROM key_values JOIN keys ON id = key WHERE hash = ?", (digest,)
            ).fetchone()
            return row[0] if row else None

        return await self._reader.run(work)

    async def has_keys(self) -> bool:
        return await self._reader.run(
            lambda db: db.execute("SELECT 1 FROM keys LIMIT 1").fetchone() is not None
        )

    async def add_key(self, label: str, values: Sequence[str]) -> str:
        hashes = value_hashes(values)
        key = new_key(label, len(hashes), self._now())

        def work(db: sqlite3.Connection) -> None:
            db.execute(
                "INSERT INTO keys VALUES (?, ?, ?, ?)", (key.id, label, key.tenant, key.created)
            )
            try:
                db.executemany(
                    "INSERT INTO key_values VALUES (?, ?)", [(digest, key.id) for digest in hashes]
                )
            except sqlite3.IntegrityError:
                raise taken() from None

        await self._writer.run(work)
        return key.id

    async def list_keys(self) -> list[KeyRow]:
        query = (
            "SELECT id, label, tenant, count(hash), created FROM keys JOIN key_values ON id = key"
            " GROUP BY id ORDER BY created, id"
        )
        return await self._reader.run(lambda db: [KeyRow(*row) for row in db.execute(query)])

    async def revoke_key(self, key_id: str) -> bool:
        def work(db: sqlite3.Connection) -> bool:
            db.execute("DELETE FROM key_values WHERE key = ?", (key_id,))
            return db.execute("DELETE FROM keys WHERE id = ?", (key_id,)).rowcount > 0

        return await self._writer.run(work)

    async def close(self) -> None:
        await self._reader.close()
        await self._writer.close()  # last: a connection that may write tidies up the WAL file


def _read_nodes(
    db: sqlite3.Connection, query: str, tenant: str, ids: Sequence[bytes]
) -> dict[bytes, Node]:
    return {node: read_node(data) for node, data in joined(db, query, (tenant,), ids)}


def _write_batch(db: sqlite3.Connection, tenant: str, batch: Batch) -> None:
    number = _tenant_number(db, tenant)
    insert(
        db,
        "INSERT OR IGNORE INTO nodes (tenant, id, level, children, data)",
        [(number, *node_row(node)) for node in batch.nodes],
    )
    keyed = {address: frontier_row(found) for address, found in batch.frontiers.items()}
    distinct = {row.key: (number, *row) for row in keyed.values()}
    insert(db, "INSERT OR IGNORE INTO frontiers (tenant, key, data)", list(distinct.values()))
    insert(
        db,
        "INSERT INTO addresses (tenant, address, frontier, expires)",
        [(number, address, row.key, batch.expires) for address, row in keyed.items()],
        "ON CONFLICT DO UPDATE SET expires = excluded.expires WHERE excluded.expires > expires",
    )


def _tenant_number(db: sqlite3.Connection, tenant: str) -> int:
    """A small number stands for the tenant's name in the rows: 0.5 MB less per million tokens."""
    query = "SELECT number FROM tenants WHERE name = ?"
    row = db.execute(query, (tenant,)).fetchone()
    if row is None:
        row = (db.execute("INSERT INTO tenants (name) VALUES (?)", (tenant,)).lastrowid,)
    return int(row[0])


def _problems(db: sqlite3.Connection) -> list[str]:
    """SQLite's own check, then ours, tenant by tenant, on one state of the file."""
    db.execute("BEGIN")
    found = [f"sqlite: {line}" for (line,) in db.execute("PRAGMA integrity_check") if line != "ok"]
    for number, tenant in db.execute("SELECT number, name FROM tenants").fetchall():
        found += audit(
            tenant,
            map(NodeRow._make, _rows(db, "id, level, children, data FROM nodes", number)),
            map(FrontierRow._make, _rows(db, "key, data FROM frontiers", number)),
            map(AddressRow._make, _rows(db, "address, frontier, expires FROM addresses", number)),
            map(VectorRow._make, _rows(db, "recipe, id, data FROM vectors", number)),
        )
    return found


def _rows(db: sqlite3.Connection, what: str, number: int) -> Iterator[tuple[object, ...]]:
    return db.execute(f"SELECT {what} WHERE tenant = ?", (number,))


def _bytes(path: Path) -> int:
    files = (path, Path(f"{path}-wal"))
    return sum(file.stat().st_size for file in files if file.exists())
