"""Marks of messages that memories were made from. A mark outlives the memory, so that a deleted
memory is not extracted again."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from hashlib import sha256
from typing import Any

from memtree.memories.memory import SNAPSHOT, UNSET, Memory, MemoryChange, NewMemory
from memtree.memories.ports import Added
from memtree.memories.scope import Scope
from memtree.stores.memories import changing, saving
from memtree.stores.memories.tables.counters import begin, commit, take_numbers
from memtree.stores.memories.tables.lookup import stored
from memtree.stores.memories.tables.rows import SCOPE, scope_values
from memtree.stores.sql import Sql

_DONE = f"SELECT key FROM extracted_messages WHERE scope = {SCOPE} AND key IN :keys[]"
_NUMBER = "SELECT number FROM extracted_messages WHERE scope = :scope AND key = :key"
MARK = """
    INSERT INTO extracted_messages (scope, key, number, at) VALUES (:scope, :key, :number, :at)
    ON CONFLICT DO NOTHING"""


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
    rows = await sql.fetch(_DONE, {**scope_values(scope), "keys": list(keys)}) if keys else []
    return {keys[key] for (key,) in rows}


async def add_extracted(
    sql: Sql, scope: Scope, digest: bytes, memories: Sequence[NewMemory], *, most: int, now: float
) -> list[Added] | None:
    at = await begin(sql, scope)
    mark = {"scope": at.number, "key": message_key(digest)}
    if await sql.fetch(_NUMBER, mark):
        return None
    added = await saving.add_here(sql, at, memories, once=True, most=most, now=now)
    await sql.run(MARK, {**mark, "number": 0, "at": now})
    new = sum(not each.existing for each in added)
    if new:
        await commit(sql, at, counted=new)
    return added


async def put_snapshot(
    sql: Sql, scope: Scope, key: bytes, memory: NewMemory, *, most: int, now: float
) -> Memory | None:
    at = await begin(sql, scope)
    mark: dict[str, Any] = {"scope": at.number, "key": snapshot_key(key)}
    known = await sql.fetch(_NUMBER, mark)
    if not known:
        number = await take_numbers(sql, at, 1, most=most, now=now)
        (kept,) = await saving.insert(sql, at, [memory], number)
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
    return await changing.change_row(sql, at, rows[0], text, now)


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
