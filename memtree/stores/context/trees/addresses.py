"""Store the addresses of a batch, with their frontiers and the conversation that they end.

The two databases need different statements. In PostgreSQL another process may commit the same
addresses at the same time, and only the statement that inserted a row knows that it did: so one
statement inserts the rows and moves the conversation. SQLite's `WITH` cannot write; there a writer
has the file to itself, so it can read first which addresses are known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memtree.ports.store import IndexBatch
from memtree.stores.context.tenants import TENANT
from memtree.stores.context.trees.conversations import COLUMNS
from memtree.stores.references import gone_on_from
from memtree.stores.rows import AddressRow, FrontierRow, address_rows, conversation_row
from memtree.stores.sql import Ids, Sql

KNOWN = f"SELECT address FROM addresses WHERE {TENANT} AND address IN :ids[bytes]"
_PUT = """
    INSERT INTO addresses (tenant, address, frontier, expires, previous)
    SELECT :number, address, frontier, expires, previous
    FROM :rows(address, frontier, expires, previous) WHERE true
    ON CONFLICT (tenant, address) DO UPDATE SET expires = excluded.expires
    WHERE excluded.expires > addresses.expires"""
_PUT_FRONTIERS = """
    INSERT INTO frontiers (tenant, key, data) SELECT :number, key, data FROM :rows(key, data)
    WHERE true ON CONFLICT DO NOTHING"""
_DROP = "DELETE FROM conversations WHERE tenant = :number AND address IN :ids[bytes]"
_ORDINAL = """(
    SELECT coalesce(max(same.ordinal), 0) + 1 FROM conversations AS same
    WHERE same.tenant = :number AND same.title = :title)"""
# `xmax` is 0 for a row that was inserted rather than updated.
_PUT_AND_END = f"""
    WITH put AS (
        {_PUT} RETURNING address, previous, xmax = 0 AS fresh
    ), gone_on AS (
        {_DROP} AND EXISTS (
            SELECT 1 FROM put WHERE fresh AND put.previous = conversations.address)
        RETURNING title, client, project, ordinal, own_title, pins
    ), before AS (
        SELECT max(title) AS title, max(client) AS client, max(project) AS project,
            max(ordinal) AS ordinal, max(own_title) AS own_title, max(pins) AS pins FROM gone_on
    ) INSERT INTO conversations (tenant, {COLUMNS})
    SELECT :number, put.address, :used, :messages, :tokens, :first, :whole,
        coalesce(nullif(:title, ''), title, ''), coalesce(nullif(:client, ''), client, ''),
        coalesce(nullif(:project, ''), project, ''),
        CASE WHEN :title IN ('', title) THEN coalesce(before.ordinal, 0) ELSE {_ORDINAL} END,
        coalesce(own_title, ''), coalesce(pins, '')
    FROM put CROSS JOIN before WHERE fresh AND put.address = :address ON CONFLICT DO NOTHING"""
_TOLD = ", ".join(
    f"{name} = CASE WHEN :{name} = '' THEN {name} ELSE :{name} END"
    for name in ("title", "client", "project")
)
_GROW = f"""
    UPDATE OR REPLACE conversations SET address = :address, used = :used, messages = :messages,
        tokens = :tokens, first = :first, whole = :whole, {_TOLD},
        ordinal = CASE WHEN :title IN ('', title) THEN ordinal ELSE {_ORDINAL} END
    WHERE tenant = :number AND address = :before"""
_BEGIN = f"""
    INSERT OR REPLACE INTO conversations (tenant, {COLUMNS})
    SELECT :number, :address, :used, :messages, :tokens, :first, :whole, :title, :client, :project,
        CASE WHEN :title = '' THEN 0 ELSE {_ORDINAL} END, :own_title, :pins"""


async def put_addresses(
    sql: Sql,
    number: int,
    batch: IndexBatch,
    frontiers: Mapping[bytes, FrontierRow],
    known: set[bytes],
) -> None:
    """`frontiers`: by address, in the order of the chain. `known`: the stored ones among these
    addresses and the batch's `previous`."""
    keys = {address: row.key for address, row in frontiers.items()}
    rows = address_rows(batch, keys, batch.previous if batch.previous in known else b"")
    if not rows:
        return
    ended = conversation_row(rows[-1].address, batch.end)
    end = {"number": number, **ended._asdict()}
    if sql.dialect == "postgres":
        values = {**end, "ids": Ids(row.previous for row in rows)}
        await sql.put(_PUT_AND_END, values, sorted(rows))
    else:
        await sql.put(_PUT, {"number": number}, rows)
        await _end(sql, end, rows, known)
    # A frontier that belongs to known addresses only would be a row that nothing names.
    new = {row for address, row in frontiers.items() if address not in known}
    await sql.put(_PUT_FRONTIERS, {"number": number}, sorted(new))


async def _end(
    sql: Sql, end: Mapping[str, Any], rows: Sequence[AddressRow], known: set[bytes]
) -> None:
    """Make the conversation end at the last address, and at none before it."""
    before = gone_on_from(rows, known)
    if rows[-1].address in known:
        await sql.run(_DROP, {"number": end["number"], "ids": Ids(before)})
        return
    if before[:-1]:
        await sql.run(_DROP, {"number": end["number"], "ids": Ids(before[:-1])})
    # A conversation that grew usually takes one statement.
    if not before or not await sql.count(_GROW, {**end, "before": before[-1]}):
        await sql.run(_BEGIN, end)
