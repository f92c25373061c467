"""`TreeStore` and its SQL: nodes, frontiers, addresses, vectors and summary versions."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence

from memtree.conversation.addresses import NODE_ID_BYTES
from memtree.ports.store import IndexBatch, IndexedPrefix
from memtree.stores.references import Version, frontier_nodes, named
from memtree.stores.rows import (
    SummaryRow,
    address_rows,
    frontier_row,
    gone,
    node_row,
    read_frontier,
    read_node,
    read_summary,
    summary_rows,
)
from memtree.stores.sqlite.bulk import change, insert, joined
from memtree.stores.sqlite.conversations import note_ends, note_use
from memtree.stores.sqlite.database import TENANT, SqlitePart, reading
from memtree.tree.node import MAX_CHILDREN, Node, Summary

_NODES = f"SELECT id, data FROM nodes WHERE {TENANT} AND id IN ({{ids}})"
# One statement for the whole walk: it sees one state of the file, and see `bulk` for the speed.
_DESCENDANTS = f"""
    WITH RECURSIVE slot(at) AS (
        VALUES {",".join(f"({1 + NODE_ID_BYTES * slot})" for slot in range(MAX_CHILDREN))}
    ), walk(row, tenant, children) AS (
        SELECT rowid, tenant, children FROM nodes WHERE {TENANT} AND id IN ({{ids}})
        UNION
        SELECT below.rowid, below.tenant, below.children FROM walk
        CROSS JOIN slot ON at <= length(walk.children)
        CROSS JOIN nodes AS below ON below.tenant = walk.tenant
            AND below.id = substr(walk.children, at, {NODE_ID_BYTES})
    ) SELECT id, data FROM walk CROSS JOIN nodes ON nodes.rowid = walk.row"""
# 17 digits name a float exactly; the `!` lets SQLite give more than 15.
_FRONTIERS = f"""
    SELECT address AS id,
        CAST(printf('%!.17g ', expires) || CAST(data AS TEXT) AS BLOB) AS data
    FROM addresses JOIN frontiers ON frontiers.tenant = addresses.tenant AND key = frontier
    WHERE addresses.{TENANT} AND address IN ({{ids}})"""
_RENEW = f"UPDATE addresses SET expires = ? WHERE {TENANT} AND expires < ? AND address IN ({{ids}})"
_KNOWN = "SELECT address AS id, x'' AS data FROM addresses WHERE tenant = ? AND address IN ({ids})"
STORED = "SELECT id, x'' AS data FROM nodes WHERE tenant = ? AND id IN ({ids})"
_LEAVES = "SELECT id, x'' AS data FROM nodes WHERE tenant = ? AND level = 0 AND id IN ({ids})"
_VECTORS = f"SELECT id, data FROM vectors WHERE {TENANT} AND recipe = ? AND id IN ({{ids}})"
_ANY_SUMMARY = f"SELECT 1 FROM summaries WHERE {TENANT} LIMIT 1"
_SUMMARIES = f"SELECT id, data FROM summaries WHERE {TENANT} AND id IN ({{ids}})"
# With max() alone, SQLite takes the other columns from the row that has the greatest value.
_NEWEST = f"""
    SELECT id, data FROM (
        SELECT id, data, max(version) FROM summaries WHERE {TENANT} AND id IN ({{ids}}) GROUP BY id
    )"""


def tenant_number(db: sqlite3.Connection, tenant: str) -> int:
    """A small number stands for the tenant's name in the rows: 0.5 MB less per million tokens."""
    number = known_tenant(db, tenant)
    if number is None:
        number = db.execute("INSERT INTO tenants (name) VALUES (?)", (tenant,)).lastrowid
    assert number is not None
    return number


def known_tenant(db: sqlite3.Connection, tenant: str) -> int | None:
    row = db.execute("SELECT number FROM tenants WHERE name = ?", (tenant,)).fetchone()
    return int(row[0]) if row else None


def read_frontiers(
    db: sqlite3.Connection, tenant: str, addresses: Sequence[bytes]
) -> dict[bytes, IndexedPrefix]:
    prefixes = {}
    for address, packed in joined(db, _FRONTIERS, (tenant,), addresses):
        expires, _, data = packed.partition(b" ")
        prefixes[address] = IndexedPrefix(read_frontier(data), float(expires))
    return prefixes


def read_nodes(db: sqlite3.Connection, tenant: str, ids: Sequence[bytes]) -> dict[bytes, Node]:
    return {node: read_node(data) for node, data in joined(db, _NODES, (tenant,), ids)}


def read_descendants(
    db: sqlite3.Connection, tenant: str, ids: Sequence[bytes]
) -> dict[bytes, Node]:
    return {node: read_node(data) for node, data in joined(db, _DESCENDANTS, (tenant,), ids)}


