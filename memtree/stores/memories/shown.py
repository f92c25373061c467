"""Store which memories a conversation was shown."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from memtree.memories.ports import ShownMemory
from memtree.memories.scope import Scope
from memtree.stores.memories.tables.counters import begin_known
from memtree.stores.memories.tables.lookup import stored
from memtree.stores.memories.tables.rows import SCOPE, scope_values
from memtree.stores.sql import Sql

_SHOWN = f"""
    SELECT id, shown_memories.version, hit FROM shown_memories JOIN memories
        ON memories.scope = shown_memories.scope AND memories.number = shown_memories.number
    WHERE shown_memories.scope = {SCOPE} AND conversation = :conversation
        AND shown_memories.expires > :now AND deleted = 0
    ORDER BY shown_memories.number"""
_CLEAR = "DELETE FROM shown_memories WHERE scope = :scope AND conversation = :conversation"
_PUT = """
    INSERT INTO shown_memories (scope, conversation, number, version, hit, expires)
    VALUES (:scope, :conversation, :number, :version, :hit, :expires)"""


async def shown(sql: Sql, scope: Scope, conversation: str, now: float) -> list[ShownMemory]:
    values = {**scope_values(scope), "conversation": _hashed(conversation), "now": now}
    return [ShownMemory._make(row) for row in await sql.fetch(_SHOWN, values)]


async def put_shown(
    sql: Sql, scope: Scope, conversation: str, shown: Sequence[ShownMemory], expires: float
) -> None:
    at = await begin_known(sql, scope)
    if at is None:
        return
    place = {"scope": at.number, "conversation": _hashed(conversation)}
    await sql.run(_CLEAR, place)
    numbers = {row.id: row.number for row in await stored(sql, at.number, [s.id for s in shown])}
    rows = {
        numbers[each.id]: {
            **place,
            "number": numbers[each.id],
            "version": each.version,
            "hit": each.hit,
            "expires": expires,
        }
        for each in shown
        if each.id in numbers
    }
    if rows:
        await sql.run_many(_PUT, list(rows.values()))


def _hashed(conversation: str) -> bytes:
    """Hash the name of a conversation. The hash has a fixed size and reveals nothing."""
    return sha256(conversation.encode("utf-8", "surrogatepass")).digest()[:16]
