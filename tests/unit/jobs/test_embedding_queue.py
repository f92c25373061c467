"""The embedded queue: newest payload wins, bounded, fair, and nothing stops it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import chain

import pytest

from memtree.errors import EmbedderUnavailable, StoreUnavailable
from memtree.history.message import Message
from memtree.jobs import job_queue
from memtree.jobs.embedding import InProcessQueue, NoQueue, segment_texts
from memtree.ports.indexing_stages import Pending
from memtree.stores import RamStore
from memtree.tree.node import LeafWork
from tests.fakes import HashingEmbedder
from tests.made.trees import places
from tests.properties.strategies import batch, history_of, leaves_of, prose


class SetClock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.seconds = 1_000.0

    def now(self) -> float:
        return self.seconds

    def monotonic(self) -> float:
        return self.seconds


class Workbench(HashingEmbedder):
    """An embedder whose batches can be held, refused and counted."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = asyncio.Event()
        self.gate.set()
        self.batches: list[list[str]] = []
        self.refuse: Callable[[str], Exception | None] = lambda text: None

    async def embed(self, texts):
        self.batches.append([text for text in texts if text])
        await self.gate.wait()
        if error := self.refuse(" ".join(texts)):
            raise error
        return await super().embed(texts)


class Chat:
    """A tenant's history, each leaf of which is one message, and what a post of it submits."""

    def __init__(self, tenant: str, leaves: int = 4, seed: int = 0) -> None:
        posted = [
            Message.of(
                {
                    "role": ("user", "assistant")[n % 2],
                    "content": f"{tenant} {prose(seed + n, 380)}",
                }
            )
            for n in range(leaves + 2)
        ]
        self.tenant, self.history = tenant, history_of(posted, tenant)
        grown = batch(self.history)
        found = leaves_of(grown.frontier, {node.id: node for node in grown.nodes})[:leaves]
        spots = places(found)
        self.work = [LeafWork(leaf, spot.first) for leaf, spot in zip(found, spots, strict=True)]

    @property
    def ids(self) -> list[bytes]:
        return [one.leaf.id for one in self.work]

    def submit(
        self,
        queue: InProcessQueue,
        first: int = 0,
        end: int | None = None,
        *,
        backfill: bool = False,
    ) -> None:
        work = self.work[first:end]
        start = self.history.addresses[work[0].first + 1]
        queue.submit(self.history, start, work, backfill=backfill)


