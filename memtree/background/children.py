"""Child processes for stage 1: a few, each working on one tail at a time, and reused for the next.

A child is ready 0.6 seconds after its start, so one can be started early (`warm`). An idle one is
ended after a minute, which frees its 80 MB.
"""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from threading import Lock

from memtree.background.child_process import Child, Sealed
from memtree.errors import Unavailable
from memtree.tree.growth import Tail

log = logging.getLogger("memtree.indexer")

IDLE_SECONDS = 60.0
CLOSED = "the process is shutting down"


class Children:
    """Child processes, started on demand and ended when idle."""

    def __init__(self, limit: int, idle_seconds: float = IDLE_SECONDS) -> None:
        """`limit`: most of them at once; `idle_seconds`: how long an idle one is kept."""
        self._limit = limit
        self._idle_seconds = idle_seconds
        self._threads = ThreadPoolExecutor(limit, "memtree-build")  # one for each child
        self.idle: list[Child] = []
        self.busy: set[Child] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._closed = self._starting = False

    async def grow(self, tail: Tail, parts: int, sealed: Sealed) -> None:
        """Grow the tail in `parts` processes of a child; `sealed` receives the result piece by
        piece, in a thread.

        Raises `OSError` or `EOFError` if a child died, and `Unavailable` after `close`. If the call
        is cancelled, the tail is taken out of the queue, or the child that works on it is ended."""
        if self._closed:
            raise Unavailable(CLOSED)
        loop = asyncio.get_running_loop()
        call = ChildCall(tail, parts, sealed)
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
    """One tail processed by a child: run in a thread, stopped from the event loop."""

    def __init__(self, tail: Tail, parts: int, sealed: Sealed) -> None:
        self._tail, self._parts, self._sealed = tail, parts, sealed
        self._lock = Lock()  # a child must not be ended once another call uses it
        self._child: Child | None = None
        self._stopped = False

    def run(self, child: Child) -> None:
        """Let the child grow the tail, and block until it is done. Raises `OSError` or `EOFError`
        where the child ended, which is also how `stop` ends the call."""
        with self._lock:
            if self._stopped:
                raise EOFError("nobody waits for it")
            self._child = child
        try:
            child.grow(self._tail, self._parts, self._sealed)
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
