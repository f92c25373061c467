"""Workers in this process against a real server: fair, once, and nothing is lost or left."""

from __future__ import annotations

import asyncio
import logging
import re
import threading

import httpx
import pytest

from memtree.jobs.runtime import SystemClock
from memtree.ports.indexing_stages import Pending
from memtree_indexer import ledger as ledgers
from memtree_indexer.ledger import EMBED, JobName, SliceOutcome
from memtree_indexer.payloads import job_id, tenant_name, unpack
from memtree_indexer.peers import RedisPeers
from memtree_indexer.queue_worker import QueueRecovery, WorkerParts, missing, open_workshop
from memtree_indexer.redis_connection import RedisConnection
from memtree_proxy.http.log import Tally
from memtree_proxy.server.worker import health_app
from tests.contracts.queues import Chat, said
from tests.redis.benches import SECONDS, Gate, embedded, submit, summarise, until, workshop

# ---------------------------------------------------------------- what is in Redis


def everything(client):
    """All that the server holds, as bytes, by key."""
    read = {
        b"string": lambda key: [client.get(key)],
        b"hash": lambda key: [part for pair in client.hgetall(key).items() for part in pair],
        b"set": lambda key: list(client.smembers(key)),
        b"zset": lambda key: client.zrange(key, 0, -1),
        b"list": lambda key: client.lrange(key, 0, -1),
        b"stream": lambda key: [str(client.xrange(key)).encode()],
    }
    return {key: b"\0".join(read[client.type(key)](key)) for key in client.scan_iter("*")}


async def test_text_is_in_payloads_alone_compressed_for_an_hour_and_goes_with_its_job(
    bench, caplog
):
    caplog.set_level(logging.DEBUG)
    chat = await Chat("a secret tenant", said("wolfsbane", 6)).plant(bench.store)
    submit(bench, chat)
    await bench.arrived()
    held = everything(bench.client)
    payloads = [key for key in held if key.startswith(b"memtree:payload:")]
    assert len(payloads) == 1
    assert b"wolfsbane" in unpack(held[payloads[0]]).said[0].raw
    words = {word.encode() for message in chat.history.messages for word in message.text.split()}
    for key, value in held.items():
        assert b"wolfsbane" not in key + value, key
        assert b"secret" not in key + value, key
        if key not in payloads:
            found = {word for word in words if len(word) > 6 and word in value}
            assert not found, (key, found)
    raw = sum(len(message.raw) for message in chat.history.messages)
    assert len(held[payloads[0]]) < raw / 2
    assert 3_500 < bench.client.ttl(payloads[0]) <= 3_600
    works = [key for key in held if key.startswith(b"memtree:work:")]
    assert 0 < bench.client.ttl(works[0]) <= 3_600
    await bench.work()
    left = everything(bench.client)
    assert not [key for key in left if b"payload" in key or b"work:" in key or b"job:" in key]
    assert not [key for key in left if b"ledger" in key or b"out:" in key or b"lease" in key]
    said_ = caplog.text
    assert "wolfsbane" not in said_
    assert "secret tenant" not in said_


async def test_nothing_is_left_of_what_is_forgotten(bench):
    chat = await Chat("a", said("wolfsbane", 6)).plant(bench.store)
    submit(bench, chat)
    await bench.arrived()
    await bench.queue.forget("a", None)
    keys = [key.decode() for key in bench.client.keys("memtree:*")]
    forgot = f"memtree:forgot:{tenant_name('a')}"
    assert sorted(keys) == ["memtree:clock", forgot, "memtree:life"]


async def test_what_is_sent_while_redis_is_asked_is_not_missed(bench):
    chat = await Chat("a", said("wolfsbane", 6)).plant(bench.store)
    run = bench.link.run

    async def slow(action):
        answer = await run(action)  # as it was before
        await bench.arrived()
        return answer

    bench.link.run = slow
    submit(bench, chat)
    assert (await bench.queue.pending("a")).jobs == 1
    assert (await bench.queue.pending("a")).jobs == 1


