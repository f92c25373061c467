"""Two memories on one store and one Redis, as two proxies have them: who grows, who waits, what is
deleted. Stage 1 begins and ends here when the test says so."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, field, replace

import pytest

from memtree.context import indexing
from memtree.context.context_memory import CompressRequest, ContextMemory
from memtree.context.read_histories import MessageCache
from memtree.history.message import Message
from memtree.jobs.embedding import InProcessQueue
from memtree.jobs.growing import StageOne
from memtree.jobs.runtime import SystemClock
from memtree.ports.context_store import Store
from memtree.stores import open_store
from memtree_indexer.peers import RedisPeers
from memtree_indexer.redis_connection import RedisConnection
from tests.answered import compressed
from tests.fakes import HashingEmbedder
from tests.programs.redis_server import RedisServer, redis_server
from tests.programs.sessions import chat

pytestmark = pytest.mark.slow

LONG = tuple(Message.of(one) for one in chat(121, words=100))  # some 14,000 tokens
ASK = CompressRequest("t", LONG, target=3_000, hard=True, mode="fresh")
THREAD = 5_000  # tokens from which on these tests take turns


@pytest.fixture(autouse=True)
def _shorter(monkeypatch):
    monkeypatch.setattr(indexing, "SHARED_TOKENS", THREAD)


@pytest.fixture
def server():
    with redis_server() as server:
        yield server


class Builder:
    """Stage 1 that goes on when it is let go. `runs`: the sizes it was begun with."""

    def __init__(self):
        self.runs = []
        self.begun = asyncio.Event()
        self.go = asyncio.Event()
        self._builder = StageOne(child=False)

    def warm(self) -> None:
        pass

    async def grow(self, tail, size, keep=None):
        if size > THREAD:
            self.runs.append(size)
            self.begun.set()
            await self.go.wait()
        return await self._builder.grow(tail, size, keep)

    async def summaries(self, nodes):
        return await self._builder.summaries(nodes)


@dataclass
class Proxy:
    memory: ContextMemory
    builder: Builder
    link: RedisConnection
    shared: RedisPeers
    queue: InProcessQueue
    store: Store
    calls: int = 0  # of Redis
    heard: list[str | None] = field(default_factory=list)  # deletions, as they were told

    def compress(self, ask=ASK):
        return asyncio.create_task(compressed(self.memory, ask))

    async def waits(self):
        await until(lambda: self.shared.locks.waiting)


async def until(condition):
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110  what other processes do sets no event here
            await asyncio.sleep(0.01)


async def soon(task):
    return await asyncio.wait_for(task, 60)


@contextlib.asynccontextmanager
async def proxy(server: RedisServer, store: Store):
    link = RedisConnection(server.url())
    shared = RedisPeers(link, lease=600.0)  # a busy machine must not end a turn
    embedder = HashingEmbedder()
    builder, queue = Builder(), InProcessQueue(store, embedder, SystemClock())
    memory = ContextMemory(
        store,
        builder,
        queue,
        SystemClock(),
        embedder=embedder,
        facts=MessageCache(1),
        peers=shared,
    )
    made = Proxy(memory, builder, link, shared, queue, store)
    run = link.run

    async def counted(action):
        made.calls += 1
        return await run(action)

    link.run = counted  # type: ignore[method-assign]

    def forgotten(tenant):
        memory.forgotten(tenant)
        made.heard.append(tenant)

    await shared.start(forgotten)
    made.heard.clear()
    try:
        yield made
    finally:
        builder.go.set()
        await memory.close()
        await queue.close()
        await shared.close()
        await link.close()


@pytest.fixture
async def two(server, tmp_path):
    store = open_store(f"sqlite:///{tmp_path / 'm.db'}")
    async with proxy(server, store) as one, proxy(server, store) as other:
        yield one, other
    await store.close()


@pytest.fixture
async def wanted():
    """The answer of one that is alone."""
    builder = Builder()
    builder.go.set()
    memory = ContextMemory(
        open_store("memory:"),
        builder,
        InProcessQueue(open_store("memory:"), HashingEmbedder(), SystemClock()),
        SystemClock(),
        embedder=HashingEmbedder(),
    )
    return (await compressed(memory, ASK)).messages


async def test_one_grows_and_the_other_reads_it(two, wanted):
    one, other = two
    first = one.compress()
    await one.builder.begun.wait()
    second = other.compress()
    await other.waits()
    one.builder.go.set()
    answers = [await soon(first), await soon(second)]
    assert [answer.messages for answer in answers] == [wanted, wanted]
    assert (len(one.builder.runs), other.builder.runs) == (1, [])


async def test_what_a_prefix_lacks_is_grown_behind_it(two):
    one, other = two
    first = one.compress(replace(ASK, messages=LONG[:-2]))
    await one.builder.begun.wait()
    second = other.compress()
    await other.waits()
    one.builder.go.set()
    assert (await soon(first)).state == (await soon(second)).state == "provisional"
    assert other.builder.runs == []


async def test_who_is_out_of_patience_answers_without_and_goes_on_behind(two, wanted):
    one, other = two
    first = one.compress()
    await one.builder.begun.wait()
    answer = await soon(other.compress(replace(ASK, patience=0.3)))
    assert answer.state == "degraded:indexing"
    assert answer.changed
    await other.waits()  # behind the answer
    one.builder.go.set()
    assert (await soon(first)).messages == wanted
    await soon(other.memory.close())
    assert other.builder.runs == []
    assert (await soon(other.compress())).messages == wanted


async def test_when_a_client_hangs_up_the_other_does_it(two, wanted):
    one, other = two
    first = one.compress()
    await one.builder.begun.wait()
    second = other.compress()
    await other.waits()
    first.cancel()
    await other.builder.begun.wait()
    other.builder.go.set()
    assert (await soon(second)).messages == wanted


async def test_when_redis_dies_each_does_it(two, wanted, server):
    one, other = two
    first = one.compress()
    await one.builder.begun.wait()
    second = other.compress()
    await other.waits()
    server.kill()
    await asyncio.wait_for(other.builder.begun.wait(), 60)
    one.builder.go.set()
    other.builder.go.set()
    answers = [await soon(first), await soon(second)]
    assert [answer.messages for answer in answers] == [wanted, wanted]


async def test_a_turn_of_ordinary_size_asks_nobody(two):
    one, _ = two
    one.builder.go.set()
    await soon(one.compress(replace(ASK, messages=LONG[:-2])))
    await until(lambda: not one.shared.locks.held and one.shared.channel.idle)
    asked = one.calls
    assert asked >= 2  # the turn, and its end
    for end in (len(LONG) - 1, len(LONG)):
        await soon(one.compress(replace(ASK, messages=LONG[:end])))
    assert one.calls == asked


# -- deletions -------------------------------------------------------------------------------


async def indexed(one: Proxy) -> None:
    one.builder.go.set()
    await soon(one.compress())
    one.queue.start()
    await one.queue.join()


async def test_what_one_deletes_the_other_has_not_at_hand(two):
    one, other = two
    await indexed(one)
    other.builder.go.set()
    assert (await soon(other.compress())).state == "packed"
    assert "t" in other.memory.cached_tenants
    await one.memory.forget_tenant("t")
    await until(lambda: "t" not in other.memory.cached_tenants)
    assert (await soon(other.compress())).state == "provisional"  # its vectors are gone, too


async def test_a_request_under_way_elsewhere_writes_nothing_back(two):
    one, other = two
    asked = other.compress()
    await other.builder.begun.wait()
    await one.memory.forget_tenant("t")
    await until(lambda: other.heard)
    other.builder.go.set()
    assert (await soon(asked)).messages
    assert (await other.store.stats()).nodes == 0
    assert "t" not in other.memory.cached_tenants


async def test_who_was_deaf_has_nothing_at_hand_of_anybody(two, server):
    one, other = two
    await indexed(one)
    await soon(other.compress())
    assert "t" in other.memory.cached_tenants
    server.stop()
    await until(lambda: not other.shared.live)
    server.start()
    await until(lambda: "t" not in other.memory.cached_tenants)


async def test_a_request_that_was_under_way_while_deaf_writes_nothing_back(two, server):
    _, other = two
    asked = other.compress()
    await other.builder.begun.wait()
    server.stop()
    await until(lambda: not other.shared.live)
    server.start()  # somebody may have been deleted meanwhile
    await until(lambda: other.shared.live)
    other.builder.go.set()
    assert (await soon(asked)).messages
    assert (await other.store.stats()).nodes == 0


async def test_the_others_hear_of_a_deletion_before_it_and_behind_it(two, monkeypatch):
    """Before: what is under way there must not be written back. Behind: what was read meanwhile."""
    one, other = two
    forget, heard_before = one.store.forget, 0

    async def forgets(*what):
        nonlocal heard_before
        await until(lambda: other.heard)
        heard_before = len(other.heard)
        return await forget(*what)

    monkeypatch.setattr(one.store, "forget", forgets)
    await one.memory.forget_tenant("t")
    await until(lambda: len(other.heard) > heard_before)
    assert heard_before
    assert set(other.heard) == {"t"}
