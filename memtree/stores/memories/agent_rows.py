"""Read memories of several scopes of agents at once, and store several, each in its place.

They are read by id, in pages, and for a search. Each statement of a search checks the tenant and
its visible agents again, besides the scope numbers that the caller gives.

Structured memories are stored several at once, each replacing the memory that it makes out of date.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, NamedTuple

import msgspec

from memtree.agents.agent_memory import (
    AgentPage,
    AgentScopes,
    LocatedMemory,
    PlacedRow,
    ScopeTotals,
    ScopeVersion,
    StructuredResult,
    StructuredWrite,
    WriteOutcome,
)
from memtree.errors import BadRequest, NotFound
from memtree.memories.memory import Memory, MemoryChange, NewMemory
from memtree.memories.memory_store import MemoryFilter
from memtree.memories.memory_topics import in_place_of
from memtree.memories.scope import Scope
from memtree.stores.memories import memory_reading
from memtree.stores.memories.adding import insert
from memtree.stores.memories.changing import make_way, put_away, put_version, replaced_by
from memtree.stores.memories.conversation_marks import MARK, message_key
from memtree.stores.memories.memory_reading import live, stored
from memtree.stores.memories.scopes import (
    ScopeRow,
    begin,
    commit,
    meant,
    numbers_of,
    scopes_of,
    take_numbers,
)
from memtree.stores.memories.search_data import PACKED_ROWS, SEARCHED, read_rows
from memtree.stores.memories.stored_schemas import holders, keyed, unique_column, unique_keys
from memtree.stores.memories.table_rows import (
    LARGEST,
    LIVE,
    STANDING,
    STORED,
    RowState,
    changed_memory,
    filtering,
    plain,
    read_memory,
    storable,
)
from memtree.stores.sql import Sql, storing

# Uses the index of ids: a scalar subquery is never joined, so the planner cannot read all scopes of
# a tenant instead.
_LOCATE = f"""
    SELECT scope, {STANDING} FROM memories WHERE id IN :ids[] AND (
        SELECT 1 FROM memory_scopes WHERE memory_scopes.number = memories.scope AND {{}}) = 1"""
# Reads a few numbers from each scope, which include the newest of all. Only the rows chosen from
# these are read whole.
_PAGE = f"""
    SELECT owner, subject, memories.number, {", ".join(f"memories.{n}" for n in STORED.split(", "))}
    FROM (
        SELECT owner, subject, memories.scope AS place, memories.number AS newest
        FROM memory_scopes CROSS JOIN memories
        WHERE {{}} AND memories.scope = memory_scopes.number
            AND memories.number IN (
                SELECT number FROM memories WHERE memories.scope = memory_scopes.number
                AND number < :before AND {{}} ORDER BY number DESC LIMIT :limit)
        ORDER BY memories.number DESC LIMIT :limit) AS found
    JOIN memories ON memories.scope = place AND memories.number = newest
    ORDER BY memories.number DESC"""
_TOTAL = """
    SELECT coalesce(sum(counted - (
        SELECT count(*) FROM memories WHERE scope = memory_scopes.number
        AND memories.counted = 1 AND expires > 0 AND expires <= :now)), 0)
    FROM memory_scopes WHERE {} AND counted > 0"""

Found = list[tuple[Scope, int, RowState]]
PAIRS = 32  # rows per query: each scope is searched for each number
_TOTALS = """
    SELECT count(*), coalesce(sum(number), 0), coalesce(sum(changed), 0), coalesce(sum(purges), 0)
    FROM memory_scopes WHERE {of}"""
_VERSIONS = """
    SELECT number, owner, subject, changed, purges, counted FROM memory_scopes
    WHERE {of} ORDER BY number"""
# The scope travels in the session column, since a row of a search has no other place for it.
_SEARCHED = SEARCHED.format("memories.scope || ' ' || session_id AS session_id")
_ROWS = f"""{_SEARCHED}
    WHERE scope IN (SELECT number FROM memory_scopes WHERE {{of}} AND number >= :scope){{more}}
    AND (scope, memories.number) > (:scope, :above) ORDER BY scope, memories.number LIMIT :limit"""
_PLACES = " AND number IN :places[]"
_COUNTED = " AND counted = 1"
_CHANGES = f"""{_SEARCHED}
    WHERE scope = (SELECT number FROM memory_scopes WHERE number = :scope AND {{of}})
    AND changed > :after ORDER BY memories.number"""
_MATCHING = """
    SELECT number FROM memories WHERE scope IN (SELECT number FROM memory_scopes WHERE {of})
    AND {condition}"""
_MEMORIES = f"""
    SELECT scope, memories.number, owner, subject, {STORED} FROM memories
    JOIN (SELECT number, owner, subject FROM memory_scopes
        WHERE number IN :places[] AND {{of}}) AS places ON memories.scope = places.number
    WHERE memories.scope IN :places[] AND memories.number IN :numbers[] AND {{condition}}"""
_PAST = "deleted = 0 AND duplicate_of = ''"


async def locate(
    sql: Sql, scopes: AgentScopes, ids: Sequence[str], also: Sequence[Scope], now: float
) -> list[LocatedMemory]:
    storable_ids = [each for each in dict.fromkeys(ids) if storable(each)]
    if not storable_ids:
        return []
    condition, values = meant(scopes, numbered=True)
    rows = await sql.fetch(_LOCATE.format(condition), {**values, "ids": storable_ids})
    of_numbers = await scopes_of(sql, {scope for scope, *_ in rows})
    agents = [(of_numbers[scope], scope, RowState._make(row)) for scope, *row in rows]
    agents.sort(key=lambda each: (each[0].owner, each[0].subject))
    candidates = [*await _also(sql, also, storable_ids), *agents]
    # among equal times, the order of `also` is kept
    places = {id_: place for place, id_ in enumerate(storable_ids)}
    counting = zip(candidates, await _counting(sql, candidates), strict=True)
    ranked = sorted(counting, key=lambda pair: (places[pair[0][2].id], not pair[1][2].live(now)))
    seen: dict[tuple[int, int], LocatedMemory] = {}
    for _, (scope, number, row) in ranked:
        if row.deleted:
            continue
        seen.setdefault((number, row.number), LocatedMemory(scope, row.memory()))
    return list(seen.values())


async def _also(sql: Sql, also: Sequence[Scope], ids: Sequence[str]) -> Found:
    numbers = await numbers_of(sql, also) if also else {}
    rows: Found = []
    for scope, number in numbers.items():
        rows += [(scope, number, row) for row in await stored(sql, number, ids)]
    return rows


async def _counting(sql: Sql, rows: Found) -> Found:
    """Replace duplicates by the memories that count in their place."""
    of_duplicates: dict[int, list[str]] = {}
    for _, number, row in rows:
        if row.duplicate_of:
            of_duplicates.setdefault(number, []).append(row.duplicate_of)
    mains: dict[tuple[int, str], RowState] = {}
    for number, wanted in of_duplicates.items():
        mains |= {(number, row.id): row for row in await stored(sql, number, wanted)}
    return [
        (scope, number, mains.get((number, row.duplicate_of), row)) for scope, number, row in rows
    ]


async def agent_page(
    sql: Sql,
    scopes: AgentScopes,
    wanted: MemoryFilter,
    *,
    before: int | None,
    limit: int,
    now: float,
) -> AgentPage:
    """Return a page of memories of several scopes. A group belongs to one scope, so a filter for a
    group matches nothing here."""
    single = scopes.single
    if single is not None:
        page = await memory_reading.page(sql, single, wanted, before=before, limit=limit, now=now)
        located = tuple(LocatedMemory(single, each) for each in page.memories)
        return AgentPage(located, page.more, page.total)
    condition, values = meant(scopes)
    ((total,),) = await sql.fetch(_TOTAL.format(condition), {**values, "now": now})
    if wanted.group is not None:
        return AgentPage((), False, int(total))
    matching, more = filtering(wanted, now)
    if not (wanted.deleted or wanted.superseded):  # scopes without any live memory
        condition += " AND memory_scopes.counted > 0"
    last = LARGEST if before is None else max(0, min(before, LARGEST))
    given: dict[str, Any] = {**values, **more, "before": last, "limit": limit + 1}
    rows = await sql.fetch(_PAGE.format(condition, matching), given)
    memories = [
        LocatedMemory(Scope.of_agent(scopes.tenant, owner, subject), read_memory(*row))
        for owner, subject, _, *row in rows[:limit]
    ]
    return AgentPage(tuple(memories), len(rows) > limit, int(total))


async def scope_totals(sql: Sql, scopes: AgentScopes) -> ScopeTotals:
    condition, values = meant(scopes)
    (totals,) = await sql.fetch(_TOTALS.format(of=condition), values)
    return ScopeTotals._make(int(each) for each in totals)


async def scope_versions(sql: Sql, scopes: AgentScopes) -> list[ScopeVersion]:
    condition, values = meant(scopes)
    rows = await sql.fetch(_VERSIONS.format(of=condition), values)
    return [ScopeVersion._make(row) for row in rows]


async def placed_rows(
    sql: Sql,
    scopes: AgentScopes,
    recipe: str,
    places: Collection[int] | None,
    *,
    counted: bool,
) -> list[PlacedRow]:
    condition, values = meant(scopes)
    if places is not None:
        condition += _PLACES
        values["places"] = sorted(places)
    query = _ROWS.format(of=condition, more=_COUNTED if counted else "")
    values |= {"recipe": recipe, "limit": PACKED_ROWS}
    rows: list[PlacedRow] = []
    full = True
    while full:
        place, above = (rows[-1].place, rows[-1].row.number) if rows else (0, 0)
        part = await read_rows(sql, query, {**values, "scope": place, "above": above})
        rows += map(_placed, part)
        full = len(part) == PACKED_ROWS
    return rows


async def placed_changes(
    sql: Sql, scopes: AgentScopes, recipe: str, after: Mapping[int, int]
) -> list[PlacedRow]:
    condition, values = meant(scopes)
    query = _CHANGES.format(of=condition)
    rows: list[PlacedRow] = []
    for place, seen in after.items():
        more = {"recipe": recipe, "scope": place, "after": seen}
        rows += map(_placed, await read_rows(sql, query, {**values, **more}))
    return rows


async def matching_in(sql: Sql, scopes: AgentScopes, wanted: MemoryFilter, now: float) -> list[int]:
    condition, values = meant(scopes)
    wanted_here, more = filtering(wanted, now)
    query = _MATCHING.format(of=condition, condition=wanted_here)
    return [number for (number,) in await sql.many("i", query, {**values, **more})]


async def placed_memories(
    sql: Sql, scopes: AgentScopes, places: Sequence[tuple[int, int]], now: float, *, past: bool
) -> list[LocatedMemory]:
    condition, values = meant(scopes)
    query = _MEMORIES.format(of=condition, condition=_PAST if past else LIVE)
    values |= {} if past else {"now": now}
    memories: dict[tuple[int, int], LocatedMemory] = {}
    for start in range(0, len(places), PAIRS):
        part = places[start : start + PAIRS]
        extra = {
            "places": sorted({place for place, _ in part}),
            "numbers": sorted({number for _, number in part}),
        }
        for place, number, owner, subject, *row in await sql.fetch(query, {**values, **extra}):
            scope = Scope.of_agent(scopes.tenant, owner, subject)
            memories[place, number] = LocatedMemory(scope, read_memory(*row))
    return [memories[each] for each in places if each in memories]


def _placed(row: Any) -> PlacedRow:
    place, _, session = (row.session or "").partition(" ")
    # Prefixed with the scope, so that equally named sessions of two scopes stay apart.
    return PlacedRow(int(place), row._replace(session=f"{place} {session}" if session else None))


_MARKED = "SELECT 1 FROM extracted_messages WHERE scope = :scope AND key IN :keys[] LIMIT 1"


class _Write(NamedTuple):
    """A write of a call. `place`: its index in the call. `key`: of its unique values."""

    place: int
    write: StructuredWrite
    key: str


@dataclass(slots=True)
class _Batch:
    """State of the transaction so far. `counted`: how many live memories it added, less those it
    removed."""

    scope: ScopeRow
    most: int
    now: float
    counted: int = 0
    changed: bool = False
    results: list[StructuredResult] = field(default_factory=list)


async def write(
    sql: Sql,
    scope: Scope,
    writes: Sequence[StructuredWrite],
    *,
    done: Sequence[bytes],
    most: int,
    now: float,
) -> list[StructuredResult] | None:
    at = await begin(sql, scope)
    marks = list(dict.fromkeys(message_key(each) for each in done))
    if marks and await sql.fetch(_MARKED, {"scope": at.number, "keys": marks}):
        return None
    batch = _Batch(at, most, now)
    given = [
        keyed(each.memory, unique_column(each.memory.kind, each.unique_key)) for each in writes
    ]
    keys = await unique_keys(sql, at, given)
    if not await _as_expected(sql, at, writes, keys, now):
        return None
    for run in runs([_Write(*each) for each in zip(count(), writes, keys)]):
        if run[0].write.replaces:
            await _replace(sql, batch, run[0])
        else:
            await _add(sql, batch, run)
    row = {"scope": at.number, "number": 0, "at": now}
    await sql.run_many(MARK, [{**row, "key": key} for key in marks])
    if batch.changed:
        await commit(sql, at, counted=batch.counted)
    return batch.results


async def _as_expected(
    sql: Sql, scope: ScopeRow, writes: Sequence[StructuredWrite], keys: Sequence[str], now: float
) -> bool:
    """Return True if the memories that the writes were based on are unchanged, and no other memory
    has their unique values."""
    expected = [
        (*write.expected, key)
        for write, key in zip(writes, keys, strict=True)
        if write.expected is not None
    ]
    if not expected:
        return True
    there = await holders(sql, scope, [key for *_, key in expected], now)
    ids = sorted({id_ for id_, *_ in expected if id_})
    rows = await live(sql, scope.number, ids, now, follow=False)
    versions = {row.id: row.version for row in rows}
    return all(
        (not id_ or versions.get(id_) == version) and (key not in there or there[key].id == id_)
        for id_, version, key in expected
    )


def runs(items: Sequence[_Write]) -> Iterator[list[_Write]]:
    """Split the items into parts that can be stored in one step each: no item of a part makes
    another out of date, and an item that replaces a memory is a part by itself."""
    run: list[_Write] = []
    keys: set[str] = set()
    for each in items:
        alone = bool(each.write.replaces or (run and run[0].write.replaces))
        if run and (alone or each.key in keys):
            yield run
            run, keys = [], set()
        run.append(each)
        keys |= {each.key} - {""}
    if run:
        yield run


async def _add(sql: Sql, batch: _Batch, run: Sequence[_Write]) -> None:
    at = batch.scope
    keys = [each.key for each in run]
    there = await holders(sql, at, keys, batch.now)
    new: list[NewMemory] = []
    new_keys: list[str] = []
    replaced: dict[str, RowState] = {}  # by the id of the memory that replaces it
    same: dict[int, Memory] = {}  # by the index of the write
    for each in run:
        given, old = each.write.memory, there.get(each.key) if each.key else None
        if old is not None:
            given = in_place_of(given, old.memory())
            if says_the_same(old.memory(), given):
                same[each.place] = old.memory()
                continue
            replaced[given.id] = old
        new.append(replace(given, supersedes=old.id) if old else given)
        new_keys.append(each.key)
    stored_ones = iter(await _insert(sql, batch, new, new_keys, replaced))
    for each in run:
        if each.place in same:
            batch.results.append(StructuredResult(same[each.place], WriteOutcome.UNCHANGED))
            continue
        memory = next(stored_ones)
        outcome = WriteOutcome.UPDATED if memory.id in replaced else WriteOutcome.CREATED
        gone = replaced[memory.id].id if memory.id in replaced else None
        batch.results.append(StructuredResult(memory, outcome, gone))


async def _insert(
    sql: Sql,
    batch: _Batch,
    new: Sequence[NewMemory],
    keys: Sequence[str],
    replaced: dict[str, RowState],
) -> list[Memory]:
    if not new:
        return []
    batch.counted += len(new) - len(replaced)
    batch.changed = True
    first = await take_numbers(
        sql, batch.scope, len(new), most=batch.most, now=batch.now, live=batch.counted
    )
    since = {each.id: each.created for each in new}
    gone = [(row, by, since[by]) for by, row in replaced.items()]
    # first, since two memories would share one key otherwise
    await put_away(sql, batch.scope, gone)
    memories = await insert(sql, batch.scope, new, first, keys)
    heirs = {each.id: each.number for each in memories}
    await replaced_by(sql, batch.scope, [(row.number, heirs[by]) for row, by, _ in gone])
    return memories


async def _replace(sql: Sql, batch: _Batch, item: _Write) -> None:
    """Store a new version under the existing id. Another memory that has its unique values is
    superseded."""
    at, new, key = batch.scope, item.write.memory, item.key
    where = f"writes[{item.place}].replaces"
    rows = await live(sql, at.number, [item.write.replaces], batch.now)
    if not rows:
        raise NotFound(f"{where}: there is no such memory.", param=where)
    row, old = rows[0], rows[0].memory()
    if plain(new.kind) != plain(old.kind):
        raise BadRequest(f"{where}: the memory to be replaced is of another kind.", param=where)
    new = in_place_of(new, old)
    rival = (await holders(sql, at, [key], batch.now)).get(key)
    if rival is not None:
        new = in_place_of(new, rival.memory())
    if key == row.unique_key and says_the_same(old, new):
        batch.results.append(StructuredResult(old, WriteOutcome.UNCHANGED))
        return
    change = _version(old, new)
    memory = replace(changed_memory(old, change), thread_id=new.thread_id or old.thread_id)
    superseded = await make_way(sql, at, row, key, since=memory.updated, now=batch.now)
    if superseded:
        memory = replace(memory, supersedes=superseded)
        batch.counted -= 1
    await put_version(sql, at, row, memory, change, unique_key=key)
    batch.changed = True
    batch.results.append(StructuredResult(memory, WriteOutcome.UPDATED, superseded))


def _version(old: Memory, new: NewMemory) -> MemoryChange:
    """Build the change from old to new. Old tags stay if the new memory has none."""
    return MemoryChange(
        new.created,
        new.text,
        new.text_hash,
        new.terms,
        category=new.category,
        tags=new.tags or old.tags,
        data=new.data,
        expires=new.expires,
        tainted=new.tainted,
        standing=new.standing,
        confidence=new.confidence,
        happened=new.happened,
        mentions=new.mentions,
    )


def says_the_same(old: Memory, new: NewMemory) -> bool:
    """Return True if storing the new memory would change nothing. Losing its taint is a change."""
    return (
        old.text == new.text
        and _packed(old.data) == _packed(new.data)
        and (not new.tags or set(old.tags) == set(new.tags))
        and old.expires == new.expires
        and (new.tainted or not old.tainted)
    )


def _packed(data: object) -> bytes:
    """Encode data for comparison: `1`, `1.0` and `true` are three different values here."""
    with storing("memory"):
        return msgspec.msgpack.encode(data, order="deterministic")
