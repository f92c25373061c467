"""Where stage 1 runs: small tails at once, larger ones in a thread, very large ones in a child.

Stage 1 is pure Python and holds the GIL: at a million tokens for two seconds, in which every other
request of the process would wait. A child process keeps them quick, and uses all cores for a long
tail. It ends when there was nothing to do for a minute.
"""

from __future__ import annotations

import asyncio
import logging
import os
from concurrent.futures import ThreadPoolExecutor

from indexer.child import Child
from memtree import build
from memtree.build import Grown, Tail
from memtree.errors import Unavailable

log = logging.getLogger("memtree.indexer")

INLINE_TOKENS = 3_000
THREAD_TOKENS = 60_000
STRETCH_TOKENS = 50_000  # a tenth of a second; one more process costs a third of that
MAX_PARTS = 4
CHILDREN = 2  # so that a long tail does not hold up all others; 80 MB each
IDLE_SECONDS = 60.0
_CLOSED = "the process is shutting down"


class StageOne:
    """A `Builder`. Runs for the same stretch of the same history are joined."""

    def __init__(self, *, child: bool = True, parts: int | None = None) -> None:
        """`child`: use child processes for large tails (else a thread); `parts`: how many
        processes share one tail, by default one a core and at most four."""
        self._child = child
        self._parts = parts or min(os.cpu_count() or 1, MAX_PARTS)
        self._children = Children(CHILDREN)
        self._under_way: dict[tuple[bytes, int, int], asyncio.Task[Grown]] = {}

    async def grow(self, tail: Tail, size: int) -> Grown:
        """Raises `Unavailable` where stage 1 failed."""
        if size <= INLINE_TOKENS:
            return build.grow(tail)
        key = (tail.addresses[-1], tail.frontier.messages, tail.frontier.tail)
        task = self._under_way.get(key)
        if task is None:
            task = asyncio.create_task(self._run(tail, size))
            self._under_way[key] = task
            task.add_done_callback(lambda _: self._under_way.pop(key, None))
        return await asyncio.shield(task)

    async def close(self) -> None:
        await self._children.close()

    async def _run(self, tail: Tail, size: int) -> Grown:
        if size > THREAD_TOKENS and self._child:
            try:
                parts = min(self._parts, size // STRETCH_TOKENS)
                return await self._children.grow(tail, parts)
            except (EOFError, OSError) as error:
                log.warning("build.child_failed error=%s", type(error).__name__)
        return await asyncio.to_thread(build.grow, tail)


class Children:
    """Child processes: started when they are needed, ended when they are not."""

    def __init__(self, limit: int, idle_seconds: float = IDLE_SECONDS) -> None:
        self._limit = limit
        self._idle_seconds = idle_seconds
        self._threads = ThreadPoolExecutor(limit, "memtree-build")  # one for each child
        self._idle: list[Child] = []
        self._busy: set[Child] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False

    async def grow(self, tail: Tail, parts: int) -> Grown:
        """Raises `OSError` or `EOFError` where a child died, `Unavailable` after `close`."""
        if self._closed:
            raise Unavailable(_CLOSED)
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._threads, self._call, tail, parts)
        except (EOFError, OSError) as error:
            if self._closed:
                raise Unavailable(_CLOSED) from error
            raise
        finally:
            self._wait_for_idle()

    async def close(self) -> None:
        """End them all, whatever they do."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        for child in tuple(self._busy):
            child.kill()
        await asyncio.to_thread(self._threads.shutdown)
        await asyncio.to_thread(_end, self._idle)

    def _wait_for_idle(self) -> None:
        """Begin to wait anew."""
        if self._timer is not None:
            self._timer.cancel()
        if not self._closed:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self._idle_seconds, self._end_idle)

    def _end_idle(self) -> None:
        idle, self._idle = self._idle, []
        self._threads.submit(_end, idle)

    # What follows runs in the threads. Steps on a list or a set are whole, so no lock is needed.

    def _call(self, tail: Tail, parts: int) -> Grown:
        child = self._take()
        self._busy.add(child)
        try:
            grown = child.grow(tail, parts)
        except BaseException:
            child.close()
            raise
        finally:
            self._busy.discard(child)
        self._idle.append(child)
        return grown

    def _take(self) -> Child:
        while True:
            try:
                child = self._idle.pop()
            except IndexError:
                return Child()
            if child.alive:
                return child
            child.close()


def _end(children: list[Child]) -> None:
    for child in children:
        child.close()
