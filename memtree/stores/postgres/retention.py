"""`Retention` and its SQL: chains and forgetting.

What nothing needs any more is decided here, in the process, by the rules of `references`, as in
every back end: plans and frontiers are encoded, so SQL cannot look into them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from memtree.budget.epoch import Epoch
from memtree.days import day_of
from memtree.ports.store import RECIPE_DAYS, Receipt
from memtree.stores.postgres import claims
from memtree.stores.postgres.conversations import note_gone
from memtree.stores.postgres.locks import ALONE, begin, lock_key
from memtree.stores.postgres.migrations import TABLES
from memtree.stores.postgres.pool import DURABLE, PostgresPart, reading
from memtree.stores.postgres.queries import (
    TENANT,
    Blobs,
    Connection,
    ask,
    known_tenant,
    off_loop,
    rows,
)
from memtree.stores.references import (
    frontier_nodes,
    plan_nodes,
    plan_versions,
    relinked,
    superseded,
    unneeded,
)
from memtree.stores.rows import COUNTED, added, read_epoch, read_frontier

SMALL_BYTES = 64 << 20  # tables up to this size are vacuumed in less than a second

BYTES = """
    SELECT sum(pg_total_relation_size(name::regclass))::bigint
    FROM unnest(%(tables)s::text[]) AS name"""
# No chain is longer than the tenant's addresses: one that meets itself ends.
_CHAIN = f"""
    WITH RECURSIVE walk AS (
        SELECT tenant, address, previous, 1 AS place FROM addresses
        WHERE {TENANT} AND address = %(address)s
        UNION ALL
        SELECT below.tenant, below.address, below.previous, place + 1 FROM walk
        JOIN addresses AS below
            ON below.tenant = walk.tenant AND below.address = walk.previous
        WHERE place < coalesce(
            %(most)s::bigint, (SELECT count(*) FROM addresses WHERE {TENANT}))
    ) SELECT address FROM walk ORDER BY place"""
_EXPIRED_TENANTS = """
    SELECT name FROM tenants WHERE number IN (
        SELECT tenant FROM addresses WHERE expires < %(now)s
        UNION SELECT tenant FROM epochs WHERE expires < %(now)s) ORDER BY name"""
_EXPIRED = "SELECT address FROM addresses WHERE tenant = %(number)s AND expires < %(now)s"
_LINKS = "SELECT address, previous FROM addresses WHERE tenant = %(number)s"
_RELINK = """
    UPDATE addresses SET previous = new.previous
    FROM unnest(%(addresses)s, %(links)s) AS new(address, previous)
    WHERE tenant = %(number)s AND addresses.address = new.address"""
_FRONTIERS = "SELECT data FROM frontiers WHERE tenant = %(number)s"
_EPOCHS = "SELECT data FROM epochs WHERE tenant = %(number)s"
_CHILDREN = "SELECT id, children FROM nodes WHERE tenant = %(number)s"
_VERSIONS = "SELECT id, version FROM summaries WHERE tenant = %(number)s"
_DROP_VERSIONS = """
    DELETE FROM summaries USING unnest(%(ids)s, %(versions)s::integer[]) AS old(id, version)
    WHERE tenant = %(number)s AND summaries.id = old.id AND summaries.version = old.version"""


async def chain(
    db: Connection, tenant: str, address: bytes, most: int | None = None
) -> list[bytes]:
    found = await rows(db, _CHAIN, tenant=tenant, address=address, most=most)
    return list(dict.fromkeys(at for (at,) in found))


async def forget(db: Connection, tenant: str, addresses: Sequence[bytes] | None) -> Receipt:
    number = await begin_alone(db, tenant)
    if number is None:
        return Receipt()
    if addresses is None:
        receipt = await _forget_all(db, number)
        return await noted(db, receipt, changed=True)
    receipt = await _forget_addresses(db, number, addresses)
    receipt = added(receipt, await collect(db, number))
    return await noted(db, receipt, changed=any(receipt))


async def expired_tenants(db: Connection, now: float) -> list[str]:
    return [tenant for (tenant,) in await rows(db, _EXPIRED_TENANTS, now=now)]


async def sweep(db: Connection, tenant: str, now: float) -> Receipt:
    """One tenant."""
    number = await begin_alone(db, tenant)
    if number is None:  # forgotten meanwhile
        return Receipt()
    epochs = await _delete(db, "epochs WHERE expires < %(now)s AND {}", number, now=now)
    expired = [address for (address,) in await rows(db, _EXPIRED, number=number, now=now)]
    receipt = added(Receipt(epochs=epochs), await _forget_addresses(db, number, expired))
    receipt = added(receipt, await collect(db, number))
    receipt = added(receipt, Receipt(summaries=await _thin_out(db, number)))
    return await noted(db, receipt, changed=bool(receipt.nodes or receipt.summaries))


async def unscrubbed(db: Connection) -> bool:
    """Whether rows of a deletion may still take up space."""
    return bool(await rows(db, "SELECT 1 FROM deletions LIMIT 1"))


async def scrub(db: Connection) -> None:
    """Free the space of deleted rows; outside of a transaction, on a connection without limits.

    Deleted rows can be read by nobody from the commit on. Their bytes are another matter: VACUUM
    gives their space to new rows and cuts empty ends off the files, but does not overwrite, and
    the server's log (WAL) and its backups have copies of their own. See docs/decisions/0011.
    """
    ((newest,),) = await rows(db, "SELECT max(number) FROM deletions")
    if newest is not None:
        await db.execute(f"VACUUM (SKIP_LOCKED) {', '.join(TABLES)}")
        await db.execute("DELETE FROM deletions WHERE number <= %s", (newest,))


async def bytes_of(db: Connection) -> int:
    """The size of all tables."""
    ((size,),) = await rows(db, BYTES, tables=list(TABLES))
    return int(size)


async def begin_alone(db: Connection, tenant: str) -> int | None:
    """Alone with the tenant; who is told of a deletion may rely on it after a crash, too."""
    await db.execute(DURABLE)
    await begin(db, tenant, ALONE)
    return await known_tenant(db, tenant)


async def noted(db: Connection, receipt: Receipt, *, changed: bool) -> Receipt:
    """In the transaction of the deletion, so that a killed process leaves the note as well."""
    if changed:
        await db.execute("INSERT INTO deletions DEFAULT VALUES")
    return receipt


async def _forget_all(db: Connection, number: int) -> Receipt:
    """Without decoding anything, so that it works on a damaged tenant as well."""
    counts = {table: await _delete(db, f"{table} WHERE {{}}", number) for table in COUNTED}
    for table in ("frontiers", "claims", "conversations"):
        await _delete(db, f"{table} WHERE {{}}", number)
    await db.execute("DELETE FROM tenants WHERE number = %s", (number,))
    return Receipt(**counts)


async def _forget_addresses(db: Connection, number: int, addresses: Iterable[bytes]) -> Receipt:
    """The addresses and the turns at them; what comes after them is joined to what was before."""
    gone = set(addresses)
    if not gone:
        return Receipt()
    links = dict(await rows(db, _LINKS, number=number))
    await note_gone(db, number, links, gone)
    new = await off_loop(len(links), lambda: relinked(links, gone))
    if new:
        values = {"number": number, "addresses": Blobs(new), "links": Blobs(new.values())}
        await db.execute(_RELINK, values)
    at = "{} WHERE {{}} AND address = ANY(%(ids)s)"
    ids = Blobs(gone)
    return Receipt(
        addresses=await _delete(db, at.format("addresses"), number, ids=ids),
        turns=await _delete(db, at.format("turns"), number, ids=ids),
    )


async def collect(db: Connection, number: int) -> Receipt:
    """Delete whatever no address and no epoch of the tenant needs."""

    async def sole(table: str, column: str, other: str, named: str) -> int:
        unnamed = f"SELECT 1 FROM {other} WHERE tenant = %(number)s AND {named} = {table}.{column}"
        return await _delete(db, f"{table} WHERE {{}} AND NOT EXISTS ({unnamed})", number)

    turns = await sole("turns", "epoch", "epochs", "epochs.id")
    epochs = await sole("epochs", "id", "turns", "turns.epoch")
    await sole("frontiers", "key", "addresses", "addresses.frontier")
    nodes = await _collect_nodes(db, number)
    await sole("claims", "id", "nodes", "nodes.id")
    return Receipt(
        nodes=nodes,
        vectors=await sole("vectors", "id", "nodes", "nodes.id"),
        summaries=await sole("summaries", "id", "nodes", "nodes.id"),
        epochs=epochs,
        turns=turns,
    )


async def _collect_nodes(db: Connection, number: int) -> int:
    frontiers = await rows(db, _FRONTIERS, number=number)
    epochs = await rows(db, _EPOCHS, number=number)
    children = dict(await rows(db, _CHILDREN, number=number))

    def dead() -> set[bytes]:
        named = frontier_nodes(read_frontier(data) for (data,) in frontiers)
        return unneeded(children, {*named, *plan_nodes(_read(epochs))})

    ids = Blobs(await off_loop(len(children) + len(frontiers), dead))
    return await _delete(db, "nodes WHERE {} AND id = ANY(%(ids)s)", number, ids=ids)


async def _thin_out(db: Connection, number: int) -> int:
    """Delete summary versions that are neither the newest nor named by a plan."""
    stored = set(await rows(db, _VERSIONS, number=number))
    if not stored:
        return 0
    plans = _read(await rows(db, _EPOCHS, number=number))
    old = list(superseded(stored, plan_versions(plans)))
    values = {"ids": Blobs(node for node, _ in old), "versions": [version for _, version in old]}
    return (await db.execute(_DROP_VERSIONS, {"number": number, **values})).rowcount if old else 0


def _read(epochs: list[tuple[Any, ...]]) -> list[Epoch]:
    return [read_epoch(data) for (data,) in epochs]


async def _delete(db: Connection, what: str, number: int, **values: Any) -> int:
    """How many rows went of `what`: a table and a condition, `{}` for the tenant's."""
    statement = f"DELETE FROM {what.format('tenant = %(number)s')}"
    return (await db.execute(statement, {"number": number, **values})).rowcount


