"""`PlanStore` over dicts: epochs and their turns."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from memtree.budget.epoch import Epoch, EpochTurn
from memtree.ports.store import ContinuedTurn
from memtree.stores.ram.conversations import note_use
from memtree.stores.ram.database import RamPart, TenantData
from memtree.stores.ram.trees import add_nodes, checked_rows
from memtree.stores.references import plan_nodes, plan_versions
from memtree.stores.rows import (
    NewTurn,
    TurnRow,
    epoch_row,
    gone,
    read_epoch,
    read_turn,
    turn_row,
)
from memtree.tree.node import Node


class RamPlans(RamPart):
    """`PlanStore`."""

    async def latest(
        self, tenant: str, key: bytes, addresses: Sequence[bytes]
    ) -> ContinuedTurn | None:
        data = self.database.read(tenant)
        for address in addresses:
            row = data.turns.get((key, address))
            if row and row.epoch in data.epochs:
                return _continued(data, row)
        return None

    async def newest_turn(self, tenant: str, addresses: Sequence[bytes]) -> ContinuedTurn | None:
        data = self.database.read(tenant)
        for address in addresses:
            rows = [row for (_, at), row in data.turns.items() if at == address]
            kept = [(read_turn(row.data), row) for row in rows if row.epoch in data.epochs]
            if kept:
                _, row = max(kept, key=lambda each: (each[0].used, each[1].epoch, each[1].key))
                return _continued(data, row)
        return None

    async def put_turn(
        self,
        tenant: str,
        key: bytes,
        address: bytes,
        turn: EpochTurn,
        *,
        epoch: Epoch | None = None,
        nodes: Sequence[Node] = (),
        instead_of: bytes = b"",
        expires: float,
    ) -> EpochTurn:
        new = NewTurn(key, address, turn, epoch, nodes, instead_of, expires)
        return self.database.write(tenant, lambda data: _put_turn(data, new))


def _continued(data: TenantData, row: TurnRow) -> ContinuedTurn:
    mates = [each for each in data.turns.values() if each.epoch == row.epoch]
    mates.sort(key=lambda each: each.key == row.key)  # the asked key's turns count
    turns = {each.address: read_turn(each.data) for each in mates}
    blocks = {at: turn for at, turn in turns.items() if turn.shows}
    epoch = read_epoch(data.epochs[row.epoch].data)
    return ContinuedTurn(row.address, turns[row.address], epoch, blocks)


def _put_turn(data: TenantData, new: NewTurn) -> EpochTurn:
    standing = _standing(data, new)
    if standing is not None and new.yields_to(standing):
        kept = msgspec.structs.replace(standing, used=max(standing.used, new.turn.used))
        note_use(data, [new.address], kept.used)
    else:
        kept = new.turn
        _put_epoch(data, new)
    data.turns[new.key, new.address] = turn_row(new.key, new.address, kept)
    epoch = data.epochs[kept.epoch]
    data.epochs[kept.epoch] = epoch._replace(expires=max(epoch.expires, new.expires))
    return kept


def _standing(data: TenantData, new: NewTurn) -> EpochTurn | None:
    row = data.turns.get((new.key, new.address))
    return read_turn(row.data) if row and row.epoch in data.epochs else None


def _put_epoch(data: TenantData, new: NewTurn) -> None:
    """Make sure of the turn's epoch, or raise `NodesGone`."""
    brought = new.epoch is not None and new.epoch.id == new.turn.epoch
    if not brought and new.turn.epoch not in data.epochs:
        raise gone("The turn's epoch")
    if new.epoch is not None:
        nodes = checked_rows(data, new.nodes, plan_nodes([new.epoch]))
        if plan_versions([new.epoch]) - data.summaries.keys():
            raise gone("A summary")
        add_nodes(data, nodes)
        data.epochs.setdefault(new.epoch.id, epoch_row(new.epoch, new.expires))
