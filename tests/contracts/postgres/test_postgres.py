"""Addresses, schemas, rights and space in PostgreSQL; a server that goes away and comes back."""

from __future__ import annotations

import asyncio
import contextlib
import signal

import psycopg
import pytest

from memtree.errors import BadRequest, StoreCorrupt, StoreUnavailable
from memtree.ports.context_store import IndexBatch, Receipt
from memtree.stores import has_store, open_store, shown_store
from memtree.stores.postgres import PostgresStore
from memtree.stores.postgres.pool import fault
from tests.contracts.backends import A, B, address, by_id, epoch, frontier, garbage, leaf, turn
from tests.contracts.many import IDS, KEY, LEAVES, LOOK, LOW, store_url_of
from tests.programs.postgres import drop_schema, erase_schema, postgres_url, schema_of, store_url


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:s3cret@host:port/db",
        "postgresql://me:s3%cret@host/db",
        "postgresql://me:s3?cret@host/db",
        "postgresql://me:s3/cret@host/db",
        "postgresql://me@host/db?password=s3cret&nonsense=1",
        "postgresql://me:s3cret@host/db?schema=Not-A-Name",
        "postgresql://me:s3cret@host/db?schema=x;drop",
        "postgresql://me:s3cret@host/db?connections=many",
        "postgresql://me:s3cret@host/db?connections=0",
        "postgresql://me:s3cret@host/db?connect_timeout=soon",
        "postgres://me:s3cret@[host/db",
    ],
)
def test_an_address_that_cannot_be_read(url):
    with pytest.raises(BadRequest) as caught:
        open_store(url)
    assert caught.value.param == "store"
    assert "cret" not in caught.value.message
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://me:s3cret@host:5/db?schema=x", "postgresql://host:5/db"),
        ("postgresql://me:s@3cret@host/db", "postgresql://host/db"),
        ("postgresql://me:s3/cret@host/db", "postgresql://host/db"),
        ("postgresql://me:s3?cret@host/db", "postgresql://..."),
        ("postgresql://host/db?user=me&password=s3cret", "postgresql://host/db"),
        ("postgresql://host/db?password=s@3cret", "postgresql://..."),
        ("postgresql:///db", "postgresql:///db"),
        ("mysql://me:s3cret@host/db", "mysql://host/db"),
        ("memory:", "memory:"),
        ("sqlite:///a@b?c.db", "sqlite:///a@b?c.db"),
    ],
)
def test_what_is_shown_of_an_address(url, shown):
    assert shown_store(url) == shown


async def test_no_error_tells_the_password(server):
    url = f"postgresql://postgres:s3cret@127.0.0.1:{server.port}"
    for place, message in (
        ("/nosuch", "nosuch.* cannot be reached"),
        ("/postgres?user=nobody", "cannot be reached"),
        ("/postgres?sslmode=require", "cannot be reached"),
    ):
        store = open_store(url + place)
        with pytest.raises(StoreUnavailable, match=message) as caught:
            await store.stats()
        told: BaseException | None = caught.value
        while told:
            assert "s3cret" not in str(told) + repr(told)
            told = told.__cause__ or told.__context__
        assert "s3cret" not in repr(store.database.dsn)
        await store.close()


async def test_a_newer_schema_and_one_of_another_program(stores, tmp_path):
    await stores[0].stats()
    with LOOK.connected(stores[0]) as db:
        db.execute("UPDATE schema_version SET version = 99")
    newer = open_store(store_url(tmp_path))
    with pytest.raises(StoreUnavailable, match="version 99, this program knows"):
        await newer.stats()
    await newer.close()
    erase_schema(tmp_path)
    with psycopg.connect(store_url(tmp_path).partition("?")[0], autocommit=True) as db:
        schema = stores[0].database.dsn.schema
        db.execute(f"CREATE SCHEMA {schema}")
        db.execute(f"CREATE TABLE {schema}.nodes (mine integer)")
        other = open_store(store_url(tmp_path))
        with pytest.raises(StoreUnavailable, match="tables of another program"):
            await other.stats()
        await other.close()
        found = db.execute("SELECT count(*) FROM pg_tables WHERE schemaname = %s", (schema,))
        assert found.fetchone() == (1,)


async def test_the_owner_of_a_schema_needs_no_other_right(stores, tmp_path):
    """Not even to make schemas in the database; without one, the error says which right."""
    erase_schema(tmp_path)
    schema = stores[0].database.dsn.schema
    url = store_url_of(stores[0]).replace("postgres@", f"o_{schema}@")
    with LOOK.connected(stores[0]) as db:
        db.execute(f"CREATE ROLE o_{schema} LOGIN")
        poor = open_store(url)
        with pytest.raises(StoreUnavailable, match="or CREATE on the database"):
            await poor.stats()
        db.execute(f"CREATE SCHEMA {schema} AUTHORIZATION o_{schema}")
        await poor.commit(A, IndexBatch(tuple(LEAVES), {address(0): frontier(LEAVES, 48)}, 5.0))
        assert (await poor.sweep(9.0)).nodes == 48
        assert (await poor.stats()).nodes == 0
        await poor.close()
        db.execute(f"DROP OWNED BY o_{schema}")
        db.execute(f"DROP ROLE o_{schema}")