_LOCK = lock_key("memtree recipes")


# From recipe to recipe, each found by one look into the index: not over all vectors. Memories are
# embedded by the same models.
_STORED = """
    WITH RECURSIVE met AS (
        SELECT number AS tenant, (
            SELECT recipe FROM vectors WHERE tenant = number ORDER BY recipe LIMIT 1
        ) AS recipe FROM tenants
        UNION ALL
        SELECT tenant, (
            SELECT vectors.recipe FROM vectors
            WHERE vectors.tenant = met.tenant AND vectors.recipe > met.recipe
            ORDER BY vectors.recipe LIMIT 1
        ) FROM met WHERE recipe IS NOT NULL
    ) SELECT recipe FROM (
        SELECT recipe FROM met UNION SELECT recipe FROM memory_recipes
        UNION SELECT recipe FROM memory_segments
    ) AS stored WHERE recipe IS NOT NULL"""


_UNUSED = f"SELECT recipe FROM recipes WHERE idle >= {RECIPE_DAYS}"


_KEPT = "SELECT 1 FROM recipes WHERE recipe = %(recipe)s AND day = %(day)s AND idle = 0"


_KEEP = """
    INSERT INTO recipes VALUES (%(recipe)s, %(day)s, 0)
    ON CONFLICT (recipe) DO UPDATE SET day = excluded.day, idle = 0"""


