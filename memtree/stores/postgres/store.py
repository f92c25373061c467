"""`PostgresStore`: all ports of a store. The SQL is in the files beside it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing

from psycopg import errors

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
from memtree.stores.postgres import claims, plans, retention, trees
from memtree.stores.postgres import snapshot as loading
from memtree.stores.postgres.dsn import read_dsn
from memtree.stores.postgres.migrations import TABLES, migrate
from memtree.stores.postgres.pool import DURABLE, Connection, Pool
from memtree.stores.postgres.snapshot import one_state
from memtree.stores.postgres.trees import rows
from memtree.stores.rows import NewTurn, added, summary_rows
from memtree.tree.node import Node, Summary

SMALL_BYTES = 64 << 20  # tables up to this size are vacuumed in less than a second

_BYTES = """
    SELECT sum(pg_total_relation_size(name::regclass))::bigint
    FROM unnest(%(tables)s::text[]) AS name"""
_STATS = f"""
    SELECT (SELECT count(*) FROM nodes), (SELECT count(*) FROM nodes WHERE level = 0),
        (SELECT count(*) FROM addresses), (SELECT count(*) FROM vectors), ({_BYTES})"""
_KEYS = """
    SELECT id, label, tenant, count(hash), created FROM keys JOIN key_values ON id = key
    GROUP BY id ORDER BY created, id"""


class PostgresStore:
    """All ports of a store in one schema of a PostgreSQL database.

    `BadRequest` for an address that cannot be read. A server that cannot be reached is no reason
    not to begin: every method raises `StoreUnavailable` at once while that is so, and works again
    within a second of the server's return. Nothing is sent before the first call.
    """

    def __init__(
        self, url: str, shown: str = "postgresql", *, now: Callable[[], float] = time.time
    ) -> None:
        self._dsn = read_dsn(url, shown)
        self._now = now
        self._pool = Pool(self._dsn, lambda db: migrate(db, self._dsn.schema))

    # -- trees -------------------------------------------------------------------------------

    async def frontiers(
        self, tenant: str, addresses: Sequence[bytes]
    ) -> dict[bytes, IndexedPrefix]:
        return await self._pool.run(lambda db: trees.read_frontiers(db, tenant, addresses))

    async def nodes(self, tenant: str, ids: Sequence[bytes]) -> dict[bytes, Node]:
        return await self._pool.run(lambda db: trees.read_nodes(db, tenant, ids))

    async def descendants(self, tenant: str, ids: Sequence[bytes]) -> dict[bytes, Node]:
        return await self._pool.run(lambda db: trees.read_descendants(db, tenant, ids))

    async def commit(self, tenant: str, batch: IndexBatch) -> None:
        if batch.nodes or batch.frontiers:
            ready = await trees.prepare(batch)
            await self._pool.hurry(lambda db: trees.write_batch(db, tenant, batch, ready))

    async def renew(self, tenant: str, addresses: Sequence[bytes], expires: float) -> None:
        if addresses:
            await self._pool.hurry(lambda db: trees.renew(db, tenant, addresses, expires))

    async def vectors(self, tenant: str, recipe: str, ids: Sequence[bytes]) -> dict[bytes, bytes]:
        return await self._pool.run(lambda db: trees.read_vectors(db, tenant, recipe, ids))

    async def put_vectors(self, tenant: str, recipe: str, rows: Mapping[bytes, bytes]) -> None:
        if rows:
            await self._pool.hurry(lambda db: trees.write_vectors(db, tenant, recipe, rows))

    async def newest_summaries(self, tenant: str, ids: Sequence[bytes]) -> dict[bytes, Summary]:
        return await self._pool.run(lambda db: trees.newest_summaries(db, tenant, ids))

    async def summaries(
        self, tenant: str, wanted: Sequence[tuple[bytes, int]]
    ) -> dict[tuple[bytes, int], Summary]:
        return await self._pool.run(lambda db: trees.read_summaries(db, tenant, wanted))

    async def put_summaries(self, tenant: str, rows: Mapping[bytes, Summary]) -> None:
        encoded = summary_rows(rows)
        if encoded:
            await self._pool.hurry(lambda db: trees.write_summaries(db, tenant, encoded))

    # -- plans -------------------------------------------------------------------------------

    async def latest(
        self, tenant: str, key: bytes, addresses: Sequence[bytes]
    ) -> ContinuedTurn | None:
        return await self._pool.run(lambda db: plans.latest(db, tenant, key, addresses))

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
        return await self._pool.hurry(lambda db: plans.put_turn(db, tenant, new))

    # -- retention ---------------------------------------------------------------------------

    async def chain(self, tenant: str, address: bytes) -> list[bytes]:
        return await self._pool.run(lambda db: retention.chain(db, tenant, address))

    async def forget(self, tenant: str, addresses: Sequence[bytes] | None) -> Receipt:
        """Afterwards no read finds it. Its bytes leave the server's files as PostgreSQL goes:
        the space is freed at once in a small store, by the next sweep in a large one."""
        receipt = await self._pool.transact(lambda db: retention.forget(db, tenant, addresses))
        if await self._pool.run(retention.unscrubbed) and await self._bytes() <= SMALL_BYTES:
            await self._scrub()
        return receipt

    async def sweep(self, now: float) -> Receipt:
        """A transaction for each tenant, so that other writers get their turn in between."""
        receipt = Receipt()
        for tenant in await self._pool.run(lambda db: retention.expired_tenants(db, now)):
            receipt = added(receipt, await self._sweep_tenant(tenant, now))
        await self._pool.run(lambda db: claims.drop_stale(db, now))
        receipt = added(receipt, await self._sweep_recipes(day_of(now)))
        if await self._pool.run(retention.unscrubbed):
            await self._scrub()
        return receipt

    async def keep_recipe(self, recipe: str, now: float) -> None:
        day = day_of(now)
        if not await self._pool.run(lambda db: retention.kept(db, recipe, day)):
            await self._pool.hurry(lambda db: retention.keep(db, recipe, day))

    async def _sweep_recipes(self, day: int) -> Receipt:
        if await self._pool.run(lambda db: retention.to_count(db, day)):
            await self._pool.hurry(lambda db: retention.count(db, day))
        receipt = Receipt()
        if not await self._pool.run(retention.any_unused):
            return receipt
        for tenant in await self._pool.run(retention.unused_tenants):
            receipt = added(receipt, await self._drop_unused(tenant))
        await self._pool.hurry(retention.forget_unused)
        return receipt

    async def _drop_unused(self, tenant: str) -> Receipt:
        return await self._pool.transact(lambda db: retention.drop_unused(db, tenant))

    async def _sweep_tenant(self, tenant: str, now: float) -> Receipt:
        return await self._pool.transact(lambda db: retention.sweep(db, tenant, now))

    async def _scrub(self) -> None:
        async with self._pool.apart() as db:
            await retention.scrub(db)

    # -- claims and tallies ------------------------------------------------------------------

    async def claim(
        self, tenant: str, ids: Sequence[bytes], owner: str, now: float, until: float
    ) -> set[bytes]:
        if not ids:
            return set()
        return await self._pool.hurry(lambda db: claims.claim(db, tenant, ids, owner, now, until))

    async def release(self, tenant: str, ids: Sequence[bytes], owner: str) -> None:
        if ids:
            await self._pool.hurry(lambda db: claims.release(db, tenant, ids, owner))

    async def add(
        self,
        tenant: str,
        day: int,
        amounts: Mapping[str, int],
        limits: Mapping[str, int] | None = None,
    ) -> bool:
        return await self._pool.hurry(lambda db: claims.add(db, tenant, day, amounts, limits or {}))

    async def tallies(self, tenant: str, first: int, last: int) -> dict[str, int]:
        return await self._pool.run(lambda db: claims.tallies(db, tenant, first, last))

    async def tallied(self, first: int, last: int) -> dict[str, dict[str, int]]:
        return await self._pool.run(lambda db: claims.tallied(db, first, last))

    # -- the whole ---------------------------------------------------------------------------

    async def check(self) -> list[str]:
        """In a thread and on a connection of its own: it may take a second per million tokens."""
        await self._awake()
        try:
            return await asyncio.to_thread(self._check)
        except StoreCorrupt as error:
            return [error.message]

    def _check(self) -> list[str]:
        with one_state(self._dsn) as snapshot:
            return problems(snapshot)

    async def stats(self) -> StoreStats:
        ((*counts,),) = await self._pool.run(lambda db: rows(db, _STATS, tables=list(TABLES)))
        return StoreStats(*counts)

    async def _bytes(self) -> int:
        ((size,),) = await self._pool.run(lambda db: rows(db, _BYTES, tables=list(TABLES)))
        return int(size)

    async def close(self) -> None:
        await self._pool.close()

    async def _awake(self) -> None:
        """The schema is there, or the error that says why not."""
        await self._pool.run(lambda db: rows(db, "SELECT 1"))

    # -- copies ------------------------------------------------------------------------------

    async def pages(self) -> AsyncGenerator[Page, None]:
        await self._awake()
        async with aclosing(in_a_thread(self._pages)) as given:
            async for page in given:
                yield page

    def _pages(self) -> Iterator[Page]:
        with one_state(self._dsn) as snapshot:
            yield from pages(snapshot)

    async def counts(self) -> dict[str, int]:
        return await self._pool.run(loading.counts)

    async def load(self, page: Page) -> None:
        await self._pool.hurry(lambda db: loading.load(db, page))

    async def missing(self, page: Page) -> int:
        return await self._pool.run(lambda db: loading.missing(db, page))

    # -- keys --------------------------------------------------------------------------------

    async def tenant_of(self, credential: str) -> str | None:
        query = "SELECT tenant FROM key_values JOIN keys ON id = key WHERE hash = %(hash)s"
        found = await self._pool.run(lambda db: rows(db, query, hash=value_hash(credential)))
        return found[0][0] if found else None

    async def has_keys(self) -> bool:
        return bool(await self._pool.run(lambda db: rows(db, "SELECT 1 FROM keys LIMIT 1")))

    async def add_key(self, label: str, values: Sequence[str]) -> str:
        hashes = sorted(value_hashes(values))  # two that want the same never wait in a circle
        key = new_key(label, len(hashes), self._now())

        async def work(db: Connection) -> None:
            await db.execute(DURABLE)
            row = (key.id, label, key.tenant, key.created)
            await db.execute("INSERT INTO keys VALUES (%s, %s, %s, %s)", row)
            try:
                await db.execute(
                    "INSERT INTO key_values SELECT hash, %s FROM unnest(%s::text[]) AS hash",
                    (key.id, hashes),
                )
            except errors.UniqueViolation:
                raise taken() from None

        await self._pool.transact(work)
        return key.id

    async def list_keys(self) -> list[KeyRow]:
        return [KeyRow(*row) for row in await self._pool.run(lambda db: rows(db, _KEYS))]

    async def revoke_key(self, key_id: str) -> bool:
        async def work(db: Connection) -> bool:
            await db.execute(DURABLE)
            await db.execute("DELETE FROM key_values WHERE key = %s", (key_id,))
            return (await db.execute("DELETE FROM keys WHERE id = %s", (key_id,))).rowcount > 0

        return await self._pool.transact(work)
