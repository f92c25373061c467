"""All rows of a store in order, in pages: for copying one store into another, and for its audit.

Within a tenant, a row comes after the rows that it refers to, so a stopped copy has no dangling
references except links of addresses. A back end provides a `Snapshot`; the rest here is shared.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Any, NamedTuple, Protocol, TypeVar, get_args, get_type_hints

from memtree.ports.request_log import RequestRow
from memtree.stores.integrity import audit, audit_tallies
from memtree.stores.memories.audit import audit_memories
from memtree.stores.memories.tables.table_rows import MemoryRows
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
from memtree.stores.sql import Row
from memtree.stores.table import Snapshot, Table

PAGE_ROWS = 500  # rows of 0.1 to 4 kB

Each = TypeVar("Each")


class KeyEntry(NamedTuple):
    id: str
    label: str
    tenant: str
    created: float


class KeyValue(NamedTuple):
    """`hash`: of one value that authenticates; `key`: the key it belongs to."""

    hash: str
    key: str


class AliasEntry(NamedTuple):
    """`name`: the tenant that a bare credential names; `tenant`: the tenant it authenticates as."""

    name: str
    tenant: str


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
MEMORIES = tuple(
    Table(
        name,
        get_args(rows)[0],
        tuple(key.columns.split()),
        changes=True,
        owned=False,
        same=tuple(f"{key.columns} {key.same}".split()) if key.same else (),
    )
    for name, hint in get_type_hints(MemoryRows, include_extras=True).items()
    for rows, key in [get_args(hint)]
)
TABLES: Mapping[str, Table] = {table.name: table for table in (*OWNED, *SHARED, *MEMORIES)}


class Page(NamedTuple):
    """Rows of one table; `tenant` is empty for a table that belongs to no tenant."""

    table: Table
    tenant: str
    rows: Sequence[Row]


class Dump(Protocol):
    """A store that can be copied. Raises as `TreeStore` does."""

    def pages(self) -> AsyncGenerator[Page, None]:
        """All rows of one state of the store."""
        ...

    async def counts(self) -> dict[str, int]:
        """Return the number of rows of each table."""
        ...

    async def load(self, page: Page) -> None:
        """Store these rows, all or none; a row of the page replaces one with the same key."""
        ...

    async def missing(self, page: Page) -> int:
        """Return how many of these rows this store lacks. A row that may change counts as present
        by its key alone."""
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
    """Return the problems that `check` finds, tenant by tenant."""
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
    """Yield the items of `make`, which is made, run and closed in one thread of its own."""
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
