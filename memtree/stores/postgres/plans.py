"""`PlanStore` and its SQL: epochs and their turns."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from memtree.budget.epoch import Epoch, EpochTurn
from memtree.ports.store import ContinuedTurn
from memtree.stores.postgres.conversations import note_use
from memtree.stores.postgres.locks import ALONE, begin, lock_key
from memtree.stores.postgres.pool import PostgresPart, reading
from memtree.stores.postgres.queries import (
    NUMBER,
    TENANT,
    Blobs,
    Connection,
    ask,
    rows,
    tenant_number,
)
from memtree.stores.postgres.trees import put_nodes, require_stored
from memtree.stores.references import named, plan_nodes, plan_versions
from memtree.stores.rows import (
    NewTurn,
    epoch_row,
    gone,
    node_row,
    read_epoch,
    read_turn,
    turn_row,
)
from memtree.tree.node import Node

NEAR = 64  # a chat that goes on is found among its newest addresses: the rest is seldom asked for

# One statement, so one state. The turn under the asked key last: should another key's stand at the
# same address, it counts.
_LATEST = f"""
    WITH met AS MATERIALIZED (
        SELECT asked.address, turn.tenant, turn.epoch, epoch.data
        FROM unnest(%(addresses)s) WITH ORDINALITY AS asked(address, place)
        CROSS JOIN LATERAL (
            SELECT tenant, epoch FROM turns
            WHERE {TENANT} AND key = %(key)s AND turns.address = asked.address LIMIT 1
        ) AS turn
        CROSS JOIN LATERAL (
            SELECT data FROM epochs WHERE tenant = turn.tenant AND id = turn.epoch LIMIT 1
        ) AS epoch
        ORDER BY place LIMIT 1
    ) SELECT met.address, met.data, mates.addresses, mates.turns FROM met
    CROSS JOIN LATERAL (
        SELECT array_agg(turns.address ORDER BY key = %(key)s) AS addresses,
            array_agg(turns.data ORDER BY key = %(key)s) AS turns
        FROM turns WHERE turns.tenant = met.tenant AND turns.epoch = met.epoch
    ) AS mates"""
_AT = f"""
    SELECT turns.address, turns.data, turns.key
    FROM unnest(%(addresses)s) WITH ORDINALITY AS asked(address, place)
    CROSS JOIN LATERAL (
        SELECT tenant, key, address, epoch, data FROM turns
        WHERE {TENANT} AND turns.address = asked.address
    ) AS turns
    WHERE EXISTS (SELECT 1 FROM epochs WHERE tenant = turns.tenant AND id = turns.epoch)
    ORDER BY place"""
_STANDING = f"""
    SELECT data FROM turns WHERE {TENANT} AND key = %(key)s AND address = %(address)s
    AND EXISTS (SELECT 1 FROM epochs WHERE epochs.tenant = turns.tenant AND id = epoch)"""
_VERSIONS = f"SELECT id, version FROM summaries WHERE {TENANT} AND id = ANY(%(ids)s)"
_KNOWN_EPOCH = f"SELECT 1 FROM epochs WHERE {TENANT} AND id = %(epoch)s"
_PUT_EPOCH = """
    INSERT INTO epochs (tenant, id, data, expires)
    VALUES (%(number)s, %(id)s, %(data)s, %(expires)s) ON CONFLICT DO NOTHING"""
_PUT_TURN = """
    INSERT INTO turns (tenant, key, address, epoch, data)
    VALUES (%(number)s, %(key)s, %(address)s, %(epoch)s, %(data)s)
    ON CONFLICT (tenant, address, key)
    DO UPDATE SET epoch = excluded.epoch, data = excluded.data"""
_RENEW = """
    UPDATE epochs SET expires = %(expires)s
    WHERE tenant = %(number)s AND id = %(epoch)s AND expires < %(expires)s"""


async def latest(
    db: Connection, tenant: str, key: bytes, addresses: Sequence[bytes]
) -> ContinuedTurn | None:
    for part in (addresses[:NEAR], addresses[NEAR:]):
        if part:
            found = await rows(db, _LATEST, tenant=tenant, key=key, addresses=Blobs(part))
            for row in found:
                return _found(*row)
    return None


async def newest_turn(
    db: Connection, tenant: str, addresses: Sequence[bytes]
) -> ContinuedTurn | None:
    for part in (addresses[:NEAR], addresses[NEAR:]):
        found = await rows(db, _AT, tenant=tenant, addresses=Blobs(part)) if part else []
        kept = [(read_turn(data), key) for at, data, key in found if at == found[0][0]]
        if kept:
            _, key = max(kept, key=lambda each: (each[0].used, each[0].epoch, each[1]))
            return await latest(db, tenant, key, [found[0][0]])
    return None


def _found(
    address: bytes, epoch: bytes, addresses: list[bytes], data: list[bytes]
) -> ContinuedTurn:
    turns = {at: read_turn(turn) for at, turn in zip(addresses, data, strict=True)}
    blocks = {at: turn for at, turn in turns.items() if turn.shows}
    return ContinuedTurn(address, turns[address], read_epoch(epoch), blocks)


async def put_turn(db: Connection, tenant: str, new: NewTurn) -> EpochTurn:
    await begin(db, tenant)
    # Of two that put a turn here at once, the second finds the first one's standing.
    place = lock_key("memtree turn", tenant, new.key, new.address)
    await db.execute(ALONE, (place,))
    known = await ask(db, NUMBER, tenant=tenant)
    standing = await _standing(db, tenant, new)
    if standing is not None and new.yields_to(standing):
        kept = msgspec.structs.replace(standing, used=max(standing.used, new.turn.used))
    else:
        kept = new.turn
        await _require(db, tenant, new)
    number = await tenant_number(db, tenant, known)
    if kept is new.turn and new.epoch is not None:
        await put_nodes(db, number, [node_row(node) for node in new.nodes])
        epoch = epoch_row(new.epoch, new.expires)._asdict()
        await db.execute(_PUT_EPOCH, {"number": number, **epoch})
    if kept != standing:
        row = turn_row(new.key, new.address, kept)._asdict()
        await db.execute(_PUT_TURN, {"number": number, **row})
    values = {"number": number, "epoch": kept.epoch, "expires": new.expires}
    await db.execute(_RENEW, values)
    if kept is not new.turn:
        await note_use(db, tenant, [new.address], kept.used)
    return kept


async def _standing(db: Connection, tenant: str, new: NewTurn) -> EpochTurn | None:
    found = await rows(db, _STANDING, tenant=tenant, key=new.key, address=new.address)
    return read_turn(found[0][0]) if found else None


async def _require(db: Connection, tenant: str, new: NewTurn) -> None:
    """`NodesGone` unless the turn's epoch and what its plan names is stored or comes along."""
    if new.epoch is not None:
        await require_stored(db, tenant, named(new.nodes, plan_nodes([new.epoch])))
        await _require_versions(db, tenant, new.epoch)
        if new.epoch.id == new.turn.epoch:
            return
    if not await rows(db, _KNOWN_EPOCH, tenant=tenant, epoch=new.turn.epoch):
        raise gone("The turn's epoch")


async def _require_versions(db: Connection, tenant: str, epoch: Epoch) -> None:
    wanted = plan_versions([epoch])
    if wanted:
        ids = Blobs(node for node, _ in wanted)
        found = await rows(db, _VERSIONS, tenant=tenant, ids=ids)
        if wanted - set(found):
            raise gone("A summary")


class PostgresPlans(PostgresPart):
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
        return await self.database.hurry(lambda db: put_turn(db, tenant, new))