class Vectors(RamStore):
    """Keeps vectors of leaves that nobody has committed: only these matter here."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[tuple[str, str, bytes], bytes] = {}

    async def put_vectors(self, tenant, recipe, rows):
        self.rows |= {(tenant, recipe, leaf): data for leaf, data in rows.items()}

    async def vectors(self, tenant, recipe, ids):
        return {
            id_: self.rows[tenant, recipe, id_] for id_ in ids if (tenant, recipe, id_) in self.rows
        }


class Bench:
    def __init__(self, **options) -> None:
        self.store, self.embedder, self.clock = Vectors(), Workbench(), SetClock()
        options = {"batch_tokens": 1} | options  # a leaf a batch, unless a test says else
        self.queue = InProcessQueue(self.store, self.embedder, self.clock, **options)

    async def done(self, chat: Chat) -> list[int]:
        """Return which leaves of the chat have vectors."""
        found = await self.store.vectors(chat.tenant, self.embedder.recipe, chat.ids)
        return [index for index, id_ in enumerate(chat.ids) if id_ in found]

    async def join(self) -> None:
        await asyncio.wait_for(self.queue.join(), 300)

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(300):
            while not condition():  # noqa: ASYNC110  what is waited for has no event
                await asyncio.sleep(0.002)


@pytest.fixture
async def bench():
    made = Bench()
    yield made
    made.embedder.gate.set()
    await made.queue.close(0)


async def test_what_is_submitted_gets_vectors(bench):
    chat = Chat("a")
    bench.queue.start()
    chat.submit(bench.queue)
    assert bench.queue.jobs.pending("a") == Pending(sum(one.leaf.tokens for one in chat.work), 1)
    assert bench.queue.jobs.pending("b") == Pending(0, 0)
    await bench.join()
    assert await bench.done(chat) == [0, 1, 2, 3]
    assert bench.queue.jobs.pending("a") == Pending(0, 0)
    texts = [segment_texts(chat.history, [one]) for one in chat.work]
    assert bench.embedder.batches == [[*chain(*one)] for one in texts]


async def test_the_newest_payload_wins_and_abandoned_work_is_dropped(bench):
    chat = Chat("a")
    chat.submit(bench.queue)
    chat.submit(bench.queue, 0, 2)
    assert bench.queue.jobs.pending("a").jobs == 1
    bench.queue.start()
    await bench.join()
    assert await bench.done(chat) == [0, 1]


async def test_a_growing_chat_keeps_one_job(bench):
    chat = Chat("a")
    for end in range(1, 5):
        chat.submit(bench.queue, 0, end)
    assert bench.queue.jobs.pending("a").jobs == 1
    bench.queue.start()
    await bench.join()
    assert await bench.done(chat) == [0, 1, 2, 3]
    assert len(bench.embedder.batches) == 4


async def test_a_payload_that_holds_all_of_an_older_one_replaces_it(bench):
    chat = Chat("a")
    chat.submit(bench.queue, 2)
    chat.submit(bench.queue)
    assert bench.queue.jobs.pending("a").jobs == 1


async def test_what_is_being_embedded_is_not_embedded_again(bench):
    chat = Chat("a")
    bench.embedder.gate.clear()
    bench.queue.start()
    chat.submit(bench.queue)
    await bench.until(lambda: bool(bench.embedder.batches))
    chat.submit(bench.queue)
    assert bench.queue.jobs.pending("a").jobs == 1
    bench.embedder.gate.set()
    await bench.join()
    assert await bench.done(chat) == [0, 1, 2, 3]
    assert len(bench.embedder.batches) == 4


async def test_an_empty_submission_is_nothing(bench):
    chat = Chat("a")
    bench.queue.submit(chat.history, chat.history.addresses[0], [])
    bench.queue.start()
    await bench.join()
    assert bench.queue.jobs.pending("a") == Pending(0, 0)


async def test_jobs_are_bounded_and_the_oldest_goes():
    bench = Bench(max_jobs=2)
    chats = [Chat(name, 1) for name in "abc"]
    for chat in chats:
        chat.submit(bench.queue)
    assert bench.queue.dropped == 1
    bench.queue.start()
    await bench.join()
    assert [await bench.done(chat) for chat in chats] == [[], [0], [0]]
    await bench.queue.close()


async def test_a_tenant_has_three_quarters_of_the_queue_so_others_find_room():
    bench = Bench(max_jobs=4)
    chats = [Chat("a", 1, seed) for seed in range(4)]
    for chat in chats:
        chat.submit(bench.queue)
    assert (bench.queue.dropped, bench.queue.jobs.pending("a").jobs) == (1, 3)
    Chat("b", 1).submit(bench.queue)
    assert bench.queue.dropped == 1
    assert [bench.queue.jobs.pending(name).jobs for name in "ab"] == [3, 1]
    await bench.queue.close()


async def test_bytes_are_bounded_but_one_job_may_be_larger():
    one, other = Chat("a", 2), Chat("b", 1)
    bench = Bench(max_bytes=10)
    one.submit(bench.queue)
    assert bench.queue.dropped == 0
    other.submit(bench.queue)
    assert bench.queue.dropped == 1
    assert [bench.queue.jobs.pending(name).jobs for name in "ab"] == [0, 1]
    await bench.queue.close()


@pytest.mark.slow
async def test_tenants_take_turns(bench):
    chats = [Chat(name, 3) for name in ("ada", "bob", "cyd")]
    for chat in chats:
        chat.submit(bench.queue)
    bench.queue.start()
    await bench.join()
    assert [texts[0].split()[0] for texts in bench.embedder.batches] == ["ada", "bob", "cyd"] * 3


async def test_what_somebody_talks_in_comes_before_a_backfill(bench):
    old, new = Chat("old", 3), Chat("new", 2)
    old.submit(bench.queue, backfill=True)
    new.submit(bench.queue)
    bench.queue.start()
    await bench.join()
    assert [texts[0].split()[0] for texts in bench.embedder.batches] == ["new"] * 2 + ["old"] * 3


async def test_a_backfill_that_somebody_talks_in_is_none_any_more(bench):
    chat, other = Chat("a", 2), Chat("b", 1)
    chat.submit(bench.queue, backfill=True)
    chat.submit(bench.queue)
    other.submit(bench.queue, backfill=True)
    bench.queue.start()
    await bench.join()
    assert [texts[0].split()[0] for texts in bench.embedder.batches] == ["a", "a", "b"]


async def test_batches_hold_as_much_as_they_may():
    bench = Bench(batch_tokens=100_000)
    chat = Chat("a")
    chat.submit(bench.queue)
    bench.queue.start()
    await bench.join()
    assert len(bench.embedder.batches) == 1
    await bench.queue.close()


async def test_a_defect_costs_its_job_and_nothing_else(bench, caplog):
    bad, good = Chat("bad"), Chat("good")
    bench.embedder.refuse = lambda text: ValueError("defect") if text.startswith("bad") else None
    bench.queue.start()
    bad.submit(bench.queue)
    good.submit(bench.queue)
    await bench.join()
    assert await bench.done(bad) == []
    assert await bench.done(good) == [0, 1, 2, 3]
    assert [record.exc_info[0] for record in caplog.records if record.exc_info] == [ValueError]
    bench.embedder.refuse = lambda text: None
    bad.submit(bench.queue)
    await bench.join()
    assert await bench.done(bad) == [0, 1, 2, 3]


async def poke(bench, number):
    """Wake the worker, and wait until it has looked at all jobs: another tenant's is done."""
    other = Chat(f"poke{number}", 1)
    other.submit(bench.queue)
    await bench.until(lambda: bench.queue.jobs.pending(other.tenant).jobs == 0)


