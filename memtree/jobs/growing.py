"""Choose where stage 1 runs, and let the requests for one history share a run.

Short tails run inline, longer ones in a thread, very long ones in a child process.

Stage 1 is pure Python and holds the GIL: two seconds for a million tokens, during which every other
request of the process would wait. A child process keeps them fast, and uses all cores for a long
tail. It ends after a minute without work, and `warm` starts it early when a long tail is expected.

A run that nobody waits for is stopped, and its child with it: clients hang up and send the request
again, and unwanted work must not delay wanted work. Sealed parts are delivered while a run
continues, and also when it fails or nobody is left to take the result: the next run continues from
there.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from threading import Lock

from memtree.errors import Unavailable
from memtree.jobs.child_process import Child
from memtree.jobs.job_queue import StageTotals
from memtree.ports.indexing_stages import Keep
from memtree.process.threads import FairThreads
from memtree.tree import growth
from memtree.tree.extraction import Unsummarised, summaries_of
from memtree.tree.growth import GrownTree, Tail, concat, in_steps, rest_after
from memtree.tree.node import Summary

log = logging.getLogger("memtree.indexer")

IDLE_SECONDS = 60.0
CLOSED = "the process is shutting down"


class Children:
    """Child processes for stage 1: a few, each working on one tail at a time, and reused for the
    next. A child is ready 0.6 seconds after its start, so one can be started early (`warm`). An
    idle one is ended after a minute, which frees its 80 MB."""

    def __init__(self, limit: int, idle_seconds: float = IDLE_SECONDS) -> None:
        """`limit`: most of them at once; `idle_seconds`: how long an idle one is kept."""
        self._limit = limit
        self._idle_seconds = idle_seconds
        most = max(1, limit - 1)
        self._threads = FairThreads(limit, most, "memtree-build")  # one for each child
        self.idle: list[Child] = []
        self.busy: set[Child] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._closed = self._starting = False

    async def call(self, work: Callable[[Child], None]) -> None:
        """Let a child do `work`, which runs in a thread.

        Raises `OSError` or `EOFError` if a child died, and `Unavailable` after `close`. If the call
        is cancelled, the work is taken out of the queue, or the child that does it is ended."""
        if self._closed:
            raise Unavailable(CLOSED)
        loop = asyncio.get_running_loop()
        call = ChildCall(work)
        try:
            await loop.run_in_executor(self._threads, self._call, call)
        except asyncio.CancelledError:
            call.stop()
            raise
        except (EOFError, OSError) as error:
            if self._closed:
                raise Unavailable(CLOSED) from error
            raise
        finally:
            self._wait_for_idle()

    def warm(self) -> None:
        """Start a child for the next tail, unless one is idle or busy. Returns immediately; call it
        in the event loop."""
        if not (self._closed or self.idle or self.busy or self._starting):
            self._starting = True
            self._threads.submit(self._start)
        self._wait_for_idle()

    async def close(self) -> None:
        """End all children, busy ones too."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        for child in tuple(self.busy):
            child.kill()
        await asyncio.to_thread(self._threads.shutdown)
        await asyncio.to_thread(_end, self.idle)

    def _wait_for_idle(self) -> None:
        """Restart the idle timer."""
        if self._timer is not None:
            self._timer.cancel()
        if not self._closed:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self._idle_seconds, self._end_idle)

    def _end_idle(self) -> None:
        idle, self.idle = self.idle, []
        self._threads.submit(_end, idle)

    # The methods below run in the threads. Operations on a list or a set are atomic, so no lock is
    # needed. The threads live as long as this object: a child ends with the thread that started it.

    def _call(self, call: ChildCall) -> None:
        child = self.take()
        self.busy.add(child)
        try:
            if self._closed:  # `close` may have looked before this child was listed as busy
                raise EOFError(CLOSED)
            call.run(child)
        except BaseException:
            child.close()
            raise
        finally:
            self.busy.discard(child)
        self.idle.append(child)

    def _start(self) -> None:
        try:
            if not self._closed:
                self.idle.append(Child())
        # the tail that needs one fails the same way, and is grown elsewhere
        except OSError as error:
            log.warning("build.child_failed error=%s", type(error).__name__)
        finally:
            self._starting = False

    def take(self) -> Child:
        while True:
            try:
                child = self.idle.pop()
            except IndexError:
                return Child()
            if child.alive:
                return child
            child.close()


