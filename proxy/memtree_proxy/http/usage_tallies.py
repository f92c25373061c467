"""Count what each tenant used and saved, by day (UTC), in the store's tallies.

A request only adds to numbers in this process. They are written at most every `PACE` seconds and at
the end of the process, so a killed process loses the counts of its last seconds. Numbers that a
failing store does not accept stay here, up to `MOST`; beyond that new ones are lost, with a
warning. If a store reports a failure after it has committed, which only happens over a network, a
number may count twice.

    count -> [waiting] -> every five seconds -> store

Reads of a tenant take turns, so that many of them do not slow others; writing never waits for a
reader. If a write of the tenant happens during a read, the read is repeated.

Histograms of milliseconds can be summed over days and processes:

>>> percentile({bucket(30.0): 3, bucket(500.0): 1}, 0.5)
29.0
"""

from __future__ import annotations

import asyncio
import logging
from bisect import bisect_left
from collections.abc import Mapping
from typing import NamedTuple
from weakref import WeakValueDictionary

from memtree.clock import day_of
from memtree.context.answer_state import State
from memtree.ports.context_store import Tallies
from memtree_proxy.http.request_log_writer import BackgroundWriter
from memtree_proxy.http.request_trace import Trace

logger = logging.getLogger("memtree")

PACE = 5.0  # seconds between two writes
MOST = 100_000  # waiting numbers: some 10 MB, two thousand tenants a day
READS = 3  # attempts, if writes interfere: the last one may miss or double what was written
MILLI = 1_000  # tallies are whole numbers

# Prefixes of tallies: `DAILY` for those read by day, `OVER` for those read as sums.
DAILY, OVER = "usage.", "usage_"
STATE, LATENCY = f"{DAILY}requests.", f"{OVER}ms."
RAW, SENT, SAVED = f"{DAILY}raw_tokens", f"{DAILY}sent_tokens", f"{DAILY}saved_millitokens"
MICROS, PRICED = f"{OVER}saved_micros", f"{OVER}priced_requests"
# Milliseconds. Each is some 1.4 times the one before, so a percentile is off by a sixth at most.
# Memory takes from a third of a millisecond to five minutes.
BOUNDS = (
    0.25, 0.35, 0.5, 0.7, 1, 1.4, 2, 2.8, 4, 5.6, 8, 11, 16, 23, 32, 45, 64, 90, 128, 180, 256, 360,
    512, 720, 1_024, 1_440, 2_048, 2_900, 4_096, 5_800, 8_192, 11_600, 16_384, 32_768, 65_536,
    131_072, 262_144, 524_288,
)  # fmt: skip


class UsageCounts(NamedTuple):
    """`daily`: by day, for names with `DAILY`; `sums`: all numbers over these days."""

    daily: Mapping[int, Mapping[str, int]]
    sums: Mapping[str, int]


def amounts(seen: Trace) -> dict[str, int]:
    """Return the amounts that one request adds. A request that memory refused counts as posted,
    with nothing sent. Money counts if the model has a price."""
    memory, saved = seen.memory, seen.entry.saving.saved
    added = {f"{STATE}{memory.state}": 1}
    if memory.ms is not None:
        added[f"{LATENCY}{bucket(memory.ms):g}"] = 1
    if memory.raw_tokens is not None:
        added[RAW] = memory.raw_tokens
    if memory.sent_tokens is not None:
        added[SENT] = memory.sent_tokens
    if saved:
        added[SAVED] = saved * MILLI
    if memory.input_price is not None:
        added[PRICED] = 1
        added[MICROS] = round(saved * memory.input_price)
    return added


