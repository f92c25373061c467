"""Change memories, and let one count in the place of another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from memtree.agents.agent_memory import LocatedMemory
from memtree.errors import BadRequest, NotFound, VersionConflict
from memtree.memories.memory import Memory, MemoryChange, NewMemory, Tombstone, Unset
from memtree.memories.memory_store import MemoryRef
from memtree.memories.memory_topics import is_own_word
from memtree.memories.scope import Scope
from memtree.stores.memories import stored_schemas
from memtree.stores.memories.adding import (
    JOIN_GROUPS,
    SAID,
    added_row,
    count_as,
    insert,
    joined,
    twin_of,
)
from memtree.stores.memories.memory_reading import kept, live
from memtree.stores.memories.scopes import (
    ScopeRow,
    begin_known,
    begin_of_rows,
    commit,
    count_tenant,
    count_vectors,
    stamp,
    take_numbers,
)
from memtree.stores.memories.table_rows import (
    RowState,
    TombstoneRow,
    changed_memory,
    encoded,
    time_column,
)
from memtree.stores.schema import insert_into, upsert_into
from memtree.stores.sql import Sql

_CHANGE_COLUMNS = ("changed", "event", "vectors", "text_hash", "terms", "unique_key", *SAID)
_CHANGE = f"""
    UPDATE memories SET {", ".join(f"{name} = :{name}" for name in _CHANGE_COLUMNS)}
    WHERE scope = :scope AND number = :number"""
KEEP_VERSION = insert_into("memory_history")
_DROP_VECTORS = "DELETE FROM memory_vectors WHERE scope = :scope AND number = :number"
# A memory with a new text may replace other memories than before.
FORGET_PAIRS = """
    DELETE FROM memory_conflicts WHERE scope = :scope AND (number = :number OR other = :number)"""
_SUPERSEDE = """
    UPDATE memories SET superseded_by = :by, replaced = :at, counted = 0, changed = :changed,
        event = :changed
    WHERE scope = :scope AND number = :number"""
_PUT_TOMBSTONE = upsert_into("memory_tombstones", "scope, number", "at", "data")


async def change(
    sql: Sql,
    scope: Scope,
    ref: MemoryRef,
    change: MemoryChange,
    *,
    if_version: int | None,
    now: float,
) -> Memory:
    at, row = await _begin_one(sql, scope, ref)
    if if_version is not None and row.version != if_version:
        raise VersionConflict(
            f"The memory has version {row.version}, not {if_version}: somebody changed it."
        )
    change, fewer = await _joining(sql, at, row, change, now)
    memory, counted = await next_version(sql, at, row, change, now)
    await commit(sql, at, counted=counted - fewer)
    return memory


async def _joining(
    sql: Sql, scope: ScopeRow, row: RowState, change: MemoryChange, now: float
) -> tuple[MemoryChange, int]:
    """Merge a memory with another live one, if it is going to say the same. Returns the change with
    the fields of both, and how many fewer memories count. Only people edit texts."""
    if isinstance(change.text, Unset) or change.text_hash == row.text_hash or not row.live(now):
        return change, 0
    changed = changed_memory(row.memory(), change)
    twin = await twin_of(sql, scope, change.text_hash, changed.kind, now)
    if twin is None or twin.number == row.number:
        return change, 0
    await count_as(sql, scope, twin, row.id, row.number, now)
    both = joined(changed, twin, by_person=True)
    return replace(
        change,
        tags=both.tags,
        expires=both.expires,
        tainted=both.tainted,
        standing=both.standing,
    ), 1


async def next_version(
    sql: Sql, scope: ScopeRow, row: RowState, change: MemoryChange, now: float
) -> tuple[Memory, int]:
    """Return the next version, and by how many the live memories grow. Another memory that has the
    unique values of the new data is superseded; the scope's counters stay unchanged."""
    memory = changed_memory(row.memory(), change)
    # another memory may have its values
    revived = row.counted and not row.live(now) and memory.live(now)
    if isinstance(change.data, Unset) and not revived:
        await put_version(sql, scope, row, memory, change)
        return memory, 0
    (key,) = await stored_schemas.unique_keys(
        sql, scope, [stored_schemas.keyed(memory, row.unique_key)]
    )
    superseded = await make_way(sql, scope, row, key, since=memory.updated, now=now)
    if superseded:
        memory = replace(memory, supersedes=superseded)
    await put_version(sql, scope, row, memory, change, unique_key=key)
    return memory, -1 if superseded else 0


