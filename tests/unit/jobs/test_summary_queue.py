"""Stage 3 beside the rest: limits, turns of tenants, deletions, and what answers show of it."""

from __future__ import annotations

import asyncio
import math
from dataclasses import replace

import pytest

from memtree.context.context_memory import CompressRequest, ContextMemory
from memtree.history.message import Message
from memtree.jobs import growing
from memtree.jobs.embedding import NoQueue
from memtree.jobs.growing import StageOne
from memtree.jobs.spending import TOKENS
from memtree.jobs.summary_queue import GATHER
from memtree.ports.indexing_stages import Pending
from memtree.text.tokens import count
from memtree.tree.node import SKETCHED
from tests.answered import compressed
from tests.made import summaries as scripted
from tests.made.summaries import SHORT, Held, ScriptedSummarizer
from tests.unit.jobs.refined import (
    DAY,
    T0,
    Counting,
    Hands,
    a_desk,
    all_done,
    idle,
    later,
    said,
    twice,
    until,
)

# Memory, queue and a scripted model together.
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("leaves_once")]

# ---------------------------------------------------------------- limits and turns


@pytest.mark.parametrize(
    "limits",
    [
        {"summary_tokens_per_day": 9_000},
        pytest.param(
            {
                "summary_money_per_day": 0.009,
                "summary_input_price": 1.0,
                "summary_output_price": 1.0,
            },
            marks=pytest.mark.long,
        ),
    ],
)
async def test_a_days_limit_stops_a_tenant_until_the_next_day(limits):
    messages, clock = said(60), Hands()
    async with a_desk(clock=clock, **limits) as desk:
        await desk.post(messages)
        await desk.settle()
        status = await desk.memory.summary_status("t")
        nodes, found = await later(desk.store, messages)
        assert 0 < len(found) < len(nodes)
        assert (status.state, status.pending_nodes) == ("limit_reached", len(nodes) - len(found))
        spent = (await desk.store.tallies("t", DAY, DAY))[TOKENS]
        assert spent == desk.model.input_tokens + desk.model.output_tokens
        assert 5_000 < spent <= 9_000
        calls = desk.model.calls
        assert isinstance(desk.store, Counting)
        claims = desk.store.reads["claim"]
        answer = await desk.post(messages)
        assert answer.pending_tokens > 0
        await desk.settle()
        assert desk.model.calls == calls, "no call after the limit"
        assert desk.store.reads["claim"] == claims, "and nothing is tried"
        await desk.post(said(16, seed=400), "other")
        await desk.settle()
        await all_done(desk, said(16, seed=400), "other")
        for _ in range(3):
            clock.seconds += 86_400
            await desk.post(messages)
            await desk.settle()
        await all_done(desk, messages)
        assert twice(desk.model) == []
        assert (await desk.memory.summary_status("t")).state == "ok"


async def test_a_model_finds_all_summaries_of_extraction(monkeypatch):
    """Also of a history that would otherwise be grown with few of them at first."""
    monkeypatch.setattr(growing, "FULL_TOKENS", 1_000)
    async with a_desk() as desk:
        await desk.post(said(60))
        nodes, _ = await later(desk.store, said(60))
        assert nodes
        assert not any(node.summary.extraction == SKETCHED for node in nodes.values())


async def test_a_limit_holds_for_calls_at_once():
    async with a_desk(
        ScriptedSummarizer(latency=0.01), summary_tokens_per_day=9_000, summary_parallel=8
    ) as desk:
        await desk.post(said(90))
        await desk.settle()
        assert desk.model.input_tokens + desk.model.output_tokens <= 9_000


async def test_a_deletion_does_not_reset_the_limit():
    messages = said(60)
    async with a_desk(summary_tokens_per_day=9_000) as desk:
        await desk.post(messages)
        await desk.settle()
        calls = desk.model.calls
        await desk.memory.forget_tenant("t")
        await desk.post(messages)
        await desk.settle()
        assert desk.model.calls == calls
    async with a_desk(store=desk.store, summary_tokens_per_day=9_000) as again:
        await again.post(messages)
        await again.settle()
        assert (await again.memory.summary_status("t")).state == "limit_reached"
        spent = await again.store.tallies("t", DAY, DAY)
        assert spent[TOKENS] <= 9_000


