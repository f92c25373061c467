"""`TreeStore`: nodes, frontiers, addresses, vectors and summary versions.

PostgreSQL's planner cannot know how few rows a walk down a tree reads, or how many ids an array
holds, and sometimes would rather read all rows of the tenant, or of all tenants. A scalar subquery,
or `LATERAL (... LIMIT 1)`, forces one look-up by key for each row.

The addresses of a batch, with their frontiers and the conversation that they end, need different
statements in the two databases. In PostgreSQL another process may commit the same addresses at the
same time, and only the statement that inserted a row knows that it did: so one statement inserts
the rows and moves the conversation. SQLite's `WITH` cannot write; there a writer has the file to
itself, so it can read first which addresses are known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memtree.history.address_chain import NODE_ID_BYTES
from memtree.ports.context_store import IndexBatch, IndexedPrefix
from memtree.stores import stored_rows
from memtree.stores.context.stored_conversations import COLUMNS, note_use
from memtree.stores.context.tenants import NUMBER, TENANT, begin, tenant_number
from memtree.stores.schema import insert_rows
from memtree.stores.sql import Ids, Row, Sql, SqlPart, reading, writing
from memtree.tree.node import MAX_CHILDREN, SKETCH, Node, Summary

STORED = f"SELECT id FROM nodes WHERE {TENANT} AND id IN :ids[bytes]"
_PUT_NODES = insert_rows("nodes", "id, level, children, data")
KNOWN = f"SELECT address FROM addresses WHERE {TENANT} AND address IN :ids[bytes]"
_LATER = """(tenant, address) DO UPDATE SET expires = excluded.expires
    WHERE excluded.expires > addresses.expires"""
_PUT_ADDRESSES = insert_rows("addresses", "address, frontier, expires, previous", _LATER)
_PUT_FRONTIERS = insert_rows("frontiers", "key, data")
_DROP_ENDS = "DELETE FROM conversations WHERE tenant = :number AND address IN :ids[bytes]"
_ORDINAL = """(
    SELECT coalesce(max(same.ordinal), 0) + 1 FROM conversations AS same
    WHERE same.tenant = :number AND same.title = :title)"""
# `xmax` is 0 for a row that was inserted rather than updated.
_PUT_AND_END = f"""
    WITH put AS (
        {_PUT_ADDRESSES} RETURNING address, previous, xmax = 0 AS fresh
    ), gone_on AS (
        {_DROP_ENDS} AND EXISTS (
            SELECT 1 FROM put WHERE fresh AND put.previous = conversations.address)
        RETURNING title, client, project, ordinal, own_title, pins
    ), before AS (
        SELECT max(title) AS title, max(client) AS client, max(project) AS project,
            max(ordinal) AS ordinal, max(own_title) AS own_title, max(pins) AS pins FROM gone_on
    ) INSERT INTO conversations (tenant, {COLUMNS})
    SELECT :number, put.address, :used, :messages, :tokens, :first, :whole,
        coalesce(nullif(:title, ''), title, ''), coalesce(nullif(:client, ''), client, ''),
        coalesce(nullif(:project, ''), project, ''),
        CASE WHEN :title IN ('', title) THEN coalesce(before.ordinal, 0) ELSE {_ORDINAL} END,
        coalesce(own_title, ''), coalesce(pins, '')
    FROM put CROSS JOIN before WHERE fresh AND put.address = :address ON CONFLICT DO NOTHING"""
_TOLD = ", ".join(
    f"{name} = CASE WHEN :{name} = '' THEN {name} ELSE :{name} END"
    for name in ("title", "client", "project")
)
_GROW_END = f"""
    UPDATE OR REPLACE conversations SET address = :address, used = :used, messages = :messages,
        tokens = :tokens, first = :first, whole = :whole, {_TOLD},
        ordinal = CASE WHEN :title IN ('', title) THEN ordinal ELSE {_ORDINAL} END
    WHERE tenant = :number AND address = :before"""
_BEGIN_END = f"""
    INSERT OR REPLACE INTO conversations (tenant, {COLUMNS})
    SELECT :number, :address, :used, :messages, :tokens, :first, :whole, :title, :client, :project,
        CASE WHEN :title = '' THEN 0 ELSE {_ORDINAL} END, :own_title, :pins"""
_NODES = f"SELECT id, data FROM nodes WHERE {TENANT} AND id IN :ids[bytes]"
# One statement for the whole walk: it sees one state of the store. SQLite has no LATERAL; its
# CROSS JOIN keeps the order of the tables, as PostgreSQL's does not.
_DESCENDANTS = {
    "sqlite": f"""
    WITH RECURSIVE slot(at) AS (
        VALUES {",".join(f"({1 + NODE_ID_BYTES * slot})" for slot in range(MAX_CHILDREN))}
    ), walk(row, tenant, children) AS (
        SELECT rowid, tenant, children FROM nodes WHERE {TENANT} AND id IN :ids[bytes]
        UNION
        SELECT below.rowid, below.tenant, below.children FROM walk
        CROSS JOIN slot ON at <= length(walk.children)
        CROSS JOIN nodes AS below ON below.tenant = walk.tenant
            AND below.id = substr(walk.children, at, {NODE_ID_BYTES})
    ) SELECT id, data FROM walk CROSS JOIN nodes ON nodes.rowid = walk.row""",
    "postgres": f"""
    WITH RECURSIVE walk AS (
        SELECT tenant, id, children FROM nodes WHERE {TENANT} AND id IN :ids[bytes]
        UNION
        SELECT below.* FROM walk
        CROSS JOIN generate_series(1, length(walk.children), {NODE_ID_BYTES}) AS slot(at)
        CROSS JOIN LATERAL (
            SELECT tenant, id, children FROM nodes
            WHERE tenant = walk.tenant AND id = substr(walk.children, slot.at, {NODE_ID_BYTES})
            LIMIT 1
        ) AS below
    ) SELECT walk.id, (
        SELECT data FROM nodes WHERE tenant = walk.tenant AND nodes.id = walk.id) FROM walk""",
}
_FRONTIERS = f"""
    SELECT address, expires, (
        SELECT data FROM frontiers
        WHERE frontiers.tenant = addresses.tenant AND key = addresses.frontier)
    FROM addresses WHERE {TENANT} AND address IN :ids[bytes]"""
_DUE = f"{TENANT} AND expires < :expires AND address IN :ids[bytes]"
_LOCK_DUE = f"SELECT 1 FROM addresses WHERE {_DUE} ORDER BY address"
_RENEW = f"UPDATE addresses SET expires = :expires WHERE {_DUE}"
_VECTORS = f"SELECT id, data FROM vectors WHERE {TENANT} AND recipe = :recipe AND id IN :ids[bytes]"
_LEVEL = f"(SELECT level FROM nodes WHERE {TENANT} AND nodes.id = new.id)"
_PUT_VECTORS = f"""
    INSERT INTO vectors (tenant, recipe, id, data)
    SELECT ({NUMBER}), :recipe, id, data FROM :rows(id, data) WHERE {_LEVEL} = 0
    ON CONFLICT DO NOTHING"""
_PUT_SUMMARIES = f"""
    INSERT INTO summaries (tenant, id, version, data)
    SELECT ({NUMBER}), id, version, data FROM :rows(id, version, data) WHERE {_LEVEL} IS NOT NULL
    ON CONFLICT DO NOTHING"""
_COMPLETE = f"""
    INSERT INTO nodes (tenant, id, level, children, data)
    SELECT ({NUMBER}), id, level, children, data FROM :rows(id, level, children, data)
    WHERE {_LEVEL} IS NOT NULL ON CONFLICT (tenant, id) DO UPDATE SET data = excluded.data"""
# Checks once whether there is any summary, not for each id. A sketch is older than version 0.
_NEWEST = f"""
    SELECT id, data FROM summaries AS newest
    WHERE EXISTS (SELECT 1 FROM summaries WHERE {TENANT} AND version > {SKETCH})
        AND {TENANT} AND id IN :ids[bytes] AND version > {SKETCH} AND version = (
            SELECT max(version) FROM summaries
            WHERE tenant = newest.tenant AND summaries.id = newest.id)"""
_SUMMARIES = f"SELECT id, version, data FROM summaries WHERE {TENANT} AND id IN :ids[bytes]"


async def put_nodes(sql: Sql, number: int, nodes: Sequence[stored_rows.NodeRow]) -> None:
    """Store nodes in the order of their ids, as all rows are written, so that no two writers wait
    for each other in a circle."""
    await sql.put(_PUT_NODES, {"number": number}, sorted(nodes))


async def put_addresses(
    sql: Sql,
    number: int,
    batch: IndexBatch,
    frontiers: Mapping[bytes, stored_rows.FrontierRow],
    known: set[bytes],
) -> None:
    """`frontiers`: by address, in the order of the chain. `known`: the stored ones among these
    addresses and the batch's `previous`."""
    keys = {address: row.key for address, row in frontiers.items()}
    rows = stored_rows.address_rows(batch, keys, batch.previous if batch.previous in known else b"")
    if not rows:
        return
    ended = stored_rows.conversation_row(rows[-1].address, batch.end)
    end = {"number": number, **ended._asdict()}
    if sql.dialect == "postgres":
        values = {**end, "ids": Ids(row.previous for row in rows)}
        await sql.put(_PUT_AND_END, values, sorted(rows))
    else:
        await sql.put(_PUT_ADDRESSES, {"number": number}, rows)
        await _end(sql, end, rows, known)
    # A frontier that belongs to known addresses only would be a row that nothing names.
    new = {row for address, row in frontiers.items() if address not in known}
    await sql.put(_PUT_FRONTIERS, {"number": number}, sorted(new))


