"""Forget what nothing needs any more: addresses, nodes, old rows, and vectors of unused recipes.

Rows that nothing needs are found here, in the process, by the rules of `stored_rows.py`: plans and
frontiers are encoded, so SQL cannot look into them. For each recipe of vectors the days since its
last use are counted. `Retention` also returns chains of addresses.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from memtree.budget.epoch import Epoch
from memtree.clock import day_of
from memtree.ports.context_store import RECIPE_DAYS, Receipt
from memtree.stores import stored_rows
from memtree.stores.context.claims import ClaimsAndTallies
from memtree.stores.context.logged_requests import Requests
from memtree.stores.context.stored_conversations import note_gone
from memtree.stores.context.tenants import TENANT, begin, known_tenant
from memtree.stores.sql import Ids, Sql, keeping, reading, writing

_LOCK = "memtree recipes"
# Walks from one recipe to the next by single index look-ups, instead of reading all vectors.
# Memories are embedded by the same models.
_STORED = """
    WITH RECURSIVE walk(tenant, recipe) AS (
        SELECT number, (
            SELECT recipe FROM vectors WHERE tenant = number ORDER BY recipe LIMIT 1
        ) FROM tenants
        UNION ALL
        SELECT tenant, (
            SELECT vectors.recipe FROM vectors
            WHERE vectors.tenant = walk.tenant AND vectors.recipe > walk.recipe
            ORDER BY vectors.recipe LIMIT 1
        ) FROM walk WHERE recipe IS NOT NULL
    ) SELECT recipe FROM (
        SELECT recipe FROM walk UNION SELECT recipe FROM memory_recipes
        UNION SELECT recipe FROM memory_segments
    ) AS stored WHERE recipe IS NOT NULL"""
_UNUSED = f"SELECT recipe FROM recipes WHERE idle >= {RECIPE_DAYS}"
_KEPT = "SELECT 1 FROM recipes WHERE recipe = :recipe AND day = :day AND idle = 0"
_KEEP = """
    INSERT INTO recipes (recipe, day, idle) VALUES (:recipe, :day, 0)
    ON CONFLICT (recipe) DO UPDATE SET day = excluded.day, idle = 0"""
_TO_COUNT = f"""
    SELECT EXISTS (SELECT 1 FROM recipes WHERE day <> :day)
        OR EXISTS ({_STORED} AND recipe NOT IN (SELECT recipe FROM recipes))"""
_COUNT = "UPDATE recipes SET idle = idle + 1, day = :day WHERE day <> :day"
_BEGIN = f"""
    INSERT INTO recipes (recipe, day, idle) SELECT recipe, :day, 0 FROM ({_STORED}) AS stored
    WHERE true ON CONFLICT DO NOTHING"""
_UNUSED_TENANTS = f"""
    SELECT name FROM tenants WHERE EXISTS (
        SELECT 1 FROM vectors WHERE tenant = number AND recipe IN ({_UNUSED})) ORDER BY name"""
_DROP = f"DELETE FROM vectors WHERE {TENANT} AND recipe IN ({_UNUSED})"
_FORGET = f"DELETE FROM recipes WHERE recipe IN ({_UNUSED}) AND recipe NOT IN ({_STORED})"


async def recipe_kept(sql: Sql, recipe: str, day: int) -> bool:
    """Return True if `keep` has nothing to do: a read, so that others can write."""
    return bool(await sql.fetch(_KEPT, {"recipe": recipe, "day": day}))


async def keep_recipe(sql: Sql, recipe: str, day: int) -> None:
    await sql.lock_name(_LOCK)
    await sql.run(_KEEP, {"recipe": recipe, "day": day})


async def recipes_to_count(sql: Sql, day: int) -> bool:
    """Return True if `count` has anything to do today."""
    return bool((await sql.fetch(_TO_COUNT, {"day": day}))[0][0])


async def count_recipes(sql: Sql, day: int) -> None:
    """Add a day to the unused days of every recipe, once a day; new recipes start at zero."""
    await sql.lock_name(_LOCK)
    await sql.run(_COUNT, {"day": day})
    await sql.run(_BEGIN, {"day": day})


async def any_unused_recipe(sql: Sql) -> bool:
    return bool(await sql.fetch(_UNUSED, {}))


async def tenants_of_unused(sql: Sql) -> list[str]:
    """Return the tenants that have vectors under unused recipes."""
    return [tenant for (tenant,) in await sql.fetch(_UNUSED_TENANTS, {})]


async def drop_recipes(sql: Sql, tenant: str) -> int:
    """Delete the tenant's unused vectors and return their number. The statement looks again which
    recipes are unused, since another process may have begun to use one meanwhile."""
    await sql.lock_name(_LOCK)
    await begin(sql, tenant, alone=True)
    return await sql.count(_DROP, {"tenant": tenant})


async def forget_recipes(sql: Sql) -> None:
    """Drop the names of recipes whose vectors are gone."""
    await sql.lock_name(_LOCK)
    await sql.run(_FORGET, {})


# A chain is at most as long as the tenant has addresses, so a damaged chain that forms a circle
# ends as well.
_CHAIN = f"""
    WITH RECURSIVE walk(tenant, address, previous, place) AS (
        SELECT tenant, address, previous, 1 FROM addresses WHERE {TENANT} AND address = :address
        UNION ALL
        SELECT below.tenant, below.address, below.previous, place + 1
        FROM walk CROSS JOIN addresses AS below
        WHERE below.tenant = walk.tenant AND below.address = walk.previous AND place < coalesce(
            CAST(:most AS bigint), (SELECT count(*) FROM addresses WHERE {TENANT}))
    ) SELECT place, address FROM walk"""
_EXPIRED_TENANTS = """
    SELECT name FROM tenants WHERE number IN (
        SELECT tenant FROM addresses WHERE expires < :now
        UNION SELECT tenant FROM epochs WHERE expires < :now) ORDER BY name"""
_EXPIRED = "SELECT address FROM addresses WHERE tenant = :number AND expires < :now"
_LINKS = "SELECT address, previous FROM addresses WHERE tenant = :number"
_RELINK = """
    INSERT INTO addresses (tenant, address, frontier, expires, previous)
    SELECT :number, address, :nothing, 0.0, previous FROM :rows(address, previous) WHERE true
    ON CONFLICT (tenant, address) DO UPDATE SET previous = excluded.previous"""
_FRONTIERS = "SELECT data FROM frontiers WHERE tenant = :number"
_EPOCHS = "SELECT data FROM epochs WHERE tenant = :number"
_CHILDREN = "SELECT id, children FROM nodes WHERE tenant = :number"
_VERSIONS = "SELECT id, version FROM summaries WHERE tenant = :number"
_UNNAMED = """
    DELETE FROM {0} WHERE tenant = :number AND NOT EXISTS (
        SELECT 1 FROM {2} WHERE tenant = :number AND {2}.{3} = {0}.{1})"""
# Set operations: a look-up for each row would need an index that no other query uses.
_UNNAMED_FRONTIERS = """
    DELETE FROM frontiers WHERE tenant = :number AND key IN (
        SELECT key FROM frontiers WHERE tenant = :number
        EXCEPT SELECT frontier FROM addresses WHERE tenant = :number)"""
_DROP_VERSION = """
    DELETE FROM summaries WHERE tenant = :number AND version = :version AND id IN :ids[bytes]"""
_AT = "{} WHERE tenant = :number AND address IN :ids[bytes]"
NOTE = "INSERT INTO deletions DEFAULT VALUES"


async def chain(sql: Sql, tenant: str, address: bytes, most: int | None = None) -> list[bytes]:
    values = {"tenant": tenant, "address": address, "most": most}
    rows = sorted(await sql.many("ih", _CHAIN, values))
    return list(dict.fromkeys(at for _, at in rows))


async def forget(sql: Sql, tenant: str, addresses: Sequence[bytes] | None) -> Receipt:
    await begin(sql, tenant, alone=True)
    number = await known_tenant(sql, tenant)
    if number is None:
        return Receipt()
    if addresses is None:
        return await noted(sql, await _forget_all(sql, number), changed=True)
    receipt = await _forget_addresses(sql, number, addresses)
    receipt = stored_rows.added(receipt, await collect(sql, number))
    return await noted(sql, receipt, changed=any(receipt))


async def expired_tenants(sql: Sql, now: float) -> list[str]:
    return [tenant for (tenant,) in await sql.fetch(_EXPIRED_TENANTS, {"now": now})]


async def sweep(sql: Sql, tenant: str, now: float) -> Receipt:
    """Sweep one tenant."""
    await begin(sql, tenant, alone=True)
    number = await known_tenant(sql, tenant)
    if number is None:  # the tenant was forgotten meanwhile
        return Receipt()
    ended = {"number": number, "now": now}
    drop = "DELETE FROM epochs WHERE tenant = :number AND expires < :now"
    receipt = Receipt(epochs=await sql.count(drop, ended))
    expired = [address for (address,) in await sql.many("h", _EXPIRED, ended)]
    receipt = stored_rows.added(receipt, await _forget_addresses(sql, number, expired))
    receipt = stored_rows.added(receipt, await collect(sql, number))
    receipt = stored_rows.added(receipt, Receipt(summaries=await _thin_out(sql, number)))
    # Plans end every day and reveal nothing; only a deleted tree is worth clearing the files for.
    return await noted(sql, receipt, changed=bool(receipt.nodes or receipt.summaries))


async def drop_unused(sql: Sql, tenant: str) -> Receipt:
    """Delete the tenant's vectors of unused recipes."""
    vectors = await drop_recipes(sql, tenant)
    return await noted(sql, Receipt(vectors=vectors), changed=vectors > 0)


