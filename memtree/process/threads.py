"""Work in threads: its CPU time, fair shares of tenants, and no thread that a cancelled caller
leaves behind.

`asyncio.to_thread` returns as soon as its caller is cancelled, while the thread goes on. That is
right where the thread gets a value and gives a value. What holds something that is counted, as the
bytes of a body, is run by `in_thread`: its caller gives that back when the thread has ended.

CPU time is added up for the task that requested the work:

>>> with metered() as meter:
...     counted(lambda: sum(range(10)))
45
>>> meter.seconds >= 0
True
"""

from __future__ import annotations

import asyncio
import os
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from typing import Any, ParamSpec, TypeVar

Args = ParamSpec("Args")
Result = TypeVar("Result")
OFF_LOOP_BYTES = 256 * 1024  # larger bodies are read off the event loop


async def off_loop(size: int, work: Callable[[], Result]) -> Result:
    """Do `work` here, or in a thread if a body of `size` bytes would block the event loop."""
    if size > OFF_LOOP_BYTES:
        return await asyncio.to_thread(work)
    return work()


async def in_thread(
    work: Callable[Args, Result], *args: Args.args, **kwargs: Args.kwargs
) -> Result:
    """Return the result of `work`, run in a thread. A caller that is cancelled meanwhile gets its
    `CancelledError` once the thread has ended, so that what it holds is held until then; work that
    no thread has begun by then is left out."""
    context, cancelled = copy_context(), None

    def run() -> Result:
        if cancelled is not None:
            raise cancelled
        return context.run(work, *args, **kwargs)

    thread = asyncio.get_running_loop().run_in_executor(None, run)
    while not thread.done():
        try:
            await asyncio.wait((thread,))
        except asyncio.CancelledError as error:
            cancelled = cancelled or error
    if cancelled is not None:
        thread.exception()  # retrieves the error, which nobody awaits
        raise cancelled
    return thread.result()


# The tenant of the running task; "" for work of the process itself.
OWNER: ContextVar[str] = ContextVar("owner", default="")


@dataclass(slots=True)
class _OwnedWork:
    """Work of one tenant. `turns`: of its items, running or in line; `due`: those in line."""

    items: deque[tuple[Future[Any], Callable[[], Any]]] = field(default_factory=deque)
    turns: int = 0
    due: int = 0


class FairThreads(ThreadPoolExecutor):
    """A pool of which no tenant has all threads: giant bodies of one do not stop the others. Items
    of different tenants take turns; those of one are begun in order."""

    def __init__(self, threads: int | None = None, most: int | None = None, name: str = "") -> None:
        """`threads`: by default as many as Python's own pool; `most`: of one tenant, by default
        half of them."""
        threads = threads or min(32, (os.cpu_count() or 1) + 4)
        super().__init__(threads, name)
        self._most = most or max(1, threads // 2)
        self._owned: defaultdict[str, _OwnedWork] = defaultdict(_OwnedWork)
        self._changing = Lock()

    def submit(
        self, work: Callable[Args, Result], /, *args: Args.args, **kwargs: Args.kwargs
    ) -> Future[Result]:
        owner = OWNER.get()
        if not owner:
            return super().submit(work, *args, **kwargs)
        future: Future[Result] = Future()
        with self._changing:
            owned = self._owned[owner]
            if owned.turns < self._most:
                super().submit(self._turn, owner)  # raises after `shutdown`
                owned.turns, owned.due = owned.turns + 1, owned.due + 1
            owned.items.append((future, partial(work, *args, **kwargs)))
        return future

    def _turn(self, owner: str) -> None:
        """Do the tenant's next item, then stand at the end of the line with the one after it."""
        while self._does_item(owner):
            with suppress(RuntimeError):  # shutting down: what was submitted before is done
                super().submit(self._turn, owner)
                return

    def _does_item(self, owner: str) -> bool:
        """Do the tenant's next item; returns True if another one has no turn in line."""
        with self._changing:
            owned = self._owned[owner]
            owned.due -= 1
            future, work = owned.items.popleft()
        if future.set_running_or_notify_cancel():
            try:
                future.set_result(work())
            except BaseException as error:  # noqa: BLE001  the caller gets it, as from any pool
                future.set_exception(error)
        with self._changing:
            if len(owned.items) > owned.due:
                owned.due += 1
                return True
            owned.turns -= 1
            if not owned.turns:
                del self._owned[owner]
        return False


@dataclass(slots=True)
class CpuMeter:
    seconds: float = 0.0


_METER: ContextVar[CpuMeter | None] = ContextVar("cpu_meter", default=None)


@contextmanager
def metered() -> Iterator[CpuMeter]:
    """Measure the CPU time of `counted` work of this task, also in threads that it starts."""
    token = _METER.set(meter := CpuMeter())
    try:
        yield meter
    finally:
        _METER.reset(token)


def counted(work: Callable[[], Result]) -> Result:
    """Do the work in the current thread, and add its CPU time to the meter."""
    meter = _METER.get()
    begun = time.thread_time()
    try:
        return work()
    finally:
        if meter is not None:
            meter.seconds += time.thread_time() - begun
