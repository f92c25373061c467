"""All rows of a store in order, in pages: for copying one store into another, and for its audit.

Within a tenant what is named comes before what names it, so a copy that stops has no loose ends
but the links of addresses. A back end gives a `Snapshot`; the rest here is the same for all.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple, Protocol, TypeVar, cast

from memtree.ports.request_log import RequestRow
from memtree.stores.integrity import audit, audit_tallies
from memtree.stores.memories.audit import MemoryRows, audit_memories
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
    MemoryTenantRow,
    MemoryVectorRow,
    MemoryWriteRow,
    PlanRow,
    ProviderObjectRow,
    RevocationRow,
    SchemaRow,
    ScopeRow,
    SettingsRow,
    ShownRow,
    TombstoneRow,
    WalletProofRow,
    WalletRow,
)
from memtree.stores.rows import (
    AddressRow,
    ClaimRow,
    ConversationRow,
    EpochRow,
    FrontierRow,
    NodeRow,
    RecipeRow,
    SummaryRow,
    TallyRow,
    TenantRows,
    TurnRow,
    VectorRow,
)

PAGE_ROWS = 500  # of 0.1 to 4 kB

Row = tuple[Any, ...]
Each = TypeVar("Each")


class KeyEntry(NamedTuple):
    id: str
    label: str
    tenant: str
    created: float


class KeyValue(NamedTuple):
    """`hash`: of one value that lets in; `key`: whose it is."""

    hash: str
    key: str


class AliasEntry(NamedTuple):
    """`name`: the tenant that a bare credential names; `tenant`: the one it is let in as."""

    name: str
    tenant: str


@dataclass(frozen=True, slots=True)
class Table:
    """`key`: the columns that tell its rows apart, in the order of a dump. `changes`: a row with
    the same key may be newer; otherwise it is the same row. `same`: those that never differ then,
    so that two stores that number alike are told apart. `owned`: its rows are a tenant's."""

    name: str
    kind: type[tuple[Any, ...]]
    key: tuple[str, ...]
    order: tuple[str, ...] = ()
    changes: bool = False
    owned: bool = True
    same: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        return cast("tuple[str, ...]", self.kind._fields)  # type: ignore[attr-defined]

    @property
    def sorted_by(self) -> tuple[str, ...]:
        return self.order or self.key

    @property
    def compared(self) -> tuple[str, ...]:
        """What a row of another store must have to be this one."""
        return (self.same or self.key) if self.changes else self.columns

    def compared_of(self, row: Row) -> Row:
        return tuple(row[self.columns.index(name)] for name in self.compared)

    def made(self, row: Row) -> Any:
        return self.kind._make(row)  # type: ignore[attr-defined]


OWNED = (
    Table("nodes", NodeRow, ("id",), order=("level", "id")),
    Table("frontiers", FrontierRow, ("key",)),
    Table("addresses", AddressRow, ("address",), changes=True),
    Table("vectors", VectorRow, ("recipe", "id")),
    Table("summaries", SummaryRow, ("id", "version")),
    Table("epochs", EpochRow, ("id",), changes=True),
    Table("turns", TurnRow, ("key", "address"), changes=True),
    Table("claims", ClaimRow, ("id",), changes=True),
    Table("conversations", ConversationRow, ("address",), changes=True),
    Table("requests", RequestRow, ("number",)),
)
SHARED = (
    Table("tallies", TallyRow, ("tenant", "day", "name"), changes=True, owned=False),
    Table("recipes", RecipeRow, ("recipe",), changes=True, owned=False),
    Table("keys", KeyEntry, ("id",), owned=False),
    Table("key_values", KeyValue, ("hash",), owned=False),
    Table("tenant_aliases", AliasEntry, ("name",), changes=True, owned=False),
)
_NAMES = ("tenant", "kind", "owner", "subject")
# Segments are left out: an index is made anew.
MEMORIES = tuple(
    Table(name, kind, key, changes=True, owned=False, same=(*key, *same) if same else ())
    for name, kind, key, same in (
        ("memory_tenants", MemoryTenantRow, ("tenant",), ()),
        ("memory_schemas", SchemaRow, ("tenant", "kind"), ()),
        ("memory_scopes", ScopeRow, ("number",), _NAMES),
        ("memories", MemoryRow, ("scope", "number"), ("id",)),
        ("memory_history", HistoryRow, ("scope", "number", "version"), ()),
        ("memory_tombstones", TombstoneRow, ("scope", "number"), ()),
        ("erased_memories", ErasedRow, ("scope", "told", "number"), ("id",)),
        ("memory_vectors", MemoryVectorRow, ("scope", "number", "recipe"), ()),
        ("memory_recipes", MemoryRecipeRow, ("scope", "recipe"), ()),
        ("memory_keys", MemoryKeyRow, ("scope", "key"), ()),
        ("memory_conflicts", ConflictRow, ("scope", "number", "other"), ()),
        ("shown_memories", ShownRow, ("scope", "conversation", "number"), ()),
        ("memory_groups", GroupRow, ("scope", "id"), ()),
        ("memory_group_members", GroupMemberRow, ("scope", "group_id", "number"), ()),
        ("memory_settings", SettingsRow, ("scope",), ()),
        ("extracted_messages", ExtractedRow, ("scope", "key"), ()),
        ("tenant_plans", PlanRow, ("tenant",), ()),
        ("memory_writes", MemoryWriteRow, ("scope", "key"), ()),
        ("wallets", WalletRow, ("address",), ("tenant",)),
        ("wallet_proofs", WalletProofRow, ("digest",), ("tenant",)),
        ("grant_revocations", RevocationRow, ("digest",), ()),
        ("provider_objects", ProviderObjectRow, ("digest",), ()),
    )
)
TABLES: Mapping[str, Table] = {table.name: table for table in (*OWNED, *SHARED, *MEMORIES)}


