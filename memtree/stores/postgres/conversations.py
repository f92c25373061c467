"""`ConversationStore` and its SQL: the addresses that no other goes on from.

Rows of conversations are changed behind those of addresses and turns, in every transaction, so
none waits in a circle.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any

from memtree.budget.epoch import EpochTurn
from memtree.ports.conversations import ConversationPlace, StoredConversation, newest_turn
from memtree.stores.postgres.pool import PostgresPart, reading
from memtree.stores.postgres.queries import TENANT, Blobs, Connection, rows
from memtree.stores.references import left_at_ends
from memtree.stores.rows import ConversationRow, read_frontier, read_turn

COLUMNS = ", ".join(ConversationRow._fields)
_ENDED = ", ".join(f"ended.{name}" for name in ConversationRow._fields)
_TURNS = """
    CROSS JOIN LATERAL (
        SELECT array_agg(turns.data) AS turns FROM turns
        WHERE turns.tenant = known.tenant AND turns.address = known.address
    ) AS mates"""
_FRONTIER = """
    CROSS JOIN LATERAL (
        SELECT data FROM frontiers WHERE tenant = known.tenant AND key = known.frontier LIMIT 1
    ) AS covered"""
# What expired is left out behind the limit: however few rows the planner expects, it looks up no
# more than these. `used <=` says again what follows, for the index.
_PAGE = f"""
    WITH ended AS MATERIALIZED (
        SELECT * FROM conversations
        WHERE {TENANT} AND used <= %(used)s AND (used, address) < (%(used)s, %(address)s)
        ORDER BY used DESC, address DESC LIMIT %(limit)s
    ) SELECT {_ENDED}, found.data, found.turns FROM ended
    LEFT JOIN LATERAL (
        SELECT covered.data, mates.turns FROM (
            SELECT tenant, address, frontier FROM addresses
            WHERE tenant = ended.tenant AND address = ended.address AND expires >= %(now)s LIMIT 1
        ) AS known {_FRONTIER} {_TURNS}
    ) AS found ON true
    ORDER BY used DESC, ended.address DESC"""
_ONE = f"""
    SELECT {_ENDED}, covered.data, mates.turns FROM (
        SELECT tenant, address, frontier FROM addresses
        WHERE {TENANT} AND address = %(address)s AND expires >= %(now)s
    ) AS known
    LEFT JOIN conversations AS ended
        ON ended.tenant = known.tenant AND ended.address = known.address
    {_FRONTIER} {_TURNS}"""
_USE = f"""
    UPDATE conversations SET used = %(used)s
    WHERE {TENANT} AND used < %(used)s AND address = ANY(%(ids)s)"""
_DROP = f"""
    DELETE FROM conversations WHERE tenant = %(number)s AND address = ANY(%(ids)s)
    RETURNING {COLUMNS}"""
_PUT = f"""
    INSERT INTO conversations (tenant, {COLUMNS}) VALUES (%(number)s, {
    ", ".join(f"%({name})s" for name in ConversationRow._fields)
}) ON CONFLICT DO NOTHING"""
_RENAME = f"""
    WITH RECURSIVE behind AS (
        SELECT tenant, address FROM addresses
        WHERE {TENANT} AND address = %(address)s AND expires >= %(now)s
        UNION
        SELECT later.tenant, later.address FROM behind
        JOIN addresses AS later ON later.tenant = behind.tenant AND later.previous = behind.address
    ) UPDATE conversations SET own_title = %(title)s FROM behind
    WHERE conversations.tenant = behind.tenant AND conversations.address = behind.address"""


async def conversations(
    db: Connection,
    tenant: str,
    now: float,
    limit: int,
    before: ConversationPlace | None = None,
) -> list[StoredConversation]:
    listed: list[StoredConversation] = []
    while len(listed) < limit:
        used, address = before or (inf, b"")
        values = {"tenant": tenant, "now": now, "used": used, "address": address}
        found = await rows(db, _PAGE, limit=limit, **values)
        listed += [_made(row[0], row) for row in found if row[-2] is not None]
        if len(found) < limit:
            break
        before = ConversationPlace(found[-1][1], found[-1][0])
    return listed[:limit]


async def conversation(
    db: Connection, tenant: str, address: bytes, now: float
) -> StoredConversation | None:
    for row in await rows(db, _ONE, tenant=tenant, address=address, now=now):
        return _made(address, row)
    return None


def _made(address: bytes, row: tuple[Any, ...]) -> StoredConversation:
    *columns, frontier, stored = row
    ended = ConversationRow(*columns) if columns[0] else ConversationRow(address, 0.0)
    turns: list[EpochTurn] = [read_turn(data) for data in stored or ()]
    newest = newest_turn(turns)
    covered = read_frontier(frontier)
    return StoredConversation(address, ended.end, covered, newest, ended.own_title, ended.ordinal)


async def rename(db: Connection, tenant: str, address: bytes, title: str, now: float) -> int:
    values = {"tenant": tenant, "address": address, "title": title, "now": now}
    return (await db.execute(_RENAME, values)).rowcount


# -- what other ports change -------------------------------------------------------------------


async def note_use(db: Connection, tenant: str, addresses: Sequence[bytes], used: float) -> None:
    """Of those that end a conversation."""
    await db.execute(_USE, {"tenant": tenant, "used": used, "ids": Blobs(addresses)})


async def note_gone(
    db: Connection, number: int, previous: Mapping[bytes, bytes], gone: set[bytes]
) -> None:
    """`previous`: of all addresses, before the deletion."""
    ended = [ConversationRow(*row) for row in await rows(db, _DROP, number=number, ids=Blobs(gone))]
    for left in left_at_ends(previous, gone, ended) if ended else ():
        await db.execute(_PUT, {"number": number, **left._asdict()})


class PostgresConversations(PostgresPart):
    """`ConversationStore`."""

    conversations = reading(conversations)
    conversation = reading(conversation)

    async def rename(self, tenant: str, address: bytes, title: str, now: float) -> int:
        return await self.database.transact(lambda db: rename(db, tenant, address, title, now))
