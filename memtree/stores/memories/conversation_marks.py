"""Keep what was done with a conversation: which memories it was shown, and from which of its
messages memories were made.

A mark of a message outlives the memory, so that a deleted memory is not extracted again.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from hashlib import sha256
from typing import Any

from memtree.memories.memory import SNAPSHOT, UNSET, Memory, MemoryChange, NewMemory
from memtree.memories.memory_store import Added, ShownMemory
from memtree.memories.scope import Scope
from memtree.memories.user_memories import ForgetOrder
from memtree.stores.memories import adding, changing, removal
from memtree.stores.memories.memory_reading import live, stored
from memtree.stores.memories.scopes import begin, begin_known, commit, take_numbers
from memtree.stores.memories.table_rows import SCOPE, ShownRow, scope_values
from memtree.stores.schema import insert_into
from memtree.stores.sql import Sql

_SHOWN = f"""
    SELECT id, shown_memories.version, hit FROM shown_memories JOIN memories
        ON memories.scope = shown_memories.scope AND memories.number = shown_memories.number
    WHERE shown_memories.scope = {SCOPE} AND conversation = :conversation
        AND shown_memories.expires > :now AND deleted = 0
    ORDER BY shown_memories.number"""
_CLEAR_SHOWN = "DELETE FROM shown_memories WHERE scope = :scope AND conversation = :conversation"
_PUT_SHOWN = insert_into("shown_memories")
_EXTRACTED = f"SELECT key FROM extracted_messages WHERE scope = {SCOPE} AND key IN :keys[]"
_MARKED_NUMBER = "SELECT number FROM extracted_messages WHERE scope = :scope AND key = :key"
MARK = insert_into("extracted_messages", "DO NOTHING")


async def shown(sql: Sql, scope: Scope, conversation: str, now: float) -> list[ShownMemory]:
    values = {**scope_values(scope), "conversation": _hashed(conversation), "now": now}
    return [ShownMemory._make(row) for row in await sql.fetch(_SHOWN, values)]


async def put_shown(
    sql: Sql, scope: Scope, conversation: str, shown: Sequence[ShownMemory], expires: float
) -> None:
    at = await begin_known(sql, scope)
    if at is None:
        return
    name = _hashed(conversation)
    await sql.run(_CLEAR_SHOWN, {"scope": at.number, "conversation": name})
    numbers = {row.id: row.number for row in await stored(sql, at.number, [s.id for s in shown])}
    rows = {
        each.id: ShownRow(at.number, name, numbers[each.id], each.version, each.hit, expires)
        for each in shown
        if each.id in numbers
    }
    await sql.run_many(_PUT_SHOWN, [row._asdict() for row in rows.values()])


def _hashed(conversation: str) -> bytes:
    """Hash the name of a conversation. The hash has a fixed size and reveals nothing."""
    return sha256(conversation.encode("utf-8", "surrogatepass")).digest()[:16]


def message_key(digest: bytes) -> str:
    """Return the key of a message's mark: of fixed size, and never equal to the key of a snapshot.

    >>> message_key(b"one") == snapshot_key(b"one")
    False
    """
    return sha256(b"message\0" + digest).hexdigest()[:32]


def snapshot_key(key: bytes) -> str:
    return sha256(b"snapshot\0" + key).hexdigest()[:32]


async def extracted(sql: Sql, scope: Scope, digests: Collection[bytes]) -> set[bytes]:
    keys = {message_key(digest): digest for digest in digests}
    rows = await sql.fetch(_EXTRACTED, {**scope_values(scope), "keys": list(keys)}) if keys else []
    return {keys[key] for (key,) in rows}


async def add_extracted(
    sql: Sql, scope: Scope, digest: bytes, memories: Sequence[NewMemory], *, most: int, now: float
) -> list[Added] | None:
    at = await begin(sql, scope)
    mark = {"scope": at.number, "key": message_key(digest)}
    if await sql.fetch(_MARKED_NUMBER, mark):
        return None
    added = await adding.add_here(sql, at, memories, once=True, most=most, now=now)
    await sql.run(MARK, {**mark, "number": 0, "at": now})
    new = sum(not each.existing for each in added)
    if new:
        await commit(sql, at, counted=new)
    return added


async def forget_once(
    sql: Sql, scope: Scope, order: ForgetOrder, *, purge: bool, now: float
) -> list[str]:
    at = await begin_known(sql, scope)
    if at is None:
        return []
    mark = {"scope": at.number, "key": message_key(order.key)}
    rows = await live(sql, at.number, [order.ref], now)
    if not rows or await sql.fetch(_MARKED_NUMBER, mark):
        return []
    if order.rest is not None:
        (kept,) = await adding.add_here(sql, at, [order.rest], once=True, most=0, now=now)
        await changing.replaced_by(sql, at, [(rows[0].number, kept.memory.number)])
        await commit(sql, at, counted=int(not kept.existing))
    gone = await removal.delete(sql, scope, [order.ref], reason=order.reason, purge=purge, now=now)
    if gone:
        await sql.run(MARK, {**mark, "number": 0, "at": now})
    return gone


async def put_snapshot(
    sql: Sql, scope: Scope, key: bytes, memory: NewMemory, *, most: int, now: float
) -> Memory | None:
    at = await begin(sql, scope)
    mark: dict[str, Any] = {"scope": at.number, "key": snapshot_key(key)}
    known = await sql.fetch(_MARKED_NUMBER, mark)
    if not known:
        number = await take_numbers(sql, at, 1, most=most, now=now)
        (kept,) = await adding.insert(sql, at, [memory], number)
        await sql.run(MARK, {**mark, "number": number, "at": now})
        await commit(sql, at, counted=1)
        return kept
    rows = await stored(sql, at.number, [known[0][0]])
    if not rows or not rows[0].live(now) or rows[0].text_hash == memory.text_hash:
        return None
    text = MemoryChange(
        memory.created,
        memory.text,
        memory.text_hash,
        memory.terms,
        expires=UNSET if memory.expires is None else memory.expires,
        standing="",
    )
    changed, counted = await changing.next_version(sql, at, rows[0], text, now)
    await commit(sql, at, counted=counted)
    return changed


def marks(memory: Memory) -> dict[str, int]:
    """Return the marks of a memory, by key, with the numbers they had where it was created; used to
    restore it."""
    numbers = {}
    digest = _hex(memory.source.digest) if memory.source else b""
    if digest:
        numbers[message_key(digest)] = 0
    key = _hex(memory.thread_id or "") if memory.kind == SNAPSHOT else b""
    if key:
        numbers[snapshot_key(key)] = memory.number
    return numbers


def _hex(text: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except ValueError:
        return b""
