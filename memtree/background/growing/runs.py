"""A run of stage 1: the requests that wait for it, and the parts it has sealed so far.

Sealed parts are delivered while the run continues, and also when it fails or nobody is left to take
the result: the next run continues from there.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

from memtree.ports.growth import Keep
from memtree.tree.growth import GrownTree, Tail
from memtree.tree.parallel_growth import concat

log = logging.getLogger("memtree.indexer")

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