async def test_a_worker_hears_of_deletions(bench):
    parts = WorkerParts(bench.store, bench.clock, bench.embedder, None)
    link = RedisConnection(bench.settings.queue)
    proxy = RedisPeers(link)
    await proxy.start(lambda tenant: None)
    async with open_workshop(bench.settings, parts) as shop:
        await shop.passages.embed("a", ["one"])
        await shop.passages.embed("b", ["two"])
        await proxy.forgotten("a")
        await until(lambda: shop.passages.tenants == {"b"})
        shop.forgotten(None)  # the channel was lost for a while
        assert shop.passages.size == 0
    await proxy.close()
    await link.close()


async def test_every_key_but_rqs_own_books_lapses(bench):
    for n in range(8):
        submit(bench, await Chat("a", said(f"w{n}", 2)).plant(bench.store), backfill=bool(n % 2))
    await bench.arrived()
    lasting = {
        key.decode() for key in bench.client.scan_iter("memtree:*") if bench.client.ttl(key) < 0
    }
    # A counter, a name, tenants by stage, and lines that are empty as soon as a worker comes.
    assert {key.split(":")[1] for key in lasting} <= {"clock", "life", "tenants", "line"}


# ---------------------------------------------------------------- whose turn it is


@pytest.mark.slow
async def test_a_tenant_with_one_conversation_is_not_behind_one_with_fifty(bench):
    for n in range(50):
        submit(bench, await Chat("many", said(f"m{n}x", 2)).plant(bench.store))
    await bench.arrived()
    few = await Chat("few", said("lonely", 2)).plant(bench.store)
    submit(bench, few)
    await bench.work()
    order = list(dict.fromkeys(text.split(" ")[0] for text in bench.embedder.embedded))
    order = [word for word in order if word == "lonely" or word.endswith("x")]
    assert len([word for word in order if word.endswith("x")]) == 50
    assert order.index("lonely") == 4  # behind the tickets that were out already


class SlowToEmbed(SystemClock):
    """A clock by which each batch of `embedder` takes longer than a slice, and nothing else does,
    however slow the machine is."""

    SLICE = 3_600.0

    def __init__(self, embedder):
        self._embed, self._passed = embedder.embed, 0.0
        embedder.embed = self._embed_slowly

    def monotonic(self):
        return super().monotonic() + self._passed

    async def _embed_slowly(self, texts):
        self._passed += self.SLICE
        return await self._embed(texts)


async def test_a_slice_whose_time_is_up_after_the_look_up_embeds_a_batch(bench, monkeypatch):
    monkeypatch.setattr("memtree_indexer.worker_threads.EMBED_SLICE", 0.0)
    monkeypatch.setattr("memtree_indexer.worker_threads.BATCH_TOKENS", 1)
    chat = await Chat("a", said("wolfsbane", 3)).plant(bench.store)
    submit(bench, chat)
    await bench.work()
    assert await embedded(bench, chat) == set(chat.ids)


async def test_a_long_job_lets_others_in_after_a_slice(bench, monkeypatch):
    monkeypatch.setattr("memtree_indexer.worker_threads.EMBED_SLICE", SlowToEmbed.SLICE)
    monkeypatch.setattr("memtree_indexer.worker_threads.BATCH_TOKENS", 1)
    bench.clock = SlowToEmbed(bench.embedder)
    long = await Chat("long", said("long", 12)).plant(bench.store)
    short = await Chat("short", said("short", 2)).plant(bench.store)
    submit(bench, long)
    submit(bench, short)
    await bench.work()
    order = [text.split(" ")[0] for text in bench.embedder.embedded if text.startswith(("l", "s"))]
    assert await embedded(bench, long) == set(long.ids)
    assert order.index("short") < len(order) - 1 - order[::-1].index("long")


