"""`PlanStore` and its SQL: epochs and their turns."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import msgspec

from memtree.budget.epoch import Epoch, EpochTurn
from memtree.ports.store import ContinuedTurn
from memtree.stores.references import plan_nodes, plan_versions
from memtree.stores.rows import NewTurn, epoch_row, gone, read_epoch, read_turn, turn_row
from memtree.stores.sqlite.bulk import insert, joined, joined_rows
from memtree.stores.sqlite.conversations import note_use
from memtree.stores.sqlite.database import TENANT, SqlitePart, reading
from memtree.stores.sqlite.trees import tenant_number, write_nodes
from memtree.tree.node import Node

NEAR = 64  # a chat that goes on is found among its newest addresses: the rest is seldom asked for

_EPOCHS_AT = f"""
    SELECT address AS id, epoch AS data FROM turns
    WHERE {TENANT} AND key = ? AND address IN ({{ids}}) AND EXISTS (
        SELECT 1 FROM epochs WHERE epochs.tenant = turns.tenant AND epochs.id = turns.epoch)"""
_EPOCH = f"SELECT data FROM epochs WHERE {TENANT} AND id = ?"
_AT = f"""
    SELECT address AS id, CAST(hex(key) || ' ' || CAST(data AS TEXT) AS BLOB) AS data FROM turns
    WHERE {TENANT} AND address IN ({{ids}}) AND EXISTS (
        SELECT 1 FROM epochs WHERE epochs.tenant = turns.tenant AND epochs.id = turns.epoch)"""
# The turn under the asked key last: should another key's stand at the same address, it counts.
_TURNS = f"""
    SELECT address AS id, data FROM turns WHERE {TENANT} AND epoch = ? ORDER BY key = ?"""
_STANDING = """
    SELECT turns.data FROM turns JOIN epochs
    ON epochs.tenant = turns.tenant AND epochs.id = turns.epoch
    WHERE turns.tenant = ? AND key = ? AND address = ?"""
_VERSIONS = """
    SELECT id, CAST(version AS BLOB) AS data FROM summaries WHERE tenant = ? AND id IN ({ids})"""


def latest(
    db: sqlite3.Connection, tenant: str, key: bytes, addresses: Sequence[bytes]
) -> ContinuedTurn | None:
    with _one_state(db):
        for part in (addresses[:NEAR], addresses[NEAR:]):
            epochs = dict(joined(db, _EPOCHS_AT, (tenant, key), part))
            for address in part:
                if address in epochs:
                    return _found(db, tenant, key, address, epochs[address])
    return None


def newest_turn(
    db: sqlite3.Connection, tenant: str, addresses: Sequence[bytes]
) -> ContinuedTurn | None:
    with _one_state(db):
        for part in (addresses[:NEAR], addresses[NEAR:]):
            turns: dict[bytes, list[tuple[float, bytes, bytes]]] = {}
            for address, packed in joined(db, _AT, (tenant,), part):
                key, _, data = packed.partition(b" ")
                turn = read_turn(data)
                found = (turn.used, turn.epoch, bytes.fromhex(key.decode()))
                turns.setdefault(address, []).append(found)
            for address in part:
                if address in turns:
                    _, epoch, key = max(turns[address])
                    return _found(db, tenant, key, address, epoch)
    return None


@contextmanager
def _one_state(db: sqlite3.Connection) -> Iterator[None]:
    """The statements inside see one state of the file, whatever others write meanwhile."""
    db.execute("BEGIN")
    try:
        yield
    finally:
        if db.in_transaction:  # some failures have rolled back already
            db.execute("ROLLBACK")


def _found(
    db: sqlite3.Connection, tenant: str, key: bytes, address: bytes, epoch: bytes
) -> ContinuedTurn:
    (data,) = db.execute(_EPOCH, (tenant, epoch)).fetchone()
    rows = joined_rows(db, _TURNS, (tenant, epoch, key))
    turns = {at: read_turn(turn) for at, turn in rows}
    blocks = {at: turn for at, turn in turns.items() if turn.shows}
    return ContinuedTurn(address, turns[address], read_epoch(data), blocks)


def put_turn(db: sqlite3.Connection, tenant: str, new: NewTurn) -> EpochTurn:
    number = tenant_number(db, tenant)
    standing = _standing(db, number, new)
    if standing is not None and new.yields_to(standing):
        kept = msgspec.structs.replace(standing, used=max(standing.used, new.turn.used))
        note_use(db, tenant, [new.address], kept.used)
    else:
        kept = new.turn
        _write_epoch(db, number, new)
    if kept != standing:
        row = (number, *turn_row(new.key, new.address, kept))
        insert(db, "INSERT OR REPLACE INTO turns (tenant, key, address, epoch, data)", [row])
    db.execute(
        "UPDATE epochs SET expires = ? WHERE tenant = ? AND id = ? AND expires < ?",
        (new.expires, number, kept.epoch, new.expires),
    )
    return kept


def _standing(db: sqlite3.Connection, number: int, new: NewTurn) -> EpochTurn | None:
    row = db.execute(_STANDING, (number, new.key, new.address)).fetchone()
    return read_turn(row[0]) if row else None


def _write_epoch(db: sqlite3.Connection, number: int, new: NewTurn) -> None:
    """Make sure of the turn's epoch, or raise `NodesGone`."""
    if new.epoch is not None:
        write_nodes(db, number, new.nodes, plan_nodes([new.epoch]))
        _require_versions(db, number, new.epoch)
        row = (number, *epoch_row(new.epoch, new.expires))
        insert(db, "INSERT OR IGNORE INTO epochs (tenant, id, data, expires)", [row])
    query = "SELECT 1 FROM epochs WHERE tenant = ? AND id = ?"
    if db.execute(query, (number, new.turn.epoch)).fetchone() is None:
        raise gone("The turn's epoch")


def _require_versions(db: sqlite3.Connection, number: int, epoch: Epoch) -> None:
    wanted = plan_versions([epoch])
    rows = joined(db, _VERSIONS, (number,), [node for node, _ in wanted])
    if wanted - {(node, int(version)) for node, version in rows}:
        raise gone("A summary")


class SqlitePlans(SqlitePart):
    """`PlanStore`."""

    latest = reading(latest)
    newest_turn = reading(newest_turn)

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
        return await self.database.write(lambda db: put_turn(db, tenant, new))
