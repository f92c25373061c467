"""Where stage 1 runs: small tails at once, larger ones in a thread, very large ones in a child.

Stage 1 is pure Python and holds the GIL: at a million tokens for two seconds, in which every other
request of the process would wait. A child process keeps them quick, and uses all cores for a long
tail. It ends when there was nothing to do for a minute.

A run that nobody waits for any more is stopped, and its child with it: clients hang up and send
the same again, and what nobody wants must not hold up what somebody does.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Lock

from indexer.growing.child_process import Child
from indexer.progress import StageTotals
from memtree.errors import Unavailable
from memtree.tree import growth
from memtree.tree.growth import GrownTree, Tail

log = logging.getLogger("memtree.indexer")

INLINE_TOKENS = 3_000
THREAD_TOKENS = 60_000
STRETCH_TOKENS = 50_000  # a tenth of a second; one more process costs a third of that
MAX_PARTS = 4
CHILDREN = 2  # so that a long tail does not hold up all others; 80 MB each
IDLE_SECONDS = 60.0
# SDKs send a request again after 0.5 to 8 s, to find the run that the first one began.
GRACE_SECONDS = 10.0
_CLOSED = "the process is shutting down"

Key = tuple[bytes, int, int]  # address of the end, and the frontier from which it is grown


class StageOne:
    """A `Builder`. Runs for the same stretch of the same history are joined."""

    def __init__(
        self, *, child: bool = True, parts: int | None = None, grace: float = GRACE_SECONDS
    ) -> None:
        """`child`: use child processes for large tails (else a thread); `parts`: how many
        processes share one tail, by default one a core and at most four; `grace`: seconds that a
        run goes on when nobody waits for it."""
        self._child = child
        self._parts = parts or min(os.cpu_count() or 1, MAX_PARTS)
        self._grace = grace
        self._children = Children(CHILDREN)
        self._under_way: dict[Key, Run] = {}
        self.done = StageTotals()

    async def grow(self, tail: Tail, size: int) -> GrownTree:
        """Raises `Unavailable` where stage 1 failed."""
        if size <= INLINE_TOKENS:
            begun = time.monotonic()
            return self._counted(tail, growth.grow(tail), begun)
        key = (tail.addresses[-1], tail.frontier.messages, tail.frontier.tail)
        run = self._under_way.get(key)
        if run is None:
            run = Run(asyncio.create_task(self._run(tail, size)), self._grace)
            self._under_way[key] = run
            run.task.add_done_callback(lambda _: self._ended(key, run))
        with run.waiter(lambda: self._stop(key, run)):
            return await asyncio.shield(run.task)

    async def close(self) -> None:
        for run in tuple(self._under_way.values()):
            run.stay()
        await self._children.close()

    def _stop(self, key: Key, run: Run) -> None:
        log.info("build.stopped why=nobody_waits")
        self._leave(key, run)  # at once: it cannot be joined any more
        run.task.cancel()

    def _leave(self, key: Key, run: Run) -> None:
        if self._under_way.get(key) is run:
            del self._under_way[key]

    def _ended(self, key: Key, run: Run) -> None:
        run.stay()
        self._leave(key, run)
        if not run.task.cancelled():
            run.task.exception()  # seen here where nobody waits for it

    async def _run(self, tail: Tail, size: int) -> GrownTree:
        begun = time.monotonic()
        return self._counted(tail, await self._elsewhere(tail, size), begun)

    def _counted(self, tail: Tail, grown: GrownTree, begun: float) -> GrownTree:
        # Leaves that are final: the open one is grown again with the next request.
        self.done.add(grown.frontier.tokens - tail.frontier.tokens, time.monotonic() - begun)
        return grown

    async def _elsewhere(self, tail: Tail, size: int) -> GrownTree:
        if size > THREAD_TOKENS:
            log.info("build.began tokens=%d", size)  # seconds of all cores: rare, and worth a line
        if size > THREAD_TOKENS and self._child:
            try:
                parts = min(self._parts, size // STRETCH_TOKENS)
                return await self._children.grow(tail, parts)
            except (EOFError, OSError) as error:
                log.warning("build.child_failed error=%s", type(error).__name__)
        return await asyncio.to_thread(growth.grow, tail)


class Run:
    """A run and how many wait for it. `grace`: seconds that it goes on without anybody."""

    def __init__(self, task: asyncio.Task[GrownTree], grace: float) -> None:
        self.task = task
        self._grace = grace
        self._waiting = 0
        self._timer: asyncio.TimerHandle | None = None

    @contextmanager
    def waiter(self, stop: Callable[[], None]) -> Iterator[None]:
        """One more. `stop` is called when the last one has left before the end and nobody came."""
        self.stay()
        self._waiting += 1
        try:
            yield
        finally:
            self._waiting -= 1
            if not self._waiting and not self.task.done():
                self._timer = asyncio.get_running_loop().call_later(self._grace, stop)

    def stay(self) -> None:
        """It is wanted, or at its end."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


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

    async def grow(self, tail: Tail, parts: int) -> GrownTree:
        """Raises `OSError` or `EOFError` where a child died, `Unavailable` after `close`.

        Cancelled, it takes the tail out of the queue, or ends the child that is at it.
        """
        if self._closed:
            raise Unavailable(_CLOSED)
        loop = asyncio.get_running_loop()
        call = ChildCall(tail, parts)
        try:
            return await loop.run_in_executor(self._threads, self._call, call)
        except asyncio.CancelledError:
            call.stop()
            raise
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

    def _call(self, call: ChildCall) -> GrownTree:
        child = self._take()
        self._busy.add(child)
        try:
            grown = call.run(child)
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


class ChildCall:
    """One tail on its way through a child: run in a thread, stopped from the event loop."""

    def __init__(self, tail: Tail, parts: int) -> None:
        self._tail = tail
        self._parts = parts
        self._lock = Lock()  # a child must not be ended when another call has it already
        self._child: Child | None = None
        self._stopped = False

    def run(self, child: Child) -> GrownTree:
        """Blocks. Raises `OSError` or `EOFError` where the child ended, as `stop` makes it."""
        with self._lock:
            if self._stopped:
                raise EOFError("nobody waits for it")
            self._child = child
        try:
            grown = child.grow(self._tail, self._parts)
        finally:
            with self._lock:
                self._child = None
        if self._stopped:  # with its answer out it was killed, and may still look alive
            raise EOFError("nobody waits for it")
        return grown

    def stop(self) -> None:
        """Does not block."""
        with self._lock:
            self._stopped = True
            if self._child is not None:
                self._child.kill()


def _end(children: list[Child]) -> None:
    for child in children:
        child.close()
