"""Add memories. Rows with the same content are one memory: one counts, the others are its
duplicates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

from memtree.errors import BadRequest, Conflict
from memtree.memories.memory import MAX_TAGS, Memory, NewMemory
from memtree.memories.memory_store import Added
from memtree.memories.memory_topics import is_own_word, outranks
from memtree.memories.scope import Scope, ScopeKind
from memtree.stores.memories.memory_reading import duplicates, of_text
from memtree.stores.memories.scopes import ScopeRow, begin, commit, count_vectors, take_numbers
from memtree.stores.memories.table_rows import (
    MemoryRow,
    RowState,
    columns,
    new_memory,
    storable,
    time_column,
)
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
SAID = """
    version expires updated tainted standing kind category source_type session_id thread_id tags
    data
""".split()
ADD = f"""
    INSERT INTO memories ({", ".join(MemoryRow._fields)})
    VALUES ({", ".join(f":{name}" for name in MemoryRow._fields)})"""


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


async def add(
    sql: Sql,
    scope: Scope,
    memory: NewMemory,
    *,
    once: bool,
    most: int,
    now: float,
) -> Added:
    at = await begin(sql, scope)
    there = await of_text(sql, at.number, memory.text_hash, now) if once else None
    if there is not None and not outranks(memory, there.memory()):
        return Added(there.memory(), existing=True)
    joins = there is not None or not once
    twin = await twin_of(sql, at, memory.text_hash, memory.kind, now) if joins else None
    number = await take_numbers(sql, at, 1, most=most, now=now)
    both = joined(memory, twin, by_person=is_own_word(memory)) if twin else memory
    (stored,) = await insert(sql, at, [both], number)
    if twin:
        await count_as(sql, at, twin, stored.id, number, now)
    await commit(sql, at, counted=0 if twin else 1)
    return Added(stored)


async def add_many(
    sql: Sql, scope: Scope, memories: Sequence[NewMemory], *, once: bool, most: int, now: float
) -> list[Added]:
    if not memories:
        return []
    at = await begin(sql, scope)
    added = await add_here(sql, at, memories, once=once, most=most, now=now)
    new = sum(not each.existing for each in added)
    if new:
        await commit(sql, at, counted=new)
    return added


async def add_here(
    sql: Sql,
    scope: ScopeRow,
    memories: Sequence[NewMemory],
    *,
    once: bool,
    most: int,
    now: float,
) -> list[Added]:
    """Add memories in a transaction that has begun and whose caller counts the change."""
    there: dict[bytes, Memory] = {}
    first = {each.text_hash: each for each in reversed(memories)}
    for text_hash, each in first.items() if once else ():
        row = await of_text(sql, scope.number, text_hash, now)
        if row is not None and not outranks(each, row.memory()):
            there[row.text_hash] = row.memory()
    new = [
        each
        for each in memories
        if not once or (each.text_hash not in there and each is first[each.text_hash])
    ]
    if not new:
        return [Added(there[each.text_hash], existing=True) for each in memories]
    number = await take_numbers(sql, scope, len(new), most=most, now=now)
    stored = await insert(sql, scope, new, number)
    if not once:
        return [Added(each) for each in stored]
    there |= {each.text_hash: kept for each, kept in zip(new, stored, strict=True)}
    ours = {each.id for each in new}
    return [Added(there[m.text_hash], existing=m.id not in ours) for m in memories]


async def insert(
    sql: Sql,
    scope: ScopeRow,
    memories: Sequence[NewMemory],
    first: int,
    unique_keys: Sequence[str] = (),
) -> list[Memory]:
    """Insert live memories with numbers from `first` on. `unique_keys`: one for each memory, or
    none at all."""
    await refuse_taken(sql, scope.number, [each.id for each in memories])
    stored = [new_memory(each, first + at) for at, each in enumerate(memories)]
    rows = [
        added_row(scope, memory, text_hash=new.text_hash, terms=new.terms, unique_key=key)
        for new, memory, key in zip(
            memories, stored, unique_keys or [""] * len(stored), strict=True
        )
    ]
    await sql.run_many(ADD, rows)
    return stored


def added_row(
    scope: ScopeRow,
    memory: Memory,
    *,
    text_hash: bytes,
    terms: bytes,
    counted: int = 1,
    unique_key: str = "",
) -> dict[str, Any]:
    return {
        "scope": scope.number,
        "changed": scope.next,
        "event": scope.next,
        "counted": counted,
        "vectors": 0,
        "deleted": 0.0,
        "superseded_by": "",
        "duplicate_of": "",
        "replaced": 0.0,
        "text_hash": text_hash,
        "terms": terms,
        "unique_key": unique_key,
        **columns(memory),
    }


async def refuse_taken(sql: Sql, scope: int, ids: Sequence[str]) -> None:
    if not all(storable(each) for each in ids):
        raise BadRequest("The id of a memory must be plain text.", param="id")
    values = {"scope": scope, "ids": list(ids)}
    taken = "SELECT 1 FROM memories WHERE scope = :scope AND id IN :ids[] LIMIT 1"
    if len(set(ids)) < len(ids) or await sql.fetch(taken, values):
        raise Conflict("There is a memory with this id.", param="id")
