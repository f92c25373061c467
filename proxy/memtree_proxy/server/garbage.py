"""When the collector of cyclic garbage looks at what: often at what is new, seldom at everything.

No request moves while it looks, and Python looks at everything that lives once enough is new: at
a conversation of a million tokens that took 30 to 150 ms every few requests, for caches in which
nothing is cyclic. Here what survives a full collection is frozen, so that the next one looks only
at what came since. Frozen objects are still freed as soon as nothing refers to them; what is lost
until the next look at everything is only a cycle that lived through a full collection and was left
afterwards. That look is taken when no request is under way, and in a server that never rests every
quarter of an hour. (From Python 3.14 on the collector takes small steps by itself; then only what
the process starts with is frozen.)
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

# New objects before the youngest are looked at, such collections before the middle ones are, and
# those before a full one. A full one sees some 30,000 objects: 2 to 8 ms. Python's own
# (700, 10, 10) take twice the CPU time at a million tokens.
THRESHOLDS = (3_000, 4, 1)
OLDEST = 2
FULL_COLLECTIONS = 10  # before a look at everything is worth its time: 300,000 new objects
LONGEST_SECONDS = 15 * 60  # without a look at everything where some request is always under way
LOOK_SECONDS = 5.0  # between two looks at whether the server rests
GIVE_SECONDS = 60.0  # between two times that memory is given back where it never rests


@contextmanager
def short_collections() -> Iterator[None]:
    """Collections that are short however much lives, while the block runs."""
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
    """Look at all that lives, frozen or not, and freeze what is left. Returns how many objects
    were garbage. At a million tokens it takes some 100 ms."""
    gc.unfreeze()
    collected = gc.collect()
    gc.freeze()
    return collected


def is_due(collections: int, seconds: float, *, resting: bool) -> bool:
    """Return True if it is time to look at everything: `collections` full ones and `seconds` ago it
    was done last."""
    worth = collections >= FULL_COLLECTIONS
    return worth and (resting or seconds >= LONGEST_SECONDS)


async def collect_at_rest(
    requests: Callable[[], tuple[int, int]],
    every: float = LOOK_SECONDS,
    give_back: Callable[[], object] | None = None,
) -> None:
    """Look at everything when it is due, until cancelled. `requests`: answered so far, and under
    way now; the server rests where none came between two looks and none is under way. `give_back`:
    called once in each rest, and each minute without, for what the allocator holds of large
    requests. It takes 70 ms of another thread where that is 500 MB."""
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
    """Gives memory that is free in the C library back to the system, where that can be asked for:
    what a body of 4 MB needed stays with the process otherwise."""
    try:
        trim = ctypes.CDLL(None).malloc_trim
    except (OSError, TypeError, AttributeError):  # neither Windows, macOS nor musl have it
        return lambda: None
    return lambda: trim(0)


def full_collections() -> int:
    """How many there were in this process."""
    return int(gc.get_stats()[OLDEST]["collections"])


def _freeze_survivors(phase: str, info: dict[str, Any]) -> None:
    if phase == "stop" and info["generation"] == OLDEST:
        gc.freeze()
