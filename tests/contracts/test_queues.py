"""Check what every `IndexQueue` and `SummaryQueue` promises: one process, and workers behind
Redis."""

from __future__ import annotations

import pytest

from memtree.errors import EmbedderUnavailable
from memtree.ports.indexing_stages import Pending
from tests.contracts.queues import Chat, InProcess, OverRedis, said
from tests.made.embeddings import Status
from tests.made.summaries import ScriptedSummarizer
from tests.programs.redis_server import redis_server


@pytest.fixture(scope="module")
def shared_server():
    with redis_server() as server:
        yield server


@pytest.fixture
def server(shared_server):
    with shared_server.client() as client:
        client.flushall()
    return shared_server


@pytest.fixture(params=[InProcess, OverRedis])
async def bench(request, server):
    made = await request.param(server).open()
    yield made
    await made.close()


def submit(bench, chat, first=0, end=None, **more):
    work = chat.work[first:end]
    bench.queue.submit(chat.history, chat.start(work[0]), work, **more)


async def embedded(bench, chat):
    """Return which leaves of the chat have vectors."""
    found = await bench.store.vectors(chat.tenant, bench.embedder.recipe, chat.ids)
    return [at for at, id_ in enumerate(chat.ids) if id_ in found]


def times(bench, word):
    """How often passages were embedded that begin with this word."""
    texts = [text for text in bench.embedder.embedded if text.startswith(f"{word} ")]
    return len(texts), len(set(texts))


