"""CPU time of work in threads, added up for the task that requested it.

>>> with metered() as meter:
...     counted(lambda: sum(range(10)))
45
>>> meter.seconds >= 0
True
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeVar

Result = TypeVar("Result")


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