async def noted(sql: Sql, receipt: Receipt, *, changed: bool) -> Receipt:
    """Record that deleted bytes must be scrubbed, in the transaction of the deletion, so that the
    note survives a killed process."""
    if changed:
        await sql.run(NOTE, {})
    return receipt


async def _forget_all(sql: Sql, number: int) -> Receipt:
    """Delete all rows of a tenant without decoding any, so that it works on a damaged tenant as
    well."""
    here = {"number": number}
    drop = "DELETE FROM {} WHERE tenant = :number"
    counts = {table: await sql.count(drop.format(table), here) for table in stored_rows.COUNTED}
    for table in ("frontiers", "claims", "conversations", "requests"):
        await sql.run(drop.format(table), here)
    await sql.run("DELETE FROM tenants WHERE number = :number", here)
    return Receipt(**counts)


async def _forget_addresses(sql: Sql, number: int, addresses: Iterable[bytes]) -> Receipt:
    """Delete the addresses and the turns at them, and link the addresses after them to those
    before."""
    gone = set(addresses)
    if not gone:
        return Receipt()
    links: dict[bytes, bytes] = dict(await _pairs(sql, "hh", _LINKS, number))
    await note_gone(sql, number, links, gone)
    new = await sql.computed(len(links), lambda: stored_rows.relinked(links, gone))
    await sql.put(_RELINK, {"number": number, "nothing": b""}, sorted(new.items()))
    values = {"number": number, "ids": Ids(gone)}
    return Receipt(
        addresses=await sql.count(f"DELETE FROM {_AT.format('addresses')}", values),
        turns=await sql.count(f"DELETE FROM {_AT.format('turns')}", values),
    )