class TestIndexQueue:
    async def test_what_is_submitted_gets_vectors(self, bench):
        chat = await Chat("a", said("alder", 5)).plant(bench.store)
        submit(bench, chat)
        assert await bench.queue.pending("a") == Pending(sum(one.tokens for one in chat.work), 1)
        await bench.arrived()
        assert await bench.queue.pending("a") == Pending(sum(one.tokens for one in chat.work), 1)
        assert await bench.queue.pending("b") == Pending(0, 0)
        await bench.work()
        assert await embedded(bench, chat) == list(range(len(chat.work)))
        assert await bench.queue.pending("a") == Pending(0, 0)

    async def test_nothing_is_no_job(self, bench):
        chat = Chat("a", said("alder", 5))
        bench.queue.submit(chat.history, chat.history.addresses[1], [])
        assert await bench.queue.pending("a") == Pending(0, 0)

    @pytest.mark.parametrize("seen", [False, True])
    async def test_the_newest_payload_of_a_history_wins(self, bench, seen):
        chat = await Chat("a", said("alder", 6)).plant(bench.store)
        submit(bench, chat)
        if seen:
            await bench.arrived()
        submit(bench, chat, 1, 3)
        assert (await bench.queue.pending("a")).jobs >= 1
        await bench.arrived()
        assert await bench.queue.pending("a") == Pending(
            sum(one.tokens for one in chat.work[1:3]), 1
        )
        await bench.work()
        assert await embedded(bench, chat) == [1, 2]

    @pytest.mark.parametrize("seen", [False, True])
    async def test_a_job_that_holds_all_of_another_takes_its_place(self, bench, seen):
        messages = said("alder", 6)
        old = await Chat("a", messages[:4]).plant(bench.store)
        new = await Chat("a", said("birch", 1) + messages[:6]).plant(bench.store)
        common = [one for one in old.work if one.id in new.ids]
        assert common, "the trees share no leaf"
        bench.queue.submit(old.history, old.start(common[0]), common)
        if seen:
            await bench.arrived()
        submit(bench, new)
        await bench.arrived()
        assert (await bench.queue.pending("a")).jobs == 1
        await bench.work()
        assert await embedded(bench, new) == list(range(len(new.work)))

    async def test_other_conversations_and_tenants_are_jobs_of_their_own(self, bench):
        chats = [
            await Chat(tenant, said(word, 5)).plant(bench.store)
            for tenant, word in (("a", "alder"), ("a", "birch"), ("b", "alder"))
        ]
        for chat in chats:
            submit(bench, chat)
        await bench.arrived()
        assert [(await bench.queue.pending(tenant)).jobs for tenant in "ab"] == [2, 1]
        await bench.work()
        for chat in chats:
            assert await embedded(bench, chat) == list(range(len(chat.work)))

    async def test_what_the_store_has_is_not_embedded_again(self, bench):
        chat = await Chat("a", said("alder", 5)).plant(bench.store)
        submit(bench, chat, 0, 2)
        await bench.work()
        count = len(bench.embedder.embedded)
        submit(bench, chat, 0, 2)
        await bench.work()
        assert len(bench.embedder.embedded) == count > 0

    @pytest.mark.parametrize("seen", [False, True])
    async def test_a_tenant_or_a_history_is_forgotten(self, bench, seen):
        chats = {
            word: await Chat("a", said(word, 5)).plant(bench.store) for word in ("alder", "birch")
        }
        other = await Chat("b", said("cedar", 5)).plant(bench.store)
        for chat in (*chats.values(), other):
            submit(bench, chat)
        if seen:
            await bench.arrived()
        end = chats["alder"].history.addresses[-1]
        assert await bench.queue.forget("a", {end, b"other"}) == 1
        assert (await bench.queue.pending("a")).jobs == 1
        assert await bench.queue.forget("a", None) == 1
        assert await bench.queue.forget("a", None) == 0
        assert await bench.queue.pending("a") == Pending(0, 0)
        await bench.work()
        assert await embedded(bench, chats["alder"]) == await embedded(bench, chats["birch"]) == []
        assert await embedded(bench, other) == list(range(len(other.work)))

    @pytest.mark.parametrize("seen", [False, True])
    async def test_what_somebody_talks_in_comes_before_a_backfill(self, bench, seen):
        chats = {
            word: await Chat("a", said(word, 3)).plant(bench.store) for word in ("alder", "birch")
        }
        submit(bench, chats["alder"], backfill=True)
        if seen:
            await bench.arrived()
        submit(bench, chats["birch"])
        await bench.work()
        first = [text.split(" ")[0] for text in bench.embedder.embedded]
        assert first.index("birch") < first.index("alder")

    async def test_a_backfill_that_somebody_talks_in_is_none_any_more(self, bench):
        chats = {
            word: await Chat("a", said(word, 3)).plant(bench.store) for word in ("alder", "birch")
        }
        submit(bench, chats["alder"], backfill=True)
        submit(bench, chats["birch"], backfill=True)
        await bench.arrived()
        submit(bench, chats["birch"])
        await bench.work()
        first = [text.split(" ")[0] for text in bench.embedder.embedded]
        assert first.index("birch") < first.index("alder")
        assert times(bench, "birch")[0] == times(bench, "birch")[1] > 0

    async def test_a_job_that_fails_holds_up_no_other(self, bench):
        bad = await Chat("a", said("alder", 3)).plant(bench.store)
        good = await Chat("b", said("birch", 3)).plant(bench.store)
        down = [EmbedderUnavailable("away")]
        bench.embedder.refuse = lambda text: down.pop() if "alder" in text and down else None
        submit(bench, bad)
        submit(bench, good)
        await bench.work()
        assert await embedded(bench, good) == list(range(len(good.work)))
        await bench.work()  # its second attempt
        assert await embedded(bench, bad) == list(range(len(bad.work)))

    async def test_leaves_that_are_gone_are_no_trouble(self, bench):
        chat = await Chat("a", said("alder", 5)).plant(bench.store)
        submit(bench, chat)
        await bench.store.forget("a", None)
        await bench.work()
        assert await embedded(bench, chat) == []
        assert await bench.queue.pending("a") == Pending(0, 0)


