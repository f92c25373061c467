"""`TreeStore` and its SQL: nodes, frontiers, addresses, vectors and summary versions.

The planner cannot know how few rows a walk down a tree meets, or how many ids an array holds, and
would now and then rather read all rows of the tenant, or of all tenants. `LATERAL (... LIMIT 1)`
leaves it no choice but one look-up by key for each row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from memtree.conversation.addresses import NODE_ID_BYTES
from memtree.ports.store import IndexBatch, IndexedPrefix
from memtree.stores.postgres.conversations import note_use
from memtree.stores.postgres.locks import begin
from memtree.stores.postgres.pool import PostgresPart, reading
from memtree.stores.postgres.queries import (
    NUMBER,
    TENANT,
    Blobs,
    Connection,
    ask,
    distinct,
    off_loop,
    rows,
    tenant_number,
)
from memtree.stores.references import Version, frontier_nodes, named
from memtree.stores.rows import (
    FrontierRow,
    NodeRow,
    SummaryRow,
    address_rows,
    conversation_row,
    frontier_row,
    gone,
    node_row,
    read_frontier,
    read_node,
    read_summary,
    summary_rows,
)
from memtree.tree.node import Node, Summary

_NODES = f"SELECT id, data FROM nodes WHERE {TENANT} AND id = ANY(%(ids)s)"
_DESCENDANTS = f"""
    WITH RECURSIVE walk AS (
        SELECT tenant, id, children FROM nodes WHERE {TENANT} AND id = ANY(%(ids)s)
        UNION
        SELECT below.* FROM walk
        CROSS JOIN generate_series(1, length(walk.children), {NODE_ID_BYTES}) AS slot(at)
        CROSS JOIN LATERAL (
            SELECT tenant, id, children FROM nodes
            WHERE tenant = walk.tenant AND id = substr(walk.children, slot.at, {NODE_ID_BYTES})
            LIMIT 1
        ) AS below
    ) SELECT walk.id, found.data FROM walk CROSS JOIN LATERAL (
        SELECT data FROM nodes WHERE tenant = walk.tenant AND id = walk.id LIMIT 1) AS found"""
_FRONTIERS = f"""
    SELECT address, found.data, expires FROM addresses CROSS JOIN LATERAL (
        SELECT data FROM frontiers WHERE tenant = addresses.tenant AND key = frontier LIMIT 1
    ) AS found WHERE {TENANT} AND address = ANY(%(ids)s)"""
_STORED = f"SELECT id FROM nodes WHERE {TENANT} AND id = ANY(%(ids)s)"
_KNOWN = f"SELECT address FROM addresses WHERE {TENANT} AND address = ANY(%(ids)s)"
_PUT_NODES = """
    INSERT INTO nodes (tenant, id, level, children, data)
    SELECT %(number)s, id, level, children, data
    FROM unnest(%(ids)s, %(levels)s::integer[], %(children)s, %(data)s)
        AS new(id, level, children, data)
    ORDER BY id ON CONFLICT DO NOTHING"""
# A frontier that comes with known addresses only would be a row that nothing names. Of a row that
# was inserted, and not there before, `xmax` is 0.
_PUT_ADDRESSES = """
    WITH put AS (
        INSERT INTO addresses (tenant, address, frontier, expires, previous)
        SELECT %(number)s, address, frontier, %(expires)s, previous
        FROM unnest(%(addresses)s, %(frontiers)s, %(previous)s) AS new(address, frontier, previous)
        ORDER BY address
        ON CONFLICT (tenant, address) DO UPDATE SET expires = excluded.expires
            WHERE excluded.expires > addresses.expires
        RETURNING address, frontier, previous, xmax = 0 AS fresh
    ), gone_on AS (
        DELETE FROM conversations WHERE tenant = %(number)s AND address = ANY(%(previous)s)
            AND EXISTS (SELECT 1 FROM put WHERE fresh AND put.previous = conversations.address)
        RETURNING title, client, project, ordinal, own_title
    ), before AS (
        SELECT max(title) AS title, max(client) AS client, max(project) AS project,
            max(ordinal) AS ordinal, max(own_title) AS own_title FROM gone_on
    ), ended AS (
        INSERT INTO conversations (
            tenant, address, used, messages, tokens, first, whole, title, client, project,
            own_title, ordinal)
        SELECT %(number)s, put.address, %(used)s, %(messages)s, %(tokens)s, %(first)s, %(whole)s,
            coalesce(nullif(%(title)s, ''), title, ''),
            coalesce(nullif(%(client)s, ''), client, ''),
            coalesce(nullif(%(project)s, ''), project, ''), coalesce(own_title, ''),
            CASE WHEN %(title)s IN ('', title) THEN coalesce(before.ordinal, 0) ELSE (
                SELECT coalesce(max(same.ordinal), 0) + 1 FROM conversations AS same
                WHERE same.tenant = %(number)s AND same.title = %(title)s) END
        FROM put CROSS JOIN before WHERE fresh AND put.address = %(last)s ON CONFLICT DO NOTHING
    ) INSERT INTO frontiers (tenant, key, data)
    SELECT %(number)s, key, data FROM unnest(%(keys)s, %(data)s) AS new(key, data)
    WHERE key IN (SELECT frontier FROM put WHERE fresh)
    ORDER BY key ON CONFLICT DO NOTHING"""
_RENEW = f"""
    WITH due AS (
        SELECT tenant, address FROM addresses
        WHERE {TENANT} AND expires < %(expires)s AND address = ANY(%(ids)s)
        ORDER BY address FOR UPDATE
    ) UPDATE addresses SET expires = %(expires)s FROM due
    WHERE addresses.tenant = due.tenant AND addresses.address = due.address"""
_VECTORS = f"""
    SELECT id, data FROM vectors WHERE {TENANT} AND recipe = %(recipe)s AND id = ANY(%(ids)s)"""
_PUT_VECTORS = f"""
    INSERT INTO vectors (tenant, recipe, id, data)
    SELECT leaf.tenant, %(recipe)s, id, data FROM unnest(%(ids)s, %(data)s) AS new(id, data)
    CROSS JOIN LATERAL (
        SELECT tenant FROM nodes WHERE {TENANT} AND nodes.id = new.id AND level = 0 LIMIT 1
    ) AS leaf ORDER BY id ON CONFLICT DO NOTHING"""
_ANY_SUMMARY = f"EXISTS (SELECT 1 FROM summaries WHERE {TENANT})"  # asked once, not for each id
_NEWEST = f"""
    SELECT DISTINCT ON (id) id, data FROM summaries
    WHERE {_ANY_SUMMARY} AND {TENANT} AND id = ANY(%(ids)s) ORDER BY id, version DESC"""
_SUMMARIES = f"SELECT id, version, data FROM summaries WHERE {TENANT} AND id = ANY(%(ids)s)"
_PUT_SUMMARIES = f"""
    INSERT INTO summaries (tenant, id, version, data)
    SELECT node.tenant, id, version, data
    FROM unnest(%(ids)s, %(versions)s::integer[], %(data)s) AS new(id, version, data)
    CROSS JOIN LATERAL (
        SELECT tenant FROM nodes WHERE {TENANT} AND nodes.id = new.id LIMIT 1
    ) AS node ORDER BY id, version ON CONFLICT DO NOTHING"""


class BatchRows(NamedTuple):
    """A batch as rows: encoded before a transaction begins."""

    nodes: list[NodeRow]
    frontiers: dict[bytes, FrontierRow]  # by address
    wanted: set[bytes]


async def read_frontiers(
    db: Connection, tenant: str, addresses: Sequence[bytes]
) -> dict[bytes, IndexedPrefix]:
    found = await rows(db, _FRONTIERS, tenant=tenant, ids=distinct(addresses))
    return {at: IndexedPrefix(read_frontier(data), expires) for at, data, expires in found}


async def read_nodes(db: Connection, tenant: str, ids: Sequence[bytes]) -> dict[bytes, Node]:
    return await _nodes(await rows(db, _NODES, tenant=tenant, ids=distinct(ids)))


async def read_descendants(db: Connection, tenant: str, ids: Sequence[bytes]) -> dict[bytes, Node]:
    return await _nodes(await rows(db, _DESCENDANTS, tenant=tenant, ids=distinct(ids)))


async def _nodes(found: list[tuple[Any, ...]]) -> dict[bytes, Node]:
    return await off_loop(len(found), lambda: {node: read_node(data) for node, data in found})


async def prepare(batch: IndexBatch) -> BatchRows:
    def work() -> BatchRows:
        frontiers = {address: frontier_row(each) for address, each in batch.frontiers.items()}
        wanted = named(batch.nodes, frontier_nodes(batch.frontiers.values()))
        return BatchRows([node_row(node) for node in batch.nodes], frontiers, wanted)

    return await off_loop(len(batch.nodes) + len(batch.frontiers), work)


async def write_batch(db: Connection, tenant: str, batch: IndexBatch, ready: BatchRows) -> None:
    await begin(db, tenant)
    known = await ask(db, NUMBER, tenant=tenant)
    before = await ask(db, _KNOWN, tenant=tenant, ids=Blobs([batch.previous]))
    await require_stored(db, tenant, ready.wanted)
    previous = batch.previous if await before.fetchall() else b""
    number = await tenant_number(db, tenant, known)
    await put_nodes(db, number, ready.nodes)
    await _put_addresses(db, number, batch, ready, previous)


async def require_stored(db: Connection, tenant: str, wanted: set[bytes]) -> None:
    """`NodesGone` unless all of these nodes are stored."""
    if wanted:
        found = await rows(db, _STORED, tenant=tenant, ids=Blobs(wanted))
        if len(found) < len(wanted):
            raise gone("A node")


async def put_nodes(db: Connection, number: int, nodes: Sequence[NodeRow]) -> None:
    if nodes:
        values = {
            "number": number,
            "ids": Blobs(row.id for row in nodes),
            "levels": [row.level for row in nodes],
            "children": Blobs(row.children for row in nodes),
            "data": Blobs(row.data for row in nodes),
        }
        await db.execute(_PUT_NODES, values)


async def _put_addresses(
    db: Connection, number: int, batch: IndexBatch, ready: BatchRows, previous: bytes
) -> None:
    keys = {address: row.key for address, row in ready.frontiers.items()}
    new = address_rows(batch, keys, previous)
    frontiers = {row.key: row for row in ready.frontiers.values()}.values()
    if new:
        ended = conversation_row(new[-1].address, batch.end)
        values = {
            **ended._asdict(),
            "last": ended.address,
            "number": number,
            "expires": batch.expires,
            "addresses": Blobs(row.address for row in new),
            "frontiers": Blobs(row.frontier for row in new),
            "previous": Blobs(row.previous for row in new),
            "keys": Blobs(row.key for row in frontiers),
            "data": Blobs(row.data for row in frontiers),
        }
        await db.execute(_PUT_ADDRESSES, values)


async def renew(
    db: Connection, tenant: str, addresses: Sequence[bytes], expires: float, used: float
) -> None:
    await begin(db, tenant)
    values = {"tenant": tenant, "expires": expires, "ids": Blobs(addresses)}
    await db.execute(_RENEW, values)
    await note_use(db, tenant, addresses, used)


async def read_vectors(
    db: Connection, tenant: str, recipe: str, ids: Sequence[bytes]
) -> dict[bytes, bytes]:
    return dict(await rows(db, _VECTORS, tenant=tenant, recipe=recipe, ids=distinct(ids)))


async def write_vectors(
    db: Connection, tenant: str, recipe: str, new: Mapping[bytes, bytes]
) -> None:
    await begin(db, tenant)
    values = {"tenant": tenant, "recipe": recipe, "ids": Blobs(new), "data": Blobs(new.values())}
    await db.execute(_PUT_VECTORS, values)


async def newest_summaries(
    db: Connection, tenant: str, ids: Sequence[bytes]
) -> dict[bytes, Summary]:
    found = await rows(db, _NEWEST, tenant=tenant, ids=distinct(ids))
    return await off_loop(len(found), lambda: {node: read_summary(data) for node, data in found})


async def read_summaries(
    db: Connection, tenant: str, wanted: Sequence[Version]
) -> dict[Version, Summary]:
    """All versions of these nodes are read: there are few."""
    asked = set(wanted)
    found = await rows(db, _SUMMARIES, tenant=tenant, ids=distinct(node for node, _ in wanted))
    data = {(node, version): each for node, version, each in found if (node, version) in asked}
    return {version: read_summary(each) for version, each in data.items()}


async def write_summaries(db: Connection, tenant: str, new: Sequence[SummaryRow]) -> None:
    await begin(db, tenant)
    values = {
        "tenant": tenant,
        "ids": Blobs(row.id for row in new),
        "versions": [row.version for row in new],
        "data": Blobs(row.data for row in new),
    }
    await db.execute(_PUT_SUMMARIES, values)


class PostgresTrees(PostgresPart):
    """`TreeStore` but for `check`, `stats` and `close`, which are the whole store's."""

    frontiers = reading(read_frontiers)
    nodes = reading(read_nodes)
    descendants = reading(read_descendants)
    vectors = reading(read_vectors)
    newest_summaries = reading(newest_summaries)
    summaries = reading(read_summaries)

    async def commit(self, tenant: str, batch: IndexBatch) -> None:
        if batch.nodes or batch.frontiers:
            ready = await prepare(batch)
            await self.database.hurry(lambda db: write_batch(db, tenant, batch, ready))

    async def renew(
        self, tenant: str, addresses: Sequence[bytes], expires: float, used: float = 0.0
    ) -> None:
        if addresses:
            await self.database.hurry(lambda db: renew(db, tenant, addresses, expires, used))

    async def put_vectors(self, tenant: str, recipe: str, rows: Mapping[bytes, bytes]) -> None:
        if rows:
            await self.database.hurry(lambda db: write_vectors(db, tenant, recipe, rows))

    async def put_summaries(self, tenant: str, rows: Mapping[bytes, Summary]) -> None:
        encoded = summary_rows(rows)
        if encoded:
            await self.database.hurry(lambda db: write_summaries(db, tenant, encoded))
