"""Where stage 1 runs: small tails at once, larger ones in a thread, very large ones in a child.

Stage 1 is pure Python and holds the GIL: at a million tokens for two seconds, in which every other
request of the process would wait. A child process keeps them quick, and uses all cores for a long
tail. It ends when there was nothing to do for a minute, and is started before it is needed where a
long tail is to be expected (`warm`).

A run that nobody waits for any more is stopped, and its child with it: clients hang up and send
the same again, and what nobody wants must not hold up what somebody does. What it has sealed is
stored, so the next run goes on from there.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from functools import partial

from memtree.background.growing.children import CLOSED, Children
from memtree.background.growing.runs import KEEP_SECONDS, Run, SealedParts
from memtree.background.progress import StageTotals
from memtree.errors import Unavailable
from memtree.ports.builder import Keep
from memtree.tree import growth
from memtree.tree.growth import GrownTree, Tail
from memtree.tree.parallel_growth import in_steps, rest_after

log = logging.getLogger("memtree.indexer")

INLINE_TOKENS = 3_000
THREAD_TOKENS = 60_000
STRETCH_TOKENS = 50_000  # a tenth of a second; one more process costs a third of that
MAX_PARTS = 4
CHILDREN = 2  # so that a long tail does not hold up all others; 80 MB each
# SDKs send a request again after 0.5 to 8 s, to find the run that the first one began.
GRACE_SECONDS = 10.0


class StageOne:
    """A `Builder`. Runs for the same history are joined."""

    def __init__(
        self,
        *,
        child: bool = True,
        parts: int | None = None,
        grace: float = GRACE_SECONDS,
        keep_every: float = KEEP_SECONDS,
    ) -> None:
        """`child`: use child processes for large tails (else a thread); `parts`: how many
        processes share one tail, by default one a core and at most four; `grace`: seconds that a
        run goes on when nobody waits for it; `keep_every`: seconds between two times that what a
        run has sealed is handed over."""
        self._child = child
        self._parts = parts or min(os.cpu_count() or 1, MAX_PARTS)
        self._grace, self._keep_every = grace, keep_every
        self.children = Children(CHILDREN)
        self.runs: dict[bytes, Run] = {}  # by the address of the end
        self.done = StageTotals()

    async def grow(self, tail: Tail, size: int, keep: Keep | None = None) -> GrownTree:
        """See `Builder.grow`. Raises `Unavailable` where stage 1 failed."""
        if size <= INLINE_TOKENS:
            begun = time.monotonic()
            return self._counted(tail, growth.grow(tail), begun)
        end = tail.addresses[-1]
        run = self.runs.get(end)
        if run is None or run.known > tail.known:  # of what that one builds upon some is gone
            run = Run(tail, SealedParts(keep, self._keep_every), self._grace)
            self.runs[end] = run
            run.start(partial(self._run, tail, size, run.sealed))
            run.task.add_done_callback(partial(self._ended, end, run))
        with run.waiter(lambda: self.stop_run(end, run)):
            return await asyncio.shield(run.task)

    def warm(self) -> None:
        """See `Builder.warm`: a child is started. Call it in the event loop."""
        if self._child:
            self.children.warm()

    async def close(self) -> None:
        """End all runs and children. What the runs have sealed is handed over."""
        runs = tuple(self.runs.values())
        for run in runs:
            run.stay()
            run.sealed.stopped = True
        await self.children.close()
        await asyncio.gather(*(run.task for run in runs), return_exceptions=True)

    def stop_run(self, end: bytes, run: Run) -> None:
        log.info("build.stopped why=nobody_waits")
        self._leave(end, run)  # at once: it cannot be joined any more
        run.stop()

    def _leave(self, end: bytes, run: Run) -> None:
        if self.runs.get(end) is run:
            del self.runs[end]

    def _ended(self, end: bytes, run: Run, task: asyncio.Task[GrownTree]) -> None:
        run.stay()
        self._leave(end, run)
        if not task.cancelled():
            task.exception()  # seen here where nobody waits for it

    async def _run(self, tail: Tail, size: int, sealed: SealedParts) -> GrownTree:
        begun = time.monotonic()
        return self._counted(tail, await self._off_loop(tail, size, sealed), begun)

    def _counted(self, tail: Tail, grown: GrownTree, begun: float) -> GrownTree:
        # Leaves that are final: the open one is grown again with the next request.
        self.done.add(grown.frontier.tokens - tail.frontier.tokens, time.monotonic() - begun)
        return grown

    async def _off_loop(self, tail: Tail, size: int, sealed: SealedParts) -> GrownTree:
        if size > THREAD_TOKENS:
            log.info("build.began tokens=%d", size)  # seconds of all cores: rare, and worth a line
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
    """Grow what `sealed` lacks, in this thread. Raises `EOFError` where the run is stopped."""
    left = rest_after(tail, sealed.whole()) if sealed else tail
    for part in in_steps(left):
        sealed.add(part)
    return sealed.whole()
