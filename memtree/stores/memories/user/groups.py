"""Groups of memories and their members.

A member's row stays as long as the memory is stored, in whatever state: only live memories are
counted and listed, so a restored memory is in its groups again. The successor of a member joins its
groups (`saving.replace_row`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from memtree.errors import BadRequest, Conflict, NotFound, StoreCorrupt
from memtree.memories.ports import MemoryRef
from memtree.memories.scope import Scope
from memtree.memories.user_memories import GroupChange, MemoryGroup
from memtree.stores.memories.reading import known
from memtree.stores.memories.tables.counters import ScopeRow, begin, begin_known
from memtree.stores.memories.tables.expiry import LIVE
from memtree.stores.memories.tables.lookup import live
from memtree.stores.memories.tables.rows import plain, storable
from memtree.stores.sql import Sql

# A look-up for each member, whatever the planner knows: a scalar subquery is never joined.
_COUNT = f"""
    SELECT count(*) FROM memory_group_members AS members
    WHERE members.scope = :scope AND members.group_id = memory_groups.id AND (
        SELECT counted FROM memories WHERE memories.scope = :scope
        AND memories.number = members.number AND {LIVE}) = 1"""
_GROUPS = f"SELECT data, ({_COUNT}) FROM memory_groups WHERE scope = :scope"
_ALL = f"{_GROUPS} ORDER BY created, id"
_ONE = f"{_GROUPS} AND id = :id"
_HOW_MANY = "SELECT count(*) FROM memory_groups WHERE scope = :scope"
_TAKEN = "SELECT 1 FROM memory_groups WHERE scope = :scope AND id = :id"
_ADD = """
    INSERT INTO memory_groups (scope, id, name, created, updated, data)
    VALUES (:scope, :id, :name, :created, :updated, :data)"""
_CHANGE = """
    UPDATE memory_groups SET name = :name, updated = :updated, data = :data
    WHERE scope = :scope AND id = :id"""
_DELETE = "DELETE FROM memory_groups WHERE scope = :scope AND id = :id"
_DELETE_MEMBERS = "DELETE FROM memory_group_members WHERE scope = :scope AND group_id = :id"
_MEMBERS = """
    SELECT number FROM memory_group_members
    WHERE scope = :scope AND group_id = :id AND number IN :numbers[]"""
_JOIN = """
    INSERT INTO memory_group_members (scope, group_id, number, added)
    VALUES (:scope, :id, :number, :added)"""
_LEAVE = """
    DELETE FROM memory_group_members
    WHERE scope = :scope AND group_id = :id AND number IN :numbers[]"""
_NUMBERS = f"""
    SELECT number, id FROM memories WHERE scope = :scope AND id IN :ids[] AND +{LIVE}"""
_OF = """
    SELECT members.number, memory_groups.id
    FROM memory_group_members AS members JOIN memory_groups
        ON memory_groups.scope = :scope AND memory_groups.id = members.group_id
    WHERE members.scope = :scope AND members.number IN :numbers[]
    ORDER BY memory_groups.created, memory_groups.id"""

_decode = msgspec.msgpack.Decoder(MemoryGroup).decode


async def add_group(sql: Sql, scope: Scope, group: MemoryGroup, most: int) -> MemoryGroup:
    at = await begin(sql, scope)
    if not storable(group.id):
        raise BadRequest("The id of a group must be plain text.", param="id")
    if await sql.fetch(_TAKEN, {"scope": at.number, "id": group.id}):
        raise Conflict("There is a group with this id.", param="id")
    ((count,),) = await sql.fetch(_HOW_MANY, {"scope": at.number})
    if count >= most:
        raise Conflict(f"There are {count} groups, and at most {most} are allowed: delete some.")
    group = replace(group, members=0)
    await sql.run(_ADD, _columns(at, group))
    return group


async def groups(sql: Sql, scope: Scope, now: float) -> list[MemoryGroup]:
    number = await known(sql, scope)
    if number is None:
        return []
    rows = await sql.fetch(_ALL, {"scope": number, "now": now})
    return [replace(read_group(data), members=count) for data, count in rows]


async def group(sql: Sql, scope: Scope, id_: str, now: float) -> MemoryGroup:
    number = await known(sql, scope)
    if number is None:
        raise _no_group()
    return await _group(sql, number, id_, now)


async def _group(sql: Sql, scope: int, id_: str, now: float) -> MemoryGroup:
    values = {"scope": scope, "id": id_, "now": now}
    rows = await sql.fetch(_ONE, values) if storable(id_) else []
    if not rows:
        raise _no_group()
    return replace(read_group(rows[0][0]), members=rows[0][1])


async def change_group(
    sql: Sql, scope: Scope, id_: str, change: GroupChange, at: float, now: float
) -> MemoryGroup:
    scope_row = await begin_known(sql, scope)
    if scope_row is None:
        raise _no_group()
    old = await _group(sql, scope_row.number, id_, now)
    after = replace(
        old,
        title=old.title if change.title is None else change.title,
        description=old.description if change.description is None else change.description,
        category=old.category if change.category is None else change.category or None,
        updated=at,
    )
    await sql.run(_CHANGE, _columns(scope_row, after))
    return after


async def delete_group(sql: Sql, scope: Scope, id_: str) -> bool:
    at = await begin_known(sql, scope)
    values = {"scope": at.number if at else 0, "id": id_}
    if at is None or not storable(id_) or not await sql.fetch(_TAKEN, values):
        return False
    await sql.run(_DELETE, values)
    await sql.run(_DELETE_MEMBERS, values)
    return True


async def _begin_members(
    sql: Sql, scope: Scope, id_: str, refs: Sequence[MemoryRef], now: float
) -> tuple[ScopeRow, list[int]]:
    """Lock the scope, and return it with the numbers of those memories that exist. Raises
    `NotFound` if there is no such group."""
    at = await begin_known(sql, scope)
    if at is None:
        raise _no_group()
    await _group(sql, at.number, id_, now)
    return at, [row.number for row in await live(sql, at.number, refs, now)]


async def add_members(
    sql: Sql, scope: Scope, id_: str, refs: Sequence[MemoryRef], *, now: float
) -> int:
    at, numbers = await _begin_members(sql, scope, id_, refs, now)
    values: dict[str, Any] = {"scope": at.number, "id": id_, "added": now}
    there = {number for (number,) in await sql.fetch(_MEMBERS, {**values, "numbers": numbers})}
    new = [{**values, "number": number} for number in numbers if number not in there]
    if new:
        await sql.run_many(_JOIN, new)
    return len(new)


async def remove_members(
    sql: Sql, scope: Scope, id_: str, refs: Sequence[MemoryRef], *, now: float
) -> int:
    at, numbers = await _begin_members(sql, scope, id_, refs, now)
    values = {"scope": at.number, "id": id_, "numbers": numbers}
    there = await sql.fetch(_MEMBERS, values)
    if there:
        await sql.run(_LEAVE, values)
    return len(there)


async def groups_of(
    sql: Sql, scope: Scope, ids: Collection[str], now: float
) -> Mapping[str, list[str]]:
    number = await known(sql, scope)
    storable_ids = [each for each in ids if storable(each)]
    if number is None or not storable_ids:
        return {}
    ids_of: dict[int, str] = dict(
        await sql.fetch(_NUMBERS, {"scope": number, "ids": storable_ids, "now": now})
    )
    members = {"scope": number, "numbers": list(ids_of)}
    by_id: dict[str, list[str]] = {}
    for member, group_id in await sql.fetch(_OF, members) if ids_of else ():
        by_id.setdefault(ids_of[member], []).append(group_id)
    return {each: by_id[each] for each in dict.fromkeys(storable_ids) if each in by_id}


def read_group(data: bytes) -> MemoryGroup:
    """Decode a group. Raises `StoreCorrupt`."""
    try:
        return _decode(data)
    except msgspec.DecodeError as error:
        raise StoreCorrupt(f"A stored group of memories does not decode ({error}).") from error


def _columns(scope: ScopeRow, group: MemoryGroup) -> dict[str, Any]:
    try:
        data = msgspec.msgpack.encode(replace(group, members=0))
    except ValueError as error:  # from lone surrogates
        raise BadRequest(f"A group cannot be stored: {type(error).__name__}.") from None
    return {
        "scope": scope.number,
        "id": group.id,
        "name": plain(group.title),
        "created": group.created,
        "updated": group.updated,
        "data": data,
    }


def _no_group() -> NotFound:
    return NotFound("No group of memories has this group_id.", param="group_id")
