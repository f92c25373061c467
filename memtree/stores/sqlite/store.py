"""The store in one SQLite file: trees, vectors, plans, claims, tallies and access keys. The
default; nothing to install.

Reads and writes have a thread and a connection each, so neither blocks the event loop, and in WAL
mode readers do not wait for writers. Any number of processes may use the file. The SQL is in
`trees`, `plans`, `retention` and `claiming`. Does not hold message text or credentials.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing, closing
from pathlib import Path

from memtree.budget.epoch import Epoch, EpochTurn
from memtree.days import day_of
from memtree.errors import StoreCorrupt
from memtree.ports.store import (
    ContinuedTurn,
    IndexBatch,
    IndexedPrefix,
    KeyRow,
    Receipt,
    StoreStats,
)
from memtree.stores.access_keys import new_key, taken, value_hash, value_hashes
from memtree.stores.dump import Page, in_a_thread, pages, problems
from memtree.stores.rows import NewTurn, added, summary_rows
from memtree.stores.sqlite import claims, plans, retention, trees
from memtree.stores.sqlite import snapshot as loading
from memtree.stores.sqlite.connection import ConnectionThread, connect, create, fault, transaction
from memtree.stores.sqlite.snapshot import SqliteSnapshot
from memtree.tree.node import Node, Summary

SWEEP_BYTES = 64 << 20  # a file up to this size is written anew in less than a second
BUSY_TIMEOUT = 5.0  # seconds that a writer waits for another process


class SqliteStore:
    """All ports of a store on one file. Raises `StoreUnavailable` or `StoreCorrupt` at once if
    the file cannot be used, and again from any method while that is so."""

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
        self._writer = ConnectionThread(path, busy_timeout, writes=True)
        self._reader = ConnectionThread(path, busy_timeout, writes=False)
        self._writer.open()

    # -- trees -------------------------------------------------------------------------------

    async def frontiers(
        self, tenant: str, addresses: Sequence[bytes]
    ) -> dict[bytes, IndexedPrefix]:
        return await self._reader.run(lambda db: trees.read_frontiers(db, tenant, addresses))

    async def nodes(self, tenant: str, ids: Sequence[bytes]) -> dict[bytes, Node]:
        return await self._reader.run(lambda db: trees.read_nodes(db, trees.NODES, tenant, ids))

    async def descendants(self, tenant: str, ids: Sequence[bytes]) -> dict[bytes, Node]:
        return await self._reader.run(
            lambda db: trees.read_nodes(db, trees.DESCENDANTS, tenant, ids)
        )

    async def commit(self, tenant: str, batch: IndexBatch) -> None:
        if batch.nodes or batch.frontiers:
            await self._writer.run(lambda db: trees.write_batch(db, tenant, batch))

    async def renew(self, tenant: str, addresses: Sequence[bytes], expires: float) -> None:
        if addresses:
            await self._writer.run(lambda db: trees.renew(db, tenant, addresses, expires))

    async def vectors(self, tenant: str, recipe: str, ids: Sequence[bytes]) -> dict[bytes, bytes]:
        return await self._reader.run(lambda db: trees.read_vectors(db, tenant, recipe, ids))

    async def put_vectors(self, tenant: str, recipe: str, rows: Mapping[bytes, bytes]) -> None:
        if rows:
            await self._writer.run(lambda db: trees.write_vectors(db, tenant, recipe, rows))

    async def newest_summaries(self, tenant: str, ids: Sequence[bytes]) -> dict[bytes, Summary]:
        return await self._reader.run(lambda db: trees.newest_summaries(db, tenant, ids))

    async def summaries(
        self, tenant: str, wanted: Sequence[tuple[bytes, int]]
    ) -> dict[tuple[bytes, int], Summary]:
        return await self._reader.run(lambda db: trees.read_summaries(db, tenant, wanted))

    async def put_summaries(self, tenant: str, rows: Mapping[bytes, Summary]) -> None:
        encoded = summary_rows(rows)
        if encoded:
            await self._writer.run(lambda db: trees.write_summaries(db, tenant, encoded))

    # -- plans -------------------------------------------------------------------------------

    async def latest(
        self, tenant: str, key: bytes, addresses: Sequence[bytes]
    ) -> ContinuedTurn | None:
        return await self._reader.run(lambda db: plans.latest(db, tenant, key, addresses))

    async def put_turn(
        self,
        tenant: str,
        key: bytes,
        address: bytes,
        turn: EpochTurn,
        *,
        epoch: Epoch | None = None,
        nodes: Sequence[Node] = (),
        instead_of: bytes = b"",
        expires: float,
    ) -> EpochTurn:
        new = NewTurn(key, address, turn, epoch, nodes, instead_of, expires)
        return await self._writer.run(lambda db: plans.put_turn(db, tenant, new))

    # -- retention ---------------------------------------------------------------------------

    async def chain(self, tenant: str, address: bytes) -> list[bytes]:
        return await self._reader.run(lambda db: retention.chain(db, tenant, address))

    async def forget(self, tenant: str, addresses: Sequence[bytes] | None) -> Receipt:
        def work(db: sqlite3.Connection) -> Receipt:
            receipt = transaction(db, lambda db: retention.forget(db, tenant, addresses))
            retention.scrub(db)
            return receipt

        return await self._writer.run_bare(work)

    async def sweep(self, now: float) -> Receipt:
        """A transaction for each tenant, so that other writers get their turn in between. Copies
        of ids and vectors in unused parts of a large file stay until the next `forget`: clearing
        them holds up every writer."""
        receipt = Receipt()
        for number in await self._reader.run(lambda db: retention.expired_tenants(db, now)):
            receipt = added(receipt, await self._sweep_tenant(number, now))
        if await self._reader.run(lambda db: claims.stale(db, now)):
            await self._writer.run(lambda db: claims.drop_stale(db, now))
        receipt = added(receipt, await self._sweep_recipes(day_of(now)))
        if _bytes(self._path) <= SWEEP_BYTES and await self._reader.run(retention.unscrubbed):
            await self._writer.run_bare(retention.scrub)
        return receipt

    async def keep_recipe(self, recipe: str, now: float) -> None:
        day = day_of(now)
        if not await self._reader.run(lambda db: retention.kept(db, recipe, day)):
            await self._writer.run(lambda db: retention.keep(db, recipe, day))

    async def _sweep_recipes(self, day: int) -> Receipt:
        receipt = Receipt()
        if await self._reader.run(lambda db: retention.to_count(db, day)):
            await self._writer.run(lambda db: retention.count(db, day))
        for number in await self._reader.run(retention.unused_tenants):
            receipt = added(receipt, await self._drop_unused(number))
        if await self._reader.run(retention.any_unused):
            await self._writer.run(retention.forget_unused)
        return receipt

    async def _drop_unused(self, number: int) -> Receipt:
        return await self._writer.run(lambda db: retention.drop_unused(db, number))

    async def _sweep_tenant(self, number: int, now: float) -> Receipt:
        return await self._writer.run(lambda db: retention.sweep(db, number, now))

    # -- claims and tallies ------------------------------------------------------------------

    async def claim(
        self, tenant: str, ids: Sequence[bytes], owner: str, now: float, until: float
    ) -> set[bytes]:
        if not ids:
            return set()
        return await self._writer.run(lambda db: claims.claim(db, tenant, ids, owner, now, until))

    async def release(self, tenant: str, ids: Sequence[bytes], owner: str) -> None:
        if ids:
            await self._writer.run(lambda db: claims.release(db, tenant, ids, owner))

    async def add(
        self,
        tenant: str,
        day: int,
        amounts: Mapping[str, int],
        limits: Mapping[str, int] | None = None,
    ) -> bool:
        return await self._writer.run(lambda db: claims.add(db, tenant, day, amounts, limits or {}))

    async def tallies(self, tenant: str, first: int, last: int) -> dict[str, int]:
        return await self._reader.run(lambda db: claims.tallies(db, tenant, first, last))

    async def tallied(self, first: int, last: int) -> dict[str, dict[str, int]]:
        return await self._reader.run(lambda db: claims.tallied(db, first, last))

    # -- the whole ---------------------------------------------------------------------------

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

    # -- copies ------------------------------------------------------------------------------

    async def pages(self) -> AsyncGenerator[Page, None]:
        self._reader.require_open()
        async with aclosing(in_a_thread(self._pages)) as given:
            async for page in given:
                yield page

    def _pages(self) -> Iterator[Page]:
        try:
            with closing(connect(self._path, self._busy_timeout, writes=False)) as db:
                yield from pages(SqliteSnapshot(db))
        except sqlite3.Error as error:
            raise fault(error, self._path) from error

    async def counts(self) -> dict[str, int]:
        return await self._reader.run(loading.counts)

    async def load(self, page: Page) -> None:
        await self._writer.run(lambda db: loading.load(db, page))

    async def missing(self, page: Page) -> int:
        return await self._reader.run(lambda db: loading.missing(db, page))

    # -- keys --------------------------------------------------------------------------------

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


def _problems(db: sqlite3.Connection) -> list[str]:
    """SQLite's own check, then ours, on one state of the file."""
    snapshot = SqliteSnapshot(db)
    found = [f"sqlite: {line}" for (line,) in db.execute("PRAGMA integrity_check") if line != "ok"]
    return found + problems(snapshot)


def _bytes(path: Path) -> int:
    files = (path, Path(f"{path}-wal"))
    return sum(file.stat().st_size for file in files if file.exists())