# ---------------------------------------------------------------- once


@pytest.mark.slow
async def test_two_workers_embed_nothing_twice(bench):
    chats = [await Chat("a", said(f"w{n}x", 6, 100 * n)).plant(bench.store) for n in range(10)]
    for chat in chats:
        submit(bench, chat)
    await bench.work(count=2)
    for chat in chats:
        assert await embedded(bench, chat) == set(chat.ids)
    texts = [text for text in bench.embedder.embedded if text]
    assert len(texts) == len(set(texts)) > 0


async def test_who_was_held_up_for_longer_than_its_lease_embeds_nothing(bench):
    """The first worker stands still between its look into the store and the model; meanwhile its
    lease ends and the second one begins with the job."""
    chat = await Chat("a", said("alder", 8)).plant(bench.store)
    submit(bench, chat)
    await bench.arrived()
    held, go_on, vectors = asyncio.Event(), asyncio.Event(), bench.store.vectors

    async def standing_still(*asked):
        found = await vectors(*asked)
        bench.store.vectors = vectors
        held.set()
        await go_on.wait()
        return found

    inner, gate = bench.embedder, Gate(bench.embedder)
    bench.store.vectors = standing_still
    first = asyncio.create_task(bench.burst())
    await asyncio.wait_for(held.wait(), SECONDS)
    name = JobName(EMBED, tenant_name("a"), job_id("a", EMBED, chat.start(chat.work[0])))
    bench.client.delete(f"memtree:lease:{name.id}")
    await asyncio.to_thread(ledgers.JobLedger(bench.client).recover, name)
    bench.embedder = gate
    second = asyncio.create_task(bench.burst())
    await asyncio.wait_for(gate.arrived.wait(), SECONDS)
    go_on.set()
    await asyncio.wait_for(first, SECONDS)
    assert inner.embedded == []
    gate.open.set()
    await asyncio.wait_for(second, SECONDS)
    assert await embedded(bench, chat) == set(chat.ids)
    texts = [text for text in inner.embedded if text]
    assert len(texts) == len(set(texts)) > 0


async def test_a_job_under_way_goes_on_with_its_newest_payload(bench):
    """No second worker begins with what the first one is at."""
    messages = said("alder", 8)
    old = await Chat("a", messages[:5]).plant(bench.store)
    new = await Chat("a", messages).plant(bench.store)
    inner, gate = bench.embedder, Gate(bench.embedder)
    submit(bench, old)
    await bench.arrived()
    bench.embedder = gate
    running = asyncio.create_task(bench.burst())
    await asyncio.wait_for(gate.arrived.wait(), SECONDS)
    submit(bench, new, 1)  # begins at a later address of the same history
    await bench.arrived()
    assert (await bench.queue.pending("a")).jobs == 1
    bench.embedder = inner
    await asyncio.wait_for(bench.burst(), SECONDS)  # another worker finds nothing to do
    assert inner.embedded == []
    gate.open.set()
    await asyncio.wait_for(running, SECONDS)
    assert await embedded(bench, new) == set(new.ids)
    texts = [text for text in inner.embedded if text]
    assert len(texts) == len(set(texts))
    assert await bench.queue.pending("a") == Pending(0, 0)


@pytest.mark.slow
async def test_two_workers_pay_for_no_summary_twice(desk):
    one = await desk()
    chats = [await Chat("a", said(f"w{n}", 8, 100 * n)).plant(one.store) for n in range(4)]
    for chat in chats:
        summarise(one, chat)
    await one.work(count=2)
    parts = sum(len(asked.parts) for asked in one.model.asked)
    assert parts == sum(len(chat.parts) for chat in chats)
    for chat in chats:
        found = await one.store.newest_summaries("a", chat.part_ids)
        assert set(found) == set(chat.part_ids)


# ---------------------------------------------------------------- deletions