@pytest.mark.slow
@pytest.mark.parametrize("error", [EmbedderUnavailable("down"), StoreUnavailable("locked")])
async def test_what_is_unavailable_is_tried_again_ever_more_patiently(bench, error):
    chat, tries = Chat("a", 1), []

    def refuse(text):
        if text.startswith("a "):
            tries.append(bench.clock.seconds)
            return error
        return None

    bench.embedder.refuse = refuse
    bench.queue.start()
    chat.submit(bench.queue)
    await bench.until(lambda: len(tries) == 1)
    for number, wait in enumerate((1, 2, 4, 8, 16)):
        bench.clock.seconds += wait - 0.25
        await poke(bench, f"{number}a")
        assert len(tries) == number + 1, "tried too early"
        bench.clock.seconds += 0.25
        await poke(bench, f"{number}b")
        await bench.until(lambda seen=number: len(tries) == seen + 2)
    await bench.until(lambda: bench.queue.jobs.pending("a").jobs == 0)
    assert len(tries) == job_queue.MAX_TRIES
    assert bench.queue.dropped == 1


async def test_what_comes_back_is_finished(bench):
    chat, down = Chat("a", 2), [EmbedderUnavailable("down")]
    bench.embedder.refuse = lambda text: down.pop() if down and text.startswith("a ") else None
    bench.queue.start()
    chat.submit(bench.queue)
    await bench.until(lambda: not down)
    bench.clock.seconds += 1
    await poke(bench, 1)
    await bench.join()
    assert await bench.done(chat) == [0, 1]


