"""A run of stage 1 under way: who waits for it, and what it has sealed so far.

What is sealed is handed over while the run goes on, and at its end where that is not a good one or
nobody is left to take the result: whoever asks again goes on from there.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

from memtree.ports.builder import Keep
from memtree.tree.growth import GrownTree, Tail
from memtree.tree.parallel_growth import concat

log = logging.getLogger("memtree.indexer")

KEEP_SECONDS = 2.0  # between two times that sealed parts are handed over: a kill loses no more


class SealedParts:
    """Parts that a run has sealed so far, in order. A run that was stopped adds nothing any
    more."""

    def __init__(self, keep: Keep | None, every: float = KEEP_SECONDS) -> None:
        """`keep`: None where they are not wanted; `every`: seconds between two calls of it."""
        self._keep, self._every = keep, every
        self.parts: list[GrownTree] = []  # added to by threads, which needs no lock
        self._kept = 0  # so many of them are kept
        self._lock = asyncio.Lock()
        self.stopped = False

    def add(self, part: GrownTree) -> None:
        """In any thread. Raises `EOFError` where nobody wants the run any more."""
        if self.stopped:
            raise EOFError("nobody waits for it")
        self.parts.append(part)

    def __bool__(self) -> bool:
        return bool(self.parts)

    def whole(self) -> GrownTree:
        """Return all sealed parts as one tree. At least one part must be there."""
        return concat(self.parts)

    async def hand_over(self) -> None:
        """Let those be kept that are not yet; later, together with more, where that fails."""
        async with self._lock:
            new = self.parts[self._kept :]
            if new and self._keep and await self._keep(concat(new)):
                self._kept += len(new)

    async def hand_over_until(self, ended: asyncio.Event) -> None:
        """Again and again; not cancelled, so that nothing is cut off in the middle of a write."""
        while not ended.is_set():
            try:
                async with asyncio.timeout(self._every):
                    await ended.wait()
            except TimeoutError:
                await self.hand_over()


class Run:
    """One run of stage 1, which several requests may wait for. `tail`: the messages that it grows;
    `grace`: seconds for which it goes on after the last request has stopped waiting."""

    def __init__(self, tail: Tail, sealed: SealedParts, grace: float) -> None:
        self.known = tail.known  # length of the prefix that it goes on from
        self.sealed = sealed
        self._grace = grace
        self.waiting = 0
        self._timer: asyncio.TimerHandle | None = None
        self.task: asyncio.Task[GrownTree]

    def start(self, work: Callable[[], Awaitable[GrownTree]]) -> None:
        """`work` does it, and adds to `sealed`; it is not called where the run ends before."""
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
        """One more waits. `stop` is called when the last one has left before the end, and nobody
        came within the grace."""
        self.stay()
        self.waiting += 1
        try:
            yield
        finally:
            self.waiting -= 1
            if not self.waiting and not self.task.done():
                self._timer = asyncio.get_running_loop().call_later(self._grace, stop)

    def stay(self) -> None:
        """It is wanted, or at its end."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def stop(self) -> None:
        """Cancel the run, because no request wants its result any more. Parts that it has sealed
        are still handed over."""
        self.sealed.stopped = True
        self.task.cancel()