async def _end(
    sql: Sql, end: Mapping[str, Any], rows: Sequence[stored_rows.AddressRow], known: set[bytes]
) -> None:
    """Make the conversation end at the last address, and at none before it."""
    before = stored_rows.gone_on_from(rows, known)
    if rows[-1].address in known:
        await sql.run(_DROP_ENDS, {"number": end["number"], "ids": Ids(before)})
        return
    if before[:-1]:
        await sql.run(_DROP_ENDS, {"number": end["number"], "ids": Ids(before[:-1])})
    # A conversation that grew usually takes one statement.
    if not before or not await sql.count(_GROW_END, {**end, "before": before[-1]}):
        await sql.run(_BEGIN_END, end)


async def read_frontiers(
    sql: Sql, tenant: str, addresses: Sequence[bytes]
) -> dict[bytes, IndexedPrefix]:
    rows = await sql.many("hfd", _FRONTIERS, {"tenant": tenant, "ids": Ids(addresses)})
    return {
        at: IndexedPrefix(stored_rows.read_frontier(data), expires)
        for at, expires, data in rows
        if data
    }


async def read_nodes(sql: Sql, tenant: str, ids: Sequence[bytes]) -> dict[bytes, Node]:
    return await _nodes(sql, _NODES, tenant, ids)


