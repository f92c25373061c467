"""Stage 3 end to end in one process: each node once, every token counted."""

from __future__ import annotations

import asyncio
import math
from pathlib import Path

import pytest

from memtree.errors import StoreUnavailable
from memtree.jobs import summary_calls
from memtree.ports.indexing_stages import Pending
from memtree.stores import open_store
from memtree.text.tokens import count
from tests.made.summaries import SHORT, Held, ScriptedSummarizer
from tests.unit.jobs.refined import (
    DAY,
    PATIENCE,
    Counting,
    Hands,
    a_desk,
    all_done,
    later,
    said,
    twice,
    until,
)

# Memory, queue and a scripted model together.
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("leaves_once")]

# ---------------------------------------------------------------- exact counts


async def test_every_node_is_summarised_once_and_every_token_counted():
    messages = said(90)
    async with a_desk(summary_input_price=1.0, summary_output_price=4.0) as desk:
        answer = await desk.post(messages)
        assert (
            (await desk.memory.pending("t")).tokens
            >= answer.pending_tokens
            == answer.indexed_tokens
        )
        await desk.settle()
        model, (nodes, found) = desk.model, await later(desk.store, messages)
        assert found.keys() == nodes.keys()
        assert all(one.by_model and one.version == 1 for one in found.values())
        assert {one.by for one in found.values()} == {"scripted/1"}
        assert twice(model) == []
        assert sum(model.summarised.values()) == len(nodes)
        # Calls: full ones but for what waits for its children at the end of the tree.
        levels = max(node.level for node in nodes.values())
        leaves = sum(node.is_leaf for node in nodes.values())
        assert math.ceil(len(nodes) / 4) <= model.calls <= math.ceil(len(nodes) / 4) + levels
        assert model.calls / leaves <= 0.31
        # Tokens: those of the calls are split over the nodes without loss.
        assert sum(one.cost[0] for one in found.values()) == model.input_tokens
        assert sum(one.cost[1] for one in found.values()) == model.output_tokens
        history = sum(node.tokens for node in nodes.values() if node.is_leaf)
        assert model.input_tokens / history <= 1.6
        constant = sum(count(one.messages[0]["content"]) for one in model.asked)
        assert (model.input_tokens - constant) / history <= 1.25
        assert model.output_tokens / history <= 0.20
        assert await desk.store.tallies("t", DAY, DAY) == {
            "summary.calls": model.calls,
            "summary.input_tokens": model.input_tokens,
            "summary.output_tokens": model.output_tokens,
            "summary.tokens": model.input_tokens + model.output_tokens,
            "summary.micros": model.input_tokens + 4 * model.output_tokens,
            "summary.nodes": len(nodes),
        }
        status = await desk.memory.summary_status("t")
        assert (status.state, status.pending_nodes, status.calls) == ("ok", 0, model.calls)
        assert status.money == pytest.approx(
            (model.input_tokens + 4 * model.output_tokens) / 1_000_000
        )
        assert (await desk.memory.pending("t")) == Pending(0, 0)
        assert (await desk.post(messages)).pending_tokens == 0
        assert await desk.store.check() == []


async def test_children_are_done_before_their_parents_and_shown_to_them():
    messages = said(90)
    async with a_desk(summary_parallel=1) as desk:
        await desk.post(messages)
        await desk.settle()
        nodes, found = await later(desk.store, messages)
        asked = [part.text for one in desk.model.asked for part in one.parts]
        inner = [node for node in nodes.values() if not node.is_leaf]
        assert inner
        for node in inner:
            notes = [f"{found[id_].headline}\n{found[id_].body}" for id_ in node.children]
            assert all(SHORT in note for note in notes)
            assert "\n".join(notes) in asked


async def test_what_is_appended_is_all_that_is_asked_for():
    messages = said(60)
    async with a_desk() as desk:
        await desk.post(messages)
        await desk.settle()
        nodes, _ = await later(desk.store, messages)
        messages += said(12, seed=500)
        await desk.post(messages)
        await desk.settle()
        grown, _ = await later(desk.store, messages)
        assert len(grown) > len(nodes)
        assert twice(desk.model) == []
        assert sum(desk.model.summarised.values()) == len(grown)
        await all_done(desk, messages)