class ChildCall:
    """Work of a child: run in a thread, stopped from the event loop."""

    def __init__(self, work: Callable[[Child], None]) -> None:
        self._work = work
        self._lock = Lock()  # a child must not be ended once another call uses it
        self._child: Child | None = None
        self._stopped = False

    def run(self, child: Child) -> None:
        """Let the child work, and block until it is done. Raises `OSError` or `EOFError`
        where the child ended, which is also how `stop` ends the call."""
        with self._lock:
            if self._stopped:
                raise EOFError("nobody waits for it")
            self._child = child
        try:
            self._work(child)
        finally:
            with self._lock:
                self._child = None
        if self._stopped:  # killed after its answer, and may still look alive
            raise EOFError("nobody waits for it")

    def stop(self) -> None:
        """Stop the call. Does not block."""
        with self._lock:
            self._stopped = True
            if self._child is not None:
                self._child.kill()


def _end(children: list[Child]) -> None:
    for child in children:
        child.close()


# ---------------------------------------------------------------- runs


# between two deliveries of sealed parts: a killed process loses at most this much
KEEP_SECONDS = 2.0


class SealedParts:
    """Parts that a run has sealed so far, in order. A stopped run adds no more."""

    def __init__(self, keep: Keep | None, every: float = KEEP_SECONDS) -> None:
        """`keep`: stores parts, None if they are not wanted; `every`: seconds between two calls of
        it."""
        self._keep, self._every = keep, every
        self.parts: list[GrownTree] = []  # appended to by threads, which needs no lock
        self._kept = 0  # number of parts already stored
        self._lock = asyncio.Lock()
        self.stopped = False

    def add(self, part: GrownTree) -> None:
        """Add a part, from any thread. Raises `EOFError` if nobody wants the run any more."""
        if self.stopped:
            raise EOFError("nobody waits for it")
        self.parts.append(part)

    def __bool__(self) -> bool:
        return bool(self.parts)

    def whole(self) -> GrownTree:
        """Return all sealed parts as one tree. At least one part must be there."""
        return concat(self.parts)

    async def hand_over(self) -> None:
        """Store the parts that are not stored yet; if that fails, they are stored later, together
        with more."""
        async with self._lock:
            new = self.parts[self._kept :]
            if new and self._keep and await self._keep(concat(new)):
                self._kept += len(new)

    async def hand_over_until(self, ended: asyncio.Event) -> None:
        """Store parts repeatedly until the event is set. Not cancelled, so that no write is cut off
        in the middle."""
        while not ended.is_set():
            try:
                async with asyncio.timeout(self._every):
                    await ended.wait()
            except TimeoutError:
                await self.hand_over()