@pytest.fixture(params=[InProcess, OverRedis])
async def desk(request, server):
    made = []

    async def open_(*steps, **settings):
        model = ScriptedSummarizer(*steps)
        one = await request.param(server, model, **settings).open()
        one.model = model
        made.append(one)
        return one

    yield open_
    for one in made:
        await one.close()


def summarise(desk, chat, **more):
    start = chat.start(chat.parts[0])
    desk.summaries.submit(chat.history, start, chat.parts, chat.nodes, **more)


async def written(desk, chat):
    """How many nodes of the chat have a model's summary."""
    found = await desk.store.newest_summaries(chat.tenant, chat.part_ids)
    return sum(one.by_model for one in found.values())


class TestSummaryQueue:
    async def test_what_is_submitted_is_summarised_once(self, desk):
        one = await desk()
        chat = await Chat("a", said("alder", 14)).plant(one.store)
        assert any(work.node.children for work in chat.parts)
        summarise(one, chat)
        await one.arrived()
        tokens = sum(work.tokens for work in chat.parts)
        assert await one.summaries.pending("a") == Pending(tokens, 1)
        assert (await one.summaries.status("a")).pending_nodes == len(chat.parts)
        await one.work()
        assert await written(one, chat) == len(chat.parts)
        assert sum(len(asked.parts) for asked in one.model.asked) == len(chat.parts)
        assert await one.summaries.pending("a") == Pending(0, 0)
        status = await one.summaries.status("a")
        assert (status.pending_nodes, status.calls) == (0, len(one.model.asked))
        assert status.input_tokens == sum(asked.tokens for asked in one.model.asked)

    async def test_nothing_is_no_job(self, desk):
        one = await desk()
        chat = Chat("a", said("alder", 3))
        one.summaries.submit(chat.history, chat.history.addresses[1], [], {})
        assert await one.summaries.pending("a") == Pending(0, 0)

    async def test_the_newest_payload_wins(self, desk):
        one = await desk()
        chat = await Chat("a", said("alder", 8)).plant(one.store)
        summarise(one, chat)
        await one.arrived()
        start = chat.start(chat.parts[0])
        last = [work for work in chat.parts if not work.node.children][-2:]
        one.summaries.submit(chat.history, start, last, chat.nodes)
        await one.work()
        assert await written(one, chat) == 2

    async def test_it_is_forgotten(self, desk):
        one = await desk()
        chat = await Chat("a", said("alder", 5)).plant(one.store)
        summarise(one, chat)
        await one.arrived()
        assert await one.summaries.forget("a", {b"other"}) == 0
        assert await one.summaries.forget("a", {chat.history.addresses[-1]}) == 1
        await one.work()
        assert one.model.asked == []
        assert (await one.summaries.status("a")).pending_nodes == 0

    async def test_a_days_limit_is_told_and_ends_the_asking(self, desk):
        one = await desk(summary_tokens_per_day=200)
        chat = await Chat("a", said("alder", 5)).plant(one.store)
        summarise(one, chat)
        await one.work()
        status = await one.summaries.status("a")
        assert one.model.asked == []
        assert (status.state, status.pending_nodes) == ("limit_reached", len(chat.parts))
        assert (await one.summaries.pending("a")).jobs == 0
        assert (await one.summaries.status("b")).state != "limit_reached"

    @pytest.mark.slow
    @pytest.mark.parametrize("wrong", [Status(500), Status(429, headers={"retry-after": "1"})])
    async def test_a_model_that_fails_is_asked_again(self, desk, wrong, monkeypatch):
        # However slow the machine is, the second attempt comes before the end of the slice.
        monkeypatch.setattr("memtree_indexer.worker_threads.SUMMARY_SLICE", 600.0)
        one = await desk(wrong)
        chat = await Chat("a", said("alder", 5)).plant(one.store)
        summarise(one, chat)
        await one.work()
        assert await written(one, chat) == len(chat.parts)
        assert len(one.model.asked) > 1
