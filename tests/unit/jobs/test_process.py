"""The parts of a process beside each other: embedder, use cases, caches, and what is swept."""

from __future__ import annotations

import asyncio
from dataclasses import fields
from typing import Any, cast

import pytest

from memtree.agents.agent_memory import AgentScopes
from memtree.agents.agent_search import AgentQuery
from memtree.config import Settings
from memtree.context.context_memory import ContextMemory
from memtree.context.turn_request import CompressRequest
from memtree.errors import BadRequest, EmbedderUnavailable, StoreUnavailable
from memtree.history.message import Message
from memtree.history.message_list import EarlierList
from memtree.jobs.embedding import InProcessQueue, NoQueue, OpenedEmbedder, loaded, open_unloaded
from memtree.jobs.growing import StageOne
from memtree.jobs.memory_services import open_memory_services
from memtree.jobs.runtime import ContextCaches, Sweeper, SystemClock
from memtree.memories.book import MemoryBook
from memtree.memories.draft import MemoryDraft
from memtree.memories.scope import Scope
from memtree.models.local_embedder import LocalEmbedder
from memtree.ports.context_store import RECIPE_DAYS, IndexBatch, Receipt
from memtree.process.bounded import CacheLimits
from memtree.stores import RamStore, open_memories
from tests.answered import compressed
from tests.contracts.backends import address, frontier, leaf
from tests.fakes import LONG, HashingEmbedder
from tests.made.listed_messages import ListedMessages
from tests.programs.sessions import coding
from tests.properties.process import Clock, Watched
from tests.unit.jobs.refined import Hands

# ------------------------------------------------------------------------------------------------
# An embedder is opened before it is loaded, and done without where that cannot be done.
#
# What the remote one does when it does not answer: tests/contracts/models/test_embedder.py.


async def test_none_is_no_trouble_to_load():
    opened = await open_unloaded(Settings(embedder="none"), patient=True)
    assert (opened.embedder, opened.trouble) == (None, "switched off")
    assert await loaded(opened) is opened


async def test_the_local_one_is_looked_for_and_not_loaded(monkeypatch):
    done = []
    monkeypatch.setattr(LocalEmbedder, "locate", lambda _: done.append("located"))
    monkeypatch.setattr(LocalEmbedder, "warm_up", lambda _: done.append("loaded"))
    opened = await open_unloaded(Settings(embedder="local"), patient=True)
    assert isinstance(opened.embedder, LocalEmbedder)
    assert opened.memories not in (None, opened.embedder)
    assert (opened.trouble, done) == ("", ["located", "located"])
    await opened.close()
    with pytest.raises(EmbedderUnavailable, match="closed"):
        await opened.memories.ready()


async def test_without_the_files_of_memories_the_english_one_serves(monkeypatch, caplog):
    def gone(embedder):
        if embedder.dimensions == 512:
            raise EmbedderUnavailable("no files")

    monkeypatch.setattr(LocalEmbedder, "locate", gone)
    opened = await open_unloaded(Settings(embedder="local"), patient=True)
    assert opened.memories is opened.embedder
    assert opened.trouble == ""
    assert "memories go by the English one: no files" in caplog.text
    await opened.close()


async def test_without_its_files_there_is_none(monkeypatch, caplog):
    def gone(_):
        raise EmbedderUnavailable("no files")

    monkeypatch.setattr(LocalEmbedder, "locate", gone)
    opened = await open_unloaded(Settings(embedder="local"), patient=True)
    assert (opened.embedder, opened.trouble) == (None, "no files")
    assert "ranking by words alone" in caplog.text


async def test_one_that_cannot_be_loaded_is_done_without():
    async def fails() -> None:
        raise EmbedderUnavailable("broken")

    embedder = HashingEmbedder()
    opened = await loaded(OpenedEmbedder(embedder, embedder, load=fails))
    assert (opened.embedder, opened.memories, opened.trouble) == (None, None, "broken")


async def test_a_remote_one_needs_its_settings():
    with pytest.raises(BadRequest, match="embedding_base_url"):
        await open_unloaded(Settings(embedder="remote"), patient=True)


# ------------------------------------------------------------------------------------------------
# The use cases of saved memories, put together.


FACT = "The port of staging is 8090."


