"""What several processes do to one database at once, and what a server does that goes away.

Races are run over several stores, each with connections of its own, and over processes.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import psycopg
import pytest

from memtree.errors import BadRequest, NodesGone, StoreCorrupt, StoreUnavailable
from memtree.plan import Span
from memtree.ports import Batch, Receipt
from memtree.stores import open_store, shown_store
from memtree.stores.postgres import PostgresStore, pool
from memtree.stores.postgres.faults import fault
from tests.contracts.backends import (
    A,
    B,
    OnPostgres,
    address,
    by_id,
    epoch,
    frontier,
    garbage,
    leaf,
    over,
    turn,
    version,
)
from tests.postgres import Postgres, drop_schema, own_postgres, store_url

ROOT = Path(__file__).parents[2]
LEAVES = [leaf(number) for number in range(48)]
LOW = [over(LEAVES[at : at + 4]) for at in range(0, 48, 4)]
TOP = over(LOW)
KEY, RECIPE = b"key", "minilm/1"
IDS = [node.id for node in (*LEAVES, *LOW)]


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[list[PostgresStore]]:
    """Four on one schema, as four processes have them."""
    made = [PostgresStore(store_url(tmp_path, connections=3)) for _ in range(4)]
    yield made
    for store in made:
        await store.close()
    drop_schema(tmp_path)


class Looking(OnPostgres):
    """Past the stores."""


LOOK = Looking()


async def sound(store: PostgresStore, *tenants: str) -> None:
    assert await store.check() == []
    for tenant in tenants or (A,):
        assert garbage(LOOK.rows(store, tenant)) == []


# ---------------------------------------------------------------- races


async def test_many_that_make_the_schema_at_once(stores):
    await asyncio.gather(*(store.stats() for store in stores for _ in range(3)))
    assert (await stores[0].stats()).nodes == 0


async def test_overlapping_batches_in_any_order(stores):
    """Equal rows written in opposite orders neither lock each other out nor get lost."""

    async def commit(number: int, store: PostgresStore) -> None:
        for round_ in range(8):
            step = 1 if (number + round_) % 2 else -1
            nodes = (*LEAVES[::step], *LOW[::step], TOP)
            whole = {address(n): frontier([TOP], 48) for n in range(24)[::step]}
            await store.commit(A, Batch(nodes, whole, float(number * 8 + round_)))
            await store.renew(A, [address(n) for n in range(24)[::-step]], 100.0 + round_)
            await store.put_vectors(A, RECIPE, {node.id: b"1234" for node in LEAVES[::step]})
            await store.put_summaries(A, {node.id: version(1) for node in LOW[::step]})

    await asyncio.gather(*(commit(n, stores[n % 4]) for n in range(8)))
    stats = await stores[0].stats()
    assert (stats.nodes, stats.leaves, stats.addresses, stats.vectors) == (61, 48, 24, 48)
    expiries = {row.expires for row in LOOK.rows(stores[0], A)["addresses"]}
    assert expiries == {107.0}
    await sound(stores[0])


async def test_committing_beside_forgetting_and_sweeping(stores):
    """Whoever writes is told `NodesGone` or has it all; nothing dangles, nothing is left over."""
    done: list[str] = []

    async def write(number: int, store: PostgresStore) -> None:
        for n in range(15):
            group = LOW[(n + number) % 12]
            leaves = [node for node in LEAVES if node.id in group.children]
            nodes = (*leaves, group) if n % 3 else ()
            at = address(100 * number + n)
            shown = epoch(100 * number + n, group.id)
            try:
                await store.commit(A, Batch(nodes, {at: frontier([group], 4)}, 10.0 + n % 2))
                new = turn(shown, used=1.0)
                await store.put_turn(A, KEY, at, new, epoch=shown, expires=10.0 + n % 2)
                await store.put_summaries(A, {group.id: version(1 + n % 2)})
                await store.put_vectors(A, RECIPE, {leaves[0].id: b"1234"})
                await store.claim(A, [node.id for node in leaves], str(number), 1.0, 9.0)
                done.append("written")
            except NodesGone:
                done.append("gone")

    async def delete(store: PostgresStore) -> None:
        for n in range(15):
            await store.forget(A, [address(100 * number + n) for number in range(6)])
            await store.sweep(10.5)
            if n % 5 == 4:
                await store.forget(A, None)

    await asyncio.gather(
        *(write(number, stores[number % 3]) for number in range(6)), delete(stores[3])
    )
    assert {"written", "gone"} == set(done)
    assert await stores[0].check() == []
    await stores[0].sweep(1e9)
    assert not any(LOOK.rows(stores[0], A).values())
    assert await stores[0].check() == []


async def test_a_turn_has_one_winner(stores):
    for at in range(12):
        epochs = [epoch(100 * at + n) for n in range(8)]
        calls = [
            stores[n % 4].put_turn(
                A, KEY, address(at), turn(each, Span(1, 2, 3)), epoch=each, expires=9.0
            )
            for n, each in enumerate(epochs)
        ]
        (winner,) = set(await asyncio.gather(*calls))
        found = await stores[0].latest(A, KEY, [address(at)])
        assert found is not None
        assert found.turn == winner
    assert len(LOOK.rows(stores[0], A)["epochs"]) == 12
    await sound(stores[0])


async def test_a_turn_is_replaced_by_one_of_many(stores):
    old = epoch(999)
    await stores[0].put_turn(A, KEY, address(0), turn(old), epoch=old, expires=9.0)
    epochs = [epoch(n) for n in range(8)]
    calls = [
        stores[n % 4].put_turn(
            A, KEY, address(0), turn(each), epoch=each, instead_of=old.id, expires=9.0
        )
        for n, each in enumerate(epochs)
    ]
    assert len(set(await asyncio.gather(*calls))) == 1
    assert len(LOOK.rows(stores[0], A)["epochs"]) == 2
    await stores[0].forget(A, [])
    await sound(stores[0])


async def test_a_node_has_one_owner_and_is_summarised_once(stores):
    """Workers that claim, summarise and release, as stage 3 does: no node is paid for twice."""
    await stores[0].commit(A, Batch((*LEAVES, *LOW)))
    paid: list[bytes] = []

    async def work(number: int, store: PostgresStore) -> None:
        for at in range(0, len(IDS), 5):
            wanted = [IDS[(at + k + 7 * number) % len(IDS)] for k in range(9)]
            mine = await store.claim(A, wanted, f"worker {number}", 10.0, 20.0)
            paid.extend(mine)
            await store.put_summaries(A, dict.fromkeys(mine, version(1)))
            await store.release(A, wanted, f"worker {number}")

    await asyncio.gather(*(work(n, stores[n % 4]) for n in range(8)))
    assert sorted(paid) == sorted(IDS)
    assert LOOK.rows(stores[0], A)["claims"] == set()


async def test_a_limit_holds_among_many(stores):
    async def add(store: PostgresStore) -> int:
        return sum([await store.add(A, 1, {"n": 7, "m": 1}, {"n": 100}) for _ in range(10)])

    assert sum(await asyncio.gather(*(add(stores[n % 4]) for n in range(8)))) == 14
    assert await stores[0].tallies(A, 1, 1) == {"n": 98, "m": 14}


async def test_numbers_add_up_among_many(stores):
    async def add(number: int, store: PostgresStore) -> None:
        for n in range(10):
            names = ["a", "b", "c"][:: 1 if n % 2 else -1]
            await store.add(A, 1, dict.fromkeys(names, number))

    await asyncio.gather(*(add(n, stores[n % 4]) for n in range(8)))
    assert await stores[0].tallies(A, 1, 1) == dict.fromkeys("abc", 280)


async def test_what_is_read_is_one_state(stores):
    """An epoch never comes and goes between the steps of one read."""
    one = epoch(1)
    new = turn(one, Span(1, 2, 3))

    async def write() -> None:
        for _ in range(40):
            await stores[0].put_turn(A, KEY, address(1), new, epoch=one, expires=1.0)
            await stores[1].sweep(2.0)

    async def read() -> None:
        while not writing.done():
            found = await stores[2].latest(A, KEY, [address(1)])
            assert found is None or found.blocks == {address(1): new}

    writing = asyncio.ensure_future(write())
    await asyncio.gather(writing, read())


async def test_the_last_try_of_a_transaction_that_postgres_breaks_off(stores):
    """Deadlocks are not expected; should one come, the transaction is run again."""
    store, tries = stores[0], []

    async def work(db):
        tries.append(db)
        if len(tries) < pool.TRIES:
            raise psycopg.errors.DeadlockDetected("made here")
        return "done"

    assert await store._pool.hurry(work) == "done"
    tries.clear()

    async def never(db):
        tries.append(db)
        raise psycopg.errors.DeadlockDetected("made here")

    with pytest.raises(StoreUnavailable):
        await store._pool.transact(never)
    assert len(tries) == pool.TRIES


WORKER = """
import asyncio, sys
sys.path[:0] = [sys.argv[1], sys.argv[2]]
from test_postgres import *