async def collect(sql: Sql, number: int) -> Receipt:
    """Delete everything that no address and no epoch of the tenant needs."""

    async def drop(table: str, column: str, other: str, named: str) -> int:
        unnamed = _UNNAMED.format(table, column, other, named)
        return await sql.count(unnamed, {"number": number})

    turns = await drop("turns", "epoch", "epochs", "id")
    epochs = await drop("epochs", "id", "turns", "epoch")
    await sql.run(_UNNAMED_FRONTIERS, {"number": number})
    nodes = await _collect_nodes(sql, number)
    await drop("claims", "id", "nodes", "id")
    return Receipt(
        nodes=nodes,
        vectors=await drop("vectors", "id", "nodes", "id"),
        summaries=await drop("summaries", "id", "nodes", "id"),
        epochs=epochs,
        turns=turns,
    )


async def _collect_nodes(sql: Sql, number: int) -> int:
    frontiers = await sql.many("d", _FRONTIERS, {"number": number})
    epochs = await _epochs(sql, number)
    children: dict[bytes, bytes] = dict(await _pairs(sql, "hd", _CHILDREN, number))

    def dead() -> set[bytes]:
        named = stored_rows.frontier_nodes(stored_rows.read_frontier(data) for (data,) in frontiers)
        return stored_rows.unneeded(children, {*named, *stored_rows.plan_nodes(epochs)})

    ids = Ids(await sql.computed(len(children) + len(frontiers), dead))
    drop = "DELETE FROM nodes WHERE tenant = :number AND id IN :ids[bytes]"
    return await sql.count(drop, {"number": number, "ids": ids})