async def read_descendants(sql: Sql, tenant: str, ids: Sequence[bytes]) -> dict[bytes, Node]:
    return await _nodes(sql, _DESCENDANTS[sql.dialect], tenant, ids)


async def _nodes(sql: Sql, query: str, tenant: str, ids: Sequence[bytes]) -> dict[bytes, Node]:
    rows = await sql.many("hd", query, {"tenant": tenant, "ids": Ids(ids)})
    return await sql.computed(
        len(rows), lambda: {node: stored_rows.read_node(data) for node, data in rows}
    )


def _encoded(
    batch: IndexBatch,
) -> tuple[list[stored_rows.NodeRow], dict[bytes, stored_rows.FrontierRow]]:
    """Encode the nodes, and the frontiers by address."""
    frontiers = {
        address: stored_rows.frontier_row(each) for address, each in batch.frontiers.items()
    }
    return [stored_rows.node_row(node) for node in batch.nodes], frontiers


async def write_batch(sql: Sql, tenant: str, batch: IndexBatch) -> None:
    size = len(batch.nodes) + len(batch.frontiers)
    nodes, frontiers = await sql.computed(size, lambda: _encoded(batch))
    wanted = stored_rows.named(batch.nodes, stored_rows.frontier_nodes(batch.frontiers.values()))
    await begin(sql, tenant)
    number, stored, known = await sql.many_each(
        ("", NUMBER, {"tenant": tenant}),
        ("h", STORED, {"tenant": tenant, "ids": Ids(wanted)}),
        ("h", KNOWN, {"tenant": tenant, "ids": Ids((batch.previous, *frontiers))}),
    )
    if len(stored) < len(wanted):
        raise stored_rows.gone("A node")
    tenant_ = await tenant_number(sql, tenant, number)
    await put_nodes(sql, tenant_, nodes)
    # A plan may name a sketch, which stays beside the node when that gets its version 0.
    sketches = {node.id: node.summary for node in batch.nodes if node.summary.version}
    await sql.put(_PUT_SUMMARIES, {"tenant": tenant}, sorted(stored_rows.summary_rows(sketches)))
    await put_addresses(sql, tenant_, batch, frontiers, {address for (address,) in known})


