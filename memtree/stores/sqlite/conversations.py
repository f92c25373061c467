"""`ConversationStore` and its SQL: the addresses that no other goes on from."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Sequence

from memtree.budget.epoch import EpochTurn
from memtree.ports.conversations import ConversationPlace, StoredConversation, newest_turn
from memtree.ports.store import IndexBatch
from memtree.stores.references import gone_on_from, left_at_ends
from memtree.stores.rows import (
    AddressRow,
    ConversationRow,
    conversation_row,
    read_frontier,
    read_turn,
)
from memtree.stores.sqlite.bulk import change, insert, joined, joined_rows
from memtree.stores.sqlite.database import TENANT, SqlitePart, reading

_COLUMNS = ", ".join(ConversationRow._fields)
# 17 digits name a float exactly; the `!` lets SQLite give more than 15.
_PACKED = """CAST(
    printf('%!.17g %d %d %d %d ', used, messages, tokens, first, whole) || CAST(data AS TEXT)
    AS BLOB) AS data"""
_PAGE = f"""
    SELECT address AS id, {_PACKED} FROM (
        SELECT ended.*, data FROM conversations AS ended
        CROSS JOIN addresses ON addresses.tenant = ended.tenant
            AND addresses.address = ended.address
        CROSS JOIN frontiers ON frontiers.tenant = addresses.tenant AND key = frontier
        WHERE ended.{TENANT} AND (used, ended.address) < (?, ?) AND expires >= ?
        ORDER BY used DESC, ended.address DESC LIMIT ?)"""
_ONE = f"""
    SELECT addresses.address AS id, CAST(
        printf('%!.17g %d %d %d %d ', coalesce(used, 0), coalesce(ended.messages, 0),
            coalesce(ended.tokens, 0), coalesce(first, 0), coalesce(whole, 1))
        || CAST(data AS TEXT) AS BLOB) AS data
    FROM addresses
    CROSS JOIN frontiers ON frontiers.tenant = addresses.tenant AND key = frontier
    LEFT JOIN conversations AS ended ON ended.tenant = addresses.tenant
        AND ended.address = addresses.address
    WHERE addresses.{TENANT} AND addresses.address = ? AND expires >= ?"""
_TURNS = f"SELECT address AS id, data FROM turns WHERE {TENANT} AND address IN ({{ids}})"
_ENDED = f"""
    SELECT address AS id, {_PACKED.replace("CAST(data AS TEXT)", "''")} FROM conversations
    WHERE tenant = ? AND address IN ({{ids}})"""
_LAST = (float("inf"), b"")


_NEW = ", ".join(f"{name} = ?" for name in ConversationRow._fields)
_GROW = f"""
    UPDATE OR REPLACE conversations SET {_NEW}
    WHERE tenant = ? AND address = ?"""


def conversations(
    db: sqlite3.Connection,
    tenant: str,
    now: float,
    limit: int,
    before: ConversationPlace | None = None,
) -> list[StoredConversation]:
    found = joined_rows(db, _PAGE, (tenant, *(before or _LAST), now, limit))
    listed = _with_turns(db, tenant, dict(found))
    return sorted(listed, key=lambda one: one.place, reverse=True)


def conversation(
    db: sqlite3.Connection, tenant: str, address: bytes, now: float
) -> StoredConversation | None:
    found = _with_turns(db, tenant, dict(joined_rows(db, _ONE, (tenant, address, now))))
    return found[0] if found else None


def _with_turns(
    db: sqlite3.Connection, tenant: str, found: dict[bytes, bytes]
) -> list[StoredConversation]:
    turns: dict[bytes, list[EpochTurn]] = {}
    for address, data in joined(db, _TURNS, (tenant,), found):
        turns.setdefault(address, []).append(read_turn(data))
    listed = []
    for address, packed in found.items():
        row, data = _unpacked(address, packed)
        newest = newest_turn(turns.get(address, ()))
        listed.append(StoredConversation(address, row.end, read_frontier(data), newest))
    return listed


def _unpacked(address: bytes, packed: bytes) -> tuple[ConversationRow, bytes]:
    used, *counts, data = packed.split(b" ", 5)
    return ConversationRow(address, float(used), *map(int, counts)), data


# -- what other ports change -------------------------------------------------------------------


def note_ends(
    db: sqlite3.Connection,
    number: int,
    batch: IndexBatch,
    rows: Sequence[AddressRow],
    known: Collection[bytes],
) -> None:
    """`rows`: of the batch; `known`: those addresses that were stored before."""
    before = gone_on_from(rows, known)
    if not rows or rows[-1].address in known:
        _drop(db, number, before)
        return
    ended = conversation_row(rows[-1].address, batch.end)
    if len(before) == 1:  # as a rule: one statement for a conversation that grew
        if db.execute(_GROW, (*ended, number, *before)).rowcount:
            return
    else:
        _drop(db, number, before)
    _put(db, number, [ended])


def note_use(db: sqlite3.Connection, tenant: str, addresses: Iterable[bytes], used: float) -> None:
    """Of those that end a conversation."""
    statement = f"UPDATE conversations SET used = ? WHERE {TENANT} AND used < ?"
    change(db, f"{statement} AND address IN ({{ids}})", (used, tenant, used), addresses)


def note_gone(
    db: sqlite3.Connection, number: int, previous: dict[bytes, bytes], gone: set[bytes]
) -> None:
    """`previous`: of all addresses, before the deletion."""
    found = joined(db, _ENDED, (number,), gone)
    ended = [_unpacked(address, packed)[0] for address, packed in found]
    _drop(db, number, gone)
    _put(db, number, left_at_ends(previous, gone, ended))


def _drop(db: sqlite3.Connection, number: int, addresses: Iterable[bytes]) -> None:
    delete = "DELETE FROM conversations WHERE tenant = ? AND address IN ({ids})"
    change(db, delete, (number,), addresses)


def _put(db: sqlite3.Connection, number: int, rows: Sequence[ConversationRow]) -> None:
    head = f"INSERT OR REPLACE INTO conversations (tenant, {_COLUMNS})"
    insert(db, head, [(number, *row) for row in rows])


class SqliteConversations(SqlitePart):
    """`ConversationStore`."""

    conversations = reading(conversations)
    conversation = reading(conversation)
