"""Schedule the collector of cyclic garbage: new objects often, all objects seldom.

No request proceeds while it runs, and Python scans all live objects once enough new ones exist:
with a conversation of a million tokens that took 30 to 150 ms every few requests, for caches
without any cycles. Here objects that survive a full collection are frozen, so that the next one
scans only newer ones. Frozen objects are still freed as soon as nothing refers to them; only a
cycle that survived a full collection and became garbage later has to wait for the next scan of
everything. That scan runs when no request is active, and every quarter of an hour in a server that
is never idle. (From Python 3.14 on the collector works in small steps by itself; then only the
objects of start-up are frozen.)
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

# New objects before the youngest generation is collected, such collections before the middle one
# is, and those before a full one. A full one scans some 30,000 objects: 2 to 8 ms. Python's own
# (700, 10, 10) take twice the CPU time at a million tokens.
THRESHOLDS = (3_000, 4, 1)
OLDEST = 2
FULL_COLLECTIONS = 10  # before a scan of everything is worth its time: 300,000 new objects
LONGEST_SECONDS = 15 * 60  # without a scan of everything, if some request is always active
LOOK_SECONDS = 5.0  # between two checks that the server is idle
GIVE_SECONDS = 60.0  # between two releases of memory if it is never idle


@contextmanager
def short_collections() -> Iterator[None]:
    """Keep collections short, however many objects live, while the block runs."""
    before = gc.get_threshold()
    collect_everything()
    gc.set_threshold(*THRESHOLDS)
    gc.callbacks.append(_freeze_survivors)
    try:
        yield
    finally:
        gc.callbacks.remove(_freeze_survivors)
        gc.set_threshold(*before)


def collect_everything() -> int:
    """Scan all live objects, frozen or not, and freeze those left. Returns how many objects were
    garbage. At a million tokens it takes some 100 ms."""
    gc.unfreeze()
    collected = gc.collect()
    gc.freeze()
    return collected


def is_due(collections: int, seconds: float, *, resting: bool) -> bool:
    """Return True if it is time to scan everything. `collections`, `seconds`: full collections and
    time since the last such scan."""
    worth = collections >= FULL_COLLECTIONS
    return worth and (resting or seconds >= LONGEST_SECONDS)


async def collect_at_rest(
    requests: Callable[[], tuple[int, int]],
    every: float = LOOK_SECONDS,
    give_back: Callable[[], object] | None = None,
) -> None:
    """Scan everything when it is due, until cancelled. `requests`: returns how many were answered
    so far, and how many are active; the server is idle if none came between two checks and none is
    active. `give_back`: called once in each idle phase, and otherwise each minute, to release
    memory that the allocator keeps after large requests. It takes 70 ms of another thread for 500
    MB."""
    give_back = give_back or allocator_trim()
    done, at, answered, given = full_collections(), time.monotonic(), -1, 0
    given_at = at
    while True:
        await asyncio.sleep(every)
        before, (answered, under_way) = answered, requests()
        resting = answered == before and not under_way
        if is_due(full_collections() - done, time.monotonic() - at, resting=resting):
            collect_everything()
            done, at = full_collections(), time.monotonic()
        gives = resting or time.monotonic() - given_at >= GIVE_SECONDS
        if gives and answered != given:
            given, given_at = answered, time.monotonic()
            await asyncio.to_thread(give_back)


def allocator_trim() -> Callable[[], object]:
    """Return a function that returns free memory of the C library to the system, if that is
    supported: otherwise the memory for a body of 4 MB stays with the process."""
    try:
        trim = ctypes.CDLL(None).malloc_trim
    except (OSError, TypeError, AttributeError):  # Windows, macOS and musl lack it
        return lambda: None
    return lambda: trim(0)


def full_collections() -> int:
    """Return the number of full collections in this process."""
    return int(gc.get_stats()[OLDEST]["collections"])


def _freeze_survivors(phase: str, info: dict[str, Any]) -> None:
    if phase == "stop" and info["generation"] == OLDEST:
        gc.freeze()
