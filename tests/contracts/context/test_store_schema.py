"""Every store says which schema it has, and which versions open it; one of another is refused. What
requests without a credential have kept is given to `local`, once."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from memtree import __version__
from memtree.errors import StoreUnavailable
from memtree.memories.scope import Scope
from memtree.ports.context_store import IndexBatch
from memtree.stores import Opened, RamStore, open_memories, open_store
from memtree.stores.context.store_copy import TABLES as COPIED
from memtree.stores.machine_owner import PART
from memtree.stores.postgres import PostgresStore
from memtree.stores.schema import SINCE, TABLES, VERSION
from memtree.tenant_names import ANONYMOUS, LOCAL
from tests.contracts.backends import address, frontier, leaf
from tests.contracts.memory_backends import rewritten, save
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


NODES = [leaf(1), leaf(2)]
CHAT, USER = Scope.of_chat(ANONYMOUS, "c"), Scope.of_user(ANONYMOUS)
BATCH = IndexBatch(tuple(NODES), {address(1): frontier(NODES, 2)}, 9e9)


async def fill(store: Opened, *, given: bool) -> None:
    """Keep rows under both names, of which some are the same. `given`: an access key has them."""
    memories = open_memories(store)
    ids = await save(memories, CHAT, "theirs of a chat", "gone")
    await memories.change(CHAT, ids[0], rewritten("theirs, changed"), if_version=1)
    await memories.delete(CHAT, [ids[1]])
    await save(memories, USER, "theirs")
    await save(memories, Scope.of_user(LOCAL), "own", "own too")
    for tenant in (ANONYMOUS, LOCAL):
        await store.commit(tenant, BATCH)
        await store.add(tenant, 1, {"usage.requests": 2})
    if given:
        await store.add_key("laptop", ["sk-1"], ANONYMOUS)
    await forget_the_move(store)


async def forget_the_move(store: Opened) -> None:
    """Make the store what earlier builds of this version left behind."""
    unmoved = f"DELETE FROM schema_version WHERE part = '{PART}'"
    earlier = "ALTER TABLE requests DROP COLUMN conversation"
    await store.database.write(lambda sql: sql.run(unmoved, {}))
    await store.database.write(lambda sql: sql.run(earlier, {}))
    await store.close()


@pytest.mark.parametrize(
    ("name", "given"), [("sqlite", False), ("sqlite", True), ("postgres", False)]
)
async def test_a_store_is_moved_once_and_told(
    name: str, given: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Rows of `local` stay as they are; what an operator gave to a key stays the key's."""
    url = f"sqlite:///{tmp_path}/m.db" if name == "sqlite" else ready_url(tmp_path)
    await fill(open_store(url), given=given)
    for _ in range(2):  # the second time nothing is left to do
        store = open_store(url)
        memories = open_memories(store)
        lines = await store.check()
        assert await store.requests(LOCAL, 9) == []  # the column is there again
        scopes = (Scope.of_chat(LOCAL, "c"), USER, Scope.of_user(LOCAL))
        chat, *both = [(await memories.page(each)).memories for each in scopes]
        tenants = {row.name for row in await store.tenants()}
        tallies = await store.tallies(LOCAL, 1, 1)
        await store.close()
        assert (lines, [len(each) for each in both]) == ([], [1, 2])
        assert tenants == ({ANONYMOUS, LOCAL} if given else {LOCAL})
        assert tallies == {"usage.requests": 2 if given else 4}
        assert [(each.text, each.number) for each in chat] == (
            [] if given else [("theirs, changed", 3)]
        )
    if name == "postgres":
        drop_schema(tmp_path)
    told = [line for line in caplog.messages if line.startswith("store.owner")]
    assert len(told) == (0 if given else 1)
    assert given or "memtree memories export --tenant anonymous" in told[0]


async def test_memories_of_local_are_counted_as_before_if_there_are_no_others(
    tmp_path: Path,
) -> None:
    url, scope = f"sqlite:///{tmp_path}/m.db", Scope.of_user(LOCAL)
    store = open_store(url)
    await save(open_memories(store), scope, "own")
    await store.commit(ANONYMOUS, BATCH)
    kept = (await store.stats()).nodes
    await forget_the_move(store)
    store = open_store(url)
    await save(open_memories(store), scope, "own too")
    assert await store.check() == []
    assert [row.name for row in await store.tenants()] == [LOCAL]
    assert (await store.stats()).nodes == kept > 0
    await store.close()
