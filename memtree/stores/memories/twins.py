"""One memory for all rows with the same content: one counts, the others are its duplicates."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from memtree.memories.memory import MAX_TAGS, Memory, NewMemory
from memtree.memories.scope import ScopeKind
from memtree.stores.memories.tables.counters import ScopeRow, count_vectors
from memtree.stores.memories.tables.lookup import duplicates, of_text
from memtree.stores.memories.tables.rows import RowState, time_column
from memtree.stores.sql import Sql

Said = TypeVar("Said", Memory, NewMemory)
_JOINING = (ScopeKind.CHAT, ScopeKind.USER)
_DUPLICATE = """
    UPDATE memories SET duplicate_of = :of, counted = 0, changed = :changed, event = :changed,
        replaced = CASE WHEN replaced > 0 THEN replaced ELSE :at END
    WHERE scope = :scope AND number IN :numbers[]"""
JOIN_GROUPS = """
    INSERT INTO memory_group_members (scope, group_id, number, added)
    SELECT scope, group_id, :heir, added FROM memory_group_members
    WHERE scope = :scope AND number = :number
    ON CONFLICT DO NOTHING"""


async def twin_of(
    sql: Sql, scope: ScopeRow, text_hash: bytes, kind: str, now: float
) -> RowState | None:
    """Return the live memory of this kind that already has this text, in a scope of a user or a
    chat. From then on the two count as one."""
    if scope.kind not in _JOINING or kind:
        return None
    twin = await of_text(sql, scope.number, text_hash, now)
    return None if twin is None or twin.memory().kind else twin


def joined(new: Said, twin: RowState, *, by_person: bool) -> Said:
    """Merge a memory with its twin: all tags and the later expiry. Where a person says it again
    (`by_person`), it has no taint if one of them has none, and stands if one of them does; a model
    that says it again changes neither."""
    old: Memory = twin.memory()
    ends = (new.expires, old.expires)
    tainted, standing = old.tainted, old.standing
    if by_person:
        tainted, standing = new.tainted and tainted, new.standing or standing
    return replace(
        new,
        tags=tuple(dict.fromkeys((*new.tags, *old.tags)))[:MAX_TAGS],
        expires=None if None in ends else max(end for end in ends if end is not None),
        tainted=tainted,
        standing=standing,
    )


async def count_as(
    sql: Sql, scope: ScopeRow, row: RowState, main: str, number: int, now: float
) -> None:
    """Make a live memory and its duplicates duplicates of `main`, which has this number."""
    every = [row.number, *(each.number for each in await duplicates(sql, scope.number, [row]))]
    values = {"scope": scope.number, "numbers": every, "of": main, "changed": scope.next}
    await sql.run(_DUPLICATE, {**values, "at": time_column(now)})
    heirs = {"scope": scope.number, "number": row.number, "heir": number}
    await sql.run(JOIN_GROUPS, heirs)
    await count_vectors(sql, scope, [row.number], -1)
