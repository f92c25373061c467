"""`ConversationStore`: the addresses that no other goes on from.

Rows of conversations are changed behind those of addresses and turns, in every transaction, so
no two transactions wait for each other in a circle.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from math import inf
from typing import Any

from memtree.budget.epoch import EpochTurn
from memtree.ports.conversations import ConversationPlace, StoredConversation, newest_turn
from memtree.stores.context.tenants import TENANT
from memtree.stores.parts import SqlPart, reading, writing
from memtree.stores.references import left_at_ends
from memtree.stores.rows import ConversationRow, read_frontier, read_turn
from memtree.stores.sql import Ids, Row, Sql

COLUMNS = ", ".join(ConversationRow._fields)
_KINDS = "hfiiiitttit"  # of these columns
# A look-up by key for each row, whatever rows the planner expects.
_FRONTIER = """(
    SELECT data FROM frontiers
    WHERE frontiers.tenant = addresses.tenant AND key = addresses.frontier)"""
# What expired is left out behind the limit: no more rows than these are looked up. `used <=` says
# again what follows, for the index.
_SAVED = """coalesce((
        SELECT saved_before + saved_tokens FROM requests
        WHERE requests.tenant = ended.tenant AND requests.address = ended.address
            AND length(requests.address) > 0
        ORDER BY number DESC LIMIT 1), 0)"""
_PAGE = f"""
    SELECT {COLUMNS}, {_SAVED} AS saved, (
        SELECT {_FRONTIER} FROM addresses
        WHERE addresses.tenant = ended.tenant AND addresses.address = ended.address
            AND expires >= :now) AS data
    FROM (
        SELECT * FROM conversations
        WHERE {TENANT} AND used <= :used AND (used, address) < (:used, :address)
        ORDER BY used DESC, address DESC LIMIT :limit
    ) AS ended ORDER BY used DESC, address DESC"""
_COVERED = f"""
    SELECT {_FRONTIER} FROM addresses
    WHERE {TENANT} AND address = :address AND expires >= :now"""
_ENDED = f"SELECT {COLUMNS} FROM conversations WHERE {TENANT} AND address = :address"
_TURNS = f"SELECT address, data FROM turns WHERE {TENANT} AND address IN :ids[bytes]"
_USE = f"""
    UPDATE conversations SET used = :used
    WHERE {TENANT} AND used < :used AND address IN :ids[bytes]"""
_MINE = "conversations WHERE tenant = :number AND address IN :ids[bytes]"
_PUT = f"""
    INSERT INTO conversations (tenant, {COLUMNS}) SELECT :number, {COLUMNS}
    FROM :rows({COLUMNS}) WHERE true ON CONFLICT DO NOTHING"""
_RENAME = f"""
    UPDATE conversations SET own_title = :title WHERE (tenant, address) IN (
        WITH RECURSIVE behind(tenant, address) AS (
            SELECT tenant, address FROM addresses
            WHERE {TENANT} AND address = :address AND expires >= :now
            UNION
            SELECT later.tenant, later.address FROM behind CROSS JOIN addresses AS later
            WHERE later.tenant = behind.tenant AND later.previous = behind.address
        ) SELECT tenant, address FROM behind)"""


async def conversations(
    sql: Sql,
    tenant: str,
    now: float,
    limit: int,
    before: ConversationPlace | None = None,
) -> list[StoredConversation]:
    listed: dict[bytes, tuple[ConversationRow, int, bytes]] = {}
    while len(listed) < limit:
        used, address = before or (inf, b"")
        values = {"tenant": tenant, "now": now, "used": used, "address": address, "limit": limit}
        rows = await sql.many(f"{_KINDS}id", _PAGE, values)
        ended = [(ConversationRow(*row[:-2]), row[-2], row[-1]) for row in rows]
        listed.update((row.address, (row, saved, data)) for row, saved, data in ended if data)
        if len(rows) < limit:
            break
        before = min(ConversationPlace(row.used, row.address) for row, _, _ in ended)
    turns = await _turns(sql, tenant, listed)
    found = [_stored(row, data, turns, saved) for row, saved, data in listed.values()]
    return sorted(found, key=lambda each: each.place, reverse=True)[:limit]


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


async def _turns(
    sql: Sql, tenant: str, addresses: Collection[bytes]
) -> dict[bytes, list[EpochTurn]]:
    if not addresses:
        return {}
    values = {"tenant": tenant, "ids": Ids(addresses)}
    return _by_address(await sql.many("hd", _TURNS, values))


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
    told = (row.own_title, row.ordinal, saved)
    return StoredConversation(row.address, row.end, frontier, newest, *told)


async def rename(sql: Sql, tenant: str, address: bytes, title: str, now: float) -> int:
    values = {"tenant": tenant, "address": address, "title": title, "now": now}
    return await sql.count(_RENAME, values)


# -- what other ports change -------------------------------------------------------------------


async def note_use(sql: Sql, tenant: str, addresses: Iterable[bytes], used: float) -> None:
    """Note a use of those addresses that end a conversation."""
    await sql.run(_USE, {"tenant": tenant, "used": used, "ids": Ids(addresses)})


async def note_gone(
    sql: Sql, number: int, previous: Mapping[bytes, bytes], gone: set[bytes]
) -> None:
    """`previous`: of all addresses, before the deletion."""
    values: dict[str, Any] = {"number": number, "ids": Ids(gone)}
    rows = await sql.many(_KINDS, f"SELECT {COLUMNS} FROM {_MINE}", values)
    await sql.run(f"DELETE FROM {_MINE}", values)
    ended = [ConversationRow(*row) for row in rows]
    await put(sql, number, left_at_ends(previous, gone, ended) if ended else ())


async def put(sql: Sql, number: int, rows: Sequence[ConversationRow]) -> None:
    await sql.put(_PUT, {"number": number}, rows)


class Conversations(SqlPart):
    """`ConversationStore`."""

    conversations = reading(conversations)
    conversation = reading(conversation)
    rename = writing(rename)