@pytest.mark.long
async def test_a_chat_that_grows_message_by_message_pays_for_each_node_once():
    messages = said(70)
    async with a_desk() as desk:
        for end in range(30, 71):
            await desk.post(messages[:end])
        await desk.settle()
        assert twice(desk.model) == []
        await all_done(desk, messages)


@pytest.mark.parametrize("edited", [10, pytest.param(40, marks=pytest.mark.long)])
async def test_an_edit_asks_for_what_changed(edited: int):
    messages = said(80)
    async with a_desk() as desk:
        await desk.post(messages)
        await desk.settle()
        before, _ = await later(desk.store, messages)
        changed = list(messages)
        changed[edited] = said(1, seed=900)[0]
        await desk.post(changed)
        await desk.settle()
        after, _ = await later(desk.store, changed)
        assert twice(desk.model) == []
        assert sum(desk.model.summarised.values()) == len(before.keys() | after.keys())
        assert len(after.keys() - before.keys()) < len(after) / 2, "borders come back after it"
        await all_done(desk, changed)


@pytest.mark.long
async def test_branch_and_revert_pay_for_what_is_new():
    trunk = said(50)
    one, other = trunk + said(20, seed=300), trunk + said(20, seed=600)
    async with a_desk() as desk:
        for messages in (one, other, one[:60], trunk, one, other):
            await desk.post(messages)
            await desk.settle()
        (first, _), (second, _) = await later(desk.store, one), await later(desk.store, other)
        assert twice(desk.model) == []
        assert sum(desk.model.summarised.values()) == len(first.keys() | second.keys())


async def test_after_a_restart_nothing_is_asked(tmp_path: Path):
    messages = said(60)
    url = f"sqlite:///{tmp_path / 'm.db'}"
    for number in range(2):
        store = open_store(url)
        async with a_desk(store=store) as desk:
            answer = await desk.post(messages)
            assert (answer.pending_tokens == 0) is bool(number), "known at once"
            await desk.settle()
            assert (desk.model.calls == 0) is bool(number)
            await all_done(desk, messages)
        await store.close()


async def test_two_processes_on_one_store_share_the_work(tmp_path: Path):
    messages = said(80)
    url = f"sqlite:///{tmp_path / 'm.db'}"
    stores = [open_store(url), open_store(url)]
    models = [ScriptedSummarizer(latency=0.01) for _ in stores]
    clock = Hands()
    async with (
        a_desk(models[0], stores[0], clock) as one,
        a_desk(models[1], stores[1], clock) as two,
    ):
        await asyncio.gather(one.post(messages), two.post(messages))
        await asyncio.gather(one.submitted(), two.submitted())

        async def tick() -> None:  # what one has, the other looks at again after some seconds
            while True:
                clock.seconds += 1
                for desk in (one, two):
                    desk.three.queue.jobs.wake()
                await asyncio.sleep(0.01)

        ticking = asyncio.create_task(tick())
        await asyncio.gather(one.settle(), two.settle())
        ticking.cancel()
        assert twice(*models) == []
        assert min(model.calls for model in models) > 0
        await all_done(one, messages)
        both = models[0].input_tokens + models[1].input_tokens
        assert (await stores[0].tallies("t", DAY, DAY))["summary.input_tokens"] == both
    for store in stores:
        await store.close()