async def make_way(
    sql: Sql, scope: ScopeRow, row: RowState, key: str, *, since: float, now: float
) -> str | None:
    """Supersede another live memory that has this unique key, since `row` has it from now on.
    Returns that memory's id; None if there was none."""
    other = (await stored_schemas.holders(sql, scope, [key], now)).get(key)
    if other is None or other.number == row.number:
        return None
    await put_away(sql, scope, [(other, row.id, since)])
    await replaced_by(sql, scope, [(other.number, row.number)])
    return other.id


async def put_version(
    sql: Sql,
    scope: ScopeRow,
    row: RowState,
    memory: Memory,
    change: MemoryChange,
    *,
    unique_key: str | None = None,
) -> None:
    """Store the next version of a memory, the result of `change`; the version before goes into its
    history. `unique_key`: the new key, if it changes."""
    hashed = not isinstance(change.text, Unset)
    text_hash = change.text_hash if hashed else row.text_hash
    terms = change.terms if hashed else row.terms
    old, place = row.memory(), {"scope": scope.number, "number": row.number}
    if memory.text != old.text:
        await count_vectors(sql, scope, [row.number] if row.counted else [], -1)
        await sql.run(_DROP_VECTORS, place)
        await sql.run(FORGET_PAIRS, place)
    await sql.run(KEEP_VERSION, {**place, "version": old.version, "data": row.data})
    key = row.unique_key if unique_key is None else unique_key
    after = added_row(scope, memory, text_hash=text_hash, terms=terms, unique_key=key)
    vectors = row.vectors if memory.text == old.text else 0
    await sql.run(_CHANGE, {**after, "vectors": vectors})


async def supersede(
    sql: Sql, scope: Scope, ref: MemoryRef, by: NewMemory, *, reason: str, now: float
) -> Memory:
    at, row = await _begin_one(sql, scope, ref, now)
    (key,) = await stored_schemas.unique_keys(sql, at, [stored_schemas.keyed(by)])
    rivals = await stored_schemas.holders(sql, at, [key], now)
    others = [(each, by.id, by.created) for each in rivals.values() if each.number != row.number]
    twin = await twin_of(sql, at, by.text_hash, by.kind, now)
    if twin and twin.number == row.number:
        twin = None
    number = await take_numbers(sql, at, 1)
    # first, since two memories would share one key otherwise
    await put_away(sql, at, [(row, by.id, by.created), *others])
    both = joined(by, twin, by_person=is_own_word(by)) if twin else by
    new = replace(both, supersedes=row.id)
    (memory,) = await insert(sql, at, [new], number, [key])
    if twin:
        await count_as(sql, at, twin, memory.id, number, now)
    await replaced_by(sql, at, [(gone.number, number) for gone in (row, *rivals.values())])
    await leave_corrected(sql, at, row, memory, reason, now)
    await commit(sql, at, counted=-len(others) - bool(twin))
    return memory


async def leave_corrected(
    sql: Sql, scope: ScopeRow, row: RowState, by: Memory, reason: str, now: float
) -> None:
    tombstone = Tombstone(row.id, row.number, now, reason, row.memory().text, by.id)
    await put_tombstones(sql, scope, [tombstone])


async def put_tombstones(sql: Sql, scope: ScopeRow, stones: Iterable[Tombstone]) -> None:
    rows = [TombstoneRow(scope.number, each.number, each.at, encoded(each)) for each in stones]
    await sql.run_many(_PUT_TOMBSTONE, [row._asdict() for row in rows])


async def put_away(
    sql: Sql, scope: ScopeRow, replaced: Sequence[tuple[RowState, str, float]]
) -> None:
    """Mark live memories as superseded: each with the id of the memory that counts in its place,
    and since when."""
    if not replaced:
        return
    marks = [
        {
            "scope": scope.number,
            "number": row.number,
            "by": by,
            "at": time_column(since),
            "changed": scope.next,
        }
        for row, by, since in replaced
    ]
    await sql.run_many(_SUPERSEDE, marks)
    await count_vectors(sql, scope, [row.number for row, *_ in replaced], -1)


