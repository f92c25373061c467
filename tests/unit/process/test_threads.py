"""Work in a thread: a cancelled caller waits for its end."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from memtree.process.threads import in_thread

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
