"""A store that an older schema wrote: its memories get the columns that are new, and keep all."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import aclosing, closing
from pathlib import Path

import psycopg
import pytest

from memtree.memories.memory import MemoryChange
from memtree.memories.ports import MemoryFilter
from memtree.memories.scope import Scope
from memtree.memories.users.user_memories import SettingsChange
from memtree.stores import Opened, RamStore, open_store
from memtree.stores.memories.tables import schema
from memtree.stores.postgres import PostgresStore
from memtree.stores.postgres import migrations as postgres
from memtree.stores.sqlite import migrations as sqlite
from tests.contracts.memory_backends import CHAT, START, Clock, new, rewritten, save
from tests.programs.postgres import drop_schema, store_url

USER = Scope.of_user("tenant")
# What a schema of so many steps does not have, by table.
NEW = {
    1: {
        "memories": {"created", "updated", "replaced", "tainted", "unique_key", "standing"},
        "memory_history": {"updated", "expires"},
    },
    2: {"memories": {"unique_key", "standing"}},
    3: {"memories": {"standing"}},
    4: {"memories": {"standing"}},
    5: {},
}
FORMER_NAMES = {"event": "told"}  # of columns, in all schemas before the sixth step
NEW_TABLES = {
    "memory_conflicts",
    "extracted_messages",
    "tenant_plans",
    "memory_writes",
    "provider_objects",
}


async def content(store: Opened) -> list[tuple[str, dict[str, object]]]:
    """Rows of memories, by column."""
    found = []
    async with aclosing(store.pages()) as pages:
        async for page in pages:
            names = page.table.columns
            found += [
                (page.table.name, dict(zip(names, row, strict=True)))
                for row in page.rows
                if page.table.name.startswith(("memor", "erased"))
            ]
    return found


async def filled() -> RamStore:
    clock = Clock()
    store = RamStore(now=clock)
    memories = store.memories()
    for scope in (CHAT, USER):
        clock.time = START
        for n in range(5):
            await memories.add(scope, new(f"text {n}", created=clock(), tainted=n % 2 == 1))
            clock.time += 7
        await memories.change(scope, "mem_text-0", rewritten("changed", at=clock()))
        until = MemoryChange(clock() + 1, expires=START + 9_000)
        await memories.change(scope, "mem_text-0", until)
        await memories.change(scope, "mem_text-0", MemoryChange(clock() + 2, expires=None))
        await memories.supersede(scope, "mem_text-1", new("newer", created=clock()), "why")
        await memories.delete(scope, ["mem_text-2"], reason="")
        clock.time = START + 28  # when the duplicate was made
        await memories.mark_duplicate(scope, "mem_text-4", "mem_text-3")
    await memories.add(CHAT, new("gone", created=clock()))
    await memories.delete(CHAT, ["mem_gone"], purge=True, reason="")
    await memories.change_settings(USER, SettingsChange(save=True))
    return store


def old_sqlite(folder: Path, rows: list[tuple[str, dict[str, object]]], steps: int = 1) -> str:
    path = folder / "store.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        sqlite.migrate(db, "tree", sqlite.TREE_STEPS)
        sqlite.migrate(db, "memories", sqlite.MEMORY_STEPS[:steps])
        for table, row in rows:
            values = [row[name] for name in row]
            places = ", ".join("?" * len(row))
            db.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({places})", values)
    return f"sqlite:///{path}"


def old_postgres(folder: Path, rows: list[tuple[str, dict[str, object]]], steps: int = 1) -> str:
    url = store_url(folder)
    dsn = PostgresStore(url).database.dsn

    async def make() -> None:
        path = f"-csearch_path={dsn.schema}"
        async with await psycopg.AsyncConnection.connect(
            dsn.conninfo, autocommit=True, options=path
        ) as db:
            await postgres.migrate(db, dsn.schema, "tree", postgres.TREE_STEPS)
            await postgres.migrate(db, dsn.schema, "memories", postgres.MEMORY_STEPS[:steps])
            for table, row in rows:
                places = ", ".join(["%s"] * len(row))
                names = ", ".join(row)
                values = list(row.values())
                await db.execute(f"INSERT INTO {table} ({names}) VALUES ({places})", values)

    asyncio.run(make())
    return url


@pytest.fixture(params=["sqlite", "postgres"])
def kind(request, tmp_path: Path):
    yield request.param
    if request.param == "postgres":
        drop_schema(tmp_path)


def test_the_tables_are_those_that_stay():
    assert set(schema.TABLES) > NEW_TABLES
    assert not [table for table in schema.TABLES if table.startswith("rag_")]
    assert len(schema.TABLES) == len(set(schema.TABLES))


@pytest.mark.parametrize("steps", NEW)
def test_a_store_of_an_older_schema_goes_on(tmp_path, kind, steps):
    expected = asyncio.run(before())
    old = [(table, former(table, row, steps)) for table, row in expected]
    tables = {"memory_tombstones", "memory_settings", "erased_memories"}
    assert {table for table, _ in expected} >= {*NEW[steps], *tables}
    url = {"sqlite": old_sqlite, "postgres": old_postgres}[kind](tmp_path, old, steps)
    asyncio.run(check(url, expected))


def former(table: str, row: dict[str, object], steps: int) -> dict[str, object]:
    """Return the row as the schema of so many steps has it."""
    new = NEW[steps].get(table, set())
    return {FORMER_NAMES.get(name, name): row[name] for name in row if name not in new}


async def before() -> list[tuple[str, dict[str, object]]]:
    store = await filled()
    assert await store.check() == []
    rows = await content(store)
    await store.close()
    return rows


async def check(url: str, expected: list[tuple[str, dict[str, object]]]) -> None:
    for _ in range(2):  # the second time there is nothing to do
        store = open_store(url)
        assert await content(store) == expected
        assert await store.check() == []
        memories = store.memories()
        newest = (await memories.changes(CHAT, 0, 99))[-1]
        assert (newest.type, newest.id) == ("deleted", "mem_gone")
        found = await memories.page(USER, MemoryFilter(tainted=True))
        assert [row.id for row in found.memories] == ["mem_text-3"]
        found = await memories.page(CHAT, MemoryFilter(created_from=START + 7))
        assert [row.id for row in found.memories] == ["mem_newer", "mem_text-3"]
        await store.close()
    store = open_store(url)
    assert await save(store.memories(), USER, "one more") == ["mem_one-more"]
    await store.memories().put_objects([b"1" * 32], 9e9)
    assert await store.memories().known_objects([b"1" * 32]) == {b"1" * 32}
    assert await store.check() == []
    await store.close()


@pytest.mark.parametrize("damage", [b"", b"\xff", b"\x81\xa2id\xa1x"])
def test_a_row_that_does_not_decode_does_not_stop_it(tmp_path, damage):
    rows = asyncio.run(before())
    for table, row in rows:
        if table in NEW[1] and row["number"] == 1:
            row["data"] = damage
    url = old_sqlite(tmp_path, [(table, former(table, row, 1)) for table, row in rows])

    async def opened() -> list[str]:
        store = open_store(url)
        lines = await store.check()
        assert (await store.memories().page(USER, MemoryFilter(tainted=True))).memories
        await store.close()
        return lines

    assert [line for line in asyncio.run(opened()) if "does not decode" in line]
