"""`PlanStore`: epochs and their turns."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from memtree.budget.epoch import Epoch, EpochTurn
from memtree.ports.context_store import ContinuedTurn
from memtree.stores import stored_rows
from memtree.stores.context.stored_conversations import note_use
from memtree.stores.context.tenants import NUMBER, TENANT, begin, tenant_number
from memtree.stores.context.trees import STORED, put_nodes
from memtree.stores.sql import Ids, Row, Sql, SqlPart, reading
from memtree.tree.node import Node

# a conversation is nearly always found among its newest addresses; older ones are seldom read
NEAR = 64

_EPOCH = "SELECT 1 FROM epochs WHERE epochs.tenant = turns.tenant AND epochs.id = turns.epoch"
# One statement, so one state: first the epoch of the newest address that has a turn under the key,
# then all turns of that epoch. The turn under the requested key comes last, so that it wins over
# another key's at the same address. A scalar subquery forces the planner, which cannot know how
# many ids there are, to look each of them up by key.
_LATEST = f"""
    WITH at(tenant, address, place, epoch) AS (
        SELECT number, asked.id, place, (
            SELECT epoch FROM turns
            WHERE tenant = number AND key = :key AND address = asked.id AND EXISTS ({_EPOCH}))
        FROM tenants CROSS JOIN :ids[placed] WHERE name = :tenant
    ), newest(tenant, address, epoch) AS (
        SELECT tenant, address, epoch FROM at WHERE epoch IS NOT NULL ORDER BY place LIMIT 1
    ) SELECT 0, address, (
            SELECT data FROM epochs
            WHERE epochs.tenant = newest.tenant AND epochs.id = newest.epoch) FROM newest
    UNION ALL SELECT CASE WHEN key = :key THEN 2 ELSE 1 END, turns.address, data
    FROM newest CROSS JOIN turns
    WHERE turns.tenant = newest.tenant AND turns.epoch = newest.epoch"""
_AT = f"""
    SELECT address, key, data FROM turns
    WHERE {TENANT} AND address IN :ids[bytes] AND EXISTS ({_EPOCH})"""
_STANDING = f"""
    SELECT data FROM turns
    WHERE {TENANT} AND key = :key AND address = :address AND EXISTS ({_EPOCH})"""
_VERSIONS = f"SELECT id, version FROM summaries WHERE {TENANT} AND id IN :ids[bytes]"
_KNOWN_EPOCH = f"SELECT 1 FROM epochs WHERE {TENANT} AND id = :epoch"
_PUT_EPOCH = """
    INSERT INTO epochs (tenant, id, data, expires) VALUES (:number, :id, :data, :expires)
    ON CONFLICT DO NOTHING"""
_PUT_TURN = """
    INSERT INTO turns (tenant, key, address, epoch, data)
    VALUES (:number, :key, :address, :epoch, :data)
    ON CONFLICT (tenant, key, address)
    DO UPDATE SET epoch = excluded.epoch, data = excluded.data"""
_RENEW = """
    UPDATE epochs SET expires = :expires
    WHERE tenant = :number AND id = :epoch AND expires < :expires"""


async def latest(
    sql: Sql, tenant: str, key: bytes, addresses: Sequence[bytes]
) -> ContinuedTurn | None:
    for part in (addresses[:NEAR], addresses[NEAR:]):
        if part:
            values = {"tenant": tenant, "key": key, "ids": Ids(part)}
            rows = await sql.many("ihd", _LATEST, values)
            if rows:
                return _continued(sorted(rows))
    return None


async def newest_turn(sql: Sql, tenant: str, addresses: Sequence[bytes]) -> ContinuedTurn | None:
    for part in (addresses[:NEAR], addresses[NEAR:]):
        turns: dict[bytes, list[tuple[float, bytes, bytes]]] = {}
        rows = await sql.many("hhd", _AT, {"tenant": tenant, "ids": Ids(part)}) if part else []
        for address, key, data in rows:
            turn = stored_rows.read_turn(data)
            turns.setdefault(address, []).append((turn.used, turn.epoch, key))
        for address in part:
            if address in turns:
                _, _, key = max(turns[address])
                return await latest(sql, tenant, key, [address])
    return None


def _continued(rows: Sequence[Row]) -> ContinuedTurn:
    (_, address, epoch), *of_epoch = rows
    turns = {at: stored_rows.read_turn(data) for _, at, data in of_epoch}
    blocks = {at: turn for at, turn in turns.items() if turn.shows}
    return ContinuedTurn(address, turns[address], stored_rows.read_epoch(epoch), blocks)


async def put_turn(sql: Sql, tenant: str, new: stored_rows.NewTurn) -> EpochTurn:
    await begin(sql, tenant)
    # If two processes store a turn here at once, the second finds the turn of the first.
    await sql.lock_name("memtree turn", tenant, new.key, new.address)
    place = {"tenant": tenant, "key": new.key, "address": new.address}
    known, rows = await sql.many_each(("", NUMBER, {"tenant": tenant}), ("", _STANDING, place))
    standing = stored_rows.read_turn(rows[0][0]) if rows else None
    if standing is not None and new.yields_to(standing):
        kept = msgspec.structs.replace(standing, used=max(standing.used, new.turn.used))
    else:
        kept = new.turn
        await _require(sql, tenant, new)
    number = await tenant_number(sql, tenant, known)
    if kept is new.turn and new.epoch is not None:
        await put_nodes(sql, number, [stored_rows.node_row(node) for node in new.nodes])
        epoch = stored_rows.epoch_row(new.epoch, new.expires)._asdict()
        await sql.run(_PUT_EPOCH, {"number": number, **epoch})
    if kept != standing:
        row = stored_rows.turn_row(new.key, new.address, kept)._asdict()
        await sql.run(_PUT_TURN, {"number": number, **row})
    await sql.run(_RENEW, {"number": number, "epoch": kept.epoch, "expires": new.expires})
    if kept is not new.turn:
        await note_use(sql, tenant, [new.address], kept.used)
    return kept


async def _require(sql: Sql, tenant: str, new: stored_rows.NewTurn) -> None:
    """Raise `NodesGone` unless the turn's epoch and all that its plan names are stored or part of
    the write."""
    plans = [new.epoch] if new.epoch else []
    nodes, versions = (
        stored_rows.named(new.nodes, stored_rows.plan_nodes(plans)),
        stored_rows.plan_versions(plans),
    )
    here = {"tenant": tenant}
    stored, summaries, epochs = await sql.many_each(
        ("h", STORED, {**here, "ids": Ids(nodes)}),
        ("hi", _VERSIONS, {**here, "ids": Ids(node for node, _ in versions)}),
        ("", _KNOWN_EPOCH, {**here, "epoch": new.turn.epoch}),
    )
    if len(stored) < len(nodes):
        raise stored_rows.gone("A node")
    if versions - set(summaries):
        raise stored_rows.gone("A summary")
    if not epochs and not (new.epoch and new.epoch.id == new.turn.epoch):
        raise stored_rows.gone("The turn's epoch")


class Plans(SqlPart):
    """The port `PlanStore` over SQL."""

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
        new = stored_rows.NewTurn(key, address, turn, epoch, nodes, instead_of, expires)
        return await self.database.write(lambda sql: put_turn(sql, tenant, new))