class Far(HashingEmbedder):
    """An embedder that takes longer than the default of `embedding_seconds`."""

    async def embed_query(self, text):
        await asyncio.sleep(0.4)
        return await super().embed_query(text)


async def degraded(settings: Settings) -> list[tuple[str, ...]]:
    """Return what a save, a search, a search of agents and a chat say."""
    services = open_memory_services(settings, open_memories(RamStore()), SystemClock(), Far())
    services.book.start()
    scope = Scope.of_agent("t", "a")
    saved = await services.book.save(scope, MemoryDraft(FACT))
    await services.book.join()
    agents = AgentQuery("which port?", AgentScopes("t", "a", None))
    found = [
        saved.degraded,
        (await services.book.search(scope, "which port?")).degraded,
        (await services.agents.search.search(agents)).degraded,
        (await services.book.injection.choose(scope, ["c"], "which port?")).degraded,
    ]
    await services.close()
    return found


async def test_all_wait_for_vectors_as_long_as_the_setting_says():
    assert await degraded(Settings(embedding_seconds=LONG)) == [()] * 4


async def test_nobody_waits_longer_than_the_setting_says():
    *others, chat = await degraded(Settings(embedding_seconds=0.01))
    assert others == [("embedder",)] * 3
    assert chat in (("embedder",), ("timeout",))  # a chat has a deadline for all of it


# ------------------------------------------------------------------------------------------------
# A process whose caches hold little, or nothing, gives the same answers.


TURNS, STEP, TARGET = 6, 4, 4_000
TENANTS = ("a", "b")
NOTHING = CacheLimits.of(0)
LITTLE = CacheLimits(**{each.name: 60_000 for each in fields(CacheLimits)})


async def sent(limits: CacheLimits, mode: str) -> tuple[list[tuple[bytes, ...]], ContextCaches]:
    """Return what goes upstream of two conversations that grow by turns, and one that branches
    off."""
    caches, store, clock = ContextCaches.of(limits), Watched(), Clock()
    embedder = HashingEmbedder()
    queue = InProcessQueue(store, embedder, clock, cache_bytes=limits.vectors)  # type: ignore[arg-type]
    queue.start()
    memory = ContextMemory(
        store,  # type: ignore[arg-type]
        StageOne(child=False),
        queue,
        clock,
        embedder=embedder,
        facts=caches.message_infos,
        read=caches.read_histories,
        caches=caches.trees,
    )
    answers = []
    talks = {tenant: coding(14_000, seed) for seed, tenant in enumerate(TENANTS)}
    before: dict[str, ListedMessages] = {}
    for turn in (*range(TURNS), TURNS - 3):
        for tenant, talk in talks.items():
            end = len(talk) - (TURNS - turn) * STEP
            ask = {"role": "user", "content": f"What came of step {turn}?"}
            posted = as_list([*talk[:end], ask], before.get(tenant))
            before[tenant] = posted
            answer = await compressed(
                memory, CompressRequest(tenant, posted, target=TARGET, mode=mode)
            )
            answers.append(answer.messages)
            await memory.close()
            await queue.join()
            clock.time += 20
    await queue.close()
    return answers, caches


def as_list(posted: list[dict[str, Any]], before: ListedMessages | None) -> ListedMessages:
    messages = tuple(Message.of(each) for each in posted)
    if before is None:
        return ListedMessages(messages)
    pairs = enumerate(zip(messages, before, strict=False))
    equal = next((at for at, (new, old) in pairs if new.raw != old.raw), len(before))
    return ListedMessages(messages, EarlierList(before.number, min(equal, len(messages))))


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["stable", pytest.param("fresh", marks=pytest.mark.long)])
async def test_answers_do_not_depend_on_what_is_cached(mode: str) -> None:
    usual, caches = await sent(CacheLimits.of(), mode)
    used = {name for name, cache in caches.by_name().items() if cache.nbytes}
    assert used >= {"message_infos", "read_histories", "conversations"}
    for limits in (NOTHING, LITTLE):
        answers, caches = await sent(limits, mode)
        assert answers == usual
        for name, cache in caches.by_name().items():
            assert cache.nbytes <= getattr(limits, name)
    assert len(set(usual)) > TURNS


# ------------------------------------------------------------------------------------------------
# Check what has expired is forgotten now and then, whatever the store says in between.


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
