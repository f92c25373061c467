"""Work in threads: its CPU time, and no thread that a cancelled caller leaves behind.

`asyncio.to_thread` returns as soon as its caller is cancelled, while the thread goes on. If the
caller then releases a lock, the next holder of it and the thread change the same object at once. So
whatever reads or changes an object that requests share is run by `in_thread`.

CPU time is added up for the task that requested the work:

>>> with metered() as meter:
...     counted(lambda: sum(range(10)))
45
>>> meter.seconds >= 0
True
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from typing import ParamSpec, TypeVar

Args = ParamSpec("Args")
Result = TypeVar("Result")


async def in_thread(
    work: Callable[Args, Result], *args: Args.args, **kwargs: Args.kwargs
) -> Result:
    """Return the result of `work`, run in a thread. A caller that is cancelled meanwhile gets its
    `CancelledError` once the thread has ended, so that a lock which it holds is held until then;
    work that no thread has begun by then is left out."""
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


@dataclass(slots=True)
class CpuMeter:
    seconds: float = 0.0


_METER: ContextVar[CpuMeter | None] = ContextVar("cpu_meter", default=None)
# The tenant of the running task; "" for work of the process itself.
OWNER: ContextVar[str] = ContextVar("owner", default="")


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
