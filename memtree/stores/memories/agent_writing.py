"""Store structured memories: several at once, each replacing the memory that it makes out of
date."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import NamedTuple

import msgspec

from memtree.agents.agent_memory import StructuredResult, StructuredWrite, WriteOutcome
from memtree.errors import BadRequest, NotFound
from memtree.memories.memory import Memory, MemoryChange, NewMemory
from memtree.memories.scope import Scope
from memtree.memories.standing import in_place_of
from memtree.stores.memories.adding import insert
from memtree.stores.memories.changing import make_way, put_away, put_version, replaced_by
from memtree.stores.memories.conversation_marks import MARK, message_key
from memtree.stores.memories.lookup import live
from memtree.stores.memories.rows import RowState, changed_memory, plain
from memtree.stores.memories.scopes import ScopeRow, begin, commit, take_numbers
from memtree.stores.memories.stored_schemas import holders, keyed, unique_column, unique_keys
from memtree.stores.sql import Sql, storing

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
