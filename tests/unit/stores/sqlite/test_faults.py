"""Check what goes wrong around a SQLite file: told clearly, nothing half-written, usable again
after."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import stat
import time
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from unittest.mock import Mock

import pytest

from memtree.errors import (
    BadRequest,
    Conflict,
    MemTreeError,
    NodesGone,
    StoreCorrupt,
    StoreUnavailable,
)
from memtree.process import circuit_breaker
from memtree.process.circuit_breaker import CircuitBreaker
from memtree.stores import RamStore, SqliteStore, open_store
from memtree.stores.machine_owner import PART as OWNER
from memtree.stores.schema import PART, SQLITE, VERSION
from memtree.stores.sqlite import sqlite_connection
from tests.unit.stores.sqlite.batches import T, batch, groups


@contextmanager
def owned(folder: Path, mode: int) -> Iterator[None]:
    """Give the folder, and what is in it, to a user without privileges, who this process is
    inside."""
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


async def test_an_empty_file_gets_its_tables(path):
    path.touch()
    store = SqliteStore(path)
    await store.commit(T, batch(1))
    assert await store.check() == []
    await store.close()
    with closing(sqlite3.connect(path)) as db:
        assert dict(db.execute("SELECT * FROM schema_version")) == {PART: VERSION, OWNER: 1}


async def test_many_open_a_new_file_at_once(path):
    with ThreadPoolExecutor(8) as threads:
        stores = list(threads.map(lambda _: SqliteStore(path), range(8)))
    assert await stores[0].check() == []
    for store in stores:
        await store.close()


async def test_a_newer_schema_is_refused(path):
    await SqliteStore(path).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("UPDATE schema_version SET version = 99")
    with pytest.raises(StoreUnavailable, match=r"version 99, .* a newer MemTree wrote it"):
        SqliteStore(path)


async def test_another_schema_is_refused_while_the_store_is_open(path):
    """A process that opens the file later may be of another version."""
    store = SqliteStore(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute(f"UPDATE schema_version SET version = {VERSION - 1}")
    with pytest.raises(StoreUnavailable, match=r"an older MemTree wrote it.*1\.0\.0rc1"):
        SqliteStore(path)
    await store.close()


def test_tables_that_cannot_be_created_leave_the_file_as_it_was(path, monkeypatch):
    few = (*sqlite_connection.statements(SQLITE)[:9], "CREATE TABLE nodes (twice)")
    monkeypatch.setattr(sqlite_connection, "statements", lambda types: few)
    with pytest.raises(StoreUnavailable, match="nodes already exists"):
        SqliteStore(path)
    assert schema(path) == []


# ---------------------------------------------------------------- while running


async def on_writer(store: SqliteStore, statement: str) -> None:
    """Outside a transaction, in the writer's thread. A statement that is not read to its end would
    lock the next one out."""
    await store.database.call_writer(lambda db: db.execute(statement).fetchall())


@pytest.mark.slow
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


async def test_a_full_disk_shortens_the_wal_and_tries_once_more(store, path):
    """The second attempt finds the room that the WAL had taken."""
    for group in range(4):
        await store.commit(T, batch(group, 500))
    sizes: list[int] = []

    def fills_the_disk(db: sqlite3.Connection) -> str:
        sizes.append(Path(f"{path}-wal").stat().st_size)
        if len(sizes) == 1:
            db.execute("PRAGMA max_page_count = 1")
            db.execute("CREATE TABLE more (data)")
            db.execute("INSERT INTO more VALUES (zeroblob(1000000))")
        return "stored"

    assert await store.database.call_writer(fills_the_disk) == "stored"
    assert sizes[0] > 1_000_000
    assert sizes[1] < sizes[0] / 2


async def writable(store: SqliteStore) -> None:
    """Until a write gets through: a probe finds out that the store works again."""
    async with asyncio.timeout(60):
        while True:
            with suppress(StoreUnavailable):
                await store.commit(T, batch(99))
                return
            await asyncio.sleep(0.05)


@pytest.mark.slow
async def test_writes_behind_one_that_met_a_lock_fail_at_once(path):
    store = SqliteStore(path, busy_timeout=0.5)
    await store.commit(T, batch(1))
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        began = time.monotonic()
        calls = [store.commit(T, batch(number)) for number in range(2, 22)]
        for outcome in await asyncio.gather(*calls, return_exceptions=True):
            assert isinstance(outcome, StoreUnavailable)
            assert "is locked" in outcome.message
        assert time.monotonic() - began < 20 * 0.5 / 2  # each would wait for half a second
        ran: list[int] = []
        with pytest.raises(StoreUnavailable, match="is locked"):
            await store.database.call_writer(lambda db: ran.append(1))
        assert ran == []
        assert await groups(store) == [1]  # readers go on
        other.execute("ROLLBACK")
    await writable(store)
    assert await groups(store) == [1, 99]
    await store.close()


@pytest.mark.slow
async def test_a_file_that_cannot_even_be_read_is_waited_for_once(path):
    store = SqliteStore(path, busy_timeout=0.5)
    with pytest.raises(StoreUnavailable, match="no such table"):  # which drops its connection
        await on_writer(store, "SELECT 1 FROM away")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreUnavailable, match="is locked"):
            await groups(store)
        began = time.monotonic()
        for call in (groups(store), store.commit(T, batch(2))):
            with pytest.raises(StoreUnavailable, match="is locked"):
                await call
        assert time.monotonic() - began < 0.5
    await writable(store)
    await store.close()


@pytest.mark.slow
async def test_a_call_that_hangs_is_given_up_and_others_do_not_wait(store, monkeypatch):
    monkeypatch.setattr(sqlite_connection, "TICK", 0.1)
    goes_on = Event()
    ran: list[str] = []
    with pytest.raises(StoreUnavailable, match="does not answer"):
        await asyncio.gather(
            store.database.call_writer(lambda db: goes_on.wait()),
            store.database.call_writer(lambda db: ran.append("in line")),
        )
    with pytest.raises(StoreUnavailable, match="does not answer"):
        await store.database.call_writer(lambda db: ran.append("later"), patient=True)
    goes_on.set()
    await writable(store)
    assert ran == []


def opened(circuit: CircuitBreaker) -> None:
    """Open a circuit long ago."""
    circuit.worked(0)
    circuit.waited(1, 2, "locked")


@pytest.mark.parametrize(
    ("error", "opens"),
    [
        *((error("x"), False) for error in (NodesGone, Conflict, BadRequest, StoreCorrupt)),
        (sqlite3.IntegrityError("UNIQUE"), False),
        (sqlite3.OperationalError("x"), True),
        (StoreUnavailable("x"), True),
    ],
)
async def test_an_answer_of_the_store_is_no_outage(
    store: SqliteStore, error: Exception, opens: bool, monkeypatch: pytest.MonkeyPatch
):
    """It may have taken long; it ends an outage."""
    monkeypatch.setattr(circuit_breaker, "SHORT_WAIT", 0)
    circuit = store.database.writer.circuit
    for prepare in (lambda _: None, opened):
        prepare(circuit)
        with pytest.raises(MemTreeError):
            await store.database.call_writer(Mock(side_effect=error))
        assert bool(circuit.reason) is opens


async def test_a_call_is_no_outage_if_others_worked_meanwhile(store: SqliteStore):
    began = time.monotonic()
    await store.commit(T, batch(1))
    store.database.writer.failed(began - 1, "too long a line")
    assert not store.database.writer.circuit.reason


async def test_a_probe_has_a_whole_tick(store: SqliteStore):
    """The next look may come at once."""
    writer, goes_on = store.database.writer, Event()
    opened(writer.circuit)
    probe = asyncio.ensure_future(store.database.call_writer(lambda db: goes_on.wait(5)))
    while not writer.waiting:  # noqa: ASYNC110  nobody is told
        await asyncio.sleep(0)
    writer.look(asyncio.get_running_loop())
    goes_on.set()
    assert await probe


async def test_a_long_write_is_waited_for_by_its_own_caller(store, monkeypatch):
    monkeypatch.setattr(sqlite_connection, "TICK", 0.001)
    long = store.database.call_writer(lambda db: time.sleep(0.05) or "done", patient=True)
    assert await long == "done"


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


@pytest.mark.slow
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
