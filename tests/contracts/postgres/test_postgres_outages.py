"""A server that goes away and comes back."""

from __future__ import annotations

import asyncio
import contextlib
import signal

import psycopg
import pytest

from memtree.errors import StoreUnavailable
from memtree.ports.store import IndexBatch
from memtree.stores import open_store
from memtree.stores.postgres import PostgresStore
from tests.contracts.backends import (
    A,
    address,
    epoch,
    frontier,
    garbage,
    turn,
)
from tests.contracts.many import (
    IDS,
    KEY,
    LEAVES,
    LOOK,
    LOW,
)
from tests.programs.postgres import erase_schema


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
