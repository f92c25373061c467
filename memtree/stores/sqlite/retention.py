"""`Retention` and its SQL: chains, forgetting, and getting the bytes out of the file."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

from memtree.budget.epoch import Epoch
from memtree.days import day_of
from memtree.errors import StoreUnavailable
from memtree.ports.store import RECIPE_DAYS, Receipt
from memtree.stores.references import (
    frontier_nodes,
    plan_nodes,
    plan_versions,
    relinked,
    superseded,
    unneeded,
)
from memtree.stores.rows import COUNTED, added, read_epoch, read_frontier
from memtree.stores.sqlite import claims
from memtree.stores.sqlite.bulk import change, insert, joined, joined_rows
from memtree.stores.sqlite.connection import transaction
from memtree.stores.sqlite.conversations import note_gone
from memtree.stores.sqlite.database import TENANT, SqlitePart, reading
from memtree.stores.sqlite.trees import known_tenant

SWEEP_BYTES = 64 << 20  # a file up to this size is written anew in less than a second

# UNION: a chain that meets itself ends. Rows come in the order in which they are found.
_CHAIN = f"""
    WITH RECURSIVE walk(tenant, address, previous) AS (
        SELECT tenant, address, previous FROM addresses WHERE {TENANT} AND address = ?
        UNION
        SELECT below.tenant, below.address, below.previous FROM walk
        CROSS JOIN addresses AS below
            ON below.tenant = walk.tenant AND below.address = walk.previous
        LIMIT ?
    ) SELECT address AS id, x'' AS data FROM walk"""
_EXPIRED_TENANTS = """
    SELECT tenant FROM addresses WHERE expires < :now
    UNION SELECT tenant FROM epochs WHERE expires < :now"""
_EXPIRED = "SELECT address AS id, x'' AS data FROM addresses WHERE tenant = ? AND expires < ?"
_LINKS = "SELECT address AS id, previous AS data FROM addresses WHERE tenant = ?"
_FRONTIER_KEYS = "SELECT DISTINCT frontier AS id, x'' AS data FROM addresses WHERE tenant = ?"
_FRONTIERS = "SELECT key AS id, data FROM frontiers WHERE tenant = ? AND key IN ({ids})"
_EPOCHS = "SELECT id, data FROM epochs WHERE tenant = ?"
_CHILDREN = "SELECT id, children AS data FROM nodes WHERE tenant = ?"
_VERSIONS = "SELECT id, CAST(version AS BLOB) AS data FROM summaries WHERE tenant = ?"


def chain(
    db: sqlite3.Connection, tenant: str, address: bytes, most: int | None = None
) -> list[bytes]:
    limit = -1 if most is None else most  # -1: none
    return [each for each, _ in joined_rows(db, _CHAIN, (tenant, address, limit))]


def forget(db: sqlite3.Connection, tenant: str, addresses: Sequence[bytes] | None) -> Receipt:
    number = known_tenant(db, tenant)
    if number is None:
        return Receipt()
    before = db.total_changes
    if addresses is None:
        receipt = _forget_all(db, number)
    else:
        receipt = _forget_addresses(db, number, addresses)
        receipt = added(receipt, collect(db, number))
    return noted(db, before, receipt)


def expired_tenants(db: sqlite3.Connection, now: float) -> list[int]:
    return [number for (number,) in db.execute(_EXPIRED_TENANTS, {"now": now})]


def sweep(db: sqlite3.Connection, number: int, now: float) -> Receipt:
    """One tenant, by its number."""
    before = db.total_changes
    epochs = _count(db, "DELETE FROM epochs WHERE tenant = ? AND expires < ?", number, now)
    expired = [address for address, _ in joined_rows(db, _EXPIRED, (number, now))]
    receipt = added(Receipt(epochs=epochs), _forget_addresses(db, number, expired))
    receipt = added(receipt, collect(db, number))
    receipt = added(receipt, Receipt(summaries=_thin_out(db, number)))
    # Plans end every day and tell nothing; what is worth writing the file anew for is a tree.
    return noted(db, before, receipt) if receipt.nodes or receipt.summaries else receipt


def unscrubbed(db: sqlite3.Connection) -> bool:
    """Whether bytes of a deletion may still be in the file: ours, or that of a killed process."""
    return db.execute("SELECT 1 FROM deletions LIMIT 1").fetchone() is not None


def scrub(db: sqlite3.Connection) -> None:
    """Write the file anew without what was deleted; outside of a transaction.

    `secure_delete` alone is not enough: it clears a row where it stands, but a page that SQLite
    rebuilt when rows moved keeps older copies of them in its unused part. Measured over nine
    stores of 3,000 nodes, of which 1,600 were deleted: in eight of them 1 to 8 ids, addresses or
    vectors could still be found. VACUUM leaves none, and takes 13 ms per MB of the whole file.

    `StoreUnavailable` where another process is in the way; a later forget or sweep goes on.
    """
    (newest,) = db.execute("SELECT max(number) FROM deletions").fetchone()
    if newest is None:
        return
    db.execute("VACUUM")
    # It waits for readers of older states, up to the busy timeout.
    (busy, _, _) = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    if busy:
        raise StoreUnavailable(
            "It is deleted, but its bytes are still in the store's files, for another process is "
            "reading them; the next deletion or sweep clears them."
        )
    db.execute("DELETE FROM deletions WHERE number <= ?", (newest,))


def noted(db: sqlite3.Connection, before: int, receipt: Receipt) -> Receipt:
    """In the transaction of the deletion, so that a killed process leaves the note as well."""
    if db.total_changes > before:
        db.execute("INSERT INTO deletions DEFAULT VALUES")
    return receipt


def _forget_all(db: sqlite3.Connection, number: int) -> Receipt:
    """Without decoding anything, so that it works on a damaged tenant as well."""
    counts = {each: _count(db, f"DELETE FROM {each} WHERE tenant = ?", number) for each in COUNTED}
    _count(db, "DELETE FROM frontiers WHERE tenant = ?", number)
    _count(db, "DELETE FROM claims WHERE tenant = ?", number)
    _count(db, "DELETE FROM conversations WHERE tenant = ?", number)
    _count(db, "DELETE FROM tenants WHERE number = ?", number)
    return Receipt(**counts)


def _forget_addresses(db: sqlite3.Connection, number: int, addresses: Iterable[bytes]) -> Receipt:
    """The addresses and the turns at them; what comes after them is joined to what was before."""
    gone = set(addresses)
    previous = dict(joined_rows(db, _LINKS, (number,))) if gone else {}
    note_gone(db, number, previous, gone)
    links = relinked(previous, gone)
    insert(
        db,
        "INSERT INTO addresses (tenant, address, frontier, expires, previous)",
        [(number, address, b"", 0.0, link) for address, link in links.items()],
        "ON CONFLICT DO UPDATE SET previous = excluded.previous",
    )
    rows = "{} WHERE tenant = ? AND address IN ({{ids}})"
    return Receipt(
        addresses=change(db, rows.format("DELETE FROM addresses"), (number,), gone),
        turns=change(db, rows.format("DELETE FROM turns"), (number,), gone),
    )


def collect(db: sqlite3.Connection, number: int) -> Receipt:
    """Delete whatever no address and no epoch of the tenant needs."""
    mine = "WHERE tenant = :number AND {} NOT IN (SELECT {} FROM {} WHERE tenant = :number)"
    turns = _sole(db, "DELETE FROM turns " + mine.format("epoch", "id", "epochs"), number)
    epochs = _sole(db, "DELETE FROM epochs " + mine.format("id", "epoch", "turns"), number)
    _sole(db, "DELETE FROM frontiers " + mine.format("key", "frontier", "addresses"), number)
    keys = [key for key, _ in joined_rows(db, _FRONTIER_KEYS, (number,))]
    frontiers = (read_frontier(data) for _, data in joined(db, _FRONTIERS, (number,), keys))
    roots = {*frontier_nodes(frontiers), *plan_nodes(_epochs(db, number))}
    dead = unneeded(dict(joined_rows(db, _CHILDREN, (number,))), roots)
    nodes = change(db, "DELETE FROM nodes WHERE tenant = ? AND id IN ({ids})", (number,), dead)
    _sole(db, "DELETE FROM claims " + mine.format("id", "id", "nodes"), number)
    return Receipt(
        nodes=nodes,
        vectors=_sole(db, "DELETE FROM vectors " + mine.format("id", "id", "nodes"), number),
        summaries=_sole(db, "DELETE FROM summaries " + mine.format("id", "id", "nodes"), number),
        epochs=epochs,
        turns=turns,
    )


def _thin_out(db: sqlite3.Connection, number: int) -> int:
    """Delete summary versions that are neither the newest nor named by a plan."""
    rows = joined_rows(db, _VERSIONS, (number,))
    stored = {(node, int(version)) for node, version in rows}
    old = superseded(stored, plan_versions(_epochs(db, number))) if stored else set()
    by_version: dict[int, list[bytes]] = {}
    for node, version in old:
        by_version.setdefault(version, []).append(node)
    delete = "DELETE FROM summaries WHERE tenant = ? AND version = ? AND id IN ({ids})"
    return sum(change(db, delete, (number, each), ids) for each, ids in by_version.items())


def _epochs(db: sqlite3.Connection, number: int) -> list[Epoch]:
    return [read_epoch(data) for _, data in joined_rows(db, _EPOCHS, (number,))]


def _count(db: sqlite3.Connection, statement: str, *values: float) -> int:
    return db.execute(statement, values).rowcount


def _sole(db: sqlite3.Connection, statement: str, number: int) -> int:
    return db.execute(statement, {"number": number}).rowcount


# From recipe to recipe, each found by one look into the index: not over all vectors. Memories are
# embedded by the same models.
_STORED = """
    WITH RECURSIVE met(tenant, recipe) AS (
        SELECT number, (SELECT min(recipe) FROM vectors WHERE tenant = number) FROM tenants
        UNION ALL
        SELECT tenant, (
            SELECT min(vectors.recipe) FROM vectors
            WHERE vectors.tenant = met.tenant AND vectors.recipe > met.recipe
        ) FROM met WHERE recipe IS NOT NULL
    ) SELECT recipe FROM (
        SELECT recipe FROM met UNION SELECT recipe FROM memory_recipes
        UNION SELECT recipe FROM memory_segments
    ) WHERE recipe IS NOT NULL"""


_UNUSED = f"SELECT recipe FROM recipes WHERE idle >= {RECIPE_DAYS}"


_TO_COUNT = f"""
    SELECT EXISTS (SELECT 1 FROM recipes WHERE day <> :day)
        OR EXISTS ({_STORED} AND recipe NOT IN (SELECT recipe FROM recipes))"""


_KEEP = """
    INSERT INTO recipes VALUES (?, ?, 0)
    ON CONFLICT DO UPDATE SET day = excluded.day, idle = 0"""


def kept(db: sqlite3.Connection, recipe: str, day: int) -> bool:
    """Whether `keep` has nothing to do: a read, so that others can write."""
    row = db.execute("SELECT day, idle FROM recipes WHERE recipe = ?", (recipe,)).fetchone()
    return bool(row == (day, 0))


def keep(db: sqlite3.Connection, recipe: str, day: int) -> None:
    db.execute(_KEEP, (recipe, day))


def to_count(db: sqlite3.Connection, day: int) -> bool:
    """The same for `count`."""
    return bool(db.execute(_TO_COUNT, {"day": day}).fetchone()[0])


def count(db: sqlite3.Connection, day: int) -> None:
    """Every recipe is a day older, once a day; those that are new begin."""
    db.execute("UPDATE recipes SET idle = idle + 1, day = :day WHERE day <> :day", {"day": day})
    db.execute(f"INSERT OR IGNORE INTO recipes SELECT recipe, ?, 0 FROM ({_STORED})", (day,))


def any_unused(db: sqlite3.Connection) -> bool:
    return db.execute(_UNUSED).fetchone() is not None


def unused_tenants(db: sqlite3.Connection) -> list[int]:
    """Those that have vectors which nobody uses."""
    if not any_unused(db):
        return []
    any_of = f"SELECT 1 FROM vectors WHERE tenant = number AND recipe IN ({_UNUSED})"
    rows = db.execute(f"SELECT number FROM tenants WHERE EXISTS ({any_of})")
    return [number for (number,) in rows]


def drop_unused(db: sqlite3.Connection, number: int) -> Receipt:
    """Of one tenant. Whether they are unused is asked here again: a process may have begun."""
    before = db.total_changes
    drop = f"DELETE FROM vectors WHERE tenant = ? AND recipe IN ({_UNUSED})"
    return noted(db, before, Receipt(vectors=db.execute(drop, (number,)).rowcount))


def forget_unused(db: sqlite3.Connection) -> None:
    """Let go of the names of what was dropped."""
    db.execute(f"DELETE FROM recipes WHERE recipe IN ({_UNUSED}) AND recipe NOT IN ({_STORED})")


class SqliteRetention(SqlitePart):
    """`Retention`."""

    chain = reading(chain)

    async def forget(
        self, tenant: str, addresses: Sequence[bytes] | None, *, dry_run: bool = False
    ) -> Receipt:
        def work(db: sqlite3.Connection) -> Receipt:
            receipt = transaction(db, lambda db: forget(db, tenant, addresses), undo=dry_run)
            if not dry_run:
                scrub(db)
            return receipt

        return await self.database.write_bare(work)

    async def sweep(self, now: float) -> Receipt:
        """A transaction for each tenant, so that other writers get their turn in between. Copies
        of ids and vectors in unused parts of a large file stay until the next `forget`: clearing
        them holds up every writer."""
        receipt = Receipt()
        for number in await self.database.read(lambda db: expired_tenants(db, now)):
            receipt = added(receipt, await self._sweep_tenant(number, now))
        if await self.database.read(lambda db: claims.stale(db, now)):
            await self.database.write(lambda db: claims.drop_stale(db, now))
        receipt = added(receipt, await self._sweep_recipes(day_of(now)))
        if self.database.bytes() <= SWEEP_BYTES and await self.database.read(unscrubbed):
            await self.database.write_bare(scrub)
        return receipt

    async def keep_recipe(self, recipe: str, now: float) -> None:
        day = day_of(now)
        if not await self.database.read(lambda db: kept(db, recipe, day)):
            await self.database.write(lambda db: keep(db, recipe, day))

    async def _sweep_tenant(self, number: int, now: float) -> Receipt:
        return await self.database.write(lambda db: sweep(db, number, now))

    async def _sweep_recipes(self, day: int) -> Receipt:
        receipt = Receipt()
        if await self.database.read(lambda db: to_count(db, day)):
            await self.database.write(lambda db: count(db, day))
        for number in await self.database.read(unused_tenants):
            receipt = added(receipt, await self._drop_unused(number))
        if await self.database.read(any_unused):
            await self.database.write(forget_unused)
        return receipt

    async def _drop_unused(self, number: int) -> Receipt:
        return await self.database.write(lambda db: drop_unused(db, number))
