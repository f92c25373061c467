"""Bounds, breakers and threads of a process."""

from __future__ import annotations

import asyncio
import json
import secrets
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import fields
from threading import Thread
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.config import Settings
from memtree.context.read_histories import MessageCache
from memtree.context.warm_conversations import EMPTY_TREE, Conversations, PassedHistories
from memtree.history import chat_history
from memtree.history.message import Message, Volatile
from memtree.jobs.embedding import VectorCache
from memtree.jobs.posted_messages import KnownMessage, ReadMessages
from memtree.memories.scope import Scope
from memtree.models.query_cache import QueryCache
from memtree.process.bounded import MEGABYTES, CacheLimits, SizedRows
from memtree.process.circuit_breaker import SHORT_WAIT, STORE_REST, CircuitBreaker
from memtree.process.threads import OWNER, FairThreads, in_thread
from memtree.ranking.corpus import Corpus
from memtree.ranking.vectors import pack
from tests.fakes import HashingEmbedder
from tests.made.real_sizes import real_size
from tests.properties.strategies import batch
from tests.wire.conversations import as_chat, conversation

# ------------------------------------------------------------------------------------------------
# Rows that are bounded in bytes: those used least lately go, and the sum stays right.


KEYS = st.integers(0, 9)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), KEYS, st.integers(0, 12)),
        st.tuples(st.just("get"), KEYS, st.just(0)),
        st.tuples(st.just("drop"), KEYS, st.just(0)),
        st.tuples(st.just("drop_where"), KEYS, st.just(0)),
        st.tuples(st.just("clear"), st.just(0), st.just(0)),
    )
)


def sized(most: int) -> SizedRows[int, str]:
    return SizedRows(most, lambda _, value: len(value))


@given(STEPS)
def test_they_are_a_list_with_the_latest_last(steps: list[tuple[str, int, int]]) -> None:
    rows = sized(20)
    expected: list[tuple[int, str]] = []
    for name, key, length in steps:
        value = dict(expected).get(key)
        if name == "put":
            expected = [row for row in expected if row[0] != key]
            expected += [(key, "x" * length)] * (length <= 20)
            rows.put(key, "x" * length)
        elif name == "get":
            assert rows.get(key) == value
            if value is not None:
                expected = [row for row in expected if row[0] != key] + [(key, value)]
        elif name == "drop":
            expected = [row for row in expected if row[0] != key]
            rows.drop(key)
        elif name == "drop_where":
            expected = [row for row in expected if row[0] > key]
            rows.drop_where(lambda at, _, key=key: at <= key)  # type: ignore[misc]
        else:
            expected = []
            rows.clear()
        while sum(len(text) for _, text in expected) > 20:
            expected.pop(0)
        assert list(rows) == [at for at, _ in expected]
        assert rows.nbytes == sum(len(text) for _, text in expected)
        assert len(rows) == len(expected)


def test_what_is_larger_than_everything_is_not_kept_and_drops_nothing_else() -> None:
    rows = sized(5)
    rows.put(1, "one")
    rows.put(2, "sixsix")
    assert list(rows) == [1]
    rows.put(1, "sixsix")
    assert not list(rows)
    assert rows.nbytes == 0


async def test_several_threads_leave_the_sum_right() -> None:
    rows = sized(200)

    def work(start: int) -> None:
        for number in range(2_000):
            rows.put((start * 7 + number) % 300, "x" * (number % 9))
            rows.get(number % 300)

    await asyncio.gather(*(asyncio.to_thread(work, start) for start in range(4)))
    assert rows.nbytes == sum(len(rows.get(key) or "") for key in list(rows))
    assert rows.nbytes <= 200


def test_a_row_may_be_used_while_others_are_dropped():
    rows = sized(200)
    for key in range(3):
        rows.put(key, "four")
    readers: list[Thread] = []

    def is_odd(key: int, value: str) -> bool:
        readers.append(Thread(target=rows.get, args=(0,)))
        readers[-1].start()
        readers[-1].join(0.05)  # the order has changed by now
        return key % 2 == 1

    rows.drop_where(is_odd)
    for reader in readers:
        reader.join()
    assert sorted(rows) == [0, 2]
    assert rows.nbytes == 8


# ------------------------------------------------------------------------------------------------
# The shares of one setting, and whether rows take about what their caches estimate.


ROWS = 2_000


