"""Check the rules between the stored rows of memories; every back end's `check()` calls it.

Pure. It keeps a few numbers and ids per memory, no text.

    >>> audit_memories(MemoryRows(memory_history=[HistoryRow(1, 2, 1, b"", 0.0, 0.0)]))
    ['memories of scope 1: version 1 of memory 2 has no memory']
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from memtree.errors import StoreCorrupt
from memtree.stores.memories.agent.audit import AgentAudit, Lines
from memtree.stores.memories.counters import ScopeRow
from memtree.stores.memories.rows import columns, old_version, read_memory, read_tombstone
from memtree.stores.memories.tables import (
    ConflictRow,
    ErasedRow,
    ExtractedRow,
    GroupMemberRow,
    GroupRow,
    HistoryRow,
    MemoryKeyRow,
    MemoryRecipeRow,
    MemoryRow,
    MemoryRows,
    MemoryTenantRow,
    MemoryVectorRow,
    SettingsRow,
    ShownRow,
    TombstoneRow,
)
from memtree.stores.memories.user.groups import read_group
from memtree.stores.memories.user.settings import read_settings


class MemoryFacts(NamedTuple):
    """Facts of a memory, against which its other rows are checked."""

    id: str
    version: int
    counted: bool
    vectors: int
    links: tuple[str, ...]


@dataclass(slots=True)
class _Found:
    """Rows that were read so far. Memories by (scope, number)."""

    agents: AgentAudit = field(default_factory=AgentAudit)
    scopes: dict[int, ScopeRow] = field(default_factory=dict)
    memories: dict[tuple[int, int], MemoryFacts] = field(default_factory=dict)
    ids: set[tuple[int, str]] = field(default_factory=set)


def audit_memories(rows: MemoryRows) -> list[str]:
    """Problems, one line each."""
    found = _Found()
    tenants = {row.tenant: row for row in rows.memory_tenants}
    lines = list(found.agents.read_schemas(rows.memory_schemas))
    lines += list(_scopes(rows.memory_scopes, tenants, found))
    lines += list(_memories(rows.memories, found))
    lines += list(_links(found))
    lines += list(_counts(found, tenants))
    lines += list(_history(rows.memory_history, found))
    lines += list(_tombstones(rows.memory_tombstones, found))
    lines += list(_named("event", rows.erased_memories, found, there=False))
    lines += list(_vectors(rows.memory_vectors, rows.memory_recipes, found))
    lines += list(_named("idempotency key", rows.memory_keys, found))
    lines += list(_named("conflict", rows.memory_conflicts, found))
    lines += list(_named("shown memory", rows.shown_memories, found))
    lines += list(_groups(rows.memory_groups, rows.memory_group_members, found))
    lines += list(_settings(rows.memory_settings, found))
    lines += list(_of_scopes("extracted message", rows.extracted_messages, found))
    lines += list(found.agents.read_writes(rows.memory_writes, found.scopes))
    return [f"memories of scope {scope}: {line}" if scope else line for scope, line in lines]


def _scopes(
    rows: Iterable[ScopeRow], tenants: Mapping[str, MemoryTenantRow], found: _Found
) -> Lines:
    for row in rows:
        found.scopes[row.number] = row
        if row.counted and row.tenant not in tenants:
            yield row.number, "its tenant has no counter"


def _memories(rows: Iterable[MemoryRow], found: _Found) -> Lines:
    for row in rows:
        links = [row.superseded_by, row.duplicate_of]
        memory = None
        try:
            memory = read_memory(row.data, 0.0, "", "")
        except StoreCorrupt as error:
            yield row.scope, f"memory {row.number}: {error.message}"
        else:
            links.append(memory.supersedes or "")
            if memory.superseded_by == row.superseded_by:  # restored without its successor
                links.remove(row.superseded_by)
            for name, value in columns(memory).items():
                if name != "data" and getattr(row, name) != value:
                    yield row.scope, f"memory {row.number}: its row has another {name}"
        scope = found.scopes.get(row.scope)
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
            yield from found.agents.read_counted(row, memory, scope.tenant if scope else "")
        known = MemoryFacts(row.id, row.version, bool(row.counted), row.vectors, named)
        found.memories[row.scope, row.number] = known
        found.ids.add((row.scope, row.id))


def _links(found: _Found) -> Lines:
    for (scope, number), memory in found.memories.items():
        for link in memory.links:
            if (scope, link) not in found.ids:
                yield scope, f"memory {number}: it names {link}, which is missing"


def _counts(found: _Found, tenants: Mapping[str, MemoryTenantRow]) -> Lines:
    counted = Counter(scope for (scope, _), memory in found.memories.items() if memory.counted)
    of_tenant: Counter[str] = Counter()
    numbers: dict[str, Counter[int]] = {}
    for scope, number in found.memories:
        if scope in found.scopes:
            numbers.setdefault(found.scopes[scope].tenant, Counter())[number] += 1
    for at, row in found.scopes.items():
        of_tenant[row.tenant] += counted[at]
        if row.counted != counted[at]:
            yield at, f"it counts {row.counted} memories, there are {counted[at]}"
    for name, tenant in tenants.items():
        first = min((at for at, row in found.scopes.items() if row.tenant == name), default=0)
        given = numbers.get(name, Counter())
        if tenant.counted != of_tenant[name]:
            yield first, f"its tenant counts {tenant.counted}, there are {of_tenant[name]}"
        if max(given, default=0) > tenant.last:
            yield first, f"its tenant's last number is {tenant.last}, there is {max(given)}"
        for number in sorted(number for number, times in given.items() if times > 1):
            yield first, f"number {number} stands twice in its tenant"


def _history(rows: Iterable[HistoryRow], found: _Found) -> Lines:
    kept: Counter[tuple[int, int]] = Counter()
    for row in rows:
        memory = found.memories.get((row.scope, row.number))
        where = f"version {row.version} of memory {row.number}"
        if memory is None:
            yield row.scope, f"{where} has no memory"
            continue
        kept[row.scope, row.number] += 1
        if not 1 <= row.version < memory.version:
            yield row.scope, f"{where} is none before {memory.version}"
        try:
            old = read_memory(row.data, 0.0, "", "")
        except StoreCorrupt as error:
            yield row.scope, f"{where}: {error.message}"
        else:
            for name, value in old_version(old).items():
                if getattr(row, name) != value:
                    yield row.scope, f"{where}: its row has another {name}"
    for (scope, number), memory in found.memories.items():
        if kept[scope, number] != memory.version - 1:
            yield scope, f"memory {number}: {kept[scope, number]} of its older versions are kept"


def _tombstones(rows: Iterable[TombstoneRow], found: _Found) -> Lines:
    for row in rows:
        if row.scope not in found.scopes:
            yield row.scope, f"tombstone {row.number}: there is no such scope"
        try:
            read_tombstone(row.data)
        except StoreCorrupt as error:
            yield row.scope, f"tombstone {row.number}: {error.message}"


def _vectors(
    rows: Iterable[MemoryVectorRow], recipes: Iterable[MemoryRecipeRow], found: _Found
) -> Lines:
    kept: Counter[tuple[int, int]] = Counter()
    counted: Counter[tuple[int, str]] = Counter()
    for row in rows:
        memory = found.memories.get((row.scope, row.number))
        if memory is None:
            yield row.scope, f"vector {row.recipe} of memory {row.number} has no memory"
            continue
        kept[row.scope, row.number] += 1
        counted[row.scope, row.recipe] += memory.counted
    for (scope, number), memory in found.memories.items():
        if memory.vectors != kept[scope, number]:
            yield scope, f"memory {number}: {memory.vectors} vectors, not {kept[scope, number]}"
    said = {(row.scope, row.recipe): row.counted for row in recipes}
    for scope, recipe in sorted(said.keys() | counted.keys()):
        told, there = said.get((scope, recipe), 0), counted[scope, recipe]
        if told != there:
            yield scope, f"recipe {recipe}: it counts {told} vectors, there are {there}"


def _groups(groups: Iterable[GroupRow], members: Iterable[GroupMemberRow], found: _Found) -> Lines:
    there = set()
    for row in groups:
        there.add((row.scope, row.id))
        if row.scope not in found.scopes:
            yield row.scope, f"group {row.id}: there is no such scope"
        try:
            group = read_group(row.data)
        except StoreCorrupt as error:
            yield row.scope, f"group {row.id}: {error.message}"
        else:
            if (group.id, group.created) != (row.id, row.created):
                yield row.scope, f"group {row.id}: its row has another id or time"
    for member in members:
        where = f"memory {member.number} in group {member.group_id}"
        if (member.scope, member.group_id) not in there:
            yield member.scope, f"{where}, which is missing"
        if (member.scope, member.number) not in found.memories:
            yield member.scope, f"{where} is missing"


def _settings(rows: Iterable[SettingsRow], found: _Found) -> Lines:
    for row in rows:
        if row.scope not in found.scopes:
            yield row.scope, "settings: there is no such scope"
        try:
            read_settings(row.data)
        except StoreCorrupt as error:
            yield row.scope, f"settings: {error.message}"


def _of_scopes(what: str, rows: Iterable[ExtractedRow], found: _Found) -> Lines:
    """No other row need be there: a mark outlives what it led to."""
    missing = {row.scope for row in rows} - found.scopes.keys()
    for scope in sorted(missing):
        yield scope, f"{what}: there is no such scope"


def _named(
    what: str,
    rows: Iterable[ErasedRow | MemoryKeyRow | ShownRow | ConflictRow],
    found: _Found,
    *,
    there: bool = True,
) -> Lines:
    for row in rows:
        if ((row.scope, row.number) in found.memories) != there:
            yield (
                row.scope,
                f"{what} of memory {row.number}, which is {'missing' if there else 'there'}",
            )
