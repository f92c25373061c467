"""Check what several stores do to one schema at once, each with connections of its own."""

from __future__ import annotations

import asyncio

import psycopg
import pytest

from memtree.errors import NodesGone, StoreUnavailable
from memtree.ports.context_store import RECIPE_DAYS, IndexBatch, Receipt
from memtree.stores.context import retention
from memtree.stores.postgres import PostgresStore, postgres_database
from tests.contracts.backends import A, address, epoch, frontier, turn, version
from tests.contracts.many import IDS, KEY, LEAVES, LOOK, LOW, RECIPE, TOP, sound
from tests.programs.postgres import erase_schema


async def test_many_that_make_the_schema_at_once(stores, tmp_path):
    erase_schema(tmp_path)
    await asyncio.gather(*(store.stats() for store in stores for _ in range(3)))
    assert (await stores[0].stats()).nodes == 0


async def test_overlapping_batches_in_any_order(stores):
    """Equal rows written in opposite orders neither lock each other out nor get lost."""

    async def commit(number: int, store: PostgresStore) -> None:
        for round_ in range(8):
            step = 1 if (number + round_) % 2 else -1
            nodes = (*LEAVES[::step], *LOW[::step], TOP)
            whole = {address(n): frontier([TOP], 48) for n in range(24)[::step]}
            await store.commit(A, IndexBatch(nodes, whole, float(number * 8 + round_)))
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
                await store.commit(A, IndexBatch(nodes, {at: frontier([group], 4)}, 10.0 + n % 2))
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


@pytest.mark.parametrize(
    "delete", [lambda store: store.forget(A, [address(0)]), lambda store: store.sweep(10.0)]
)
async def test_a_writer_waits_for_a_deletion_under_way(stores, monkeypatch, delete):
    """It would still see the nodes that are going, and name them."""
    group = [node for node in LEAVES if node.id in LOW[0].children]
    await stores[0].commit(
        A, IndexBatch((*group, LOW[0]), {address(0): frontier([LOW[0]], 4)}, 5.0)
    )
    collect, writing = retention.collect, []

    async def slowly(sql, number):
        receipt = await collect(sql, number)
        late = IndexBatch((), {address(1): frontier([LOW[0]], 4)}, 50.0)
        writing.append(asyncio.ensure_future(stores[1].commit(A, late)))
        done: set[asyncio.Task[None]] = set()
        while not done and not waiting():
            done, _ = await asyncio.wait(writing, timeout=0.01)
        return receipt

    def waiting() -> bool:
        query = "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'advisory'"
        return bool(LOOK.sql(stores[0], query))

    monkeypatch.setattr(retention, "collect", slowly)
    assert (await delete(stores[0])).nodes == 5
    with pytest.raises(NodesGone):
        await writing[0]
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
    await stores[0].commit(A, IndexBatch((*LEAVES, *LOW)))
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


async def test_numbers_add_up_among_many(stores):
    async def add(number: int, store: PostgresStore) -> None:
        for n in range(10):
            names = ["a", "b", "c"][:: 1 if n % 2 else -1]
            await store.add(A, 1, dict.fromkeys(names, number))

    await asyncio.gather(*(add(n, stores[n % 4]) for n in range(8)))
    assert await stores[0].tallies(A, 1, 1) == dict.fromkeys("abc", 280)


async def test_a_recipe_that_is_taken_up_while_it_is_swept_stays(stores, monkeypatch):
    """Between the look at what nobody uses and its deletion."""
    sweeping, other = stores[:2]
    await other.commit(A, IndexBatch(tuple(LEAVES)))
    await other.put_vectors(A, RECIPE, {LEAVES[0].id: b"1234"})
    days = [86_400.0 * day for day in range(RECIPE_DAYS + 1)]
    for now in days[:-1]:
        await sweeping.sweep(now)
    drop = retention.drop_recipes

    async def late(sql, tenant: str) -> int:
        await other.keep_recipe(RECIPE, days[-1])
        return await drop(sql, tenant)

    monkeypatch.setattr(retention, "drop_recipes", late)
    assert await sweeping.sweep(days[-1]) == Receipt()
    assert await other.vectors(A, RECIPE, IDS) == {LEAVES[0].id: b"1234"}
    assert LOOK.sql(other, "SELECT * FROM recipes") == [(RECIPE, RECIPE_DAYS, 0)]


async def test_the_last_try_of_a_transaction_that_postgres_breaks_off(stores):
    """Deadlocks are not expected; should one come, the transaction is run again."""
    store, tries = stores[0], []

    async def work(sql):
        tries.append(sql)
        if len(tries) < postgres_database.TRIES:
            raise psycopg.errors.DeadlockDetected("made here")
        return "done"

    assert await store.database.write(work) == "done"
    tries.clear()

    async def never(sql):
        tries.append(sql)
        raise psycopg.errors.DeadlockDetected("made here")

    with pytest.raises(StoreUnavailable):
        await store.database.write(never)
    assert len(tries) == postgres_database.TRIES
