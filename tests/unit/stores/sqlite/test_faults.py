"""What goes wrong around a SQLite file: told clearly, nothing half-written, usable again after."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import stat
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from memtree.conversation.addresses import node_id
from memtree.errors import BadRequest, StoreCorrupt, StoreUnavailable
from memtree.ports.store import IndexBatch, Receipt
from memtree.stores import RamStore, SqliteStore, open_store
from memtree.stores.sqlite.migrations import MEMORY_STEPS, PARTS, TREE_STEPS
from memtree.tree.node import Frontier, Node, Summary

T = "tenant"
ROOT = Path(__file__).parents[2]


@contextmanager
def owned(folder: Path, mode: int) -> Iterator[None]:
    """What is in the folder, and it, belong to a user without privileges, which we are inside."""
    nobody = 65534
    privileged = os.geteuid() == 0
    for each in (*folder.iterdir(), folder):
        each.chmod(mode if each.is_file() else mode | 0o100)
        if privileged:
            os.chown(each, nobody, nobody)
    if privileged:
        os.seteuid(nobody)
    try:
        yield
    finally:
        if privileged:
            os.seteuid(0)
        folder.chmod(0o700)


@pytest.fixture
def reachable() -> Iterator[Path]:
    """A folder that other users can reach: pytest's own are closed to them."""
    with TemporaryDirectory() as folder:
        yield Path(folder)


def batch(group: int, leaves: int = 40) -> IndexBatch:
    """A sound batch of leaves under one address; another group has other leaves."""
    nodes = tuple(
        Node(node_id(group, n), 0, 300, 1, 0, Summary("headline", "body " * 100))
        for n in range(leaves)
    )
    ids = tuple(node.id for node in nodes)
    whole = Frontier(ids, (0,) * leaves, leaves, 0, leaves, 300 * leaves)
    return IndexBatch(nodes, {node_id("address", group): whole}, 1.0)


async def groups(store: SqliteStore, most: int = 100) -> list[int]:
    names = {node_id("address", group): group for group in range(most)}
    return sorted(names[each] for each in await store.frontiers(T, list(names)))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
async def store(path: Path) -> AsyncIterator[SqliteStore]:
    store = SqliteStore(path, busy_timeout=0.05)
    yield store
    await store.close()


# ---------------------------------------------------------------- opening


@pytest.mark.parametrize(
    "url",
    ["mysql://me:secret@host/db", "sqlite://x", "sqlite:///", "sqlite:///:memory:", "x", ""],
)
def test_other_addresses_are_refused(url):
    with pytest.raises(BadRequest, match="sqlite:///PATH") as caught:
        open_store(url)
    assert "secret" not in caught.value.message