_TO_COUNT = f"""
    SELECT EXISTS (SELECT 1 FROM recipes WHERE day <> %(day)s)
        OR EXISTS ({_STORED} AND recipe NOT IN (SELECT recipe FROM recipes))"""


_COUNT = "UPDATE recipes SET idle = idle + 1, day = %(day)s WHERE day <> %(day)s"


_BEGIN = f"""
    INSERT INTO recipes SELECT recipe, %(day)s, 0 FROM ({_STORED}) AS stored
    ON CONFLICT DO NOTHING"""


_UNUSED_TENANTS = f"""
    SELECT name FROM tenants WHERE EXISTS (
        SELECT 1 FROM vectors WHERE tenant = number AND recipe IN ({_UNUSED})) ORDER BY name"""


_DROP = f"DELETE FROM vectors WHERE tenant = %(number)s AND recipe IN ({_UNUSED})"


_FORGET = f"DELETE FROM recipes WHERE recipe IN ({_UNUSED}) AND recipe NOT IN ({_STORED})"


async def kept(db: Connection, recipe: str, day: int) -> bool:
    """Whether `keep` has nothing to do."""
    return bool(await rows(db, _KEPT, recipe=recipe, day=day))


async def keep(db: Connection, recipe: str, day: int) -> None:
    await db.execute(ALONE, (_LOCK,))
    await ask(db, _KEEP, recipe=recipe, day=day)