async def test_a_large_tenant_does_not_hold_up_a_small_one():
    large, small = said(110), said(16, seed=700)
    model = ScriptedSummarizer(latency=0.001)
    async with a_desk(model, summary_parallel=2) as desk:
        await desk.post(large, "large")
        await until(lambda: model.calls >= 4)
        before = model.calls
        await desk.post(small, "small")
        await desk.submitted()
        await idle(desk, "small")
        nodes, _ = await later(desk.store, small, "small")
        # Every second call, and the few that were on their way.
        assert model.calls - before <= 2 * (len(nodes) / 4 + 3) + 2
        assert (await desk.memory.pending("large")).jobs == 1
        await desk.settle()
        await all_done(desk, large, "large")


@pytest.mark.long
async def test_many_conversations_of_one_tenant_are_one_tenant():
    model = ScriptedSummarizer(latency=0.001)
    async with a_desk(model, summary_parallel=1) as desk:
        for number in range(7):
            await desk.post(said(20, seed=1_000 * number), "many")
        await desk.submitted()
        small = said(20, seed=99_000)
        before = model.calls
        await desk.post(small, "small")
        await desk.submitted()
        await idle(desk, "small")
        nodes, _ = await later(desk.store, small, "small")
        assert model.calls - before <= 2 * (len(nodes) / 4 + 2) + 2


@pytest.mark.parametrize("parallel", [1, 3])
async def test_as_many_calls_at_once_as_are_allowed(parallel: int):
    held = asyncio.Event()
    model = ScriptedSummarizer(always=Held(held))
    async with a_desk(model, summary_parallel=parallel) as desk:
        await desk.post(said(40))
        await desk.post(said(20, seed=500), "other")
        await until(lambda: model.open == parallel)
        held.set()
        await desk.settle()
        assert model.peak == parallel


async def test_a_call_that_is_not_full_waits_for_more_of_its_conversation():
    messages, clock = said(60), Hands()
    async with a_desk(clock=clock, patient=True) as desk:
        await desk.post(messages)
        await desk.settle()
        nodes, _ = await later(desk.store, messages)
        calls, new = desk.model.calls, 0
        while not new:
            messages += said(1, seed=800 + len(messages))
            await desk.post(messages)
            await desk.submitted()
            new = len((await later(desk.store, messages))[0]) - len(nodes)
        assert new < 4, "this test sees a call that is not full"
        jobs = desk.three.queue.jobs
        await until(lambda: any(T0 < job.blocked < math.inf for job in jobs))
        assert desk.model.calls == calls
        clock.seconds += GATHER
        desk.three.queue.jobs.wake()
        await idle(desk, "t")
        assert [len(one.parts) for one in desk.model.asked[calls:]] == [new]


async def test_a_call_that_is_full_does_not_wait():
    messages = said(60)
    async with a_desk(patient=True) as desk:
        await desk.post(messages)
        await desk.submitted()
        await until(lambda: desk.model.calls >= 5)
        assert {len(one.parts) for one in desk.model.asked[:5]} == {4}


# ---------------------------------------------------------------- deletion


@pytest.mark.parametrize("how", ["history", pytest.param("tenant", marks=pytest.mark.long)])
async def test_an_answer_that_comes_after_the_deletion_leaves_nothing(how: str):
    messages, held = said(40), asyncio.Event()
    model = ScriptedSummarizer(always=Held(held))
    async with a_desk(model) as desk:
        await desk.post(messages)
        await until(lambda: model.open > 0)
        if how == "tenant":
            receipt = await desk.memory.forget_tenant("t")
        else:
            receipt = await desk.memory.forget_history(CompressRequest("t", tuple(messages)))
        assert receipt.jobs == 1
        await desk.post(messages)  # and the very text comes again before the answer does
        old = model.calls
        held.set()
        await until(lambda: not desk.three.queue.scheduler.calls_under_way or model.calls > old)
        await desk.settle()
        nodes, found = await later(desk.store, messages)
        assert found.keys() == nodes.keys()
        asked = sum(len(one.parts) for one in model.asked[:old])
        assert sum(model.summarised.values()) == len(nodes) + asked, "made anew"
        assert await desk.store.check() == []


async def test_what_was_deleted_while_it_was_asked_for_stays_deleted():
    messages, held = said(40), asyncio.Event()
    async with a_desk(ScriptedSummarizer(always=Held(held))) as desk:
        await desk.post(messages)
        await until(lambda: desk.model.open > 0)
        await desk.memory.forget_tenant("t")
        held.set()
        await desk.settle()
        assert (await desk.memory.pending("t")) == Pending(0, 0)
        nodes, found = await later(desk.store, messages)
        assert (nodes, found) == ({}, {})
        assert (await desk.store.forget("t", None)).summaries == 0