async def renew(
    sql: Sql, tenant: str, addresses: Sequence[bytes], expires: float, used: float = 0.0
) -> None:
    await begin(sql, tenant)
    values = {"tenant": tenant, "expires": expires, "ids": Ids(addresses)}
    if sql.lock:  # in the order of the addresses, as all rows are locked
        await sql.run(_LOCK_DUE + sql.lock, values)
    await sql.run(_RENEW, values)
    await note_use(sql, tenant, addresses, used)


async def read_vectors(
    sql: Sql, tenant: str, recipe: str, ids: Sequence[bytes]
) -> dict[bytes, bytes]:
    values = {"tenant": tenant, "recipe": recipe, "ids": Ids(ids)}
    return dict(await sql.many("hd", _VECTORS, values))


async def write_vectors(sql: Sql, tenant: str, recipe: str, new: Mapping[bytes, bytes]) -> None:
    await begin(sql, tenant)
    await sql.put(_PUT_VECTORS, {"tenant": tenant, "recipe": recipe}, sorted(new.items()))


async def newest_summaries(sql: Sql, tenant: str, ids: Sequence[bytes]) -> dict[bytes, Summary]:
    rows = await sql.many("hd", _NEWEST, {"tenant": tenant, "ids": Ids(ids)})
    return await sql.computed(
        len(rows), lambda: {node: stored_rows.read_summary(data) for node, data in rows}
    )


async def read_summaries(
    sql: Sql, tenant: str, wanted: Sequence[stored_rows.Version]
) -> dict[stored_rows.Version, Summary]:
    """Return the summaries of these versions. Reads all versions of their nodes, since there are
    few."""
    versions = set(wanted)
    values = {"tenant": tenant, "ids": Ids(node for node, _ in wanted)}
    rows: list[Row] = await sql.many("hid", _SUMMARIES, values)
    return {
        (node, v): stored_rows.read_summary(data) for node, v, data in rows if (node, v) in versions
    }


async def write_summaries(sql: Sql, tenant: str, new: Sequence[stored_rows.SummaryRow]) -> None:
    await begin(sql, tenant)
    await sql.put(_PUT_SUMMARIES, {"tenant": tenant}, sorted(new))


async def complete(sql: Sql, tenant: str, nodes: Sequence[Node]) -> None:
    await begin(sql, tenant)
    await sql.put(
        _COMPLETE, {"tenant": tenant}, sorted(stored_rows.node_row(node) for node in nodes)
    )


class Trees(SqlPart):
    """The port `TreeStore` over SQL, except `check`, `stats` and `close`, which belong to the whole
    store."""

    frontiers = reading(read_frontiers)
    nodes = reading(read_nodes)
    descendants = reading(read_descendants)
    vectors = reading(read_vectors)
    newest_summaries = reading(newest_summaries)
    summaries = reading(read_summaries)
    complete = writing(complete)
    _renew = writing(renew)

    async def commit(self, tenant: str, batch: IndexBatch) -> None:
        if batch.nodes or batch.frontiers:
            await self.database.write(lambda sql: write_batch(sql, tenant, batch))

    async def renew(
        self, tenant: str, addresses: Sequence[bytes], expires: float, used: float = 0.0
    ) -> None:
        if addresses:
            await self._renew(tenant, addresses, expires, used)

    async def put_vectors(self, tenant: str, recipe: str, rows: Mapping[bytes, bytes]) -> None:
        if rows:
            await self.database.write(lambda sql: write_vectors(sql, tenant, recipe, rows))

    async def put_summaries(self, tenant: str, rows: Mapping[bytes, Summary]) -> None:
        encoded = stored_rows.summary_rows(rows)
        if encoded:
            await self.database.write(lambda sql: write_summaries(sql, tenant, encoded))
