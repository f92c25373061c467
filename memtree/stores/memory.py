"""The store in memory: the same behaviour as the SQLite one, gone with the process.

For tests and for `memtree compress` on a single file. Values are kept encoded, so both stores
give back equal values and know the same damage.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from memtree.errors import StoreUnavailable
from memtree.node import Frontier, Node
from memtree.ports import Batch, KeyRow, StoreStats
from memtree.stores.audit import audit
from memtree.stores.keys import new_key, taken, value_hash, value_hashes
from memtree.stores.rows import (
    AddressRow,
    FrontierRow,
    NodeRow,
    VectorRow,
    frontier_row,
    node_row,
    read_frontier,
    read_node,
    split_ids,
)


@dataclass(slots=True)
class _Rows:
    """What one tenant has."""

    nodes: dict[bytes, NodeRow] = field(default_factory=dict)
    frontiers: dict[bytes, FrontierRow] = field(default_factory=dict)
    addresses: dict[bytes, AddressRow] = field(default_factory=dict)
    vectors: dict[tuple[str, bytes], VectorRow] = field(default_factory=dict)


class MemoryStore:
    """`TreeStore` and `KeyStore` in dicts."""

    def __init__(self, *, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self._tenants: dict[str, _Rows] = {}
        self._keys: dict[str, KeyRow] = {}
        self._values: dict[str, str] = {}  # hash of a value -> key id
        self._closed = False

    async def frontiers(self, tenant: str, addresses: Sequence[bytes]) -> dict[bytes, Frontier]:
        rows = self._read(tenant)
        known = (rows.addresses[each] for each in addresses if each in rows.addresses)
        return {row.address: read_frontier(rows.frontiers[row.frontier].data) for row in known}

    async def nodes(self, tenant: str, ids: Sequence[bytes]) -> dict[bytes, Node]:
        rows = self._read(tenant).nodes
        return {each: read_node(rows[each].data) for each in ids if each in rows}

    async def descendants(self, tenant: str, ids: Sequence[bytes]) -> dict[bytes, Node]:
        rows = self._read(tenant).nodes
        found: dict[bytes, Node] = {}
        todo = list(ids)
        while todo:
            row = rows.get(todo.pop())
            if row and row.id not in found:
                found[row.id] = read_node(row.data)
                todo += split_ids(row.children)
        return found

    async def commit(self, tenant: str, batch: Batch) -> None:
        # All is encoded before anything is added, so an error leaves nothing half-written.
        nodes = [node_row(node) for node in batch.nodes]
        frontiers = {address: frontier_row(found) for address, found in batch.frontiers.items()}
        rows = self._written(tenant)
        for node in nodes:
            rows.nodes.setdefault(node.id, node)
        for address, frontier in frontiers.items():
            rows.frontiers.setdefault(frontier.key, frontier)
            new = AddressRow(address, frontier.key, batch.expires)
            old = rows.addresses.get(address, new)
            rows.addresses[address] = old._replace(expires=max(old.expires, new.expires))

    async def vectors(self, tenant: str, recipe: str, ids: Sequence[bytes]) -> dict[bytes, bytes]:
        rows = self._read(tenant).vectors
        return {each: rows[recipe, each].data for each in ids if (recipe, each) in rows}

    async def put_vectors(self, tenant: str, recipe: str, rows: Mapping[bytes, bytes]) -> None:
        mine = self._written(tenant).vectors
        for leaf, data in rows.items():
            mine.setdefault((recipe, leaf), VectorRow(recipe, leaf, bytes(data)))

    async def check(self) -> list[str]:
        self._open()
        return [
            line
            for tenant, rows in self._tenants.items()
            for line in audit(
                tenant,
                rows.nodes.values(),
                rows.frontiers.values(),
                rows.addresses.values(),
                rows.vectors.values(),
            )
        ]

    async def stats(self) -> StoreStats:
        self._open()
        every = self._tenants.values()
        nodes = sum(len(rows.nodes) for rows in every)
        leaves = sum(row.level == 0 for rows in every for row in rows.nodes.values())
        addresses = sum(len(rows.addresses) for rows in every)
        return StoreStats(nodes, leaves, addresses, sum(len(rows.vectors) for rows in every), 0)

    async def tenant_of(self, credential: str) -> str | None:
        self._open()
        key = self._values.get(value_hash(credential))
        return self._keys[key].tenant if key else None

    async def has_keys(self) -> bool:
        self._open()
        return bool(self._keys)

    async def add_key(self, label: str, values: Sequence[str]) -> str:
        self._open()
        hashes = value_hashes(values)
        if not self._values.keys().isdisjoint(hashes):
            raise taken()
        key = new_key(label, len(hashes), self._now())
        self._keys[key.id] = key
        self._values.update(dict.fromkeys(hashes, key.id))
        return key.id

    async def list_keys(self) -> list[KeyRow]:
        self._open()
        return sorted(self._keys.values(), key=lambda key: (key.created, key.id))

    async def revoke_key(self, key_id: str) -> bool:
        self._open()
        self._values = {value: key for value, key in self._values.items() if key != key_id}
        return self._keys.pop(key_id, None) is not None

    async def close(self) -> None:
        self._closed = True

    def _open(self) -> None:
        if self._closed:
            raise StoreUnavailable("The store is closed.")

    def _read(self, tenant: str) -> _Rows:
        self._open()
        return self._tenants.get(tenant) or _Rows()

    def _written(self, tenant: str) -> _Rows:
        self._open()
        return self._tenants.setdefault(tenant, _Rows())
