"""Where stage 1 runs: small tails at once, larger ones in a thread, very large ones in a child.

Stage 1 is pure Python and holds the GIL: at a million tokens for two seconds, in which every other
request of the process would wait. A spawned child keeps them quick; its start costs 0.3 s once.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import signal
import threading
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from typing import Protocol

from memtree import build
from memtree.build import Grown, Tail
from memtree.errors import Unavailable

log = logging.getLogger("memtree.indexer")

INLINE_TOKENS = 3_000
THREAD_TOKENS = 60_000


class StageOne:
    """A `Builder`. Runs for the same stretch of the same history are joined."""

    def __init__(self, *, child: bool = True) -> None:
        """`child`: use a child process for large tails (else a thread)."""
        self._child = child
        self._pool: ProcessPoolExecutor | None = None
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
        if self._pool is not None:
            pool, self._pool = self._pool, None
            await asyncio.to_thread(pool.shutdown, wait=True, cancel_futures=True)

    async def _run(self, tail: Tail, size: int) -> Grown:
        if size > THREAD_TOKENS and self._child:
            try:
                return await self._in_child(tail)
            except (BrokenExecutor, OSError) as error:
                log.warning("build.child_failed error=%s", type(error).__name__)
                await self.close()
        return await asyncio.to_thread(build.grow, tail)

    async def _in_child(self, tail: Tail) -> Grown:
        if self._pool is None:
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(
                max_workers=1, mp_context=context, initializer=_begin_child
            )
        try:
            return await asyncio.get_running_loop().run_in_executor(self._pool, build.grow, tail)
        except BrokenExecutor:
            raise  # the child died; a RuntimeError, too
        except RuntimeError as error:  # the pool was shut down meanwhile
            raise Unavailable("the process is shutting down") from error


class ParentProcess(Protocol):
    """What `multiprocessing.parent_process` gives."""

    def join(self) -> None: ...


def _begin_child() -> None:
    """Leave Ctrl-C to the parent, and end with it even where it is killed: the pool's own pipes
    stay open in the child, so it would wait for work for ever."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: ParentProcess) -> None:
    parent.join()
    os._exit(1)
