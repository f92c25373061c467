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
from memtree.stores.sqlite.database import TENANT, SqlitePart, reading, writing

_COLUMNS = ", ".join(ConversationRow._fields)
# 17 digits name a float exactly; the `!` lets SQLite give more than 15.
_COUNTS = "printf('%!.17g %d %d %d %d %d ', used, messages, tokens, first, whole, ordinal)"
_TEXTS = "hex(title) || ' ' || hex(client) || ' ' || hex(project) || ' ' || hex(own_title) || ' '"
_PACKED = f"CAST({_COUNTS} || {_TEXTS} || CAST(data AS TEXT) AS BLOB) AS data"
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
        CASE WHEN ended.address IS NULL THEN '0 0 0 0 1 0     ' ELSE {_COUNTS} || {_TEXTS} END
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


_NEXT = """(SELECT coalesce(max(same.ordinal), 0) + 1 FROM conversations AS same
    WHERE same.tenant = :tenant AND same.title = :title)"""
_TOLD = ", ".join(
    f"{name} = CASE WHEN :{name} = '' THEN {name} ELSE :{name} END"
    for name in ("title", "client", "project")
)
_GROW = f"""
    UPDATE OR REPLACE conversations SET address = :address, used = :used, messages = :messages,
        tokens = :tokens, first = :first, whole = :whole, {_TOLD},
        ordinal = CASE WHEN :title IN ('', title) THEN ordinal ELSE {_NEXT} END
    WHERE tenant = :tenant AND address = :before"""
_BEGIN = f"""
    INSERT OR REPLACE INTO conversations (tenant, {_COLUMNS})
    SELECT :tenant, :address, :used, :messages, :tokens, :first, :whole, :title, :client, :project,
        CASE WHEN :title = '' THEN 0 ELSE {_NEXT} END, :own_title"""
_RENAME = f"""
    UPDATE conversations SET own_title = ? WHERE (tenant, address) IN (
        WITH RECURSIVE behind AS (
            SELECT tenant, address FROM addresses WHERE {TENANT} AND address = ? AND expires >= ?
            UNION
            SELECT later.tenant, later.address FROM behind
            CROSS JOIN addresses AS later ON later.tenant = behind.tenant
                AND later.previous = behind.address
        ) SELECT tenant, address FROM behind)"""


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
        frontier = read_frontier(data)
        listed.append(
            StoredConversation(address, row.end, frontier, newest, row.own_title, row.ordinal)
        )
    return listed


def _unpacked(address: bytes, packed: bytes) -> tuple[ConversationRow, bytes]:
    used, *parts, data = packed.split(b" ", 10)
    messages, tokens, first, whole, ordinal = map(int, parts[:5])
    title, client, project, own = (bytes.fromhex(text.decode()).decode() for text in parts[5:])
    numbers = (float(used), messages, tokens, first, whole)
    return ConversationRow(address, *numbers, title, client, project, ordinal, own), data


def rename(db: sqlite3.Connection, tenant: str, address: bytes, title: str, now: float) -> int:
    return db.execute(_RENAME, (title, tenant, address, now)).rowcount


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
    _drop(db, number, before[:-1])
    ended = conversation_row(rows[-1].address, batch.end)
    values = {"tenant": number, **ended._asdict()}
    # As a rule one statement for a conversation that grew.
    if not before or not db.execute(_GROW, {**values, "before": before[-1]}).rowcount:
        db.execute(_BEGIN, values)


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
    rename = writing(rename)