async def test_a_user_without_rights_and_a_standby(stores, tmp_path):
    store = stores[0]
    await store.stats()
    schema = store.database.dsn.schema
    with LOOK.connected(store) as db:
        db.execute(f"CREATE ROLE r_{schema} LOGIN")
        db.execute(f"GRANT USAGE ON SCHEMA {schema} TO r_{schema}")
        db.execute(f"GRANT SELECT ON schema_version TO r_{schema}")
    url = store_url_of(store).replace("postgres@", f"r_{schema}@")
    guest = open_store(url)
    with pytest.raises(StoreUnavailable, match="may not be used by this user"):
        await guest.nodes(A, IDS)
    await guest.close()
    with LOOK.connected(store) as db:
        db.execute(f"GRANT ALL ON ALL TABLES IN SCHEMA {schema} TO r_{schema}")
        db.execute(f"ALTER ROLE r_{schema} SET default_transaction_read_only TO on")
    reader = open_store(url)
    assert await reader.nodes(A, IDS) == {}
    with pytest.raises(StoreUnavailable, match="is read-only"):
        await reader.commit(A, IndexBatch(tuple(LEAVES)))
    await reader.close()
    with LOOK.connected(store) as db:
        db.execute(f"DROP OWNED BY r_{schema}")
        db.execute(f"DROP ROLE r_{schema}")


def test_damage_of_the_server_is_corruption():
    told = fault(psycopg.errors.DataCorrupted("invalid page in block 7"), "postgresql://host/db")
    assert isinstance(told, StoreCorrupt)
    assert "invalid page in block 7" in told.message


@pytest.fixture
async def alone(server, tmp_path):
    """On a server of its own: a transaction of another test would keep VACUUM from its work."""
    store = PostgresStore(f"{server.url}?schema={schema_of(tmp_path)}&connect_timeout=60")
    yield store
    await store.close()


async def test_deleted_rows_give_their_space_back(alone):
    """At once where the store is small."""
    store = alone
    many = [leaf(number) for number in range(4000)]
    await store.commit(B, IndexBatch((LEAVES[0],), {address(0): frontier(LEAVES[:1], 1)}, 50.0))
    await store.commit(A, IndexBatch(tuple(many), {address(0): frontier(many, 4000)}, 5.0))
    full = (await store.stats()).bytes
    assert (await store.forget(A, None)).nodes == 4000
    assert (await store.stats()).bytes < full
    with LOOK.connected(store) as db:
        dead = db.execute("SELECT count(*) FROM deletions").fetchone()
    assert dead == (0,)
    await store.commit(A, IndexBatch(tuple(many)))
    assert (await store.stats()).bytes < 1.3 * full  # an index fills its empty pages later
    assert await store.nodes(B, IDS[:1]) == by_id(LEAVES[:1])


async def test_a_large_store_is_cleared_by_the_sweep(alone, monkeypatch):
    store = alone
    monkeypatch.setattr("memtree.stores.postgres.postgres_database.SMALL_BYTES", 0)
    await store.commit(A, IndexBatch(tuple(LEAVES), {address(0): frontier(LEAVES, 48)}, 5.0))
    await store.forget(A, [address(0)])
    with LOOK.connected(store) as db:
        assert db.execute("SELECT count(*) FROM deletions").fetchone() == (1,)
        assert await store.sweep(0.0) == Receipt()
        assert db.execute("SELECT count(*) FROM deletions").fetchone() == (0,)
        (visible,) = db.execute(
            "SELECT relallvisible = relpages FROM pg_class WHERE oid = 'nodes'::regclass"
        ).fetchone()  # type: ignore[misc]
        assert visible


async def test_asking_for_a_store_makes_none(tmp_path):
    url = store_url(tmp_path)
    assert not await has_store(url)
    with psycopg.connect(postgres_url()) as db:
        schemas = db.execute("SELECT to_regnamespace(%s)", (schema_of(tmp_path),)).fetchone()
    assert schemas == (None,)
    store = open_store(url)
    await store.database.reach()
    await store.close()
    assert await has_store(url)
    drop_schema(tmp_path)


async def back(store: PostgresStore) -> None:
    """Until the store works: it comes back by itself, whether somebody asks or not."""
    async with asyncio.timeout(120):
        while True:
            with contextlib.suppress(StoreUnavailable):
                await store.stats()
                return
            await asyncio.sleep(0.05)


