"""Work behind an answer: of one conversation once at a time, and an end that waits only so long."""

from __future__ import annotations

import asyncio

from memtree.context.indexing.background_tasks import BackgroundTasks

NAME, OTHER = ("t", b"1"), ("t", b"2")


class Work:
    """Counts how often it was begun and ended; goes on until `go` is set."""

    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.begun = self.ended = 0

    async def __call__(self) -> None:
        self.begun += 1
        await self.go.wait()
        self.ended += 1


async def test_a_conversation_has_one_task_at_a_time() -> None:
    tasks, work = BackgroundTasks("prepare"), Work()
    for name in (NAME, NAME, OTHER):
        tasks.start(name, work)
    await asyncio.sleep(0)
    assert work.begun == 2
    work.go.set()
    await tasks.close(9)
    tasks.start(NAME, work)
    await tasks.close(9)
    assert (work.begun, work.ended) == (3, 3)


async def test_what_takes_too_long_is_cancelled() -> None:
    tasks, work = BackgroundTasks("prepare"), Work()
    tasks.start(NAME, work)
    await tasks.close(0)
    assert (work.begun, work.ended) == (1, 0)


async def test_what_has_not_begun_leaves_nothing_behind() -> None:
    """A coroutine that nobody awaits would be a warning, and warnings are errors here."""
    tasks, work = BackgroundTasks("prepare"), Work()
    tasks.start(NAME, work)
    for task in asyncio.all_tasks() - {asyncio.current_task()}:
        task.cancel()
    await tasks.close(9)
    assert work.begun == 0
