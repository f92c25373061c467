"""`ConversationStore`: conversations, each stored as the last address of its chain.

Every transaction writes rows of conversations after those of addresses and turns, so no two
transactions wait for each other in a circle.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import inf
from typing import Any

from memtree.budget.epoch import EpochTurn
from memtree.ports.context_store import ConversationPlace, StoredConversation, newest_turn
from memtree.stores.context.tenants import TENANT
from memtree.stores.schema import insert_rows
from memtree.stores.sql import Ids, Row, Sql, SqlPart, reading, writing
from memtree.stores.stored_rows import ConversationRow, left_at_ends, read_frontier, read_turn

COLUMNS = ", ".join(ConversationRow._fields)
_KINDS = "hfiiiitttitt"  # types of these columns
SAVED_REACH = 64  # how many addresses back from its end a conversation's last request is looked for
# A look-up by key for each row, whatever rows the planner expects.
_FRONTIER = """(
    SELECT data FROM frontiers
    WHERE frontiers.tenant = addresses.tenant AND key = addresses.frontier)"""
# `used <=` repeats the next condition in a form that the index can serve.
_ENDS = f"""
    SELECT * FROM conversations
    WHERE {TENANT} AND used <= :used AND (used, address) < (:used, :address)
    ORDER BY used DESC, address DESC LIMIT :limit"""
# Takes the newest request at an address. Addresses that were only indexed or explained come after
# it.
_SAVED_AT = """(
        SELECT saved_before + saved_tokens FROM requests
        WHERE requests.tenant = {at}.tenant AND requests.address = {at}.address
            AND length(requests.address) > 0
        ORDER BY number DESC LIMIT 1)"""
_SAVED = f"""coalesce({_SAVED_AT.format(at="ended")}, (
        WITH RECURSIVE behind(tenant, address, previous, place) AS (
            SELECT tenant, address, previous, 1 FROM addresses
            WHERE addresses.tenant = ended.tenant AND addresses.address = ended.address
            UNION ALL
            SELECT earlier.tenant, earlier.address, earlier.previous, place + 1
            FROM behind CROSS JOIN addresses AS earlier
            WHERE earlier.tenant = behind.tenant AND earlier.address = behind.previous
                AND place < {SAVED_REACH}
        ) SELECT saved FROM (
            SELECT place, {_SAVED_AT.format(at="behind")} AS saved FROM behind
        ) AS asked WHERE saved IS NOT NULL ORDER BY place LIMIT 1), 0)"""
# Expired conversations are removed after the limit, so that no more rows than the limit are looked
# up.
_PAGE = f"""
    SELECT {COLUMNS}, {_SAVED} AS saved, (
        SELECT {_FRONTIER} FROM addresses
        WHERE addresses.tenant = ended.tenant AND addresses.address = ended.address
            AND expires >= :now) AS data
    FROM ({_ENDS}) AS ended ORDER BY used DESC, address DESC"""
_PAGE_TURNS = f"""
    SELECT address, data FROM turns
    WHERE {TENANT} AND address IN (SELECT address FROM ({_ENDS}) AS ended)"""
_COVERED = f"""
    SELECT {_FRONTIER} FROM addresses
    WHERE {TENANT} AND address = :address AND expires >= :now"""
_ENDED = f"SELECT {COLUMNS} FROM conversations WHERE {TENANT} AND address = :address"
_TURNS = f"SELECT address, data FROM turns WHERE {TENANT} AND address IN :ids[bytes]"
_USE = f"""
    UPDATE conversations SET used = :used
    WHERE {TENANT} AND used < :used AND address IN :ids[bytes]"""
_MINE = "conversations WHERE tenant = :number AND address IN :ids[bytes]"
_PUT = insert_rows("conversations", COLUMNS)
_PINS = f"""
    SELECT pins FROM conversations
    WHERE {TENANT} AND address IN :ids[bytes] AND pins <> '' ORDER BY used DESC"""
_CHANGE = f"""
    UPDATE conversations SET {{column}} = :value WHERE (tenant, address) IN (
        WITH RECURSIVE behind(tenant, address) AS (
            SELECT tenant, address FROM addresses
            WHERE {TENANT} AND address = :address AND expires >= :now
            UNION
            SELECT later.tenant, later.address FROM behind CROSS JOIN addresses AS later
            WHERE later.tenant = behind.tenant AND later.previous = behind.address
        ) SELECT tenant, address FROM behind)"""
_RENAME, _PUT_PINS = (_CHANGE.format(column=column) for column in ("own_title", "pins"))


async def conversations(
    sql: Sql,
    tenant: str,
    now: float,
    limit: int,
    before: ConversationPlace | None = None,
) -> list[StoredConversation]:
    listed: dict[bytes, StoredConversation] = {}
    while len(listed) < limit:
        used, address = before or (inf, b"")
        page = {"tenant": tenant, "used": used, "address": address, "limit": limit}
        rows, turn_rows = await sql.many_each(
            (f"{_KINDS}id", _PAGE, {**page, "now": now}), ("hd", _PAGE_TURNS, page)
        )
        turns = _by_address(turn_rows)
        ended = [(ConversationRow(*row[:-2]), row[-2], row[-1]) for row in rows]
        listed.update(
            (row.address, _stored(row, data, turns, saved)) for row, saved, data in ended if data
        )
        if len(rows) < limit:
            break
        before = min(ConversationPlace(row.used, row.address) for row, _, _ in ended)
    return sorted(listed.values(), key=lambda each: each.place, reverse=True)[:limit]


async def conversation(
    sql: Sql, tenant: str, address: bytes, now: float
) -> StoredConversation | None:
    here = {"tenant": tenant, "address": address}
    covered, ended, turns = await sql.many_each(
        ("", _COVERED, {**here, "now": now}),
        ("", _ENDED, here),
        ("hd", _TURNS, {"tenant": tenant, "ids": Ids([address])}),
    )
    for (data,) in covered:
        row = ConversationRow(*ended[0]) if ended else ConversationRow(address, 0.0)
        return _stored(row, data, _by_address(turns))
    return None


def _by_address(rows: Iterable[Row]) -> dict[bytes, list[EpochTurn]]:
    turns: dict[bytes, list[EpochTurn]] = {}
    for address, data in rows:
        turns.setdefault(address, []).append(read_turn(data))
    return turns


def _stored(
    row: ConversationRow, data: bytes, turns: Mapping[bytes, list[EpochTurn]], saved: int = 0
) -> StoredConversation:
    newest = newest_turn(turns.get(row.address, ()))
    frontier = read_frontier(data)
    details = (row.own_title, row.ordinal, row.pins, saved)
    return StoredConversation(row.address, row.end, frontier, newest, *details)


async def rename(sql: Sql, tenant: str, address: bytes, title: str, now: float) -> int:
    values = {"tenant": tenant, "address": address, "value": title, "now": now}
    return await sql.count(_RENAME, values)


async def put_pins(sql: Sql, tenant: str, address: bytes, pins: str, now: float) -> int:
    values = {"tenant": tenant, "address": address, "value": pins, "now": now}
    return await sql.count(_PUT_PINS, values)


async def read_pins(sql: Sql, tenant: str, addresses: Sequence[bytes]) -> list[str]:
    values = {"tenant": tenant, "ids": Ids(addresses)}
    return [pins for (pins,) in await sql.many("t", _PINS, values)]


# -- called by other ports ---------------------------------------------------------------------


async def note_use(sql: Sql, tenant: str, addresses: Iterable[bytes], used: float) -> None:
    """Set the time of last use for those addresses that end a conversation."""
    await sql.run(_USE, {"tenant": tenant, "used": used, "ids": Ids(addresses)})


async def note_gone(
    sql: Sql, number: int, previous: Mapping[bytes, bytes], gone: set[bytes]
) -> None:
    """Update conversations after a deletion. `previous`: links of all addresses, before the
    deletion."""
    values: dict[str, Any] = {"number": number, "ids": Ids(gone)}
    rows = await sql.many(_KINDS, f"SELECT {COLUMNS} FROM {_MINE}", values)
    await sql.run(f"DELETE FROM {_MINE}", values)
    ended = [ConversationRow(*row) for row in rows]
    await put(sql, number, left_at_ends(previous, gone, ended) if ended else ())


async def put(sql: Sql, number: int, rows: Sequence[ConversationRow]) -> None:
    await sql.put(_PUT, {"number": number}, rows)


class Conversations(SqlPart):
    """The port `ConversationStore` over SQL."""

    conversations = reading(conversations)
    conversation = reading(conversation)
    rename = writing(rename)
    put_pins = writing(put_pins)
    pins = reading(read_pins)