async def test_addresses(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert isinstance(open_store("memory:"), RamStore)
    for url, where in (
        ("sqlite:///near/store.db", tmp_path / "near" / "store.db"),
        (f"sqlite:///{tmp_path}/a b?%41#c.db", tmp_path / "a b?%41#c.db"),
    ):
        await open_store(url).close()
        assert where.is_file()


async def test_only_the_owner_may_read(tmp_path):
    path = tmp_path / "new" / "store.db"
    store = SqliteStore(path)
    await store.commit(T, batch(1))
    modes = {each.name: stat.S_IMODE(each.stat().st_mode) for each in path.parent.iterdir()}
    assert modes == dict.fromkeys(["store.db", "store.db-wal", "store.db-shm"], 0o600)
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    await store.close()


def test_a_file_of_another_kind(path):
    path.write_bytes(b"this is a text file\n" * 1000)
    with pytest.raises(StoreCorrupt, match=r"store\.db is damaged or no SQLite file"):
        SqliteStore(path)
    assert path.read_bytes().startswith(b"this is a text")


def test_a_directory(tmp_path):
    with pytest.raises(StoreUnavailable, match="cannot be opened"):
        SqliteStore(tmp_path)


def test_a_folder_that_is_a_file(path):
    path.write_bytes(b"")
    with pytest.raises(StoreUnavailable, match=r"cannot be opened .*--store .*MEMTREE_HOME"):
        SqliteStore(path / "store.db")


def test_a_folder_without_permission(reachable):
    with (
        owned(reachable, 0o400),
        pytest.raises(StoreUnavailable, match=r"cannot be opened \(Permission denied\)"),
    ):
        SqliteStore(reachable / "store.db")


async def test_a_read_only_file(reachable):
    await SqliteStore(reachable / "store.db").close()
    with (
        owned(reachable, 0o400),
        pytest.raises(StoreUnavailable, match=r"cannot be opened \(Permission denied\)"),
    ):
        SqliteStore(reachable / "store.db")


async def test_a_read_only_folder_around_a_good_file(reachable):
    """SQLite needs to make its -wal file there."""
    await SqliteStore(reachable / "store.db").close()
    with owned(reachable, 0o400):
        (reachable / "store.db").chmod(0o600)
        with pytest.raises(StoreUnavailable, match="write the file and its folder"):
            SqliteStore(reachable / "store.db")


def test_the_database_of_another_program(path):
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE nodes (mine)")
    with pytest.raises(StoreUnavailable, match="another program"):
        SqliteStore(path)


# ---------------------------------------------------------------- schema


def schema(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as db:
        return [sql for (sql,) in db.execute("SELECT sql FROM sqlite_master ORDER BY name")]


async def test_an_empty_file_is_migrated(path):
    path.touch()
    store = SqliteStore(path)
    await store.commit(T, batch(1))
    assert await store.check() == []
    await store.close()
    with closing(sqlite3.connect(path)) as db:
        versions = db.execute("SELECT part, version FROM schema_version").fetchall()
    assert versions == [("memories", len(MEMORY_STEPS)), ("tree", len(TREE_STEPS))]


@pytest.mark.slow
async def test_every_older_schema_is_migrated(tmp_path):
    await SqliteStore(tmp_path / "new.db").close()
    for version in range(len(TREE_STEPS)):
        path = tmp_path / f"{version}.db"
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            db.execute(
                "CREATE TABLE schema_version"
                " (part TEXT PRIMARY KEY, version INTEGER NOT NULL) WITHOUT ROWID"
            )
            db.execute("INSERT INTO schema_version VALUES ('tree', ?)", (version,))
            for step in TREE_STEPS[:version]:
                step(db)
        store = SqliteStore(path)
        await store.add_key("label", ["value"])
        await store.close()
        assert schema(path) == schema(tmp_path / "new.db")


async def test_a_newer_schema_is_refused(path):
    await SqliteStore(path).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("UPDATE schema_version SET version = 99")
    with pytest.raises(StoreUnavailable, match=r"version 99, .* a newer MemTree wrote it"):
        SqliteStore(path)


def test_a_migration_that_fails_leaves_the_file_as_it_was(path, monkeypatch):
    def fail(db: sqlite3.Connection) -> None:
        raise sqlite3.OperationalError("no luck")

    monkeypatch.setitem(PARTS, "tree", (*TREE_STEPS, fail))
    with pytest.raises(StoreUnavailable, match="no luck"):
        SqliteStore(path)
    assert schema(path) == []


# ---------------------------------------------------------------- while running


async def on_writer(store: SqliteStore, statement: str) -> None:
    """Outside a transaction, in the writer's thread."""
    await store.database.writer.run_bare(lambda db: db.execute(statement))


async def test_a_full_disk(store):
    await store.commit(T, batch(1))
    await on_writer(store, "PRAGMA max_page_count = 1")  # SQLite takes the present size instead
    with pytest.raises(StoreUnavailable, match="disk is full"):
        await store.commit(T, batch(2, 2000))
    assert await groups(store) == [1]
    await on_writer(store, "PRAGMA max_page_count = 1000000")
    await store.commit(T, batch(2, 2000))
    assert await groups(store) == [1, 2]
    assert await store.check() == []


async def test_a_lock_held_by_another_process(store, path):
    await store.commit(T, batch(1))
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable, match="locked by another process"):
            await store.commit(T, batch(2))
        assert await groups(store) == [1]  # readers do not wait for writers
        other.execute("ROLLBACK")
    await store.commit(T, batch(2))
    assert await groups(store) == [1, 2]


async def test_a_lock_while_opening(store, path):
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        second = SqliteStore(path, busy_timeout=0.05)  # an up-to-date file is not written
        await second.close()


async def test_a_damaged_page(path):
    store = SqliteStore(path)
    for group in range(20):
        await store.commit(T, batch(group))
    await store.close()
    content = bytearray(path.read_bytes())
    content[-60 * 8192 : -10 * 8192] = b"\xff" * (50 * 8192)  # rows; the schema stands before
    path.write_bytes(content)
    store = SqliteStore(path)
    assert await store.check() != []
    with pytest.raises(StoreCorrupt, match="memtree check"):
        await store.nodes(T, [node.id for group in range(20) for node in batch(group).nodes])
    await store.close()


async def test_damage_that_is_repaired_in_place_heals(store, path):
    """An error that is not passing drops the connection; the next call has a new one."""
    await store.commit(T, batch(1))
    await on_writer(store, "ALTER TABLE nodes RENAME TO away")
    with pytest.raises(StoreUnavailable, match="no such table"):
        await store.commit(T, batch(2))
    with pytest.raises(StoreUnavailable, match="no such table"):
        await store.nodes(T, [b"1" * 16])
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("ALTER TABLE away RENAME TO nodes")
    await store.commit(T, batch(2))
    assert await groups(store) == [1, 2]


async def test_a_file_that_was_removed_swallows_nothing(store, path, tmp_path):
    await store.commit(T, batch(1))
    path.rename(tmp_path / "away")
    with pytest.raises(StoreUnavailable, match="moved or replaced"):
        await store.commit(T, batch(2))
    (tmp_path / "away").rename(path)
    await store.commit(T, batch(2))
    assert await groups(store) == [1, 2]


async def test_cancellation_leaves_no_transaction_open(store, path):
    with closing(sqlite3.connect(path, isolation_level=None, timeout=0)) as other:
        for group in range(10):
            call = asyncio.ensure_future(store.commit(T, batch(group, 500)))
            await asyncio.sleep(0.0005 * group)
            call.cancel()
            await asyncio.gather(call, return_exceptions=True)
            await on_writer(store, "SELECT 1")  # what was begun has ended
            other.execute("BEGIN IMMEDIATE")
            other.execute("ROLLBACK")
    assert await store.check() == []


async def test_the_event_loop_goes_on_during_a_long_commit(path):
    store = SqliteStore(path, busy_timeout=120)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        call = asyncio.ensure_future(store.commit(T, batch(1)))
        for _ in range(10):
            await asyncio.sleep(0.001)
            assert not call.done()  # as it would be, had the loop waited for it
        other.execute("ROLLBACK")
    await call
    assert await groups(store) == [1]
    await store.close()


# ---------------------------------------------------------------- other processes


def child(code: str, *arguments: object) -> subprocess.Popen[str]:
    """`code` in a Python of its own, which may use what this file defines."""
    setup = f"import sys; sys.path[:0] = [{str(ROOT)!r}, {str(Path(__file__).parent)!r}]\n"
    setup += "from test_faults import *\n"
    return subprocess.Popen(
        [sys.executable, "-c", setup + code, *map(str, arguments)],
        stdout=subprocess.PIPE,
        text=True,
    )


# Stops between the nodes of group 2 and their frontier: inside the transaction.
STOP_INSIDE = """
import time
import memtree.stores.sqlite.trees as trees
store, insert, calls = SqliteStore(Path(sys.argv[1])), trees.insert, []
def stopping(db, head, *rest):
    insert(db, head, *rest)
    calls.append(head)
    if len(calls) == 4:
        assert db.in_transaction and "nodes" in head
        print("inside", flush=True)
        time.sleep(60)
trees.insert = stopping
async def main():
    await store.commit(T, batch(1))
    await store.commit(T, batch(2, 5000))
asyncio.run(main())
"""

# Stops in a forget: after the nodes were deleted, or after its transaction.
STOP_FORGETTING = """
import time
import memtree.stores.sqlite.retention as retention
store, change = SqliteStore(Path(sys.argv[1])), retention.change
def stop():
    print("inside", flush=True)
    time.sleep(60)
def stopping(db, statement, *rest):
    count = change(db, statement, *rest)
    if "nodes" in statement:
        assert db.in_transaction and count == 40
        stop()
    return count
def not_scrubbing(db):
    assert not db.in_transaction
    stop()
if sys.argv[2] == "nodes":
    retention.change = stopping
else:
    retention.scrub = not_scrubbing
async def main():
    await store.commit(T, batch(1))
    await store.commit(T, batch(2))
    await store.forget(T, [node_id("address", 2)])
asyncio.run(main())
"""

KEEP_FORGETTING = """
store = SqliteStore(Path(sys.argv[1]))
async def main():
    for group in range(1000):
        await store.commit(T, batch(group % 50))
        await store.forget(T, [node_id("address", (group - 5) % 50)])
        print(group, flush=True)
asyncio.run(main())
"""

KEEP_WRITING = """
store = SqliteStore(Path(sys.argv[1]))
async def main():
    for group in range(int(sys.argv[2]), int(sys.argv[3])):
        await store.commit(T, batch(group))
        print(group, flush=True)
    await store.close()
asyncio.run(main())
"""


async def reopened(path: Path) -> list[int]:
    """The groups of a store that is sound and takes new ones."""
    store = SqliteStore(path)
    assert await store.check() == []
    found = await groups(store, 3000)
    await store.commit(T, batch(2999))
    await store.close()
    return found


@pytest.mark.slow
async def test_killed_inside_a_transaction(path):
    with child(STOP_INSIDE, path) as process:
        assert process.stdout
        assert process.stdout.readline() == "inside\n"
        process.send_signal(signal.SIGKILL)
    store = SqliteStore(path)
    assert (await store.stats()).nodes == 40
    await store.close()
    assert await reopened(path) == [1]


@pytest.mark.slow
@pytest.mark.parametrize("stop", ["nodes", "scrub"])
async def test_killed_while_forgetting(path, stop):
    """All or nothing; and what a killed process left in the file goes with the next sweep."""
    with child(STOP_FORGETTING, path, stop) as process:
        assert process.stdout
        assert process.stdout.readline() == "inside\n"
        process.send_signal(signal.SIGKILL)
    store = SqliteStore(path)
    assert await store.check() == []
    if stop == "nodes":
        assert await groups(store) == [1, 2]
        assert (await store.stats()).nodes == 80
        await store.forget(T, [node_id("address", 2)])
    else:
        assert await groups(store) == [1]
        assert node_id(2, 0) in content(path)
        assert await store.sweep(0.0) == Receipt()
    assert (await store.stats()).nodes == 40
    assert node_id(1, 0) in content(path)
    assert node_id(2, 0) not in content(path)
    await store.close()


def content(path: Path) -> bytes:
    return b"".join(each.read_bytes() for each in path.parent.iterdir())


@pytest.mark.slow
async def test_killed_at_any_time_while_forgetting(path):
    for round_ in range(5):
        with child(KEEP_FORGETTING, path) as process:
            assert process.stdout
            for _ in range(1 + 9 * round_):
                process.stdout.readline()
            process.send_signal(signal.SIGKILL)
        store = SqliteStore(path)
        assert await store.check() == []
        assert (await store.stats()).nodes == 40 * len(await groups(store))
        await store.close()


@pytest.mark.slow
async def test_killed_at_any_time(path):
    for round_ in range(5):
        first = round_ * 500
        with child(KEEP_WRITING, path, first, first + 500) as process:
            assert process.stdout
            told = [int(process.stdout.readline()) for _ in range(1 + 7 * round_)]
            process.send_signal(signal.SIGKILL)
        assert set(told) <= set(await reopened(path))


@pytest.mark.slow
async def test_processes_that_open_a_new_file_at_once(path):
    writers = [child(KEEP_WRITING, path, first, first + 20) for first in (0, 20, 40)]
    for writer in writers:
        with writer:
            writer.communicate()
        assert writer.returncode == 0
    assert await reopened(path) == list(range(60))