async def replaced_by(sql: Sql, scope: ScopeRow, heirs: Sequence[tuple[int, int]]) -> None:
    """Add the successors of memories to the groups of those memories. `heirs`: pairs of numbers,
    old and new."""
    joins = [{"scope": scope.number, "number": old, "heir": new} for old, new in heirs]
    await sql.run_many(JOIN_GROUPS, joins)


async def merge(
    sql: Sql,
    scope: Scope,
    ref: MemoryRef,
    older: MemoryRef,
    *,
    reason: str,
    change: MemoryChange | None,
    now: float,
) -> Memory:
    """Merge two memories: `ref` counts from now on, `older` is superseded. The first gets a new
    version, so that its history shows when. Superseded memories name it in `superseded_by`; its own
    `supersedes` names the last one only."""
    at, row = await _begin_one(sql, scope, ref, now)
    rows = await live(sql, at.number, [older], now)
    if not rows:
        raise NotFound("There is no memory with the id in with.", param="with")
    if rows[0].number == row.number:
        raise BadRequest("with must name another memory, not the one itself.", param="with")
    change = change or MemoryChange(now)
    memory = replace(changed_memory(row.memory(), change), supersedes=rows[0].id)
    await put_away(sql, at, [(rows[0], memory.id, now)])
    await replaced_by(sql, at, [(rows[0].number, memory.number)])
    await leave_corrected(sql, at, rows[0], memory, reason, now)
    await put_version(sql, at, row, memory, change, unique_key=row.unique_key)
    await commit(sql, at, counted=-1)
    return memory


async def mark_duplicate(sql: Sql, scope: Scope, id_: str, of: str, *, now: float) -> bool:
    at = await begin_known(sql, scope)
    if at is None:
        return False
    first, other = [await live(sql, at.number, [each], now, follow=False) for each in (id_, of)]
    if not first or not other or id_ == of:
        return False
    await count_as(sql, at, first[0], of, other[0].number, now)
    await commit(sql, at, counted=-1)
    return True


async def _begin_one(
    sql: Sql, scope: Scope, ref: MemoryRef, now: float | None = None
) -> tuple[ScopeRow, RowState]:
    """Lock the scope, and return it with the memory; `now`: only if that is live."""
    at = await begin_known(sql, scope)
    rows = await kept(sql, at.number, [ref]) if at else []
    if at is None or not rows or not (now is None or rows[0].live(now)):
        raise NotFound("There is no memory with this id.")
    return at, rows[0]


async def change_all(
    sql: Sql, rows: Sequence[tuple[Scope, str]], change: MemoryChange, *, now: float
) -> list[LocatedMemory]:
    changed: dict[tuple[Scope, str], LocatedMemory] = {}
    of_tenants: Counter[str] = Counter()
    for at, ids in await begin_of_rows(sql, rows):
        counted, any_changed = 0, False
        # If two get the same unique values, the first is superseded.
        one_by_one = not isinstance(change.data, Unset)
        for part in [[each] for each in ids] if one_by_one else [ids]:
            for row in await kept(sql, at.number, part):
                memory, more = await next_version(sql, at, row, change, now)
                changed[at.scope, row.id] = LocatedMemory(at.scope, memory)
                counted, any_changed = counted + more, True
        if any_changed:
            await stamp(sql, at, counted=counted)
            of_tenants[at.tenant] += counted
    for tenant in sorted(of_tenants):
        await count_tenant(sql, tenant, of_tenants[tenant])
    return in_order_of(changed, rows)


def in_order_of(
    changed: dict[tuple[Scope, str], LocatedMemory], rows: Sequence[tuple[Scope, str]]
) -> list[LocatedMemory]:
    """Order the changed rows as requested; memories that were requested by the id of a duplicate
    come last."""
    requested = (each for each in rows if each in changed)
    return [changed[each] for each in dict.fromkeys((*requested, *changed))]