async def _thin_out(sql: Sql, number: int) -> int:
    """Delete summary versions that are neither the newest nor named by a plan."""
    stored = set(await _pairs(sql, "hi", _VERSIONS, number))
    if not stored:
        return 0
    by_version: dict[int, list[bytes]] = {}
    for node, version in stored_rows.superseded(
        stored, stored_rows.plan_versions(await _epochs(sql, number))
    ):
        by_version.setdefault(version, []).append(node)
    dropped = 0
    for version, nodes in by_version.items():
        values = {"number": number, "version": version, "ids": Ids(nodes)}
        dropped += await sql.count(_DROP_VERSION, values)
    return dropped


async def _pairs(sql: Sql, kinds: str, query: str, number: int) -> list[tuple[Any, Any]]:
    return [(one, two) for one, two in await sql.many(kinds, query, {"number": number})]


async def _epochs(sql: Sql, number: int) -> list[Epoch]:
    return [
        stored_rows.read_epoch(data) for (data,) in await sql.many("d", _EPOCHS, {"number": number})
    ]


class Retention(ClaimsAndTallies, Requests):
    """The port `Retention` over SQL. Its sweep also drops old claims, tallies and requests."""

    chain = reading(chain)
    _expired_tenants = reading(expired_tenants)
    _sweep_tenant = keeping(sweep)
    _kept = reading(recipe_kept)
    _keep = writing(keep_recipe)
    _to_count = reading(recipes_to_count)
    _count = writing(count_recipes)
    _any_unused = reading(any_unused_recipe)
    _unused_tenants = reading(tenants_of_unused)
    _drop_unused = keeping(drop_unused)
    _forget_unused = writing(forget_recipes)

    async def forget(
        self, tenant: str, addresses: Sequence[bytes] | None, *, dry_run: bool = False
    ) -> Receipt:
        """Delete the addresses, or all of the tenant. Afterwards no read returns them;
        `Database.scrub` clears their bytes."""
        receipt = await self.database.write(
            lambda sql: forget(sql, tenant, addresses), durable=True, undo=dry_run
        )
        if not dry_run:
            await self.database.scrub(at_once=True)
        return receipt

    async def sweep(self, now: float) -> Receipt:
        """Sweep all tenants, with a transaction for each, so that other writers get their turn in
        between."""
        receipt = Receipt()
        for tenant in await self._expired_tenants(now):
            receipt = stored_rows.added(receipt, await self._sweep_tenant(tenant, now))
        if await self._any_stale(now):
            await self._drop_stale(now)
        receipt = stored_rows.added(receipt, await self._sweep_recipes(day_of(now)))
        await self.trim_requests(now)
        await self.database.scrub(at_once=False)
        return receipt

    async def keep_recipe(self, recipe: str, now: float) -> None:
        if not await self._kept(recipe, day_of(now)):
            await self._keep(recipe, day_of(now))

    async def _sweep_recipes(self, day: int) -> Receipt:
        if await self._to_count(day):
            await self._count(day)
        receipt = Receipt()
        if await self._any_unused():
            for tenant in await self._unused_tenants():
                receipt = stored_rows.added(receipt, await self._drop_unused(tenant))
            await self._forget_unused()
        return receipt