async def main(url, number):
    store = PostgresStore(url)
    await store.stats()
    print("ready", flush=True)
    sys.stdin.readline()
    for round_ in range(12):
        nodes = (*LEAVES, *LOW, TOP)[:: 1 if (number + round_) % 2 else -1]
        whole = {address(number * 100 + round_): frontier([TOP], 48)}
        try:
            await store.commit(A, Batch(nodes, whole, 50.0))
            if number == 0:
                await store.sweep(60.0 if round_ % 4 == 3 else 1.0)
        except NodesGone:
            print("gone", flush=True)
        for won in await store.claim(A, IDS, str(number), 10.0, 20.0):
            print(won.hex(), flush=True)
    await store.close()

asyncio.run(main(sys.argv[3], int(sys.argv[4])))
"""


def _worker(url: str, number: int) -> subprocess.Popen[str]:
    here = (str(ROOT), str(Path(__file__).parent))
    command = [sys.executable, "-c", WORKER, *here, url, str(number)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


@pytest.mark.slow
async def test_processes_with_overlapping_trees_and_a_sweep(stores, tmp_path):
    url = store_url(tmp_path)
    running = [_worker(url, n) for n in range(3)]
    for child in running:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
    told = await asyncio.gather(
        *(asyncio.to_thread(child.communicate, "go\n") for child in running)
    )
    assert [child.returncode for child in running] == [0, 0, 0]
    assert all("gone" not in out for out, _ in told)  # every batch brings all its nodes
    await sound(stores[0])
    after = (await stores[0].sweep(1e9)).addresses
    assert after <= 36
    assert not any(LOOK.rows(stores[0], A).values())


# ---------------------------------------------------------------- a connection that breaks


async def every_call(store: PostgresStore) -> None:
    """All ports once."""
    await store.commit(A, Batch((*LEAVES, *LOW), {address(0): frontier(LOW, 48)}, 50.0))
    await store.frontiers(A, [address(0)])
    await store.nodes(A, IDS)
    await store.descendants(A, [LOW[0].id])
    await store.renew(A, [address(0)], 60.0)
    await store.put_vectors(A, RECIPE, {LEAVES[0].id: b"1234"})
    await store.vectors(A, RECIPE, IDS)
    await store.put_summaries(A, {LOW[0].id: version(1)})
    await store.newest_summaries(A, IDS)
    await store.summaries(A, [(LOW[0].id, 1)])
    one = epoch(1, LOW[0].id)
    await store.put_turn(A, KEY, address(0), turn(one), epoch=one, expires=50.0)
    await store.latest(A, KEY, [address(0)])
    await store.chain(A, address(0))
    await store.claim(A, IDS, "me", 1.0, 2.0)
    await store.release(A, IDS, "me")
    await store.add(A, 1, {"n": 1}, {"n": 10**9})
    await store.tallies(A, 1, 1)
    await store.tallied(1, 1)
    await store.tenant_of("nobody")
    await store.list_keys()
    await store.stats()
    await store.sweep(10.0)
    await store.forget(A, [address(5)])
    await store.check()


async def test_a_connection_killed_in_every_call(stores):
    """Before each statement that is sent, once: the call says so, and the store is sound."""
    store, other = stores[0], stores[1]
    await every_call(store)
    execute = psycopg.AsyncConnection.execute
    at, kill = 0, 0

    async def killing(self, query, *rest, **options):
        nonlocal at
        if asyncio.current_task() in store._pool._calls:
            at += 1
            if at == kill:
                with LOOK.connected(other) as db:
                    db.execute("SELECT pg_terminate_backend(%s)", (self.info.backend_pid,))
        return await execute(self, query, *rest, **options)

    psycopg.AsyncConnection.execute = killing  # type: ignore[method-assign]
    try:
        failed = []
        for kill in range(1, 1000):
            at = 0
            try:
                await every_call(store)
            except StoreUnavailable as error:
                failed.append(error.message)
            if at < kill:
                break
            assert await other.check() == []
    finally:
        psycopg.AsyncConnection.execute = execute  # type: ignore[method-assign]
    assert len(failed) > 40
    assert all("stopped or restarted" in each or "was lost" in each for each in failed)
    await every_call(store)


async def test_idle_connections_that_were_killed_are_not_met(stores):
    store = stores[0]
    await asyncio.gather(*(store.stats() for _ in range(6)))
    assert len(store._pool._idle) == 3
    pids = [db.info.backend_pid for db, _ in store._pool._idle]
    with LOOK.connected(stores[1]) as looking:
        for pid in pids:
            looking.execute("SELECT pg_terminate_backend(%s, 5000)", (pid,))
    await every_call(store)
    assert not {db.info.backend_pid for db, _ in store._pool._idle} & set(pids)


async def test_cancelled_callers_lose_no_connection(stores):
    store = stores[0]
    await store.stats()
    for _ in range(5):
        calls = [asyncio.ensure_future(store.commit(A, Batch(tuple(LEAVES)))) for _ in range(12)]
        await asyncio.sleep(0)
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
    await store.close()
    assert (await stores[1].stats()).nodes in (0, 48)
    with LOOK.connected(stores[1]) as looking:
        rows = looking.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'"
        ).fetchone()
    assert rows == (0,)


async def test_a_long_lock_is_waited_for_and_told(stores, monkeypatch):
    """A call that takes long asks whether the server is there, and goes on waiting."""
    monkeypatch.setattr(pool, "PATIENCE", 0.05)
    store = stores[0]
    await store.commit(A, Batch(tuple(LEAVES)))
    with LOOK.connected(store) as other:
        with other.transaction():
            other.execute("LOCK TABLE nodes")
            call = asyncio.ensure_future(store.nodes(A, IDS[:1]))
            asking = store._pool._ask
            asked = asyncio.Event()

            async def noticed() -> bool:
                asked.set()
                return await asking()

            monkeypatch.setattr(store._pool, "_ask", noticed)
            await asyncio.wait_for(asked.wait(), 30)
            assert not call.done()
        assert await call == {LEAVES[0].id: LEAVES[0]}
    monkeypatch.setattr(pool, "SETTINGS", pool.SETTINGS + "; SET lock_timeout TO '50ms'")
    hasty = PostgresStore(store_url_of(store))
    with LOOK.connected(store) as other, other.transaction():
        other.execute("LOCK TABLE nodes")
        with pytest.raises(StoreUnavailable, match="is locked"):
            await hasty.nodes(A, IDS[:1])
    assert await hasty.nodes(A, IDS[:1]) == {LEAVES[0].id: LEAVES[0]}
    await hasty.close()


def store_url_of(store: PostgresStore) -> str:
    info = psycopg.conninfo.conninfo_to_dict(store._dsn.conninfo)
    place = f"{info['host']}:{info['port']}/{info['dbname']}"
    return f"postgresql://{info['user']}@{place}?schema={store._dsn.schema}"


# ---------------------------------------------------------------- a server that goes away


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    with own_postgres() as running:
        yield running


async def back(store: PostgresStore) -> None:
    """Until the store works: it comes back by itself, whether somebody asks or not."""
    for _ in range(600):
        with contextlib.suppress(StoreUnavailable):
            await store.stats()
            return
        await asyncio.sleep(0.05)
    pytest.fail("the store did not come back")


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT])
async def test_a_server_that_stops_in_the_middle_of_work(server, how):
    """What was told to be written is there afterwards if the server ended in order; after a crash
    the newest may be missing, never a part of it."""
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
                batch = Batch((*leaves, group), {at: frontier([group], 4)}, 50.0)
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


@pytest.mark.slow
async def test_a_server_that_hangs(server):
    """A call waits about two seconds, those after it not at all; then all is as before."""
    store = PostgresStore(f"{server.url}?schema=hangs&connect_timeout=1")
    await asyncio.gather(*(store.commit(A, Batch(tuple(LEAVES))) for _ in range(4)))
    server.freeze()
    try:
        calls = [store.nodes(A, IDS[:1]) for _ in range(12)]
        begun = time.monotonic()
        for outcome in await asyncio.gather(*calls, return_exceptions=True):
            assert isinstance(outcome, StoreUnavailable)
        assert time.monotonic() - begun < 20  # not for as long as a statement may take
        begun = time.monotonic()
        for _ in range(100):
            with pytest.raises(StoreUnavailable):
                await store.nodes(A, IDS[:1])
        assert time.monotonic() - begun < 1
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
    await store.commit(A, Batch(tuple(LEAVES)))
    drop_schema(tmp_path)
    with pytest.raises(StoreUnavailable, match=r"has lost its tables|no such schema"):
        await store.nodes(A, IDS[:1])
    assert await store.nodes(A, IDS[:1]) == {}
    await store.commit(A, Batch(tuple(LEAVES)))
    assert await store.check() == []


# ---------------------------------------------------------------- addresses and schemas


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
        assert "s3cret" not in repr(store._dsn)
        await store.close()


async def test_a_newer_schema_and_one_of_another_program(stores, tmp_path):
    await stores[0].stats()
    with LOOK.connected(stores[0]) as db:
        db.execute("UPDATE schema_version SET version = 99")
    newer = open_store(store_url(tmp_path))
    with pytest.raises(StoreUnavailable, match="version 99, this program knows up to"):
        await newer.stats()
    await newer.close()
    drop_schema(tmp_path)
    with psycopg.connect(store_url(tmp_path).partition("?")[0], autocommit=True) as db:
        schema = stores[0]._dsn.schema
        db.execute(f"CREATE SCHEMA {schema}")
        db.execute(f"CREATE TABLE {schema}.nodes (mine integer)")
        other = open_store(store_url(tmp_path))
        with pytest.raises(StoreUnavailable, match="tables of another program"):
            await other.stats()
        await other.close()
        found = db.execute("SELECT count(*) FROM pg_tables WHERE schemaname = %s", (schema,))
        assert found.fetchone() == (1,)


async def test_a_user_without_rights_and_a_standby(stores, tmp_path):
    store = stores[0]
    await store.stats()
    schema = store._dsn.schema
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
        await reader.commit(A, Batch(tuple(LEAVES)))
    await reader.close()
    with LOOK.connected(store) as db:
        db.execute(f"DROP OWNED BY r_{schema}")
        db.execute(f"DROP ROLE r_{schema}")


def test_damage_of_the_server_is_corruption():
    told = fault(psycopg.errors.DataCorrupted("invalid page in block 7"), "postgresql://host/db")
    assert isinstance(told, StoreCorrupt)
    assert "invalid page in block 7" in told.message


# ---------------------------------------------------------------- deletion


async def test_deleted_rows_give_their_space_back(stores):
    """At once where the store is small."""
    store = stores[0]
    many = [leaf(number) for number in range(4000)]
    await store.commit(B, Batch((LEAVES[0],), {address(0): frontier(LEAVES[:1], 1)}, 50.0))
    await store.commit(A, Batch(tuple(many), {address(0): frontier(many, 4000)}, 5.0))
    full = (await store.stats()).bytes
    assert (await store.forget(A, None)).nodes == 4000
    assert (await store.stats()).bytes < full
    with LOOK.connected(store) as db:
        dead = db.execute("SELECT count(*) FROM deletions").fetchone()
    assert dead == (0,)
    await store.commit(A, Batch(tuple(many)))
    assert (await store.stats()).bytes < 1.3 * full  # an index fills its empty pages later
    assert await store.nodes(B, IDS[:1]) == by_id(LEAVES[:1])


async def test_a_large_store_is_cleared_by_the_sweep(stores, monkeypatch):
    store = stores[0]
    monkeypatch.setattr("memtree.stores.postgres.store.SMALL_BYTES", 0)
    await store.commit(A, Batch(tuple(LEAVES), {address(0): frontier(LEAVES, 48)}, 5.0))
    await store.forget(A, [address(0)])
    with LOOK.connected(store) as db:
        assert db.execute("SELECT count(*) FROM deletions").fetchone() == (1,)
        assert await store.sweep(0.0) == Receipt()
        assert db.execute("SELECT count(*) FROM deletions").fetchone() == (0,)
        (visible,) = db.execute(
            "SELECT relallvisible = relpages FROM pg_class WHERE oid = 'nodes'::regclass"
        ).fetchone()  # type: ignore[misc]
        assert visible
