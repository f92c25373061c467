"""Threads that no tenant has alone."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import Future

import pytest

from memtree.process.threads import OWNER, FairThreads


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
