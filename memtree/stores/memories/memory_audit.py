"""Check the rules between the stored rows of memories; every back end's `check()` calls it.

Pure. It keeps a few numbers and ids per memory, no text.

    >>> rows = {"memory_history": [HistoryRow(1, 2, 1, b"")]}
    >>> audit_memories(lambda table: rows.get(table, []))
    ['memories of scope 1: version 1 of memory 2 has no memory']
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from memtree.agents.memory_schema import MemorySchema
from memtree.errors import StoreCorrupt
from memtree.memories.memory import Memory
from memtree.stores.memories.scopes import ScopeRow
from memtree.stores.memories.stored_schemas import key_of, read_schema, unique_column
from memtree.stores.memories.table_rows import (
    ConflictRow,
    ErasedRow,
    ExtractedRow,
    GroupMemberRow,
    GroupRow,
    HistoryRow,
    MemoryRecipeRow,
    MemoryRow,
    MemoryTenantRow,
    MemoryVectorRow,
    SchemaRow,
    SettingsRow,
    ShownRow,
    TombstoneRow,
    columns,
    read_memory,
    read_tombstone,
)
from memtree.stores.memories.tenant_rows import read_group, read_settings

Lines = Iterator[tuple[int, str]]  # scope (0 if the line concerns none), and the problem


class MemoryFacts(NamedTuple):
    """Facts of a memory, against which its other rows are checked."""

    id: str
    version: int
    counted: bool
    vectors: int
    links: tuple[str, ...]


@dataclass(slots=True)
class _Rows:
    """Rows read so far. Memories by (scope, number); schemas by (tenant, kind); `unique`: pairs of
    scopes and keys of unique values."""

    schemas: dict[tuple[str, str], MemorySchema] = field(default_factory=dict)
    scopes: dict[int, ScopeRow] = field(default_factory=dict)
    memories: dict[tuple[int, int], MemoryFacts] = field(default_factory=dict)
    ids: set[tuple[int, str]] = field(default_factory=set)
    unique: set[tuple[int, str]] = field(default_factory=set)


def audit_memories(rows: Callable[[str], Iterable[Any]]) -> list[str]:
    """Return the problems, one line each. `rows`: reads a table, each once."""
    index = _Rows()
    tenants = {row.tenant: row for row in rows("memory_tenants")}
    lines = [
        *_schemas(rows("memory_schemas"), index),
        *_scopes(rows("memory_scopes"), tenants, index),
        *_memories(rows("memories"), index),
        *_links(index),
        *_counts(index, tenants),
        *_history(rows("memory_history"), index),
        *_tombstones(rows("memory_tombstones"), index),
        *_named("event", rows("erased_memories"), index, there=False),
        *_vectors(rows("memory_vectors"), rows("memory_recipes"), index),
        *_named("conflict", rows("memory_conflicts"), index),
        *_named("shown memory", rows("shown_memories"), index),
        *_groups(rows("memory_groups"), rows("memory_group_members"), index),
        *_settings(rows("memory_settings"), index),
        *_of_scopes("extracted message", rows("extracted_messages"), index),
    ]
    return [f"memories of scope {scope}: {line}" if scope else line for scope, line in lines]


def _schemas(rows: Iterable[SchemaRow], index: _Rows) -> Lines:
    for row in rows:
        try:
            index.schemas[row.tenant, row.kind] = read_schema(*row[1:])
        except StoreCorrupt as error:
            yield 0, f"schema {row.kind}: {error.message}"


def _scopes(
    rows: Iterable[ScopeRow], tenants: Mapping[str, MemoryTenantRow], index: _Rows
) -> Lines:
    for row in rows:
        index.scopes[row.number] = row
        if row.counted and row.tenant not in tenants:
            yield row.number, "its tenant has no counter"


def _memories(rows: Iterable[MemoryRow], index: _Rows) -> Lines:
    for row in rows:
        links = [row.superseded_by, row.duplicate_of]
        memory = None
        try:
            memory = read_memory(row.data)
        except StoreCorrupt as error:
            yield row.scope, f"memory {row.number}: {error.message}"
        else:
            links.append(memory.supersedes or "")
            if memory.superseded_by == row.superseded_by:  # restored without its successor
                links.remove(row.superseded_by)
            for name, value in columns(memory).items():
                if name != "data" and getattr(row, name) != value:
                    yield row.scope, f"memory {row.number}: its row has another {name}"
        scope = index.scopes.get(row.scope)
        if scope is None:
            yield row.scope, f"memory {row.number}: there is no such scope"
        elif not row.event <= row.changed <= scope.changed:
            yield row.scope, f"memory {row.number}: changed after its scope"
        counted = not (row.deleted or row.superseded_by or row.duplicate_of)
        if bool(row.counted) != counted:
            yield row.scope, f"memory {row.number}: it is counted, or not, against its state"
        named = tuple(link for link in links if link)
        if bool(row.superseded_by or row.duplicate_of) != bool(row.replaced):
            yield row.scope, f"memory {row.number}: since when it is replaced is not known"
        if counted:
            yield from _unique_values(row, memory, scope.tenant if scope else "", index)
        known = MemoryFacts(row.id, row.version, bool(row.counted), row.vectors, named)
        index.memories[row.scope, row.number] = known
        index.ids.add((row.scope, row.id))


def _unique_values(row: MemoryRow, memory: Memory | None, tenant: str, index: _Rows) -> Lines:
    """Check that each scope has a key once, and that it is the key of the memory's values.
    `memory`: None if it does not decode."""
    if not row.unique_key:
        return
    if (row.scope, row.unique_key) in index.unique:
        yield row.scope, f"memory {row.number}: another one has its unique values"
    index.unique.add((row.scope, row.unique_key))
    schema = index.schemas.get((tenant, row.kind))
    if memory is None or schema is None:
        return
    if unique_column(row.kind, key_of(schema, memory.data)) != row.unique_key:
        yield row.scope, f"memory {row.number}: its unique values are others"


def _links(index: _Rows) -> Lines:
    for (scope, number), memory in index.memories.items():
        for link in memory.links:
            if (scope, link) not in index.ids:
                yield scope, f"memory {number}: it names {link}, which is missing"


def _counts(index: _Rows, tenants: Mapping[str, MemoryTenantRow]) -> Lines:
    counted = Counter(scope for (scope, _), memory in index.memories.items() if memory.counted)
    of_tenant: Counter[str] = Counter()
    numbers: dict[str, Counter[int]] = {}
    for scope, number in index.memories:
        if scope in index.scopes:
            numbers.setdefault(index.scopes[scope].tenant, Counter())[number] += 1
    for at, row in index.scopes.items():
        of_tenant[row.tenant] += counted[at]
        if row.counted != counted[at]:
            yield at, f"it counts {row.counted} memories, there are {counted[at]}"
    for name, tenant in tenants.items():
        first = min((at for at, row in index.scopes.items() if row.tenant == name), default=0)
        given = numbers.get(name, Counter())
        if tenant.counted != of_tenant[name]:
            yield first, f"its tenant counts {tenant.counted}, there are {of_tenant[name]}"
        if max(given, default=0) > tenant.last:
            yield first, f"its tenant's last number is {tenant.last}, there is {max(given)}"
        for number in sorted(number for number, times in given.items() if times > 1):
            yield first, f"number {number} stands twice in its tenant"


def _history(rows: Iterable[HistoryRow], index: _Rows) -> Lines:
    kept: Counter[tuple[int, int]] = Counter()
    for row in rows:
        memory = index.memories.get((row.scope, row.number))
        where = f"version {row.version} of memory {row.number}"
        if memory is None:
            yield row.scope, f"{where} has no memory"
            continue
        kept[row.scope, row.number] += 1
        if not 1 <= row.version < memory.version:
            yield row.scope, f"{where} is none before {memory.version}"
        try:
            old = read_memory(row.data)
        except StoreCorrupt as error:
            yield row.scope, f"{where}: {error.message}"
        else:
            if old.version != row.version:
                yield row.scope, f"{where}: its row has another version"
    for (scope, number), memory in index.memories.items():
        if kept[scope, number] != memory.version - 1:
            yield scope, f"memory {number}: {kept[scope, number]} of its older versions are kept"


def _tombstones(rows: Iterable[TombstoneRow], index: _Rows) -> Lines:
    for row in rows:
        yield from _of_scope(row, f"tombstone {row.number}", read_tombstone, index)


def _of_scope(
    row: TombstoneRow | GroupRow | SettingsRow,
    where: str,
    read: Callable[[bytes], object],
    index: _Rows,
) -> Lines:
    """Check that the row decodes and that there is its scope."""
    if row.scope not in index.scopes:
        yield row.scope, f"{where}: there is no such scope"
    try:
        read(row.data)
    except StoreCorrupt as error:
        yield row.scope, f"{where}: {error.message}"


def _vectors(
    rows: Iterable[MemoryVectorRow], recipes: Iterable[MemoryRecipeRow], index: _Rows
) -> Lines:
    kept: Counter[tuple[int, int]] = Counter()
    counted: Counter[tuple[int, str]] = Counter()
    for row in rows:
        memory = index.memories.get((row.scope, row.number))
        if memory is None:
            yield row.scope, f"vector {row.recipe} of memory {row.number} has no memory"
            continue
        kept[row.scope, row.number] += 1
        counted[row.scope, row.recipe] += memory.counted
    for (scope, number), memory in index.memories.items():
        if memory.vectors != kept[scope, number]:
            yield scope, f"memory {number}: {memory.vectors} vectors, not {kept[scope, number]}"
    said = {(row.scope, row.recipe): row.counted for row in recipes}
    for scope, recipe in sorted(said.keys() | counted.keys()):
        expected, there = said.get((scope, recipe), 0), counted[scope, recipe]
        if expected != there:
            yield scope, f"recipe {recipe}: it counts {expected} vectors, there are {there}"


def _group_of_row(row: GroupRow, data: bytes) -> None:
    group = read_group(data)
    if (group.id, group.created) != (row.id, row.created):
        raise StoreCorrupt("its row has another id or time")


def _groups(groups: Iterable[GroupRow], members: Iterable[GroupMemberRow], index: _Rows) -> Lines:
    there = set()
    for row in groups:
        there.add((row.scope, row.id))
        yield from _of_scope(row, f"group {row.id}", partial(_group_of_row, row), index)
    for member in members:
        where = f"memory {member.number} in group {member.group_id}"
        if (member.scope, member.group_id) not in there:
            yield member.scope, f"{where}, which is missing"
        if (member.scope, member.number) not in index.memories:
            yield member.scope, f"{where} is missing"


def _settings(rows: Iterable[SettingsRow], index: _Rows) -> Lines:
    for row in rows:
        yield from _of_scope(row, "settings", read_settings, index)


def _of_scopes(what: str, rows: Iterable[ExtractedRow], index: _Rows) -> Lines:
    """Check that the scopes of these rows exist. No other row is required: a mark outlives the
    memory it led to."""
    missing = {row.scope for row in rows} - index.scopes.keys()
    for scope in sorted(missing):
        yield scope, f"{what}: there is no such scope"


def _named(
    what: str,
    rows: Iterable[ErasedRow | ShownRow | ConflictRow],
    index: _Rows,
    *,
    there: bool = True,
) -> Lines:
    for row in rows:
        if ((row.scope, row.number) in index.memories) != there:
            yield (
                row.scope,
                f"{what} of memory {row.number}, which is {'missing' if there else 'there'}",
            )
