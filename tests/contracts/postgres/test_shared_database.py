"""A port of its own class and tables in the file, or the schema, of a store: over the same
connections."""

from __future__ import annotations

from pathlib import Path

import pytest

from memtree.errors import StoreUnavailable
from memtree.ports.store import IndexBatch
from memtree.stores import open_store
from memtree.stores.parts import SqlPart
from memtree.stores.postgres import migrations as postgres_migrations
from memtree.stores.postgres.database import PostgresStore
from memtree.stores.sqlite import migrations as sqlite_migrations
from memtree.stores.sqlite.database import SqliteStore
from tests.contracts.backends import A, leaf
from tests.contracts.memory_backends import CHAT, new
from tests.programs.postgres import drop_schema, store_url


class Notes(SqlPart):
    async def add(self, text: str) -> None:
        insert = "INSERT INTO notes VALUES (:text)"
        await self.database.write(lambda sql: sql.run(insert, {"text": text}))

    async def count(self) -> int:
        return len(await self.database.read(lambda sql: sql.fetch("SELECT * FROM notes", {})))


async def shared(store: SqliteStore | PostgresStore, notes: Notes) -> None:
    await store.commit(A, IndexBatch((leaf(1),)))
    await notes.add("a")
    await notes.add("b")
    assert await notes.count() == 2
    assert (await store.stats()).nodes == 1
    assert await store.check() == []
    await store.close()
    with pytest.raises(StoreUnavailable, match="closed"):
        await notes.count()


@pytest.mark.parametrize("before", [False, True], ids=["new", "older file"])
async def test_a_port_in_the_file_of_a_store(tmp_path: Path, monkeypatch, before: bool) -> None:
    path = tmp_path / "store.db"
    if before:
        await SqliteStore(path).close()
    steps = [lambda db: db.execute("CREATE TABLE notes (text TEXT)")]
    monkeypatch.setitem(sqlite_migrations.PARTS, "notes", steps)
    store = SqliteStore(path)
    await shared(store, Notes(store.database))


async def test_a_port_in_the_schema_of_a_store(tmp_path: Path, monkeypatch) -> None:
    old = PostgresStore(store_url(tmp_path))
    await old.stats()
    await old.close()
    steps = [["CREATE TABLE notes (text text)"]]
    monkeypatch.setitem(postgres_migrations.PARTS, "notes", steps)
    store = PostgresStore(store_url(tmp_path))
    await shared(store, Notes(store.database))
    drop_schema(tmp_path)


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
async def test_a_store_that_was_written_before_memories_gets_them(
    tmp_path: Path, monkeypatch, kind: str
) -> None:
    url = f"sqlite:///{tmp_path}/store.db" if kind == "sqlite" else store_url(tmp_path)
    with monkeypatch.context() as patch:
        for module in (sqlite_migrations, postgres_migrations):
            patch.delitem(module.PARTS, "memories")
        old = open_store(url)
        await old.commit(A, IndexBatch((leaf(1),)))
        with pytest.raises(StoreUnavailable):
            await old.memories().add(CHAT, new("one"))
        await old.close()
    store = open_store(url)
    assert (await store.memories().add(CHAT, new("one"))).memory.number == 1
    assert (await store.stats()).nodes == 1
    assert await store.check() == []
    await store.close()
    if kind == "postgres":
        drop_schema(tmp_path)
