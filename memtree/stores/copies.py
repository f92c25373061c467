"""The port `Dump` over SQL: all rows of a store in order, in pages, for copying one store into
another, of any kind, and for its audit.

Within a tenant, a row comes after the rows that it refers to, so a stopped copy has no dangling
references except links of addresses. A back end provides a `Snapshot`; the rest here is shared.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from itertools import islice
from typing import Any, NamedTuple, Protocol, TypeVar, get_args, get_type_hints

from memtree.errors import BadRequest, StoreUnavailable
from memtree.ports.request_log import RequestRow
from memtree.stores.context.tenants import NUMBER, TENANT, begin, tenant_number
from memtree.stores.integrity import audit, audit_tallies
from memtree.stores.memories.audit import audit_memories
from memtree.stores.memories.table_rows import MemoryRows
from memtree.stores.parts import Snapshot, SqlPart, Table, keeping, reading
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
from memtree.stores.sql import Row, Sql

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


async def copy(source: Dump, target: Dump, written: Callable[[int], None]) -> dict[str, int]:
    """Make `target` equal to `source` and return the number of rows of each table. `written` is
    called with the row count of each page that was written.

    A copy that was stopped can be resumed: rows that are there stay. So a target may hold part of
    the source, and nothing else: raises `BadRequest` if it does, before anything is written. Raises
    `StoreUnavailable` if the target has other rows at the end, because somebody wrote meanwhile.
    """
    await _refuse_other(source, target)
    rows: dict[str, int] = dict.fromkeys(await source.counts(), 0)
    async with aclosing(source.pages()) as pages:
        async for page in pages:
            await target.load(page)
            rows[page.table.name] += len(page.rows)
            written(len(page.rows))
    there = await target.counts()
    if uneven := [name for name in rows if there[name] != rows[name]]:
        raise StoreUnavailable(
            f"The copy has other rows than the source ({', '.join(uneven)}): another process "
            "writes to it. Stop that, and copy into an empty store."
        )
    return rows


async def _refuse_other(source: Dump, target: Dump) -> None:
    if not any((await target.counts()).values()):
        return
    async with aclosing(target.pages()) as pages:
        async for page in pages:
            if strange := await source.missing(page):
                raise BadRequest(
                    f"The target has other data ({strange} or more of its "
                    f"{page.table.name} are not in the source): the two would be mixed. "
                    "Name an empty store.",
                    param="to",
                )


_COUNTS = ", ".join(f"(SELECT count(*) FROM {name})" for name in TABLES)
# A stopped copy left rows whose unique values have since moved to other rows of the source.
_GIVE_UP = """
    UPDATE memories SET unique_key = '' WHERE counted = 1 AND unique_key <> ''
        AND (scope, unique_key) IN (SELECT scope, unique_key FROM :rows({0}) WHERE counted = 1)
        AND (scope, unique_key, number) NOT IN (
            SELECT scope, unique_key, number FROM :rows({0}) WHERE counted = 1)"""
# Set the sequence, so that the next new scope gets an unused number. SQLite does so by itself.
_NUMBERED = """
    SELECT setval(pg_get_serial_sequence('memory_scopes', 'number'), max(number))
    FROM memory_scopes"""


async def counts(sql: Sql) -> dict[str, int]:
    ((*counted,),) = await sql.fetch(f"SELECT {_COUNTS}", {})
    return dict(zip(TABLES, counted, strict=True))


async def load(sql: Sql, page: Page) -> None:
    table = page.table
    columns = ", ".join(table.columns)
    values: dict[str, Any] = {}
    owner = number = ""
    if table.owned:
        await begin(sql, page.tenant)
        known = await sql.fetch(NUMBER, {"tenant": page.tenant})
        values["number"] = await tenant_number(sql, page.tenant, known)
        owner, number = "tenant, ", ":number, "
    if table.name == "memories":
        await sql.put(_GIVE_UP.format(columns), values, page.rows)
    put = f"INSERT INTO {table.name} ({owner}{columns}) SELECT {number}{columns}"
    put += f" FROM :rows({columns}) WHERE true {_conflict(table)}"
    places = [table.columns.index(name) for name in table.key]
    rows = sorted(page.rows, key=lambda row: [row[place] for place in places])
    await sql.put(put, values, rows)
    if table.name == "memory_scopes" and sql.dialect == "postgres":
        await sql.run(_NUMBERED, {})


async def missing(sql: Sql, page: Page) -> int:
    table = page.table
    same = " AND ".join(f"{name} = :{name}" for name in table.compared)
    mine = f"{TENANT.replace(':tenant', ':of')} AND " if table.owned else ""
    query = f"SELECT 1 FROM {table.name} WHERE {mine}{same}"
    owner = {"of": page.tenant} if table.owned else {}
    wanted = (zip(table.compared, table.compared_of(row), strict=True) for row in page.rows)
    queries = [("", query, {**owner, **dict(row)}) for row in wanted]
    return sum(not rows for rows in await sql.many_each(*queries))


def _conflict(table: Table) -> str:
    if not table.changes:
        return "ON CONFLICT DO NOTHING"
    key = ", ".join((*(("tenant",) if table.owned else ()), *table.key))
    changing = (name for name in table.columns if name not in table.key)
    new = ", ".join(f"{name} = excluded.{name}" for name in changing)
    return f"ON CONFLICT ({key}) DO UPDATE SET {new}"


class Copies(SqlPart):
    """The port `Dump` over SQL."""

    counts = reading(counts)
    missing = reading(missing)
    load = keeping(load)

    async def pages(self) -> AsyncGenerator[Page, None]:
        await self.database.reach()
        async with aclosing(in_a_thread(self._pages)) as given:
            async for page in given:
                yield page

    def _pages(self) -> Iterator[Page]:
        with self.database.snapshot() as snapshot:
            yield from pages(snapshot)