def test_all_caches_together_take_what_the_setting_says() -> None:
    limits = CacheLimits.of(300)
    assert 0.9 * (300 << 20) < limits.total() <= 300 << 20
    assert min(getattr(limits, each.name) for each in fields(limits)) > 1 << 20
    assert Settings().cache_limits == CacheLimits.of(MEGABYTES)
    assert Settings(cache_mb=7).cache_limits == CacheLimits.of(7)


@pytest.mark.slow
def test_messages() -> None:
    cache = MessageCache(1)
    for seed in range(3):
        posted = [
            Message(json.dumps(each).encode()) for each in as_chat(conversation(seed, 150, 4))
        ]
        chat_history.read("t", posted, Volatile(), cache)
    assert 0.5 < cache.nbytes / real_size(cache) < 2


async def test_vectors() -> None:
    cache = VectorCache(HashingEmbedder())
    await cache.embed("t", [f"text {number}" for number in range(ROWS)])
    assert 0.5 < cache.nbytes / real_size(cache) < 2


@pytest.mark.parametrize("dimensions", [384, 1536])
def test_queries(dimensions: int) -> None:
    cache = QueryCache()
    for number in range(300):
        cache.put(f"text {number}", np.zeros(dimensions, np.float32))
    assert 0.5 < cache.nbytes / real_size(cache) < 2


def test_read_messages() -> None:
    cache: Any = ReadMessages(1)
    for _ in range(ROWS):
        cache.add(secrets.token_bytes(16), KnownMessage(by_user=True))
    assert cache.keys(Scope.of_user("t"))
    assert 0.5 < cache.nbytes / real_size(cache) < 2


@pytest.mark.slow
async def test_nodes_and_the_corpus_over_them() -> None:
    posted = [Message(json.dumps(each).encode()) for each in as_chat(conversation(1, 100, 30))]
    grown = batch(chat_history.read("t", posted, Volatile()))
    cache = Conversations()
    tree = cache.grown("t", EMPTY_TREE, grown.frontier, grown.nodes)
    assert 0.5 < cache.nbytes / real_size(cache) < 2
    leaves, places = tree.leaves_from(0)
    assert len(leaves) > 20
    corpus = Corpus(384).extended(leaves, places)
    own = real_size(corpus) - real_size(leaves)
    assert 0.5 < corpus.nbytes / own < 2
    rows = {leaf.id: pack(np.ones((len(leaf.passages), 384), np.float32), [1] * len(leaf.passages))
            for leaf in leaves}  # fmt: skip
    before = corpus.nbytes
    corpus = corpus.with_vectors(rows)
    vectors = 4 * 384 * len(corpus)
    assert vectors <= corpus.nbytes - before < 2.1 * vectors
    await cache.with_vectors(tree, await cache.corpus(tree, 384), rows)
    assert 0.5 < cache.nbytes / real_size(cache) < 2


@pytest.mark.slow
def test_histories_that_went_whole() -> None:
    passed = PassedHistories()
    for number in range(ROWS):
        posted = [Message(b'{"role": "user", "content": "%d"}' % number)]
        passed.add(chat_history.read("t", posted, Volatile()))
    assert 0.5 < passed.nbytes / real_size(passed) < 2


# ------------------------------------------------------------------------------------------------
# Times are monotonic seconds, as the callers give them.


LONG = 10 * SHORT_WAIT


def test_one_call_that_waited_in_vain_opens_the_circuit_of_a_store():
    circuit = CircuitBreaker.of_store()
    assert circuit.admits(100)
    circuit.waited(100, 100 + LONG, "it is locked")
    now = 100 + LONG
    assert (circuit.admits(now), circuit.due(now), circuit.reason) == (False, False, "it is locked")


def test_one_call_at_a_time_finds_out_whether_the_store_works_again():
    circuit = CircuitBreaker.of_store()
    circuit.waited(100, 103, "it is locked")
    later = 103 + STORE_REST
    assert circuit.due(later)
    assert not circuit.due(later + 0.1)
    circuit.waited(later, later + LONG, "it is locked")  # the probe failed, too
    assert not circuit.due(later + LONG)
    assert circuit.due(later + LONG + STORE_REST)
    circuit.worked(later + LONG + STORE_REST)
    assert circuit.admits(later + LONG + STORE_REST)