@pytest.mark.long
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT, signal.SIGKILL])
async def test_a_server_that_stops_in_the_middle_of_work(server, how):
    """A confirmed write is there afterwards if the server ended in order; after a crash the newest
    may be missing, never a part of it."""
    stores = [PostgresStore(f"{server.url}?schema=stop{how.value}") for _ in range(2)]
    told: asyncio.Queue[int] = asyncio.Queue()
    failed: asyncio.Queue[str] = asyncio.Queue()
    kept: list[int] = []
    words: list[str] = []
    going = True

    async def write(number: int) -> None:
        n = 0
        while going:
            n += 1
            group = LOW[n % 12]
            leaves = [node for node in LEAVES if node.id in group.children]
            one = epoch(1000 * number + n, group.id)
            at = address(1000 * number + n)
            try:
                batch = IndexBatch((*leaves, group), {at: frontier([group], 4)}, 50.0)
                await stores[number % 2].commit(A, batch)
                told.put_nowait(1000 * number + n)
                await stores[number % 2].put_turn(A, KEY, at, turn(one), epoch=one, expires=50.0)
                await stores[number % 2].sweep(1.0)
            except StoreUnavailable as error:
                failed.put_nowait(error.message)
                await asyncio.sleep(0.01)

    async def outages() -> None:
        nonlocal going
        for _ in range(3):
            kept.extend([await told.get() for _ in range(20)])
            await asyncio.to_thread(server.stop, how)
            words.extend([await failed.get() for _ in range(40)])  # at once, again and again
            await asyncio.to_thread(server.start)
            await back(stores[0])
        going = False

    await asyncio.gather(*(write(number) for number in range(6)), outages())
    expected = ("stopped or restarted", "cannot be reached", "was lost", "does not answer")
    assert [each for each in words if not any(part in each for part in expected)] == []
    await back(stores[1])
    assert await stores[0].check() == []
    while not told.empty():
        kept.append(told.get_nowait())
    found = await stores[0].frontiers(A, [address(n) for n in kept])
    if how == signal.SIGINT:
        assert len(found) == len(kept)
    rows = LOOK.rows(stores[0], A)
    assert garbage(rows) == []
    for store in stores:
        await store.close()


def noting(who: list[str]):
    """Connecting that notes by which task."""
    connect = psycopg.AsyncConnection.connect

    async def connecting(*given, **named):
        task = asyncio.current_task()
        who.append(task.get_name() if task else "")
        return await connect(*given, **named)

    return connecting


@pytest.mark.long
async def test_a_server_that_hangs(server, monkeypatch):
    """A call waits about two seconds, those after it not at all; then all is as before. Nothing of
    the server's ends a statement there: it is frozen, too."""
    store = PostgresStore(f"{server.url}?schema=hangs&connect_timeout=1")
    await asyncio.gather(*(store.commit(A, IndexBatch(tuple(LEAVES))) for _ in range(4)))
    server.freeze()
    try:
        calls = [store.nodes(A, IDS[:1]) for _ in range(12)]
        async with asyncio.timeout(120):
            for outcome in await asyncio.gather(*calls, return_exceptions=True):
                assert isinstance(outcome, StoreUnavailable)
        who = []
        with monkeypatch.context() as patch:
            patch.setattr(psycopg.AsyncConnection, "connect", noting(who))
            for _ in range(100):
                with pytest.raises(StoreUnavailable):
                    await store.nodes(A, IDS[:1])
        assert set(who) <= {"postgres-revive"}
    finally:
        server.thaw()
    await back(store)
    assert len(await store.nodes(A, IDS)) == 48
    assert await store.check() == []
    await store.close()


@pytest.mark.slow
async def test_a_server_that_is_not_there_yet(server):
    """A program starts without it; it works when the server does, and makes its schema then."""
    server.stop()
    store = open_store(f"{server.url}?schema=later")
    for _ in range(3):
        with pytest.raises(StoreUnavailable, match="cannot be reached"):
            await store.nodes(A, IDS[:1])
    with pytest.raises(StoreUnavailable, match="cannot be reached"):
        await store.check()
    server.start()
    await back(store)
    assert await store.check() == []
    await store.close()


async def test_a_schema_that_is_dropped_is_made_again(stores, tmp_path):
    store = stores[0]
    await store.commit(A, IndexBatch(tuple(LEAVES)))
    erase_schema(tmp_path)
    with pytest.raises(StoreUnavailable, match=r"has lost its tables|no such schema"):
        await store.nodes(A, IDS[:1])
    assert await store.nodes(A, IDS[:1]) == {}
    await store.commit(A, IndexBatch(tuple(LEAVES)))
    assert await store.check() == []