async def test_a_job_that_is_forgotten_under_way_ends_and_leaves_nothing(bench):
    chat = await Chat("a", said("alder", 6)).plant(bench.store)
    submit(bench, chat)
    await bench.arrived()
    inner, gate = bench.embedder, Gate(bench.embedder)
    bench.embedder = gate
    running = asyncio.create_task(bench.burst())
    await asyncio.wait_for(gate.arrived.wait(), SECONDS)
    assert await bench.queue.forget("a", None) == 1
    await bench.store.forget("a", None)
    gate.open.set()
    await asyncio.wait_for(running, SECONDS)
    assert await bench.store.vectors("a", inner.recipe, chat.ids) == {}
    assert not [key for key in bench.client.keys("memtree:*") if b"payload" in key]


# ---------------------------------------------------------------- deaths


def test_what_is_missing():
    began, waits, taken = (JobName(EMBED, "t", id_) for id_ in ("began", "waits", "taken"))
    out = {began: True, waits: False, taken: False}
    dead, doubts = missing(out, {"waits"}, {began}, set())
    assert (dead, doubts) == (set(), {taken})
    dead, doubts = missing(out, {"waits"}, set(), doubts)
    assert (dead, doubts) == ({began, taken}, {taken})
    assert missing(out, {"waits", "taken"}, {began}, doubts) == (set(), set())


def begun(bench, chat):
    """Somebody begins with the chat's job, and is not heard of again."""
    books = ledgers.JobLedger(bench.client)
    name = JobName(
        EMBED, tenant_name(chat.tenant), job_id(chat.tenant, EMBED, chat.start(chat.work[0]))
    )
    for queue in books.queues(EMBED):
        queue.empty()
    return books, name, books.begin(name, "somebody")


async def test_a_dead_workers_job_is_done_by_another(bench):
    chat = await Chat("a", said("alder", 4)).plant(bench.store)
    submit(bench, chat)
    await bench.arrived()
    books, name, job = begun(bench, chat)
    assert job is not None
    upkeep = QueueRecovery("me", [], books, bench.link, threading.Event())
    upkeep.look()
    await bench.burst()
    assert bench.embedder.embedded == []  # it is alive, as far as anybody knows
    bench.client.delete(f"memtree:lease:{name.id}")  # as after 15 seconds
    upkeep.look()
    assert not books.hold(name, "somebody")
    await bench.burst()
    assert await embedded(bench, chat) == set(chat.ids)


async def test_a_ticket_that_was_lost_is_given_out_again(bench):
    """A worker took it from the queue and died before it began."""
    chat = await Chat("a", said("alder", 4)).plant(bench.store)
    submit(bench, chat)
    await bench.arrived()
    books = ledgers.JobLedger(bench.client)
    for queue in books.queues(EMBED):
        queue.empty()
    upkeep = QueueRecovery("me", [], books, bench.link, threading.Event())
    upkeep.look()
    upkeep.look()
    await bench.burst()
    assert await embedded(bench, chat) == set(chat.ids)


async def test_a_job_whose_workers_always_die_is_given_up(bench, caplog):
    chat = await Chat("a", said("alder", 4)).plant(bench.store)
    submit(bench, chat)
    await bench.arrived()
    for _ in range(ledgers.MAX_DEATHS):
        assert await bench.queue.pending("a") != Pending(0, 0)
        books, name, job = begun(bench, chat)
        assert job is not None
        bench.client.delete(f"memtree:lease:{name.id}")
        QueueRecovery("me", [], books, bench.link, threading.Event()).look()
    assert await bench.queue.pending("a") == Pending(0, 0)
    await bench.burst()
    assert bench.embedder.embedded == []
    submit(bench, chat)  # its text comes again
    await bench.work()
    assert await embedded(bench, chat) == set(chat.ids)


