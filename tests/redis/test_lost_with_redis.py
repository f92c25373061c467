"""Check what is pending, told truly: while Redis is away, when it lost what it held, and when it
comes back with a late job of one proxy after the newer one of another."""

from __future__ import annotations

import asyncio
from random import Random

import pytest

from memtree.errors import StoreUnavailable
from memtree.ports.indexing_stages import Pending
from memtree_indexer.ledger import CLOCK, EMBED
from memtree_indexer.payloads import tenant_name
from tests.contracts.queues import Chat, OverRedis, said
from tests.programs.redis_server import redis_server
from tests.redis.benches import SECONDS, embedded, submit, summarise, until, workshop

NOTHING = Pending(0, 0)


async def planted(bench, count=3, word="alder"):
    return await Chat("a", said(word, count)).plant(bench.store)


def everything_of(chat):
    return Pending(sum(work.tokens for work in chat.work), 1)


def emptied(bench):
    """Redis starts anew, with nothing."""
    with bench.server.client() as client:
        client.flushall()


# ---------------------------------------------------------------- Redis comes back empty


async def test_what_redis_lost_is_pending_until_the_next_post_completes_it(bench):
    chat = await planted(bench)
    submit(bench, chat)
    await bench.arrived()
    emptied(bench)
    for _ in range(2):
        assert await bench.queue.pending("a") == everything_of(chat)
    assert await bench.queue.pending("b") == NOTHING
    await bench.work()  # nobody knows of it
    assert await bench.queue.pending("a") == everything_of(chat)
    submit(bench, chat)
    assert (await bench.queue.pending("a")).jobs == 1
    await bench.work()
    assert await embedded(bench, chat) == set(chat.ids)
    assert await bench.queue.pending("a") == NOTHING


@pytest.mark.slow
async def test_a_server_that_was_killed_and_comes_back_empty(away):
    chat = await planted(away)
    submit(away, chat)
    await away.arrived()
    away.server.kill()
    assert await away.queue.pending("a") == everything_of(chat)  # nobody ever asked before
    away.server.empty()
    away.server.start()
    assert await away.queue.pending("a") == everything_of(chat)
    submit(away, chat)
    await away.work()
    assert await embedded(away, chat) == set(chat.ids)
    assert await away.queue.pending("a") == NOTHING


async def test_what_was_done_before_redis_lost_it_is_not_pending(bench):
    chat = await planted(bench)
    submit(bench, chat)
    await bench.work()
    emptied(bench)
    assert await bench.queue.pending("a") == NOTHING


async def test_of_what_was_half_done_the_rest_is_pending(bench):
    chat = await planted(bench, 4)
    submit(bench, chat)
    await bench.arrived()
    recipe = bench.embedder.recipe
    await bench.store.put_vectors("a", recipe, dict.fromkeys(chat.ids[:2], b"\x00" * 16))
    emptied(bench)
    rest = sum(work.tokens for work in chat.work[2:])
    assert await bench.queue.pending("a") == Pending(rest, 1)


async def test_a_store_that_cannot_be_asked_leaves_it_all_pending(bench, monkeypatch):
    chat = await planted(bench)
    submit(bench, chat)
    await bench.arrived()
    emptied(bench)

    async def away(*_):
        raise StoreUnavailable("away")

    with monkeypatch.context() as patch:
        patch.setattr(bench.store, "nodes", away)
        assert await bench.queue.pending("a") == everything_of(chat)
    await bench.store.forget("a", None)  # nodes that are gone are nobody's work
    assert await bench.queue.pending("a") == NOTHING


async def test_what_is_deleted_is_not_pending(bench):
    chat = await planted(bench)
    submit(bench, chat)
    await bench.arrived()
    emptied(bench)
    await bench.queue.forget("a", frozenset({b"another"}))
    assert (await bench.queue.pending("a")).jobs == 1
    await bench.queue.forget("a", frozenset({chat.history.addresses[-1]}))
    assert await bench.queue.pending("a") == NOTHING


async def test_older_data_is_a_loss_too(bench):
    """Redis comes back with what it had written some time before."""
    first = await planted(bench)
    submit(bench, first)
    await bench.arrived()
    clock = int(bench.client.get(CLOCK))
    second = await planted(bench, word="birch")
    submit(bench, second)
    await bench.arrived()
    ledger = f"memtree:ledger:{EMBED}:{tenant_name('a')}"
    (id_,) = (
        key
        for key, row in bench.client.hgetall(ledger).items()
        if second.start(second.work[0]).hex().encode() in row
    )
    bench.client.hdel(ledger, id_)
    bench.client.set(CLOCK, clock)
    expected = everything_of(first).tokens + everything_of(second).tokens
    assert await bench.queue.pending("a") == Pending(expected, 2)


async def test_a_job_that_another_process_replaced_is_not_lost(bench):
    """It is missing in Redis, which has kept its data."""
    chat = await planted(bench)
    submit(bench, chat)
    await bench.arrived()
    bench.client.delete(f"memtree:ledger:{EMBED}:{tenant_name('a')}")
    assert await bench.queue.pending("a") == NOTHING
    emptied(bench)
    assert await bench.queue.pending("a") == NOTHING


