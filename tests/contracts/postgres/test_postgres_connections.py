"""Connections that break, and calls that wait or are given up."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import replace

import psycopg
import pytest

from memtree.errors import Conflict, MemTreeError, NodesGone, StoreUnavailable
from memtree.ports.context_store import IndexBatch
from memtree.process import circuit_breaker
from memtree.stores.postgres import PostgresStore, pool
from memtree.stores.postgres.postgres_sql import Connection
from memtree.stores.sql import Sql
from tests.contracts.backends import A
from tests.contracts.many import IDS, LEAVES, LOOK, every_call, store_url_of


@pytest.mark.long
async def test_a_connection_killed_in_every_call(stores):
    """Before each statement that is sent, once: the call says so, and the store is sound."""
    store, other = stores[0], stores[1]
    await every_call(store)
    execute = psycopg.AsyncConnection.execute
    at, kill = 0, 0

    async def killing(self, query, *rest, **options):
        nonlocal at
        if asyncio.current_task() in store.database.calls:
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
    assert len(store.database.idle) == 3
    pids = [db.info.backend_pid for db in store.database.idle]
    with LOOK.connected(stores[1]) as looking:
        for pid in pids:
            looking.execute("SELECT pg_terminate_backend(%s, 5000)", (pid,))
    await every_call(store)
    assert not {db.info.backend_pid for db in store.database.idle} & set(pids)


async def test_cancelled_callers_lose_no_connection(stores):
    store = stores[0]
    await store.stats()
    for _ in range(5):
        calls = [
            asyncio.ensure_future(store.commit(A, IndexBatch(tuple(LEAVES)))) for _ in range(12)
        ]
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


async def test_a_process_that_is_held_up_while_it_connects_connects_again(stores, monkeypatch):
    """The machine stands still for longer than the server has for an answer."""
    store, connect, calls = stores[0], psycopg.AsyncConnection.connect, []

    async def held_up(*given, **named):
        if asyncio.current_task() in store.database.calls:
            calls.append(given)
        if len(calls) == 1:
            calls.append("once")
            store.database.dsn = replace(store.database.dsn, seconds=60.0)
            time.sleep(0.05 + pool.HELD_UP)  # noqa: ASYNC251  nothing else goes on meanwhile
        return await connect(*given, **named)

    store.database.dsn = replace(store.database.dsn, seconds=0.05)
    monkeypatch.setattr(psycopg.AsyncConnection, "connect", held_up)
    assert (await store.stats()).nodes == 0
    assert len(calls) == 3


async def test_many_calls_that_take_long_ask_again_and_again(stores, monkeypatch):
    """Each goes on with the answer to its own question, whatever others ask meanwhile: they come at
    each step of the event loop about the end of the first question."""
    store, asked, ended = stores[0], [], asyncio.Event()
    await store.stats()

    def taking_long() -> asyncio.Future[bool]:
        return asyncio.ensure_future(store.database.run(lambda db: ended.wait(), patient=True))

    async def there() -> bool:
        asked.append(1)
        for _ in range(20 if len(asked) == 1 else 0):
            calls.append(taking_long())
            await asyncio.sleep(0)
        return True

    monkeypatch.setattr(pool, "PATIENCE", 0.0)
    monkeypatch.setattr(store.database, "ask_server", there)
    calls = [taking_long()]
    while len(asked) < 20:  # noqa: ASYNC110  each step counts
        await asyncio.sleep(0)
    ended.set()
    assert await asyncio.gather(*calls) == [True] * 21


async def test_a_server_that_does_not_answer_is_asked_once(stores, monkeypatch):
    store, calls = stores[0], []

    async def silent(*given, **named):
        if asyncio.current_task() in store.database.calls:
            calls.append(given)
        raise TimeoutError

    monkeypatch.setattr(psycopg.AsyncConnection, "connect", silent)
    with pytest.raises(StoreUnavailable, match="cannot be reached"):
        await store.stats()
    assert len(calls) == 1


async def test_a_long_lock_is_waited_for_and_told(stores, monkeypatch):
    """A call that takes long asks whether the server is there, and goes on waiting."""
    monkeypatch.setattr(pool, "PATIENCE", 0.05)
    monkeypatch.setattr(pool, "MAX_WAITS", 10_000)
    store = stores[0]
    await store.commit(A, IndexBatch(tuple(LEAVES)))
    with LOOK.connected(store) as other:
        with other.transaction():
            other.execute("LOCK TABLE nodes")
            call = asyncio.ensure_future(store.nodes(A, IDS[:1]))
            asking = store.database.ask_server
            asked = asyncio.Event()

            async def noticed() -> bool:
                asked.set()
                return await asking()

            monkeypatch.setattr(store.database, "ask_server", noticed)
            await asyncio.wait_for(asked.wait(), 60)
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


@pytest.mark.slow
async def test_writes_behind_one_that_met_a_locked_table_fail_at_once(stores, monkeypatch):
    """Reads go on; a probe finds out when writes work again."""
    monkeypatch.setattr(pool, "SETTINGS", pool.SETTINGS + "; SET lock_timeout TO '300ms'")
    store = stores[0]
    await store.commit(A, IndexBatch(tuple(LEAVES[:1])))
    with LOOK.connected(store) as other, other.transaction():
        other.execute("LOCK TABLE nodes IN EXCLUSIVE MODE")
        calls = [store.commit(A, IndexBatch(tuple(LEAVES))) for _ in range(12)]
        for outcome in await asyncio.gather(*calls, return_exceptions=True):
            assert isinstance(outcome, StoreUnavailable)
            assert "is locked" in outcome.message
        ran: list[int] = []

        async def work(sql: Sql) -> None:
            ran.append(1)

        with pytest.raises(StoreUnavailable, match="is locked"):
            await store.database.write(work)
        assert ran == []
        assert await store.nodes(A, IDS) == {LEAVES[0].id: LEAVES[0]}
    async with asyncio.timeout(60):
        while len(await store.nodes(A, IDS)) == 1:
            with suppress(StoreUnavailable):
                await store.commit(A, IndexBatch(tuple(LEAVES)))
            await asyncio.sleep(0.05)


@pytest.mark.parametrize("error", [Conflict, NodesGone, psycopg.errors.UniqueViolation])
async def test_an_answer_of_the_server_is_no_outage(stores, error, monkeypatch):
    """It may have taken long; it ends an outage."""
    monkeypatch.setattr(circuit_breaker, "SHORT_WAIT", 0)
    database = stores[0].database

    async def work(db: Connection) -> None:
        raise error("x")

    for open_it in (False, True):
        if open_it:
            database.writes.worked(0)
            database.writes.waited(1, 2, "locked")  # long ago
        with pytest.raises(MemTreeError):
            await database.run(work, database.writes)
        assert not database.writes.reason


async def test_a_call_that_gets_no_answer_is_given_up(stores, monkeypatch):
    """The server answers others: one of its processes hangs. A patient call is not given up."""
    monkeypatch.setattr(pool, "PATIENCE", 0.1)
    store, never = stores[0], asyncio.Event()
    with pytest.raises(StoreUnavailable, match="does not answer"):
        await store.database.run(lambda db: never.wait())
    with pytest.raises(StoreUnavailable, match="does not answer"):  # nor are others tried
        await store.stats()