async def test_posting_again_does_not_shorten_the_wait(bench):
    chat, down = Chat("a", 1), [EmbedderUnavailable("down")]
    bench.embedder.refuse = lambda text: down.pop() if down and text.startswith("a ") else None
    bench.queue.start()
    chat.submit(bench.queue)
    await bench.until(lambda: not down)
    await poke(bench, 0)
    chat.submit(bench.queue)
    await poke(bench, 1)
    assert await bench.done(chat) == []


async def failing_while_posted_again(bench, error):
    """The batch in flight fails after the same history was posted again."""
    chat, errors = Chat("a", 3), [error]
    bench.embedder.refuse = lambda text: errors.pop() if errors and text.startswith("a ") else None
    bench.embedder.gate.clear()
    bench.queue.start()
    chat.submit(bench.queue)
    await bench.until(lambda: bool(bench.embedder.batches))
    chat.submit(bench.queue)
    bench.embedder.gate.set()
    await bench.until(lambda: not errors)
    for number in range(3):
        bench.clock.seconds += 60
        await poke(bench, number)
    await bench.join()
    return await bench.done(chat)


async def test_a_batch_that_failed_is_in_the_newer_payload(bench):
    assert await failing_while_posted_again(bench, EmbedderUnavailable("down")) == [0, 1, 2]


@pytest.mark.slow
async def test_a_defect_does_not_cost_the_newer_payload(bench):
    assert set(await failing_while_posted_again(bench, ValueError("defect"))) >= {1, 2}


async def test_a_revert_drops_abandoned_work_when_some_is_done(bench):
    chat = Chat("a", 4)
    bench.embedder.gate.clear()
    bench.queue.start()
    chat.submit(bench.queue)
    await bench.until(lambda: bool(bench.embedder.batches))
    chat.submit(bench.queue, 1, 2)  # what a post says after a revert, once leaf 0 is done
    bench.embedder.gate.set()
    await bench.join()
    assert await bench.done(chat) == [0, 1]


async def test_closing_finishes_the_work(bench):
    chat = Chat("a")
    bench.queue.start()
    chat.submit(bench.queue)
    await bench.queue.close(60)
    assert await bench.done(chat) == [0, 1, 2, 3]


async def test_closing_has_an_end(bench):
    chat = Chat("a")
    bench.embedder.gate.clear()
    bench.queue.start()
    chat.submit(bench.queue)
    await bench.until(lambda: bool(bench.embedder.batches))
    await asyncio.wait_for(bench.queue.close(0.01), 300)
    assert await bench.done(chat) == []
    await bench.queue.close()


async def test_a_queue_that_never_ran_can_be_closed():
    await Bench().queue.close()


async def test_without_an_embedder_nothing_is_pending():
    queue, chat = NoQueue(), Chat("a", 1)
    queue.submit(chat.history, chat.history.addresses[0], chat.work)
    assert await queue.pending("a") == Pending(0, 0)


@pytest.mark.slow
async def test_jobs_of_forgotten_histories_are_dropped(bench):
    chats = [Chat("a"), Chat("a", seed=50), Chat("b")]
    for chat in chats:
        chat.submit(bench.queue)
    assert await bench.queue.forget("a", {chats[0].history.addresses[-1]}) == 1
    assert await bench.queue.forget("a", {chats[0].history.addresses[-2]}) == 0
    assert (bench.queue.jobs.pending("a").jobs, bench.queue.jobs.pending("b").jobs) == (1, 1)
    assert await bench.queue.forget("a", None) == 1
    bench.queue.start()
    await bench.join()
    assert [await bench.done(chat) for chat in chats] == [[], [], [0, 1, 2, 3]]


async def test_a_batch_under_way_ends_when_its_job_is_forgotten(bench):
    chat = Chat("a")
    bench.embedder.gate.clear()
    bench.queue.start()
    chat.submit(bench.queue)
    await bench.until(lambda: bool(bench.embedder.batches))
    assert await bench.queue.forget("a", None) == 1
    bench.embedder.gate.set()
    await bench.join()
    assert len(bench.embedder.batches) == 1