class GrowthRun:
    """One run of stage 1, which several requests may wait for. `tail`: the messages that it grows;
    `grace`: seconds for which it continues after the last request has stopped waiting."""

    def __init__(self, tail: Tail, sealed: SealedParts, grace: float) -> None:
        self.known = tail.known  # length of the prefix that it starts from
        self.sealed = sealed
        self._grace = grace
        self.waiting = 0
        self._timer: asyncio.TimerHandle | None = None
        self.task: asyncio.Task[GrownTree]

    def start(self, work: Callable[[], Awaitable[GrownTree]]) -> None:
        """Start the task. `work` grows the tail and adds to `sealed`; it is not called if the run
        ends before."""
        self.task = asyncio.create_task(self._run(work))

    async def _run(self, work: Callable[[], Awaitable[GrownTree]]) -> GrownTree:
        ended, grown = asyncio.Event(), None
        keeping = asyncio.create_task(self.sealed.hand_over_until(ended))
        try:
            grown = await work()
            return grown
        finally:
            ended.set()
            await keeping
            if grown is None or not self.waiting:
                await self.sealed.hand_over()

    @contextmanager
    def waiter(self, stop: Callable[[], None]) -> Iterator[None]:
        """Register a waiting request for the duration of the block. `stop` is called when the last
        one has left before the end, and no other came within the grace period."""
        self.stay()
        self.waiting += 1
        try:
            yield
        finally:
            self.waiting -= 1
            if not self.waiting and not self.task.done():
                self._timer = asyncio.get_running_loop().call_later(self._grace, stop)

    def stay(self) -> None:
        """Cancel the grace timer: the run is wanted again, or has ended."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def stop(self) -> None:
        """Cancel the run, because no request wants its result any more. Sealed parts are still
        delivered."""
        self.sealed.stopped = True
        self.task.cancel()


# ---------------------------------------------------------------- where a run is made


INLINE_TOKENS = 3_000
THREAD_TOKENS = 60_000
FULL_TOKENS = 250_000  # up to here all summaries are made at once, in a second or two
STRETCH_TOKENS = 50_000  # a tenth of a second of work; starting a process costs a third of that
MAX_PARTS = 4
CHILDREN = 3  # one tenant has all but one, so that its long tails do not block others; 80 MB each
# SDKs repeat a request after 0.5 to 8 s, and then find the run that the first one began.
GRACE_SECONDS = 10.0


class StageOne:
    """A `Builder`. Concurrent requests for the same history share a run."""

    def __init__(
        self,
        *,
        child: bool = True,
        parts: int | None = None,
        grace: float = GRACE_SECONDS,
        keep_every: float = KEEP_SECONDS,
    ) -> None:
        """`child`: use child processes for large tails (else a thread); `parts`: how many processes
        share one tail, by default one a core and at most four; `grace`: seconds that a run
        continues when nobody waits for it; `keep_every`: seconds between two deliveries of sealed
        parts."""
        self._child = child
        self._parts = parts or min(os.cpu_count() or 1, MAX_PARTS)
        self._grace, self._keep_every = grace, keep_every
        self.children = Children(CHILDREN)
        self.runs: dict[bytes, GrowthRun] = {}  # by the address of the history's end
        self.done = StageTotals()

    async def grow(self, tail: Tail, size: int, keep: Keep | None = None) -> GrownTree:
        """See `Builder.grow`. Raises `Unavailable` if stage 1 failed."""
        if tail.sparse and size <= FULL_TOKENS:
            tail = replace(tail, sparse=False)
        if size <= INLINE_TOKENS:
            begun = time.monotonic()
            return self._counted(tail, growth.grow(tail), begun)
        end = tail.addresses[-1]
        run = self.runs.get(end)
        # the run relies on a prefix of which a part was deleted
        if run is None or run.known > tail.known:
            run = GrowthRun(tail, SealedParts(keep, self._keep_every), self._grace)
            self.runs[end] = run
            run.start(partial(self._run, tail, size, run.sealed))
            run.task.add_done_callback(partial(self._ended, end, run))
        with run.waiter(lambda: self.stop_run(end, run)):
            return await asyncio.shield(run.task)

    async def summaries(self, nodes: Unsummarised) -> list[Summary]:
        """See `Builder.summaries`. Raises `Unavailable` after `close`."""
        made: list[Summary] = []
        if self._child:
            try:
                await self.children.call(lambda child: made.extend(child.summaries(nodes)))
                return made
            except (EOFError, OSError) as error:
                log.warning("build.child_failed error=%s", type(error).__name__)
        return await asyncio.to_thread(summaries_of, nodes)

    def warm(self) -> None:
        """Start a child early: see `Builder.warm`. Call it in the event loop."""
        if self._child:
            self.children.warm()

    async def close(self) -> None:
        """End all runs and children. Parts that the runs have sealed are delivered."""
        runs = tuple(self.runs.values())
        for run in runs:
            run.stay()
            run.sealed.stopped = True
        await self.children.close()
        await asyncio.gather(*(run.task for run in runs), return_exceptions=True)

    def stop_run(self, end: bytes, run: GrowthRun) -> None:
        log.info("build.stopped why=nobody_waits")
        self._leave(end, run)  # immediately, since it cannot be joined any more
        run.stop()

    def _leave(self, end: bytes, run: GrowthRun) -> None:
        if self.runs.get(end) is run:
            del self.runs[end]

    def _ended(self, end: bytes, run: GrowthRun, task: asyncio.Task[GrownTree]) -> None:
        run.stay()
        self._leave(end, run)
        if not task.cancelled():
            task.exception()  # retrieves the error if nobody waits for the task

    async def _run(self, tail: Tail, size: int, sealed: SealedParts) -> GrownTree:
        begun = time.monotonic()
        return self._counted(tail, await self._off_loop(tail, size, sealed), begun)

    def _counted(self, tail: Tail, grown: GrownTree, begun: float) -> GrownTree:
        # Counts final leaves only: the open one is grown again with the next request.
        self.done.add(grown.frontier.tokens - tail.frontier.tokens, time.monotonic() - begun)
        return grown

    async def _off_loop(self, tail: Tail, size: int, sealed: SealedParts) -> GrownTree:
        if size > THREAD_TOKENS:
            # takes seconds of all cores: rare, and worth a log line
            log.info("build.began tokens=%d", size)
        if size > THREAD_TOKENS and self._child:
            try:
                parts = min(self._parts, size // STRETCH_TOKENS)
                await self.children.call(lambda child: child.grow(tail, parts, sealed.add))
                return sealed.whole()
            except (EOFError, OSError) as error:
                log.warning("build.child_failed error=%s", type(error).__name__)
        try:
            return await asyncio.to_thread(_finish, tail, sealed)
        except EOFError as error:
            raise Unavailable(CLOSED) from error


def _finish(tail: Tail, sealed: SealedParts) -> GrownTree:
    """Grow the part that `sealed` lacks, in this thread. Raises `EOFError` if the run is
    stopped."""
    left = rest_after(tail, sealed.whole()) if sealed else tail
    for part in in_steps(left):
        sealed.add(part)
    return sealed.whole()
