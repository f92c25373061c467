"""Copies out of dicts and into them: rows as they are, of any table."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Iterator, Mapping
from typing import Any

from memtree.ports.store import KeyRow
from memtree.stores.dump import MEMORIES, TABLES, Page, Row, Table, pages
from memtree.stores.ram.database import RamDatabase, RamPart, TenantData
from memtree.stores.rows import RecipeRow
from memtree.stores.sqlite.connection import transaction
from memtree.stores.sqlite.snapshot import load


class RamSnapshot:
    """`Snapshot` over copies of all rows."""

    def __init__(self, database: RamDatabase) -> None:
        self._tenants = {name: data.copied() for name, data in database.tenants.items()}
        tallies = [(*at, *each) for at, row in database.tallies.items() for each in row.items()]
        keys = [(key.id, key.label, key.tenant, key.created) for key in database.keys.values()]
        self._shared: dict[str, list[Row]] = {
            "tallies": tallies,
            "recipes": [*database.recipes.values()],
            "keys": keys,
            "key_values": [*database.key_values.items()],
            "tenant_aliases": [*database.aliases.items()],
            **{table.name: _memories(database, table) for table in MEMORIES},
        }

    def tenants(self) -> list[str]:
        return sorted(self._tenants)

    def table(self, table: Table, tenant: str) -> Collection[Row]:
        if not table.owned:
            return self._shared[table.name]
        rows: Mapping[Any, Row] = getattr(self._tenants.get(tenant, TenantData()), table.name)
        return rows.values()

    def rows(self, table: Table, tenant: str) -> Iterator[Row]:
        return iter(sorted(self.table(table, tenant), key=table.place_of))


def _memories(database: RamDatabase, table: Table) -> list[Row]:
    return database.memories.execute(
        f"SELECT {', '.join(table.columns)} FROM {table.name}"
    ).fetchall()


class RamCopies(RamPart):
    """`Dump`."""

    async def pages(self) -> AsyncGenerator[Page, None]:
        self.database.require_open()
        for page in pages(RamSnapshot(self.database)):
            yield page

    async def counts(self) -> dict[str, int]:
        self.database.require_open()
        snapshot = RamSnapshot(self.database)
        tenants = snapshot.tenants()
        return {
            name: sum(len(snapshot.table(table, of)) for of in (tenants if table.owned else ("",)))
            for name, table in TABLES.items()
        }

    async def load(self, page: Page) -> None:
        if page.table.owned:
            self.database.write(page.tenant, lambda data: _load(data, page))
            return
        self.database.require_open()
        if page.table in MEMORIES:
            transaction(self.database.memories, lambda db: load(db, page))
            return
        for row in page.rows:
            _load_shared(self.database, page.table.name, row)

    async def missing(self, page: Page) -> int:
        self.database.require_open()
        table = page.table
        rows = RamSnapshot(self.database).table(table, page.tenant)
        here = {table.compared_of(row) for row in rows}
        return sum(table.compared_of(row) not in here for row in page.rows)


def _load(data: TenantData, page: Page) -> None:
    table = page.table
    rows: dict[Any, Row] = getattr(data, table.name)
    for row in page.rows:
        key = table.key_of(row)
        at = key if len(key) > 1 else key[0]
        if table.changes or at not in rows:
            rows[at] = table.made(row)


def _load_shared(database: RamDatabase, table: str, row: Row) -> None:
    if table == "tallies":
        tenant, day, name, amount = row
        database.tallies.setdefault((tenant, day), {})[name] = amount
    elif table == "recipes":
        database.recipes[row[0]] = RecipeRow(*row)
    elif table == "keys":
        key, label, tenant, created = row
        database.keys.setdefault(key, KeyRow(key, label, tenant, 0, created))
    elif table == "key_values":
        database.key_values.setdefault(*row)
    else:
        name, tenant = row
        database.aliases[name] = tenant
