"""Check what has expired is forgotten now and then, whatever the store says in between."""

from __future__ import annotations

import asyncio
from typing import cast

from memtree.background.embedding_queue import NoQueue
from memtree.background.runtime import Sweeper
from memtree.background.stage_one import StageOne
from memtree.context.context_memory import ContextMemory
from memtree.errors import StoreUnavailable
from memtree.memories.book import MemoryBook
from memtree.ports.store import RECIPE_DAYS, IndexBatch, Receipt
from memtree.stores import RamStore
from tests.contracts.backends import address, frontier, leaf
from tests.fakes import HashingEmbedder
from tests.unit.background.refined import Hands


class Swept:
    """The part of a memory that is swept; `fails` of the first sweeps meet a locked store."""

    def __init__(self, fails: int = 0) -> None:
        self.fails, self.sweeps = fails, 0
        self.again = asyncio.Event()

    async def keep_vectors(self) -> None:
        pass

    async def sweep(self) -> Receipt:
        self.sweeps += 1
        if self.sweeps <= self.fails:
            raise StoreUnavailable("locked")
        if self.sweeps >= self.fails + 2:
            self.again.set()
        return Receipt(addresses=3, nodes=2, vectors=4, epochs=1)


class SweptBook:
    """Memories of which nothing was deleted."""

    async def sweep(self) -> int:
        return 0


def sweeper(memory: Swept, **times: float) -> Sweeper:
    book = cast(MemoryBook, SweptBook())
    return Sweeper(cast(ContextMemory, memory), book, **{"first": 0.0, "interval": 0.0} | times)


async def test_it_goes_on_after_a_store_that_failed(caplog):
    memory = Swept(fails=2)
    running = sweeper(memory)
    with caplog.at_level("INFO"):
        running.start()
        await asyncio.wait_for(memory.again.wait(), 300)
        await running.close()
    said = [record.getMessage() for record in caplog.records]
    assert said[:3] == [
        "retention.failed code=store_unavailable",
        "retention.failed code=store_unavailable",
        "retention.swept addresses=3 nodes=2 epochs=1 vectors=4",
    ]
    done = memory.sweeps
    await asyncio.sleep(0.02)
    assert memory.sweeps == done


async def test_the_first_requests_are_left_alone():
    memory = Swept()
    running = sweeper(memory, first=60.0)
    running.start()
    await asyncio.sleep(0.01)
    await running.close()
    assert memory.sweeps == 0


async def test_a_sweep_under_way_has_ended_when_it_is_closed():
    """Its store may be closed right behind it."""
    begun, ended = asyncio.Event(), asyncio.Event()

    class Slow(Swept):
        async def sweep(self) -> Receipt:
            begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                await asyncio.sleep(0)  # as a transaction that is rolled back
                ended.set()
            return Receipt()

    running = sweeper(Slow())
    running.start()
    await begun.wait()
    await running.close()
    assert ended.is_set()


async def test_closing_what_never_started_is_nothing():
    await sweeper(Swept()).close()


class Unmet(HashingEmbedder):
    """A model of whose vectors nobody knows how long they are."""

    recipe, dimensions = "unmet/0", 0


async def vectored() -> RamStore:
    store, one = RamStore(), leaf(0)
    await store.commit("t", IndexBatch((one,), {address(0): frontier([one], 1)}, 1e15))
    for recipe in (HashingEmbedder.recipe, "old/1"):
        await store.put_vectors("t", recipe, {one.id: b"1234"})
    return store


async def swept(store: RamStore, embedder: HashingEmbedder, days: int) -> None:
    """Sweeps of a process, the clock of which jumps by three days each time."""
    clock = Hands()
    memory = ContextMemory(store, StageOne(child=False), NoQueue(), clock, embedder=embedder)
    for _ in range(days):
        await memory.sweep()
        clock.seconds += 3 * 86_400


def idle_days(store: RamStore) -> dict[str, int]:
    return dict(store.database.connection.execute("SELECT recipe, idle FROM recipes"))


async def test_vectors_in_use_stay_and_old_ones_go():
    store = await vectored()
    await swept(store, HashingEmbedder(), RECIPE_DAYS + 1)
    assert await store.vectors("t", HashingEmbedder.recipe, [leaf(0).id])
    assert not await store.vectors("t", "old/1", [leaf(0).id])


async def test_a_model_that_was_not_met_names_nothing():
    store = await vectored()
    await swept(store, Unmet(), 1)
    assert idle_days(store).keys() == {HashingEmbedder.recipe, "old/1"}


async def test_a_process_says_at_its_start_what_it_uses():
    store = await vectored()
    await swept(store, HashingEmbedder(), RECIPE_DAYS)
    clock = Hands()
    other = HashingEmbedder()
    other.recipe = "old/1"
    memory = ContextMemory(store, StageOne(child=False), NoQueue(), clock, embedder=other)
    running = Sweeper(memory, cast(MemoryBook, SweptBook()))
    running.start()
    async with asyncio.timeout(300):
        while idle_days(store)["old/1"]:  # noqa: ASYNC110  what is waited for has no event
            await asyncio.sleep(0.001)
    await running.close()
    await swept(store, HashingEmbedder(), RECIPE_DAYS)
    assert await store.vectors("t", "old/1", [leaf(0).id])
