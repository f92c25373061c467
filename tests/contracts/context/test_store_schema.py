"""Every store says which schema it has, and which versions open it; one of another is refused."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from memtree import __version__
from memtree.errors import StoreUnavailable
from memtree.stores import Opened, RamStore, open_store
from memtree.stores.copies import TABLES as COPIED
from memtree.stores.postgres import PostgresStore
from memtree.stores.schema import SINCE, TABLES, VERSION
from tests.programs.postgres import drop_schema, erase_schema, ready_url, store_url

CHANGELOG = Path(__file__).parents[3] / "CHANGELOG.md"
# Versions of trees and memories in stores of the first release candidate.
STEPS_OF_RC1 = {"sqlite": (10, 6), "postgres": (6, 6)}

# `tenants` is filled by the rows of each; the others belong to one database.
NOT_COPIED = ("tenants", "deletions", "memory_segments")


def versions() -> set[str]:
    return {__version__, *re.findall(r"^## \[(\d[^\]]*)\]", CHANGELOG.read_text(), re.MULTILINE)}


def opened(name: str, folder: Path) -> Opened:
    urls = {"ram": "memory:", "sqlite": f"sqlite:///{folder}/m.db"}
    return open_store(urls[name] if name in urls else ready_url(folder))


@pytest.mark.parametrize("name", ["ram", "sqlite", "postgres"])
async def test_a_store_says_its_schema_and_who_opens_it(name: str, tmp_path: Path) -> None:
    store = opened(name, tmp_path)
    try:
        schema = (await store.stats()).schema
    finally:
        await store.close()
        if name == "postgres":
            drop_schema(tmp_path)
    assert schema.since in versions()
    assert str(schema) == f"schema {VERSION}; MemTree {SINCE} and later open it"


async def test_the_tables_and_columns_are_those_of_copies() -> None:
    store = RamStore()
    db = store.database.connection
    for name in (*COPIED, *NOT_COPIED):
        columns = {column for _, column, *_ in db.execute(f"PRAGMA table_info({name})")}
        table = COPIED.get(name)
        assert columns
        assert table is None or columns - {"tenant"} == {*table.columns} - {"tenant"}
    await store.close()
    assert sorted(TABLES) == sorted([*COPIED, *NOT_COPIED])


async def refused(url: str) -> str:
    try:
        store = open_store(url)
        try:
            await store.stats()  # the first call opens PostgreSQL
        finally:
            await store.close()
    except StoreUnavailable as error:
        return error.message
    raise AssertionError("it was opened")


@pytest.mark.parametrize("name", ["sqlite", "postgres"])
async def test_a_store_of_the_release_candidate_is_refused(name: str, tmp_path: Path) -> None:
    """The error names the version to export with, and how to import; the store stays as it is."""
    made = "CREATE TABLE schema_version (part text PRIMARY KEY, version integer NOT NULL)"
    (tree, memories) = STEPS_OF_RC1[name]
    filled = f"INSERT INTO schema_version VALUES ('tree', {tree}), ('memories', {memories})"
    if name == "sqlite":
        path = tmp_path / "m.db"
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            db.execute("PRAGMA journal_mode = WAL")
            db.execute(made)
            db.execute(filled)
        before = path.read_bytes()
        refusal = await refused(f"sqlite:///{path}")
        assert path.read_bytes() == before
    else:
        url = store_url(tmp_path)
        erase_schema(tmp_path)
        dsn = PostgresStore(url).database.dsn
        with psycopg.connect(dsn.conninfo, autocommit=True) as server:
            server.execute(f"CREATE SCHEMA {dsn.schema}")
            server.execute(f"SET search_path TO {dsn.schema}")
            server.execute(made)
            server.execute(filled)
            refusal = await refused(url)
            asked = "SELECT tablename FROM pg_tables WHERE schemaname = %s"
            assert server.execute(asked, (dsn.schema,)).fetchall() == [("schema_version",)]
        erase_schema(tmp_path)
    assert f"its schema is version {tree}, this program knows {VERSION}" in refusal
    assert "MemTree 1.0.0rc1, `memtree memories export -o FILE`" in refusal
    assert "a new store, `memtree memories import --keep-ids FILE`" in refusal
    assert "summaries are made again when a history is posted" in refusal
