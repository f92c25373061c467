"""The log of requests: a row for each, written behind them, one transaction a second.

    a request ends -> [trace waits] -> once a second: rows made in a thread -> store -> listeners

A request only puts its trace into a queue; what it told is read when the rows are made. A kill
loses what waits, up to a second; a graceful stop writes it. What a failing store does not take
waits as well: at most `MOST` requests, the oldest are dropped and counted.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily
from prometheus_client.registry import Collector

from memtree.errors import MemTreeError
from memtree.ports.request_log import RequestLog, RequestRow
from memtree_proxy.observability import log
from memtree_proxy.observability.background_writer import BackgroundWriter
from memtree_proxy.observability.request_rows import request_row
from memtree_proxy.observability.request_trace import Trace

logger = logging.getLogger("memtree")

PACE = 1.0  # seconds between two transactions
MOST = 10_000  # requests that wait
AT_ONCE = 50  # rows that a thread makes before it lets others run: half a millisecond
TRIMMED = 1_000  # rows of a tenant after which its oldest ones are looked for


class EndedRequest(NamedTuple):
    """`seconds`: that it took."""

    trace: Trace
    seconds: float


class LogMetrics(Collector):
    """Shows what a log dropped."""

    def __init__(self, writer: RequestLogWriter) -> None:
        self._writer = writer

    def collect(self) -> Iterator[Metric]:
        told = "Requests that the log dropped, since the store did not take them."
        yield CounterMetricFamily("memtree_requests_dropped", told, self._writer.dropped)


Rows = dict[str, list[RequestRow]]


class RequestLogWriter(BackgroundWriter):
    """One for each app."""

    def __init__(
        self,
        store: RequestLog | None,
        now: Callable[[], float] = time.time,
        *,
        pace: float = PACE,
        most: int = MOST,
    ) -> None:
        """`store`: None, and nothing is kept."""
        super().__init__("requests", "rows", pace)
        self.store, self._now, self._most = store, now, most
        self._ended: deque[EndedRequest] = deque()
        self._unwritten: Rows = {}
        self._size = 0  # of `_unwritten`
        self.dropped = 0
        self._written: Counter[str] = Counter()  # rows by tenant since they were trimmed
        self._deleted: set[str] = set()  # tenants that were deleted while rows were made
        self._changed = asyncio.Event()  # set, and made anew, with each transaction
        self._writing = asyncio.Lock()

    def add(self, seen: Trace, seconds: float) -> None:
        """A request has ended. Kept are those of routes that say so, with a tenant; not those that
        only index, or only look."""
        if self.store is None or not seen.entry.dialect or seen.tenant is None:
            return
        if seen.entry.index_only or seen.entry.explained:
            return
        if self.left >= self._most:
            self._drop()
        self._ended.append(EndedRequest(seen, seconds))
        self._begin()

    async def forget(self, tenant: str) -> None:
        """All that the tenant has is to be deleted: nothing that waits is written, and what is
        being written is there before this returns."""
        self._deleted.add(tenant)
        kept = [each for each in self._ended if each.trace.tenant != tenant]
        self._ended = deque(kept)
        self._size -= len(self._unwritten.pop(tenant, ()))
        async with self._writing:
            pass

    async def changed(self, patience: float) -> None:
        """Until a transaction has ended in this process, at most so many seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(patience):
                await self._changed.wait()

    @property
    def left(self) -> int:
        return len(self._ended) + self._size

    async def _write(self) -> None:
        assert self.store is not None
        async with self._writing:
            self._deleted.clear()
            ended, self._ended = self._ended, deque()
            self._size += len(ended)  # what is being made and written still waits
            for tenant, new in (await asyncio.to_thread(_made, ended)).items():
                if tenant not in self._deleted:
                    self._unwritten.setdefault(tenant, []).extend(new)
            rows, self._unwritten = self._unwritten, {}
            stored = not rows or await self._stored(self.store.add_requests(rows))
            if not stored:
                self._unwritten = {of: rows[of] for of in rows.keys() - self._deleted}
            self._size = sum(map(len, self._unwritten.values()))
        if rows and stored:
            self._failing = False
            changed, self._changed = self._changed, asyncio.Event()
            changed.set()
            await self._trim(rows)

    async def _trim(self, rows: Mapping[str, Sequence[RequestRow]]) -> None:
        self._written.update({tenant: len(new) for tenant, new in rows.items()})
        due = [tenant for tenant, count in self._written.items() if count >= TRIMMED]
        if not due or self.store is None:
            return
        for tenant in due:
            del self._written[tenant]
        try:
            await self.store.trim_requests(self._now(), due)
        except MemTreeError as error:
            logger.warning("requests.untrimmed code=%s", error.code)

    def _drop(self) -> None:
        """The oldest that waits."""
        self.dropped += 1
        if self.dropped == 1:
            logger.warning("requests.dropped waiting=%d", self._most)
        if not self._unwritten:
            if self._ended:
                self._ended.popleft()
            return
        tenant = min(self._unwritten, key=lambda each: self._unwritten[each][0].time)
        del self._unwritten[tenant][0]
        self._size -= 1
        if not self._unwritten[tenant]:
            del self._unwritten[tenant]


def _made(ended: Iterable[EndedRequest]) -> Rows:
    """Rows by tenant, in a thread: the bytes of answers are read here."""
    made: Rows = {}
    for place, each in enumerate(ended, 1):
        if (tenant := each.trace.tenant) is not None:
            try:
                made.setdefault(tenant, []).append(request_row(*each))
            except Exception as error:  # noqa: BLE001  one odd request takes no others along
                log.failure("requests.no_row", error)
        if not place % AT_ONCE:
            time.sleep(0)  # lets the event loop run
    return made