class UsageTallies(BackgroundWriter):
    """A `RequestSink`; one for each app."""

    def __init__(self, store: Tallies | None, *, pace: float = PACE, most: int = MOST) -> None:
        """`store`: None to count nothing."""
        super().__init__("usage", "numbers", pace)
        self._store, self._most = store, most
        self._waiting: dict[tuple[str, int], dict[str, int]] = {}
        self._size = 0
        self._dropping = False
        # locks of readers
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._crossed: dict[str, bool] = {}  # for each reader, True if a write interfered
        # the tenant whose numbers are being written, so neither waiting nor surely stored
        self._writing = ""
        self._written = asyncio.Event()  # set when that write ends

    def count(self, seen: Trace) -> None:
        """Count a request, unless memory was off or did not decide, or it only explains."""
        if self._store is None or seen.memory.state == State.OFF or seen.entry.explained:
            return
        if seen.counted and seen.tenant:
            self._add((seen.tenant, day_of(seen.entry.came)), amounts(seen))
            self._begin()

    async def read(self, tenant: str, first: int, last: int) -> UsageCounts:
        """Return the counts of these days, both included: stored ones (also by other processes) and
        those that wait here. Raises as `Tallies` does."""
        if self._store is None:
            return UsageCounts({}, {})
        turn = self._turns.setdefault(tenant, asyncio.Lock())
        async with turn:
            for _ in range(READS):
                try:
                    counts = await self._read(self._store, tenant, first, last)
                finally:
                    crossed = self._crossed.pop(tenant, False)
                if not crossed:
                    break
        return counts

    async def _read(self, store: Tallies, tenant: str, first: int, last: int) -> UsageCounts:
        while self._writing == tenant:
            await self._written.wait()
        self._crossed[tenant] = False
        daily = await store.daily(tenant, first, last, DAILY)
        sums = await store.tallies(tenant, first, last)
        for (whose, day), added in self._waiting.items():
            if whose == tenant and first <= day <= last:
                of_day = daily.setdefault(day, {})
                _merge(of_day, {name: n for name, n in added.items() if name.startswith(DAILY)})
                _merge(sums, added)
        return UsageCounts(daily, sums)

    @property
    def left(self) -> int:
        return self._size

    async def _write(self) -> None:
        """Write all waiting numbers, or as many as the store accepts."""
        for key in list(self._waiting):
            if not await self._write_one(key):
                return
        self._failing = self._dropping = False

    async def _write_one(self, key: tuple[str, int]) -> bool:
        added = self._waiting.pop(key)
        self._size -= len(added)
        tenant, _ = key
        self._writing = tenant
        if tenant in self._crossed:
            self._crossed[tenant] = True
        stored = False
        try:
            stored = self._store is None or await self._stored(self._store.add(*key, added))
        finally:  # also when cancelled: numbers that may not be stored are reported as lost
            if not stored:
                self._add(key, added)
            self._writing = ""
            self._written.set()
            self._written.clear()
        return stored

    def _add(self, key: tuple[str, int], added: Mapping[str, int]) -> None:
        of_day = self._waiting.get(key, {})
        if self._size >= self._most:  # no room for new numbers, only for additions to waiting ones
            added = {name: amount for name, amount in added.items() if name in of_day}
            if not self._dropping:
                logger.warning("usage.dropped numbers=%d", self._size)
            self._dropping = True
        if added:
            self._size -= len(of_day)
            _merge(of_day, added)
            self._size += len(of_day)
            self._waiting[key] = of_day


def _merge(sums: dict[str, int], added: Mapping[str, int]) -> None:
    for name, amount in added.items():
        sums[name] = sums.get(name, 0) + amount


def bucket(ms: float) -> float:
    """Return the upper bound of the bucket for `ms`, which names it."""
    return BOUNDS[min(bisect_left(BOUNDS, ms), len(BOUNDS) - 1)]


def percentile(counts: Mapping[float, int], share: float) -> float | None:
    """Return the milliseconds below which this share of all values lies, assuming even distribution
    within a bucket; None if nothing was counted. `counts`: by bound."""
    total = sum(counts.values())
    if total <= 0:
        return None
    left, lower = share * total, 0.0
    for bound in BOUNDS:
        here = counts.get(bound, 0)
        if here and left <= here:
            return round(lower + (bound - lower) * max(0.0, left) / here, 1)
        left, lower = left - here, bound
    return BOUNDS[-1]
