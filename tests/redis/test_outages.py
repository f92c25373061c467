"""Redis, the store or the model go away and come back: nobody waits, nothing is lost."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from dataclasses import replace

import pytest
from redis.exceptions import ResponseError

from memtree.jobs.job_queue import MAX_JOBS
from memtree.jobs.summary_stage import SummaryStage
from memtree.ports.indexing_stages import Pending
from memtree_indexer import outbox
from memtree_indexer.ledger import EMBED, JobLedger
from memtree_indexer.payloads import tenant_name
from memtree_indexer.queue_worker import Worker, WorkerParts
from tests.contracts.queues import Chat, said
from tests.made.embeddings import Raw, Silence, Status
from tests.redis.benches import SECONDS, embedded, submit, summarise, until, workshop

# ---------------------------------------------------------------- Redis goes and comes


@pytest.mark.slow
async def test_what_was_submitted_while_redis_was_away_arrives(away):
    chats = [await Chat("a", said(f"w{n}x", 3)).plant(away.store) for n in range(3)]
    submit(away, chats[0])
    await away.arrived()
    away.server.kill()
    for chat in chats[1:]:
        submit(away, chat)
    submit(away, chats[2])  # the newest of a conversation
    assert (await away.queue.pending("a")).jobs == 3
    away.server.start()
    await away.arrived()
    assert (await away.queue.pending("a")).jobs == 3
    await away.work()
    for chat in chats:
        assert await embedded(away, chat) == set(chat.ids)


async def test_what_cannot_be_sent_is_given_up_and_holds_up_nobody(bench, monkeypatch, caplog):
    broken, chat = [
        await Chat("a", said(word, 3)).plant(bench.store) for word in ("alder", "birch")
    ]
    real = outbox.payload_of

    def packed(history, start, work):
        if start == broken.start(broken.work[0]):
            raise ValueError("of a kind that nobody foresaw")
        return real(history, start, work)

    monkeypatch.setattr(outbox, "payload_of", packed)
    submit(bench, broken)
    submit(bench, chat)
    await bench.work()
    assert await embedded(bench, chat) == set(chat.ids)
    assert bench.queue.dropped == 1
    assert bench.outbox.jobs[EMBED].owed("a") == len(broken.ids)
    assert "queue.job_not_sent" in caplog.text


async def test_what_redis_refuses_waits_behind_the_others(bench, monkeypatch):
    refused, chat = [
        await Chat("a", said(word, 3)).plant(bench.store) for word in ("alder", "birch")
    ]
    real, answers = JobLedger.add, [ResponseError("OOM command not allowed")]

    def add(self, new, *more):
        if answers and new.entry.start == refused.start(refused.work[0]).hex():
            raise answers.pop()
        return real(self, new, *more)

    monkeypatch.setattr(JobLedger, "add", add)
    submit(bench, refused)
    submit(bench, chat)
    await bench.work()
    for each in (refused, chat):
        assert await embedded(bench, each) == set(each.ids)


async def test_a_deletion_while_redis_is_away_is_made_up_for(away, monkeypatch):
    # It waits in vain for this part of the minute that a test's command has.
    monkeypatch.setattr(outbox, "ANSWER", 0.005)
    chat = await Chat("a", said("alder", 3)).plant(away.store)
    submit(away, chat)
    await away.arrived()
    away.server.kill()
    assert await away.queue.forget("a", None) == 0  # nobody can tell
    away.server.start()
    await away.arrived()
    with away.server.client() as client:
        assert not client.keys("memtree:payload:*")
    assert await away.queue.pending("a") == Pending(0, 0)


async def test_a_deletion_waits_for_nobody_once_redis_is_known_to_be_away(away, monkeypatch):
    monkeypatch.setattr(outbox, "ANSWER", SECONDS)  # more than the test has
    chat = await Chat("a", said("alder", 3)).plant(away.store)
    submit(away, chat)
    await away.arrived()
    away.server.kill()
    async with asyncio.timeout(SECONDS):
        assert await away.queue.forget("a", None) == 0
    away.server.start()
    await away.arrived()
    with away.server.client() as client:
        assert not client.keys("memtree:payload:*")


@pytest.mark.slow
async def test_workers_come_back_by_themselves(away, caplog):
    caplog.set_level(logging.INFO)
    shop = workshop(away)
    running = asyncio.create_task(shop.run())
    first = await Chat("a", said("alder", 3)).plant(away.store)
    submit(away, first)
    await until(lambda: len(away.embedder.embedded) > 0)
    attempts, lost = [], away.link.lost

    def noted(error):
        attempts.append(error)
        return lost(error)

    away.link.lost = noted
    away.server.stop()
    await until(lambda: len(attempts) > 3)
    away.server.start()
    second = await Chat("a", said("birch", 3)).plant(away.store)
    submit(away, second)
    await until(lambda: any("birch" in text for text in away.embedder.embedded))
    shop.stop.set()
    await asyncio.wait_for(running, SECONDS)
    assert await embedded(away, first) | await embedded(away, second) == {*first.ids, *second.ids}
    told = [one for one in caplog.records if one.name == "memtree.queue" and one.levelno > 20]
    assert len(told) <= 4, [one.getMessage() for one in told]  # once an outage, not an attempt
    assert not any(one.exc_info for one in told)


async def test_the_outbox_is_bounded(away):
    away.server.kill()
    chats = [Chat("a", said(f"w{n}x", 2)) for n in range(3)]
    for n in range(MAX_JOBS + 10):
        chat = chats[n % 3]
        work = chat.work
        away.outbox.jobs[EMBED].add(_copy(chat, n))
        assert work
    assert len(away.outbox.jobs[EMBED]) == MAX_JOBS
    assert away.queue.dropped == 10
    away.server.start()


def _copy(chat, n):
    """A job of a conversation that only looks like this one."""
    from dataclasses import replace

    from memtree.jobs.job_queue import job
    from memtree.tree.node import LeafWork

    tenant = f"tenant {n % 2}"  # one of them alone may not fill it
    history = replace(chat.history, tenant=tenant, addresses=(b"%d" % n, b"%d end" % n))
    leaf = chat.work[0].leaf
    renamed = type(leaf)(b"%d" % n, *[getattr(leaf, name) for name in leaf.__struct_fields__[1:]])
    return job(history, b"%d" % n, [LeafWork(renamed, 0)])


# ---------------------------------------------------------------- summaries go wrong


async def test_nobody_to_work_is_told(desk):
    one = await desk()
    assert (await one.summaries.status("a")).state == "unavailable"


@pytest.mark.slow
@pytest.mark.parametrize("wrong", [Status(500), Status(429), Raw(b"garbage"), Silence()])
async def test_a_model_of_no_use_is_told_and_loses_nothing(desk, wrong, monkeypatch):
    monkeypatch.setattr("memtree_indexer.worker_threads.SUMMARY_SLICE", 1.0)
    monkeypatch.setattr("memtree.jobs.job_queue.BACK_OFF", 0.01)
    one = await desk(always=wrong)
    chat = await Chat("a", said("alder", 14)).plant(one.store)
    summarise(one, chat)
    await one.arrived()
    if isinstance(wrong, Silence):
        running = asyncio.create_task(one.burst())
        await until(lambda: one.model.open > 0)
        await until(lambda: one.client.keys("memtree:lease:*") != [])
        assert (await one.summaries.status("a")).pending_nodes == len(chat.parts)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        return
    async with asyncio.timeout(SECONDS):
        state = None
        while state is None:  # where the machine is slow a slice ends before any call does
            await one.burst()
            state = one.client.get(f"memtree:state:{tenant_name('a')}")
    assert state == b"unavailable"
    one.client.zadd("memtree:workers", {"somebody": time.time() + 60})
    status = await one.summaries.status("a")
    assert status.state == "unavailable"
    left = await one.store.newest_summaries("a", chat.part_ids)
    assert status.pending_nodes == len(chat.parts) - len(left)
    ledger = one.client.hgetall(f"memtree:ledger:summaries:{tenant_name('a')}")
    assert [json.loads(row)["count"] for key, row in ledger.items() if key != b"rev"]


async def test_a_store_that_is_down_is_tried_again(bench):
    from memtree.errors import StoreUnavailable

    chat = await Chat("a", said("alder", 4)).plant(bench.store)
    submit(bench, chat)
    await bench.arrived()
    nodes, failures = bench.store.nodes, [StoreUnavailable("away")]

    async def failing(*given):
        if failures:
            raise failures.pop()
        return await nodes(*given)

    bench.store.nodes = failing
    await bench.burst()
    assert bench.embedder.embedded == []
    assert bench.client.zcard("memtree:later:embed") == 1
    await bench.burst()
    assert await embedded(bench, chat) == set(chat.ids)


@pytest.mark.slow
async def test_a_stop_waits_for_calls_under_way_but_not_for_ever(desk, monkeypatch):
    one = await desk(always=Silence())
    one.settings = replace(one.settings, worker_seconds=1)
    chat = await Chat("a", said("alder", 3)).plant(one.store)
    summarise(one, chat)
    await one.arrived()
    three = SummaryStage.of(one.settings, one.store, one.clock, one.model, gather=0.0)
    three.queue.start()
    shop = Worker(one.settings, WorkerParts(one.store, one.clock, None, three), one.link)
    running = asyncio.create_task(shop.run())
    await until(lambda: one.model.open > 0)
    shop.stop.set()
    await asyncio.wait_for(running, SECONDS)
    await three.close(0)
    assert one.model.open == 0
    assert one.client.keys("memtree:lease:*") == []
    assert (await one.summaries.pending("a")).jobs == 1
    ids = chat.part_ids
    now = one.clock.now()
    assert await one.store.claim("a", ids, "another", now, now + 60) == set(ids)  # nobody has them
