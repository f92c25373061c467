"""Query the store for the unfinished part of a job's work. Raises `StoreUnavailable`.

Nodes that are gone from the store count as finished: their history was forgotten.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memtree.ports.store import TreeStore
from memtree.tree.node import Node


async def unembedded(
    store: TreeStore, tenant: str, recipe: str, ids: Sequence[bytes]
) -> Mapping[bytes, Node]:
    """Return those of these leaves, by id, that have no vectors under the recipe."""
    nodes = await store.nodes(tenant, ids)
    embedded = await store.vectors(tenant, recipe, list(nodes))
    return {id_: node for id_, node in nodes.items() if id_ not in embedded}


async def unsummarised(store: TreeStore, tenant: str, ids: Sequence[bytes]) -> Mapping[bytes, Node]:
    """Return those of these nodes, by id, that have no model's summary."""
    newest = await store.newest_summaries(tenant, ids)
    summarised = {id_ for id_, summary in newest.items() if summary.version > 0}
    return await store.nodes(tenant, [id_ for id_ in ids if id_ not in summarised])
