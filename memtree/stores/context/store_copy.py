"""The port `Dump` over SQL: all rows of a store in order, in pages, for copying one store into
another, of any kind, and for its audit.

Within a tenant, a row comes after the rows that it refers to, so a stopped copy has no dangling
references except links of addresses. A back end provides a `Snapshot`; the rest here is shared.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

from memtree.errors import BadRequest, StoreUnavailable
from memtree.ports.request_log import RequestRow
from memtree.stores import stored_rows as kinds
from memtree.stores.context.tenants import NUMBER, TENANT, begin, tenant_number
from memtree.stores.integrity import audit, audit_tallies
from memtree.stores.memories import table_rows as memory_kinds
from memtree.stores.memories.memory_audit import audit_memories
from memtree.stores.memories.scopes import ScopeRow
from memtree.stores.sql import Row, Snapshot, Sql, SqlPart, Table, keeping, reading

PAGE_ROWS = 500  # rows of 0.1 to 4 kB


OWNED = (
    # A sketch of a summary gives way to the summary; the rest of a node never changes.
    Table("nodes", "id", kinds.NodeRow, "level children", "level id", changes=True),
    Table("frontiers", "key", kinds.FrontierRow),
    Table("addresses", "address", kinds.AddressRow, changes=True),
    Table("vectors", "recipe id", kinds.VectorRow),
    Table("summaries", "id version", kinds.SummaryRow),
    Table("epochs", "id", kinds.EpochRow, changes=True),
    Table("turns", "key address", kinds.TurnRow, changes=True),
    Table("claims", "id", kinds.ClaimRow, changes=True),
    Table("conversations", "address", kinds.ConversationRow, changes=True),
    Table("requests", "number", RequestRow),
)
SHARED = (
    Table("tallies", "tenant day name", kinds.TallyRow, changes=True, owned=False),
    Table("recipes", "recipe", changes=True, owned=False),
    Table("keys", "id", owned=False),
    Table("key_values", "hash", owned=False),
    Table("tenant_aliases", "name", changes=True, owned=False),
)
# Segments are left out, since an index can be rebuilt.
MEMORIES = tuple(
    each._replace(changes=True, owned=False)
    for each in (
        Table("memory_tenants", "tenant", memory_kinds.MemoryTenantRow),
        Table("memory_schemas", "tenant kind", memory_kinds.SchemaRow),
        Table("memory_scopes", "number", ScopeRow, "tenant kind owner subject"),
        Table("memories", "scope number", memory_kinds.MemoryRow, "id"),
        Table("memory_history", "scope number version", memory_kinds.HistoryRow),
        Table("memory_tombstones", "scope number", memory_kinds.TombstoneRow),
        Table("erased_memories", "scope event number", memory_kinds.ErasedRow, "id"),
        Table("memory_vectors", "scope recipe number", memory_kinds.MemoryVectorRow),
        Table("memory_recipes", "scope recipe", memory_kinds.MemoryRecipeRow),
        Table("memory_conflicts", "scope number other", memory_kinds.ConflictRow),
        Table("shown_memories", "scope conversation number", memory_kinds.ShownRow),
        Table("memory_groups", "scope id", memory_kinds.GroupRow),
        Table("memory_group_members", "scope group_id number", memory_kinds.GroupMemberRow),
        Table("memory_settings", "scope", memory_kinds.SettingsRow),
        Table("extracted_messages", "scope key", memory_kinds.ExtractedRow),
        Table("tenant_plans", "tenant"),
        Table("wallets", "address", same="tenant"),
        Table("wallet_proofs", "digest", same="tenant"),
        Table("grant_revocations", "digest"),
        Table("provider_objects", "digest"),
    )
)
TABLES: Mapping[str, Table] = {table.name: table for table in (*OWNED, *SHARED, *MEMORIES)}
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


class Page(NamedTuple):
    """Rows of one table; `tenant` is empty for a table that belongs to no tenant."""

    table: Table
    tenant: str
    rows: Sequence[Row]


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

    def rows(tenant: str, name: str) -> Iterator[Any]:
        return map(TABLES[name].kind._make, snapshot.rows(TABLES[name], tenant))

    of_trees = [line for name in snapshot.tenants() for line in audit(name, partial(rows, name))]
    tallies = audit_tallies(rows("", "tallies"))
    return [*of_trees, *tallies, *audit_memories(partial(rows, ""))]


async def copy(source: Copies, target: Copies, written: Callable[[int], None]) -> dict[str, int]:
    """Make `target` equal to `source` and return the number of rows of each table. `written` is
    called with the row count of each page that was written.

    A copy that was stopped can be resumed: rows that are there stay. So a target may hold part of
    the source, and nothing else: raises `BadRequest` if it does, before anything is written. Raises
    `StoreUnavailable` if the target has other rows at the end, because somebody wrote meanwhile.
    """
    if any((await target.counts()).values()):
        async with aclosing(target.pages()) as pages:
            async for page in pages:
                if strange := await source.missing(page):
                    raise BadRequest(
                        f"The target has other data ({strange} or more of its "
                        f"{page.table.name} are not in the source): the two would be mixed. "
                        "Name an empty store.",
                        param="to",
                    )
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


async def counts(sql: Sql) -> dict[str, int]:
    """Return the number of rows of each table."""
    ((*counted,),) = await sql.fetch(f"SELECT {_COUNTS}", {})
    return dict(zip(TABLES, counted, strict=True))


async def load(sql: Sql, page: Page) -> None:
    """Store these rows, all or none; a row of the page replaces one with the same key."""
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
    places = [table.columns.index(name) for name in table.keys]
    rows = sorted(page.rows, key=lambda row: [row[place] for place in places])
    await sql.put(put, values, rows)
    if table.name == "memory_scopes" and sql.dialect == "postgres":
        await sql.run(_NUMBERED, {})


async def missing(sql: Sql, page: Page) -> int:
    """Return how many of these rows this store lacks. A row that may change counts as present by
    its key alone."""
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
    key = ", ".join((*(("tenant",) if table.owned else ()), *table.keys))
    changing = (name for name in table.columns if name not in table.keys)
    new = ", ".join(f"{name} = excluded.{name}" for name in changing)
    return f"ON CONFLICT ({key}) DO UPDATE SET {new}"


class Copies(SqlPart):
    """A store that can be copied. Raises as `TreeStore` does."""

    counts = reading(counts, patient=True)  # of all rows
    missing = reading(missing)
    load = keeping(load)

    async def pages(self) -> AsyncGenerator[Page, None]:
        """Yield all rows of one state of the store, read in one thread of its own."""
        await self.database.reach()
        loop = asyncio.get_running_loop()
        given = self._pages()
        with ThreadPoolExecutor(1, "dump") as thread:
            try:
                while (page := await loop.run_in_executor(thread, next, given, None)) is not None:
                    yield page
            finally:
                await loop.run_in_executor(thread, given.close)

    def _pages(self) -> Generator[Page, None, None]:
        with self.database.snapshot() as snapshot:
            yield from pages(snapshot)