@pytest.mark.parametrize(("worked", "waited", "opens"), [
    (0, LONG, True),
    (0, SHORT_WAIT / 2, False),  # it held up nobody
    (101, LONG, False),  # others got through meanwhile: it met a lock of its own rows
    (99, LONG, True),
])  # fmt: skip
def test_what_opens_a_circuit(worked: float, waited: float, opens: bool):
    circuit = CircuitBreaker.of_store()
    circuit.worked(worked)
    circuit.waited(100, 100 + waited, "it is locked")
    assert circuit.admits(100 + waited) is not opens


# ------------------------------------------------------------------------------------------------
# Threads that no tenant has alone.


@pytest.fixture
def pool() -> Iterator[FairThreads]:
    with FairThreads(4) as threads:
        yield threads


def submitted(pool: FairThreads, owner: str, work: object) -> Future[object]:
    before = OWNER.set(owner)
    try:
        return pool.submit(work)  # type: ignore[arg-type]
    finally:
        OWNER.reset(before)


def test_a_flood_of_one_tenant_leaves_threads_to_others(pool: FairThreads):
    go = threading.Event()
    begun = threading.Semaphore(0)

    def slow() -> bool:
        begun.release()
        return go.wait(10)

    flood = [submitted(pool, "flood", slow) for _ in range(12)]
    assert submitted(pool, "other", lambda: 1).result(10) == 1
    assert submitted(pool, "", lambda: 2).result(10) == 2
    assert all(begun.acquire(timeout=10) for _ in range(2))
    assert not begun.acquire(blocking=False)  # half of the threads
    go.set()
    assert all(each.result(10) for each in flood)


def test_each_item_is_done_once_in_order_with_its_result_or_error(pool: FairThreads):
    with FairThreads(2, 1) as single:
        done: list[int] = []
        items = [submitted(single, "a", lambda at=at: done.append(at)) for at in range(200)]
        broken = submitted(single, "a", lambda: 1 // 0)
        assert isinstance(broken.exception(10), ZeroDivisionError)
        assert [each.result(10) for each in items] == [None] * 200
        assert done == list(range(200))


def test_what_was_submitted_before_the_end_is_done():
    """Without one frame for each item."""
    pool, go = FairThreads(2, 1), threading.Event()
    items = [submitted(pool, "a", lambda: go.wait(10)) for _ in range(2_000)]
    cancelled = submitted(pool, "a", lambda: 1)
    assert cancelled.cancel()
    pool.shutdown(wait=False)
    go.set()
    assert all(each.result(10) for each in items)
    with pytest.raises(RuntimeError):
        submitted(pool, "b", lambda: 1)


# ------------------------------------------------------------------------------------------------
# Work in a thread: a cancelled caller waits for its end.


PATIENCE = 60.0


async def test_the_result_and_the_error_of_the_work_arrive() -> None:
    assert await in_thread(divmod, 7, 2) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        await in_thread(divmod, 7, 0)


async def test_a_lock_is_held_until_the_thread_has_ended() -> None:
    lock, began, go = asyncio.Lock(), threading.Event(), threading.Event()
    steps: list[str] = []

    def work() -> None:
        began.set()
        go.wait(PATIENCE)
        steps.append("thread ended")

    async def locked() -> None:
        async with lock:
            await in_thread(work)

    task = asyncio.create_task(locked())
    await asyncio.to_thread(began.wait, PATIENCE)
    for _ in range(3):  # each is remembered, none lets the lock go
        task.cancel()
        await asyncio.sleep(0.01)
        assert lock.locked()
    go.set()
    async with lock:
        steps.append("lock taken")
    assert steps == ["thread ended", "lock taken"]
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_work_that_no_thread_has_begun_is_left_out() -> None:
    loop, busy, go = asyncio.get_running_loop(), threading.Event(), threading.Event()
    loop.set_default_executor(ThreadPoolExecutor(1))

    def occupy() -> None:
        busy.set()
        go.wait(PATIENCE)

    other = asyncio.create_task(in_thread(occupy))
    task = asyncio.create_task(in_thread(pytest.fail, "it was begun"))
    while not busy.is_set():  # noqa: ASYNC110  a thread tells nobody
        await asyncio.sleep(0.001)
    task.cancel()
    await asyncio.sleep(0.01)
    go.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    await other


async def test_a_time_limit_works_as_for_other_awaits() -> None:
    go = threading.Event()
    asyncio.get_running_loop().call_later(0.05, go.set)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await in_thread(go.wait, PATIENCE)
