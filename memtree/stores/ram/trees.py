"""`TreeStore` over dicts: nodes, frontiers, addresses, vectors and summary versions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from memtree.ports.store import IndexBatch, IndexedPrefix
from memtree.stores.ram.conversations import note_ends, note_use
from memtree.stores.ram.database import RamPart, TenantData
from memtree.stores.references import frontier_nodes, named
from memtree.stores.rows import (
    NodeRow,
    VectorRow,
    address_rows,
    frontier_row,
    gone,
    node_row,
    read_frontier,
    read_node,
    read_summary,
    split_ids,
    summary_rows,
)
from memtree.tree.node import Node, Summary


class RamTrees(RamPart):
    """`TreeStore` but for `check`, `stats` and `close`, which are the whole store's."""

    async def frontiers(
        self, tenant: str, addresses: Sequence[bytes]
    ) -> dict[bytes, IndexedPrefix]:
        data = self.database.read(tenant)
        rows = [data.addresses[each] for each in addresses if each in data.addresses]
        return {
            row.address: IndexedPrefix(
                read_frontier(data.frontiers[row.frontier].data), row.expires
            )
            for row in rows
        }

    async def nodes(self, tenant: str, ids: Sequence[bytes]) -> dict[bytes, Node]:
        rows = self.database.read(tenant).nodes
        return {each: read_node(rows[each].data) for each in ids if each in rows}

    async def descendants(self, tenant: str, ids: Sequence[bytes]) -> dict[bytes, Node]:
        rows = self.database.read(tenant).nodes
        nodes: dict[bytes, Node] = {}
        todo = list(ids)
        while todo:
            row = rows.get(todo.pop())
            if row and row.id not in nodes:
                nodes[row.id] = read_node(row.data)
                todo += split_ids(row.children)
        return nodes

    async def commit(self, tenant: str, batch: IndexBatch) -> None:
        if batch.nodes or batch.frontiers:
            self.database.write(tenant, lambda data: _write_batch(data, batch))

    async def renew(
        self, tenant: str, addresses: Sequence[bytes], expires: float, used: float = 0.0
    ) -> None:
        data = self.database.read(tenant)
        _renew(data, addresses, expires)
        note_use(data, addresses, used)

    async def vectors(self, tenant: str, recipe: str, ids: Sequence[bytes]) -> dict[bytes, bytes]:
        rows = self.database.read(tenant).vectors
        return {each: rows[recipe, each].data for each in ids if (recipe, each) in rows}

    async def put_vectors(self, tenant: str, recipe: str, rows: Mapping[bytes, bytes]) -> None:
        data = self.database.read(tenant)
        for leaf, packed in rows.items():
            if leaf in data.nodes and data.nodes[leaf].level == 0:
                data.vectors.setdefault((recipe, leaf), VectorRow(recipe, leaf, bytes(packed)))

    async def newest_summaries(self, tenant: str, ids: Sequence[bytes]) -> dict[bytes, Summary]:
        rows = self.database.read(tenant).summaries
        asked = set(ids)
        newest: dict[bytes, Summary] = {}
        for node, version in sorted(rows):
            if node in asked:
                newest[node] = read_summary(rows[node, version].data)
        return newest

    async def summaries(
        self, tenant: str, wanted: Sequence[tuple[bytes, int]]
    ) -> dict[tuple[bytes, int], Summary]:
        rows = self.database.read(tenant).summaries
        return {each: read_summary(rows[each].data) for each in wanted if each in rows}

    async def put_summaries(self, tenant: str, rows: Mapping[bytes, Summary]) -> None:
        data = self.database.read(tenant)
        for row in summary_rows(rows):
            if row.id in data.nodes:
                data.summaries.setdefault((row.id, row.version), row)


def checked_rows(data: TenantData, nodes: Sequence[Node], roots: Iterable[bytes]) -> list[NodeRow]:
    """The nodes' rows. `NodesGone` unless all that they and `roots` name is stored or new."""
    rows = [node_row(node) for node in nodes]
    if named(nodes, roots) - data.nodes.keys():
        raise gone("A node")
    return rows


def add_nodes(data: TenantData, rows: Iterable[NodeRow]) -> None:
    for row in rows:
        data.nodes.setdefault(row.id, row)


def _write_batch(data: TenantData, batch: IndexBatch) -> None:
    frontiers = {address: frontier_row(each) for address, each in batch.frontiers.items()}
    nodes = checked_rows(data, batch.nodes, frontier_nodes(batch.frontiers.values()))
    previous = batch.previous if batch.previous in data.addresses else b""
    keys = {address: row.key for address, row in frontiers.items()}
    add_nodes(data, nodes)
    rows = address_rows(batch, keys, previous)
    known = {each for each in (*keys, previous) if each in data.addresses}
    for row in rows:
        if row.address not in known:
            data.addresses[row.address] = row
            data.frontiers.setdefault(row.frontier, frontiers[row.address])
    note_ends(data, batch, rows, known)
    _renew(data, list(frontiers), batch.expires)


def _renew(data: TenantData, addresses: Sequence[bytes], expires: float) -> None:
    for row in [data.addresses[each] for each in addresses if each in data.addresses]:
        data.addresses[row.address] = row._replace(expires=max(row.expires, expires))