def write_batch(db: sqlite3.Connection, tenant: str, batch: IndexBatch) -> None:
    keyed = {address: frontier_row(each) for address, each in batch.frontiers.items()}
    number = tenant_number(db, tenant)
    write_nodes(db, number, batch.nodes, frontier_nodes(batch.frontiers.values()))
    known = present(db, _KNOWN, number, (*keyed, batch.previous))
    # A frontier that comes with known addresses only would be a row that nothing names.
    fresh = {row.key: (number, *row) for at, row in keyed.items() if at not in known}
    insert(db, "INSERT OR IGNORE INTO frontiers (tenant, key, data)", list(fresh.values()))
    previous = batch.previous if batch.previous in known else b""
    rows = address_rows(batch, {address: row.key for address, row in keyed.items()}, previous)
    insert(
        db,
        "INSERT INTO addresses (tenant, address, frontier, expires, previous)",
        [(number, *row) for row in rows],
        "ON CONFLICT DO UPDATE SET expires = excluded.expires WHERE excluded.expires > expires",
    )
    note_ends(db, number, batch, rows, known)


def write_nodes(
    db: sqlite3.Connection, number: int, nodes: Sequence[Node], roots: Iterable[bytes]
) -> None:
    """`NodesGone` unless all that `nodes` and `roots` name is stored, or among the nodes."""
    rows = [(number, *node_row(node)) for node in nodes]
    wanted = named(nodes, roots)
    if wanted - present(db, STORED, number, wanted):
        raise gone("A node")
    insert(db, "INSERT OR IGNORE INTO nodes (tenant, id, level, children, data)", rows)


def renew(
    db: sqlite3.Connection, tenant: str, addresses: Sequence[bytes], expires: float, used: float
) -> None:
    change(db, _RENEW, (expires, tenant, expires), addresses)
    note_use(db, tenant, addresses, used)


def read_vectors(
    db: sqlite3.Connection, tenant: str, recipe: str, ids: Sequence[bytes]
) -> dict[bytes, bytes]:
    return dict(joined(db, _VECTORS, (tenant, recipe), ids))


def write_vectors(
    db: sqlite3.Connection, tenant: str, recipe: str, rows: Mapping[bytes, bytes]
) -> None:
    number = known_tenant(db, tenant)
    if number is not None:
        leaves = present(db, _LEAVES, number, rows)
        values = [(number, recipe, leaf, rows[leaf]) for leaf in rows if leaf in leaves]
        insert(db, "INSERT OR IGNORE INTO vectors (tenant, recipe, id, data)", values)


def newest_summaries(
    db: sqlite3.Connection, tenant: str, ids: Sequence[bytes]
) -> dict[bytes, Summary]:
    if db.execute(_ANY_SUMMARY, (tenant,)).fetchone() is None:
        return {}
    return {node: read_summary(data) for node, data in joined(db, _NEWEST, (tenant,), ids)}


def read_summaries(
    db: sqlite3.Connection, tenant: str, wanted: Sequence[Version]
) -> dict[Version, Summary]:
    """All versions of these nodes are read: there are few."""
    rows = joined(db, _SUMMARIES, (tenant,), [node for node, _ in wanted])
    every = [(node, read_summary(data)) for node, data in rows]
    versions = {(node, summary.version): summary for node, summary in every}
    return {version: versions[version] for version in wanted if version in versions}


def write_summaries(db: sqlite3.Connection, tenant: str, rows: Sequence[SummaryRow]) -> None:
    number = known_tenant(db, tenant)
    if number is not None:
        nodes = present(db, STORED, number, (row.id for row in rows))
        values = [(number, *row) for row in rows if row.id in nodes]
        insert(db, "INSERT OR IGNORE INTO summaries (tenant, id, version, data)", values)


def present(db: sqlite3.Connection, query: str, number: int, ids: Iterable[bytes]) -> set[bytes]:
    """Those of the ids that the query finds for the tenant."""
    return {each for each, _ in joined(db, query, (number,), ids)}


class SqliteTrees(SqlitePart):
    """`TreeStore` but for `check`, `stats` and `close`, which are the whole store's."""

    frontiers = reading(read_frontiers)
    nodes = reading(read_nodes)
    descendants = reading(read_descendants)
    vectors = reading(read_vectors)
    newest_summaries = reading(newest_summaries)
    summaries = reading(read_summaries)

    async def commit(self, tenant: str, batch: IndexBatch) -> None:
        if batch.nodes or batch.frontiers:
            await self.database.write(lambda db: write_batch(db, tenant, batch))

    async def renew(
        self, tenant: str, addresses: Sequence[bytes], expires: float, used: float = 0.0
    ) -> None:
        if addresses:
            await self.database.write(lambda db: renew(db, tenant, addresses, expires, used))

    async def put_vectors(self, tenant: str, recipe: str, rows: Mapping[bytes, bytes]) -> None:
        if rows:
            await self.database.write(lambda db: write_vectors(db, tenant, recipe, rows))

    async def put_summaries(self, tenant: str, rows: Mapping[bytes, Summary]) -> None:
        encoded = summary_rows(rows)
        if encoded:
            await self.database.write(lambda db: write_summaries(db, tenant, encoded))