async def test_who_lost_a_job_does_not_end_it_for_its_new_owner(bench):
    chat = await Chat("a", said("alder", 4)).plant(bench.store)
    submit(bench, chat)
    await bench.arrived()
    books, name, job = begun(bench, chat)
    bench.client.delete(f"memtree:lease:{name.id}")
    books.recover(name)
    again = books.begin(name, "another")
    assert again is not None
    assert not books.progress(name, "somebody", job.entry.version, SliceOutcome())
    books.release(name, "somebody", job.entry.version, SliceOutcome())
    assert books.progress(name, "another", again.entry.version, SliceOutcome(5, 1))
    assert (await bench.queue.pending("a")) == Pending(5, 1)


async def test_a_stop_gives_back_what_is_left(bench, monkeypatch):
    monkeypatch.setattr("memtree_indexer.worker_threads.BATCH_TOKENS", 1)
    chat = await Chat("a", said("alder", 6)).plant(bench.store)
    submit(bench, chat)
    await bench.arrived()
    inner, gate = bench.embedder, Gate(bench.embedder)
    bench.embedder = gate
    shop = workshop(bench)
    running = asyncio.create_task(shop.run())
    await asyncio.wait_for(gate.arrived.wait(), SECONDS)
    shop.stop.set()
    gate.open.set()
    await asyncio.wait_for(running, SECONDS)
    assert len(await embedded(bench, chat)) == 1
    assert not bench.client.keys("memtree:lease:*")
    assert (await bench.queue.pending("a")).tokens == sum(one.tokens for one in chat.work[1:])
    bench.embedder = inner
    await asyncio.wait_for(bench.burst(), SECONDS)
    assert await embedded(bench, chat) == set(chat.ids)


async def test_living_workers_are_known(bench):
    from memtree_indexer.redis_queues import workers

    assert await workers(bench.link) == 0
    shop = workshop(bench)
    running = asyncio.create_task(shop.run())
    await until(lambda: bench.client.zcard("memtree:workers") == 1)
    assert await workers(bench.link) == 1
    shop.stop.set()
    await asyncio.wait_for(running, SECONDS)
    assert await workers(bench.link) == 0


async def test_a_second_ticket_of_a_job_that_somebody_is_at_does_nothing(bench):
    """A queue is left so where a job was replaced and came again."""
    chat = await Chat("a", said("alder", 4)).plant(bench.store)
    submit(bench, chat)
    await bench.arrived()
    books, name, job = begun(bench, chat)
    assert job is not None
    assert books.begin(name, "another") is None
    assert books.hold(name, "somebody")
    assert not books.hold(name, "another")


async def test_health_and_metrics_of_a_worker(bench):
    chat = await Chat("a", said("alder", 4)).plant(bench.store)
    submit(bench, chat)
    await bench.arrived()
    shop = workshop(bench)
    app = health_app(shop, Tally())
    running = asyncio.create_task(shop.run())
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://worker") as client:
        await until(lambda: len(bench.embedder.embedded) > 0)
        health = await client.get("/health")
        assert (health.status_code, health.json()["redis"]) == (200, True)
        await until(lambda: shop.slices.done.tokens > 0)
        page = (await client.get("/metrics")).text
        assert re.search(r'^memtree_index\w*_tokens_total\{stage="2"\} [1-9]', page, re.M), page
        shop.stop.set()
        assert (await client.get("/health")).status_code == 503
    await asyncio.wait_for(running, SECONDS)


async def test_of_a_tenant_whose_jobs_have_lapsed_nothing_is_left(bench):
    submit(bench, await Chat("a", said("alder", 4)).plant(bench.store))
    await bench.arrived()
    bench.client.delete(f"memtree:ledger:embed:{tenant_name('a')}")  # as after two days
    ledgers.JobLedger(bench.client).prolong()
    left = {key.decode().split(":")[1] for key in bench.client.keys("memtree:*")}
    assert left <= {"clock", "life", "payload", "work"}  # payload and work lapse within the hour
    await bench.burst()
    assert bench.embedder.embedded == []
