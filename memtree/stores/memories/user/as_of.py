"""Memories as they were at a given time.

A version was in force from its `updated` until the next version's. A row that has not changed since
is selected by its columns, any other by its version of that time.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from memtree.memories.memory import Memory
from memtree.memories.ports import MemoryFilter, MemoryPage
from memtree.memories.scope import Scope
from memtree.stores.memories.reading import known
from memtree.stores.memories.tables.lookup import members
from memtree.stores.memories.tables.rows import LARGEST, conditions, plain, read_memory
from memtree.stores.sql import Sql

_ROWS = 500
_OF_VERSION = """
    SELECT {} FROM memory_history AS older WHERE older.scope = memories.scope
    AND older.number = memories.number AND older.updated <= :at
    ORDER BY older.version DESC LIMIT 1"""
_LASTS = "expires = 0 OR expires > :at"
_LASTED = f"CASE WHEN {_LASTS.replace('expires', 'older.expires')} THEN 1 ELSE 0 END"
# Rows that count now, and rows superseded since: each by an index of its own.
_STATES = (
    "counted = 1 AND created <= :at",
    "replaced > :at AND replaced > 0 AND deleted = 0 AND created <= :at",
)
_COUNTED = f"""
    SELECT number FROM memories WHERE scope = :scope AND {_STATES[0]} AND number < :before AND {{}}
    ORDER BY number DESC LIMIT :limit"""
# `+` makes the planner use the index of `replaced`, instead of reading all numbers.
_REPLACED = f"""
    SELECT number FROM memories WHERE scope = :scope AND {_STATES[1]} AND +number < :before AND {{}}
    ORDER BY +number DESC LIMIT :limit"""
_LIVE = f"""
    CASE WHEN updated <= :at THEN ({_LASTS}) ELSE ({_OF_VERSION.format(_LASTED)}) = 1 END"""
_TOTAL = f"""
    SELECT (SELECT count(*) FROM memories WHERE scope = :scope AND {_STATES[0]} AND {_LIVE})
        + (SELECT count(*) FROM memories WHERE scope = :scope AND {_STATES[1]} AND {_LIVE})"""
_DATA = f"""
    SELECT CASE WHEN updated <= :at THEN data ELSE ({_OF_VERSION.format("older.data")}) END
    FROM memories WHERE scope = :scope AND number IN :numbers[] ORDER BY number DESC"""


async def as_of(
    sql: Sql,
    scope: Scope,
    at: float,
    wanted: MemoryFilter,
    *,
    before: int | None,
    limit: int,
) -> MemoryPage:
    """Return a page of memories as of `at`. Membership in groups is as of now: groups have no
    past."""
    number = await known(sql, scope)
    if number is None:
        return MemoryPage((), False, 0)
    here: dict[str, Any] = {"scope": number, "at": at}
    memories: list[Memory] = []
    below = LARGEST if before is None else max(0, min(before, LARGEST))
    condition, values = _chosen(wanted)
    values |= {**here, **await members(sql, scope, wanted)}
    rows, more = limit + 1, True
    while more and len(memories) <= limit:
        values |= {"before": below, "limit": rows}
        counted = await sql.fetch(_COUNTED.format(condition), values)
        replaced = await sql.fetch(_REPLACED.format(condition), values)
        numbers = sorted((each for (each,) in [*counted, *replaced]), reverse=True)[:rows]
        more = len(numbers) == rows
        if numbers:
            memories += await _in_force(sql, here, numbers, wanted)
            below, rows = numbers[-1], _ROWS
    ((total,),) = await sql.fetch(_TOTAL, here)
    return MemoryPage(tuple(memories[:limit]), len(memories) > limit, total)


def _chosen(wanted: MemoryFilter) -> tuple[str, dict[str, Any]]:
    """Return the condition for rows unchanged since; the columns of changed rows hold their present
    values."""
    of_group, _ = conditions(MemoryFilter(group=wanted.group))
    same, values = conditions(replace(wanted, group=None))
    now = " AND ".join([f"({_LASTS})", *same])
    parts = [*of_group, f"(updated > :at OR ({now}))"]
    return " AND ".join(parts), values


async def _in_force(
    sql: Sql, here: dict[str, Any], numbers: list[int], wanted: MemoryFilter
) -> list[Memory]:
    rows = await sql.fetch(_DATA, {**here, "numbers": numbers})
    every = (read_memory(data, 0.0, "", "") for (data,) in rows if data is not None)
    then = (replace(each, superseded_by=None, duplicate_of=None) for each in every)
    return [each for each in then if each.live(here["at"]) and matches(each, wanted)]


def matches(memory: Memory, wanted: MemoryFilter) -> bool:
    """Return True if the memory meets the conditions of `conditions`, except the group."""
    for name in ("category", "kind", "source_type", "session_id", "thread_id"):
        value = getattr(wanted, name)
        if value is not None and plain(value) != plain(getattr(memory, name)):
            return False
    return (
        (wanted.tainted is None or memory.tainted == wanted.tainted)
        and (wanted.standing is None or bool(memory.standing) == wanted.standing)
        and (wanted.created_from is None or memory.created >= wanted.created_from)
        and (wanted.created_before is None or memory.created < wanted.created_before)
        and {plain(tag) for tag in wanted.tags} <= {plain(tag) for tag in memory.tags}
    )
