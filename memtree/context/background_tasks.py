"""Background work that continues after its request was answered: one task per conversation."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from memtree.process import tracing


class BackgroundTasks:
    """`step`: the name of the work in traces. `later`: seconds to wait first, so that running
    requests go ahead."""

    def __init__(self, step: str, later: float = 0.0) -> None:
        self._step, self._later = step, later
        self._tasks: dict[tuple[str, bytes], asyncio.Task[Any]] = {}

    def start(
        self, conversation: tuple[str, bytes], work: Callable[[], Coroutine[Any, Any, Any]]
    ) -> None:
        """Start the work, unless this conversation has a task already."""
        if conversation in self._tasks:
            return
        task = asyncio.create_task(self._traced(work))
        self._tasks[conversation] = task
        task.add_done_callback(lambda _: self._tasks.pop(conversation, None))

    async def close(self, seconds: float) -> None:
        """Wait `seconds` for all tasks, then cancel the rest."""
        if not self._tasks:
            return
        _, unfinished = await asyncio.wait(self._tasks.values(), timeout=seconds)
        for task in unfinished:
            task.cancel()
        await asyncio.gather(*unfinished, return_exceptions=True)

    async def _traced(self, work: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
        # The coroutine is created here, not by the caller: a task that is cancelled before its
        # first step then leaves no coroutine that was never awaited.
        with tracing.behind(self._step, tracing.current()):
            if self._later:
                await asyncio.sleep(self._later)
            return await work()
