"""Sound batches of leaves for a SQLite store, and which of them it holds."""

from __future__ import annotations

from memtree.history.address_chain import node_id
from memtree.ports.context_store import IndexBatch
from memtree.stores import SqliteStore
from memtree.tree.node import Frontier, Node, Summary

T = "tenant"


def batch(group: int, leaves: int = 40) -> IndexBatch:
    """A sound batch of leaves under one address; another group has other leaves."""
    nodes = tuple(
        Node(node_id(group, n), 0, 300, 1, 0, Summary("headline", "body " * 100))
        for n in range(leaves)
    )
    ids = tuple(node.id for node in nodes)
    whole = Frontier(ids, (0,) * leaves, leaves, 0, leaves, 300 * leaves)
    return IndexBatch(nodes, {node_id("address", group): whole}, 1.0)


async def groups(store: SqliteStore, most: int = 100) -> list[int]:
    names = {node_id("address", group): group for group in range(most)}
    return sorted(names[each] for each in await store.frontiers(T, list(names)))
