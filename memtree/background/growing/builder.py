"""Choose where stage 1 runs: short tails inline, longer ones in a thread, very long ones in a child
process.

Stage 1 is pure Python and holds the GIL: two seconds for a million tokens, during which every other
request of the process would wait. A child process keeps them fast, and uses all cores for a long
tail. It ends after a minute without work, and `warm` starts it early when a long tail is expected.

A run that nobody waits for is stopped, and its child with it: clients hang up and send the request
again, and unwanted work must not delay wanted work. Sealed parts are stored, so the next run
continues from there.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from functools import partial

from memtree.background.growing.children import CLOSED, Children
from memtree.background.growing.runs import KEEP_SECONDS, GrowthRun, SealedParts
from memtree.background.progress import StageTotals
from memtree.errors import Unavailable
from memtree.ports.growth import Keep
from memtree.tree import growth
from memtree.tree.growth import GrownTree, Tail
from memtree.tree.parallel_growth import in_steps, rest_after

log = logging.getLogger("memtree.indexer")

INLINE_TOKENS = 3_000
THREAD_TOKENS = 60_000
STRETCH_TOKENS = 50_000  # a tenth of a second of work; starting a process costs a third of that
MAX_PARTS = 4
CHILDREN = 2  # two, so that one long tail does not block all others; 80 MB each
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
                await self.children.grow(tail, parts, sealed.add)
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