# ---------------------------------------------------------------- what answers show


async def test_summaries_that_land_change_no_byte_of_an_epoch():
    messages, held = said(90), asyncio.Event()
    model = ScriptedSummarizer(always=Held(held))
    ask = CompressRequest("t", tuple(messages[:71]), target=4_000, mode="stable", window=40_000)
    async with a_desk(model) as desk:
        first = await compressed(desk.memory, ask)
        assert first.epoch
        held.set()
        await desk.settle()
        second = await compressed(desk.memory, replace(ask, messages=tuple(messages[:72])))
        assert second.epoch == first.epoch
        assert second.messages[: len(first.messages)] == first.messages
        assert SHORT.encode() not in b"".join(second.messages)
        again = await compressed(desk.memory, ask)
        assert again.messages == first.messages
        fresh = await compressed(desk.memory, replace(ask, mode="fresh", target=8_000))
        assert SHORT.encode() in b"".join(fresh.messages)
        # A new epoch takes the newest versions, and keeps them in another process.
        await desk.post(messages)
        await desk.settle()
        branch = tuple(messages)
        new = await compressed(desk.memory, replace(ask, messages=branch))
        assert new.epoch != first.epoch
        versions = [one["version"] for one in new.explain()["nodes"]]
        assert versions.count(1) >= len(versions) - 1 > 0, "all but the open end"
        async with a_desk(store=desk.store) as other:
            same = await compressed(other.memory, replace(ask, messages=branch))
            assert (same.epoch, same.messages) == (new.epoch, new.messages)


async def test_without_a_model_all_is_as_it_was():
    messages = said(90)
    ask = CompressRequest("t", tuple(messages), target=4_000, mode="fresh", hard=True)
    store = Counting()
    async with a_desk(store=store) as desk:
        plain = ContextMemory(Counting(), StageOne(child=False), NoQueue(), desk.clock)
        answer = await compressed(plain, ask)
        assert answer.pending_tokens == 0
        assert (await plain.summary_status("t")).state == "off"
        assert (await plain.pending("t")) == Pending(0, 0)
        assert not desk.model.asked
        other = await compressed(desk.memory, ask)
        assert other.messages == answer.messages, "extraction until summaries are there"
        assert other.state == answer.state
        await plain.close()


async def test_extraction_and_model_together():
    messages = said(60)
    async with a_desk(summary_text="both") as desk:
        await desk.post(messages)
        await desk.settle()
        nodes, found = await later(desk.store, messages)
        for id_, one in found.items():
            assert one.extracted == nodes[id_].summary.body
            assert one.shown == f"{one.body} {one.extracted}"
        ask = CompressRequest("t", tuple(messages), target=6_000, hard=True, mode="fresh")
        answer = await compressed(desk.memory, ask)
        text = b"".join(answer.messages).decode()
        shown = [one for one in answer.explain()["nodes"] if one["body"]]
        assert shown
        for one in shown:
            summary = found.get(bytes.fromhex(one["id"]))
            if summary:
                assert Message(answer.messages[0]).text.count(summary.shown) >= 1
        assert SHORT in text
        assert answer.sent_tokens <= 6_000


async def test_the_tree_tells_who_wrote_what():
    messages = said(40)
    step = scripted.invented
    async with a_desk(ScriptedSummarizer(step, step, step, step, step), summary_parallel=1) as desk:
        await desk.post(messages)
        tree = await desk.memory.tree(CompressRequest("t", tuple(messages)))
        assert not any(node.by_model for node in tree.nodes)
        await desk.settle()
        _, found = await later(desk.store, messages)
        tree = await desk.memory.tree(CompressRequest("t", tuple(messages)))
        for node in tree.nodes:
            summary = found.get(node.id)
            assert node.by_model == bool(summary and summary.by_model)
        assert {node.by_model for node in tree.nodes if node.sealed} == {True, False}


async def test_accepted_summaries_pass_the_check_and_their_caps():
    messages = said(60)
    async with a_desk() as desk:
        await desk.post(messages)
        await desk.settle()
        nodes, found = await later(desk.store, messages)
        for id_, one in found.items():
            cap = 75 if nodes[id_].is_leaf else 300
            assert count(one.headline) <= 18 * 1.3
            assert count(one.body) <= cap * 1.3