async def to_count(db: Connection, day: int) -> bool:
    """Whether `count` has anything to do."""
    ((due,),) = await rows(db, _TO_COUNT, day=day)
    return bool(due)


async def count(db: Connection, day: int) -> None:
    """Every recipe is a day older, once a day; those that are new begin."""
    await db.execute(ALONE, (_LOCK,))
    await ask(db, _COUNT, day=day)
    await ask(db, _BEGIN, day=day)


async def any_unused(db: Connection) -> bool:
    return bool(await rows(db, _UNUSED))


async def unused_tenants(db: Connection) -> list[str]:
    """Those that have vectors which nobody uses."""
    return [tenant for (tenant,) in await rows(db, _UNUSED_TENANTS)]


async def drop_unused(db: Connection, tenant: str) -> Receipt:
    """Of one tenant. Whether they are unused is asked here again: a process may have begun."""
    await db.execute(ALONE, (_LOCK,))
    number = await begin_alone(db, tenant)
    if number is None:
        return Receipt()
    receipt = Receipt(vectors=(await ask(db, _DROP, number=number)).rowcount)
    return await noted(db, receipt, changed=any(receipt))


async def forget_unused(db: Connection) -> None:
    """Let go of the names of what was dropped."""
    await db.execute(ALONE, (_LOCK,))
    await db.execute(_FORGET)


class PostgresRetention(PostgresPart):
    """`Retention`."""

    chain = reading(chain)

    async def forget(
        self, tenant: str, addresses: Sequence[bytes] | None, *, dry_run: bool = False
    ) -> Receipt:
        """Afterwards no read finds it. Its bytes leave the server's files as PostgreSQL goes:
        the space is freed at once in a small store, by the next sweep in a large one."""
        receipt = await self.database.transact(
            lambda db: forget(db, tenant, addresses), undo=dry_run
        )
        if dry_run:
            return receipt
        if await self.database.run(unscrubbed) and await self.database.run(bytes_of) <= SMALL_BYTES:
            await self._scrub()
        return receipt

    async def sweep(self, now: float) -> Receipt:
        """A transaction for each tenant, so that other writers get their turn in between."""
        receipt = Receipt()
        for tenant in await self.database.run(lambda db: expired_tenants(db, now)):
            receipt = added(receipt, await self._sweep_tenant(tenant, now))
        await self.database.run(lambda db: claims.drop_stale(db, now))
        receipt = added(receipt, await self._sweep_recipes(day_of(now)))
        if await self.database.run(unscrubbed):
            await self._scrub()
        return receipt

    async def keep_recipe(self, recipe: str, now: float) -> None:
        day = day_of(now)
        if not await self.database.run(lambda db: kept(db, recipe, day)):
            await self.database.hurry(lambda db: keep(db, recipe, day))

    async def _sweep_tenant(self, tenant: str, now: float) -> Receipt:
        return await self.database.transact(lambda db: sweep(db, tenant, now))

    async def _sweep_recipes(self, day: int) -> Receipt:
        if await self.database.run(lambda db: to_count(db, day)):
            await self.database.hurry(lambda db: count(db, day))
        receipt = Receipt()
        if not await self.database.run(any_unused):
            return receipt
        for tenant in await self.database.run(unused_tenants):
            receipt = added(receipt, await self._drop_unused(tenant))
        await self.database.hurry(forget_unused)
        return receipt

    async def _drop_unused(self, tenant: str) -> Receipt:
        return await self.database.transact(lambda db: drop_unused(db, tenant))

    async def _scrub(self) -> None:
        async with self.database.apart() as db:
            await scrub(db)