async def test_summaries_that_redis_lost_are_pending(desk):
    one = await desk()
    chat = await planted(one, 8)
    summarise(one, chat)
    await one.arrived()
    one.client.flushall()
    assert (await one.summaries.status("a")).pending_nodes == len(chat.parts)
    assert (await one.summaries.pending("a")).jobs == 1
    summarise(one, chat)
    await one.work()
    assert (await one.summaries.status("a")).pending_nodes == 0
    assert await one.summaries.pending("a") == NOTHING


# ---------------------------------------------------------------- two proxies


@pytest.fixture
async def proxies(bench, clean_server):
    """Two on one store. The second one sends nothing until its outbox is started."""
    other = OverRedis(clean_server)
    other.store, other.embedder = bench.store, bench.embedder
    yield bench, other
    await other.close()


def long_ago(proxy):
    """Return what waits there was submitted some time before."""
    for job in proxy.outbox.jobs[EMBED]:
        job.submitted -= 600.0


async def test_a_late_job_does_not_take_the_place_of_a_newer_one(proxies):
    proxy, late = proxies
    messages = said("alder", 6)
    old = await Chat("a", messages[:4]).plant(proxy.store)
    new = await Chat("a", messages).plant(proxy.store)
    submit(late, old)
    long_ago(late)
    submit(proxy, new)
    await proxy.arrived()
    late.outbox.start()
    await late.arrived()
    for each in proxies:
        assert await each.queue.pending("a") == everything_of(new)
    await proxy.work()
    assert await embedded(proxy, new) == set(new.ids)
    for each in proxies:
        assert await each.queue.pending("a") == NOTHING


async def test_a_late_job_with_work_of_its_own_stands_beside_the_newer_one(proxies):
    """The newer one is of another branch, which begins at the same place."""
    proxy, late = proxies
    messages = said("alder", 5)
    old = await Chat("a", messages).plant(proxy.store)
    new = await Chat("a", [*messages[:3], *said("birch", 3, 50)]).plant(proxy.store)
    submit(late, old)
    long_ago(late)
    submit(proxy, new)
    await proxy.arrived()
    late.outbox.start()
    await late.arrived()
    assert (await proxy.queue.pending("a")).jobs == 2
    await proxy.work()
    assert await embedded(proxy, old) | await embedded(proxy, new) == {*old.ids, *new.ids}
    assert await late.queue.pending("a") == NOTHING


async def test_in_order_the_newer_one_takes_the_place(proxies):
    proxy, other = proxies
    messages = said("alder", 6)
    old = await Chat("a", messages[:4]).plant(proxy.store)
    new = await Chat("a", messages).plant(proxy.store)
    other.outbox.start()
    submit(other, old)
    await other.arrived()
    submit(proxy, new)
    await proxy.arrived()
    assert await other.queue.pending("a") == everything_of(new)


class Conversations:
    """Three that grow, each turn through one of two proxies."""

    def __init__(self, seed, *proxies):
        self.random, self.proxies = Random(seed), proxies
        self.texts = {tenant: said(tenant, 30, 100 * at) for at, tenant in enumerate("xyz")}
        self.length = dict.fromkeys(self.texts, 3)
        self.stop = asyncio.Event()

    async def post(self, tenant):
        """Return what lacks vectors is submitted, as a request does it."""
        proxy = self.random.choice(self.proxies)
        chat = self.chat(tenant)
        await chat.plant(proxy.store)
        there = await embedded(proxy, chat)
        left = [work for work in chat.work if work.id not in there]
        if left:
            proxy.queue.submit(chat.history, chat.start(left[0]), left)

    def chat(self, tenant):
        return Chat(tenant, self.texts[tenant][: self.length[tenant]])

    async def go_on(self, tenant):
        while not self.stop.is_set() and self.length[tenant] < 30:
            self.length[tenant] += 1
            await self.post(tenant)
            await asyncio.sleep(self.random.uniform(0.02, 0.2))

    async def pending(self):
        known = [await each.queue.pending(name) for name in self.texts for each in self.proxies]
        return any(pending.jobs for pending in known)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["kill", "stop", "freeze"])
@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.long) for n in (1, 2))])
async def test_one_post_after_an_outage_completes_everything(how, seed):
    with redis_server() as server:
        proxy, other = OverRedis(server), OverRedis(server)
        other.store, other.embedder = proxy.store, proxy.embedder
        proxy.outbox.start()
        other.outbox.start()
        shop = workshop(proxy)
        working = asyncio.create_task(shop.run())
        chats = Conversations(seed, proxy, other)
        talking = [asyncio.create_task(chats.go_on(tenant)) for tenant in chats.texts]
        await until(lambda: proxy.embedder.embedded)
        getattr(server, how)()
        await asyncio.sleep(chats.random.uniform(0.3, 1.5))
        await asyncio.to_thread(server.thaw if how == "freeze" else server.start)
        chats.stop.set()
        await asyncio.gather(*talking)
        for tenant in chats.texts:
            await chats.post(tenant)
        async with asyncio.timeout(2 * SECONDS):
            while await chats.pending():  # noqa: ASYNC110  workers set no event here
                await asyncio.sleep(0.05)
        for tenant in chats.texts:
            chat = chats.chat(tenant)
            assert await embedded(proxy, chat) == set(chat.ids)
        shop.stop.set()
        await asyncio.wait_for(working, SECONDS)
        await proxy.close()
        await other.close()