async def test_a_kill_between_answer_and_commit_loses_one_call():
    messages, store, clock = said(60), Counting(), Hands()
    store.gate.clear()
    async with a_desk(store=store, clock=clock, summary_parallel=1) as desk:
        await desk.post(messages)
        await asyncio.wait_for(store.arrived.wait(), PATIENCE)
        await desk.kill()
        lost = desk.model.summarised
        assert len(lost) == 4
    store.gate.set()
    async with a_desk(store=store, clock=clock) as again:
        await again.post(messages)
        await again.submitted()
        await until(
            lambda: (
                again.three.queue.jobs.pending("t").jobs == 1
                and not again.three.queue.scheduler.calls_under_way
            )
        )
        nodes, found = await later(store, messages)
        assert set(again.model.summarised).isdisjoint(lost), "the claims of the dead still stand"
        assert len(found) < len(nodes)
        clock.seconds += summary_calls.HOLD + 1
        await again.settle()
        await all_done(again, messages)
        assert twice(again.model) == []
        assert set(twice(desk.model, again.model)) == set(lost)


async def test_a_claim_lasts_as_long_as_its_call(monkeypatch):
    monkeypatch.setattr(summary_calls, "PROLONG", 0.002)
    messages, held, clock = said(30), asyncio.Event(), Hands()
    async with a_desk(ScriptedSummarizer(always=Held(held)), clock=clock) as desk:
        await desk.post(messages)
        await until(lambda: desk.model.open > 0)
        nodes, _ = await later(desk.store, messages)
        asked = desk.model.open * 4
        for _ in range(3):
            clock.seconds += summary_calls.HOLD - 1
            claimed = Counting.claim
            prolonged = asyncio.Event()

            async def seen(self, *given, claimed=claimed, prolonged=prolonged):
                found = await claimed(self, *given)
                prolonged.set()
                return found

            monkeypatch.setattr(Counting, "claim", seen)
            await asyncio.wait_for(prolonged.wait(), PATIENCE)
            await asyncio.sleep(0.02)  # the claims of all calls
            monkeypatch.setattr(Counting, "claim", claimed)
            free = await desk.store.claim("t", list(nodes), "other", clock.seconds, clock.seconds)
            assert len(free) <= len(nodes) - asked
        held.set()
        await desk.settle()
        assert twice(desk.model) == []


async def test_a_store_that_fails_at_the_commit_costs_no_second_call(monkeypatch):
    store = Counting()
    store.refused = [StoreUnavailable("locked")]
    monkeypatch.setattr(summary_calls, "PUT_AGAIN", (0.001, 0.0))
    async with a_desk(store=store) as desk:
        messages = said(40)
        await desk.post(messages)
        await desk.settle()
        assert store.refused == []
        assert twice(desk.model) == []
        await all_done(desk, messages)


# ---------------------------------------------------------------- reads and bounds


async def test_a_turn_of_a_settled_history_asks_the_store_nothing_of_it():
    messages, store = said(60), Counting()
    async with a_desk(store=store) as desk:
        await desk.post(messages)
        await desk.settle()
        store.reads.clear()
        for _ in range(5):
            assert (await desk.post(messages)).pending_tokens == 0
            await desk.submitted()
        assert not store.reads


async def test_jobs_are_bounded_and_what_goes_is_owed():
    held = asyncio.Event()
    async with a_desk(ScriptedSummarizer(always=Held(held)), summary_parallel=1) as desk:
        desk.three.queue.jobs.max_jobs = 2
        for number in range(4):
            await desk.post(said(26, seed=1_000 * number), f"t{number}")
            await desk.submitted()
        assert desk.three.queue.dropped == 2
        assert [(await desk.memory.pending(f"t{n}")).jobs for n in range(4)] == [0, 0, 1, 1]
        assert (await desk.memory.summary_status("t0")).pending_nodes > 0
        held.set()
        await desk.settle()


async def test_what_another_process_has_done_is_not_handed_on():
    messages, store = said(40), Counting()
    model = ScriptedSummarizer(always=Held(asyncio.Event()))
    async with a_desk(model, store, Hands()) as one, a_desk(store=store) as two:
        one.three.queue.scheduler.pause(math.inf)  # it begins no call
        await one.post(messages)
        await one.submitted()
        one.three.queue.jobs.clear()
        await two.post(messages)
        await two.settle()
        await one.post(messages)
        await one.submitted()
        assert (await one.memory.pending("t")) == Pending(0, 0)
        assert (await one.post(messages)).pending_tokens == 0
