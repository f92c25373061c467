"""What one tenant has in a `RamStore`: rows in dicts, and the rules of the ports over them.

In a write, whatever may fail comes before the first change; a deletion works on a copy.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from memtree.budget.epoch import Epoch, EpochTurn
from memtree.ports.store import ContinuedTurn, IndexBatch, Receipt
from memtree.stores.dump import Page, Row, Table
from memtree.stores.references import (
    Version,
    frontier_nodes,
    named,
    plan_nodes,
    plan_versions,
    relinked,
    superseded,
    unneeded,
)
from memtree.stores.rows import (
    AddressRow,
    ClaimRow,
    EpochRow,
    FrontierRow,
    NewTurn,
    NodeRow,
    SummaryRow,
    TurnRow,
    VectorRow,
    address_rows,
    epoch_row,
    frontier_row,
    gone,
    node_row,
    read_epoch,
    read_frontier,
    read_turn,
    split_ids,
    turn_row,
)
from memtree.tree.node import Node


@dataclass(slots=True)
class TenantData:
    nodes: dict[bytes, NodeRow] = field(default_factory=dict)
    frontiers: dict[bytes, FrontierRow] = field(default_factory=dict)
    addresses: dict[bytes, AddressRow] = field(default_factory=dict)
    vectors: dict[tuple[str, bytes], VectorRow] = field(default_factory=dict)
    summaries: dict[Version, SummaryRow] = field(default_factory=dict)
    epochs: dict[bytes, EpochRow] = field(default_factory=dict)
    turns: dict[tuple[bytes, bytes], TurnRow] = field(default_factory=dict)  # (key, address)
    claims: dict[bytes, ClaimRow] = field(default_factory=dict)

    def load(self, page: Page) -> None:
        """Rows of a copy that comes in."""
        table = page.table
        held: dict[Any, Row] = getattr(self, table.name)
        for row in page.rows:
            key = table.key_of(row)
            at = key if len(key) > 1 else key[0]
            if table.changes or at not in held:
                held[at] = table.made(row)

    def copied(self) -> TenantData:
        return TenantData(
            dict(self.nodes),
            dict(self.frontiers),
            dict(self.addresses),
            dict(self.vectors),
            dict(self.summaries),
            dict(self.epochs),
            dict(self.turns),
            dict(self.claims),
        )

    def counts(self) -> Receipt:
        """All that is here, as a receipt counts it."""
        return Receipt(
            len(self.addresses),
            len(self.nodes),
            len(self.vectors),
            len(self.summaries),
            len(self.epochs),
            len(self.turns),
        )

    # -- trees -------------------------------------------------------------------------------

    def below(self, ids: Iterable[bytes]) -> Iterator[NodeRow]:
        """The rows of these nodes and of all below them, each once."""
        met: set[bytes] = set()
        todo = list(ids)
        while todo:
            row = self.nodes.get(todo.pop())
            if row and row.id not in met:
                met.add(row.id)
                todo += split_ids(row.children)
                yield row

    def commit(self, batch: IndexBatch) -> None:
        frontiers = {address: frontier_row(found) for address, found in batch.frontiers.items()}
        nodes = self._checked(batch.nodes, frontier_nodes(batch.frontiers.values()))
        previous = batch.previous if batch.previous in self.addresses else b""
        keys = {address: row.key for address, row in frontiers.items()}
        self._add_nodes(nodes)
        for new in address_rows(batch, keys, previous):
            if new.address not in self.addresses:
                self.addresses[new.address] = new
                self.frontiers.setdefault(new.frontier, frontiers[new.address])
        self.renew(list(frontiers), batch.expires)

    def renew(self, addresses: Sequence[bytes], expires: float) -> None:
        for row in [self.addresses[each] for each in addresses if each in self.addresses]:
            self.addresses[row.address] = row._replace(expires=max(row.expires, expires))

    def put_vectors(self, recipe: str, rows: Mapping[bytes, bytes]) -> None:
        for leaf, data in rows.items():
            if leaf in self.nodes and self.nodes[leaf].level == 0:
                self.vectors.setdefault((recipe, leaf), VectorRow(recipe, leaf, bytes(data)))

    def put_summaries(self, rows: Iterable[SummaryRow]) -> None:
        for row in rows:
            if row.id in self.nodes:
                self.summaries.setdefault((row.id, row.version), row)

    def _checked(self, nodes: Sequence[Node], roots: Iterable[bytes]) -> list[NodeRow]:
        """The nodes' rows. `NodesGone` unless all that they and `roots` name is stored or new."""
        rows = [node_row(node) for node in nodes]
        if named(nodes, roots) - self.nodes.keys():
            raise gone("A node")
        return rows

    def _add_nodes(self, rows: Iterable[NodeRow]) -> None:
        for row in rows:
            self.nodes.setdefault(row.id, row)

    # -- plans -------------------------------------------------------------------------------

    def latest(self, key: bytes, addresses: Sequence[bytes]) -> ContinuedTurn | None:
        for address in addresses:
            row = self.turns.get((key, address))
            if row and row.epoch in self.epochs:
                return self._found(row)
        return None

    def _found(self, row: TurnRow) -> ContinuedTurn:
        mates = [each for each in self.turns.values() if each.epoch == row.epoch]
        mates.sort(key=lambda each: each.key == row.key)  # the asked key's turns count
        turns = {each.address: read_turn(each.data) for each in mates}
        blocks = {at: turn for at, turn in turns.items() if turn.block}
        epoch = read_epoch(self.epochs[row.epoch].data)
        return ContinuedTurn(row.address, turns[row.address], epoch, blocks)

    def put_turn(self, new: NewTurn) -> EpochTurn:
        standing = self._standing(new)
        if standing is not None and new.yields_to(standing):
            kept = msgspec.structs.replace(standing, used=max(standing.used, new.turn.used))
        else:
            kept = new.turn
            self._put_epoch(new)
        self.turns[new.key, new.address] = turn_row(new.key, new.address, kept)
        epoch = self.epochs[kept.epoch]
        self.epochs[kept.epoch] = epoch._replace(expires=max(epoch.expires, new.expires))
        return kept

    def _standing(self, new: NewTurn) -> EpochTurn | None:
        row = self.turns.get((new.key, new.address))
        return read_turn(row.data) if row and row.epoch in self.epochs else None

    def _put_epoch(self, new: NewTurn) -> None:
        """Make sure of the turn's epoch, or raise `NodesGone`."""
        added = () if new.epoch is None else (new.epoch,)
        if new.turn.epoch not in {*self.epochs, *(epoch.id for epoch in added)}:
            raise gone("The turn's epoch")
        for epoch in added:
            nodes = self._checked(new.nodes, plan_nodes([epoch]))
            if plan_versions([epoch]) - self.summaries.keys():
                raise gone("A summary")
            self._add_nodes(nodes)
            self.epochs.setdefault(epoch.id, epoch_row(epoch, new.expires))

    # -- claims ------------------------------------------------------------------------------

    def claim(self, ids: Iterable[bytes], owner: str, now: float, until: float) -> set[bytes]:
        summarised = {node for node, _ in self.summaries}
        free = {
            node
            for node in ids
            if node in self.nodes
            and node not in summarised
            and not (node in self.claims and self.claims[node].bars(owner, now))
        }
        for node in free:
            standing = self.claims.get(node)
            own = standing.until if standing and standing.owner == owner else until
            self.claims[node] = ClaimRow(node, owner, max(own, until))
        return free

    def release(self, ids: Iterable[bytes], owner: str) -> None:
        for node in ids:
            if node in self.claims and self.claims[node].owner == owner:
                del self.claims[node]

    def drop_claims(self, now: float) -> None:
        self.claims = {at: row for at, row in self.claims.items() if row.until > now}

    # -- retention ---------------------------------------------------------------------------

    def chain(self, address: bytes) -> list[bytes]:
        found: dict[bytes, None] = {}
        while address in self.addresses and address not in found:
            found[address] = None
            address = self.addresses[address].previous
        return list(found)

    def expired(self, now: float) -> bool:
        addresses = any(row.expires < now for row in self.addresses.values())
        return addresses or any(row.expires < now for row in self.epochs.values())

    def forget(self, addresses: Iterable[bytes]) -> Receipt:
        before = self.counts()
        self._forget(set(addresses))
        return _difference(before, self.counts())

    def sweep(self, now: float) -> Receipt:
        before = self.counts()
        self.epochs = {at: row for at, row in self.epochs.items() if row.expires >= now}
        self._forget({at for at, row in self.addresses.items() if row.expires < now})
        for version in superseded(self.summaries, plan_versions(self._plans())):
            del self.summaries[version]
        return _difference(before, self.counts())

    def drop_vectors(self, recipes: Container[str]) -> Receipt:
        before = self.counts()
        self.vectors = {at: row for at, row in self.vectors.items() if row.recipe not in recipes}
        return _difference(before, self.counts())

    def _forget(self, addresses: set[bytes]) -> None:
        previous = {at: row.previous for at, row in self.addresses.items()}
        for address, link in relinked(previous, addresses).items():
            self.addresses[address] = self.addresses[address]._replace(previous=link)
        for address in addresses & self.addresses.keys():
            del self.addresses[address]
        self.turns = {
            at: row
            for at, row in self.turns.items()
            if row.address not in addresses and row.epoch in self.epochs
        }
        self._collect()

    def _collect(self) -> None:
        """Drop whatever no address and no epoch needs."""
        used = {row.epoch for row in self.turns.values()}
        self.epochs = {at: row for at, row in self.epochs.items() if at in used}
        keys = {row.frontier for row in self.addresses.values()}
        self.frontiers = {at: row for at, row in self.frontiers.items() if at in keys}
        frontiers = (read_frontier(row.data) for row in self.frontiers.values())
        roots = {*frontier_nodes(frontiers), *plan_nodes(self._plans())}
        dead = unneeded({at: row.children for at, row in self.nodes.items()}, roots)
        self.nodes = {at: row for at, row in self.nodes.items() if at not in dead}
        self.vectors = {at: row for at, row in self.vectors.items() if row.id in self.nodes}
        self.summaries = {at: row for at, row in self.summaries.items() if row.id in self.nodes}
        self.claims = {at: row for at, row in self.claims.items() if at in self.nodes}

    def _plans(self) -> list[Epoch]:
        return [read_epoch(row.data) for row in self.epochs.values()]


class MemorySnapshot:
    """`Snapshot` over copies, and over the rows that are no tenant's."""

    def __init__(self, tenants: Mapping[str, TenantData], shared: Mapping[str, list[Row]]) -> None:
        self._tenants, self._shared = tenants, shared

    def tenants(self) -> list[str]:
        return sorted(self._tenants)

    def table(self, table: Table, tenant: str) -> Collection[Row]:
        if not table.owned:
            return self._shared[table.name]
        rows: Mapping[Any, Row] = getattr(self._tenants.get(tenant, TenantData()), table.name)
        return rows.values()

    def rows(self, table: Table, tenant: str) -> Iterator[Row]:
        return iter(sorted(self.table(table, tenant), key=table.place_of))


def _difference(before: Receipt, after: Receipt) -> Receipt:
    return Receipt(*(old - new for old, new in zip(before, after, strict=True)))