class Page(NamedTuple):
    """Rows of one table; `tenant` is empty where the table is no tenant's."""

    table: Table
    tenant: str
    rows: Sequence[Row]


class Snapshot(Protocol):
    """One state of a store, read in one thread."""

    def tenants(self) -> list[str]: ...

    def rows(self, table: Table, tenant: str) -> Iterator[Row]:
        """In the table's order; `tenant` is empty where it is nobody's."""
        ...


class Dump(Protocol):
    """A store that can be copied. Raises as `TreeStore` does."""

    def pages(self) -> AsyncGenerator[Page, None]:
        """All rows of one state of the store."""
        ...

    async def counts(self) -> dict[str, int]:
        """How many rows each table has."""
        ...

    async def load(self, page: Page) -> None:
        """Make these rows stand here, all or nothing; of the same key, the page's counts."""
        ...

    async def missing(self, page: Page) -> int:
        """How many of these rows are not here; where rows change, whatever they hold."""
        ...


def pages(snapshot: Snapshot) -> Iterator[Page]:
    for tenant in snapshot.tenants():
        for table in OWNED:
            yield from _paged(table, tenant, snapshot.rows(table, tenant))
    for table in (*SHARED, *MEMORIES):
        yield from _paged(table, "", snapshot.rows(table, ""))


def _paged(table: Table, tenant: str, rows: Iterator[Row]) -> Iterator[Page]:
    while part := list(islice(rows, PAGE_ROWS)):
        yield Page(table, tenant, part)


def problems(snapshot: Snapshot) -> list[str]:
    """What `check` finds, tenant by tenant."""
    lines = []
    for tenant in snapshot.tenants():
        tables = (_made(table, snapshot.rows(table, tenant)) for table in OWNED)
        lines += audit(tenant, TenantRows(*tables))
    tallies = _made(TABLES["tallies"], snapshot.rows(TABLES["tallies"], ""))
    lines += audit_tallies(tallies)
    return lines + audit_memories(
        MemoryRows(*(_made(each, snapshot.rows(each, "")) for each in MEMORIES))
    )


def _made(table: Table, rows: Iterator[Row]) -> Iterator[Any]:
    return map(table.made, rows)


async def in_a_thread(make: Callable[[], Iterator[Each]]) -> AsyncGenerator[Each, None]:
    """What `make` gives, made, run and closed in one thread of its own."""
    loop = asyncio.get_running_loop()
    with ThreadPoolExecutor(1, "dump") as thread:
        given = await loop.run_in_executor(thread, make)
        try:
            while (each := await loop.run_in_executor(thread, next, given, None)) is not None:
                yield each
        finally:
            close = getattr(given, "close", None)
            if close:
                await loop.run_in_executor(thread, close)
