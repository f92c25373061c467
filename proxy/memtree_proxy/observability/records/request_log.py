"""The log of requests: a row for each, written behind them, one transaction a second.

    a request ends -> [row waits] -> once a second: store -> listeners

A row is made as its request ends: that takes some microseconds, and keeping all that a row is made
of for a second, to make it in a thread, takes more. A kill loses what waits, up to a second; a
graceful stop writes it. What a failing store does not take waits as well: at most `MOST` rows, the
oldest are dropped and counted.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily
from prometheus_client.registry import Collector

from memtree.errors import MemTreeError
from memtree.ports.request_log import RequestLog, RequestRow
from memtree_proxy.observability import log
from memtree_proxy.observability.records.background_writer import BackgroundWriter
from memtree_proxy.observability.records.request_rows import request_row
from memtree_proxy.observability.request_trace import Trace

logger = logging.getLogger("memtree")

PACE = 1.0  # seconds between two transactions
MOST = 10_000  # rows that wait
TRIMMED = 1_000  # rows of a tenant after which its oldest ones are looked for


class WaitingRow(NamedTuple):
    tenant: str
    row: RequestRow


class LogMetrics(Collector):
    """Shows what a log dropped."""

    def __init__(self, writer: RequestLogWriter) -> None:
        self._writer = writer

    def collect(self) -> Iterator[Metric]:
        help_ = "Requests that the log dropped, since the store did not take them."
        yield CounterMetricFamily("memtree_requests_dropped", help_, self._writer.dropped)


Rows = dict[str, list[RequestRow]]


class RequestLogWriter(BackgroundWriter):
    """Writes the log of requests, one writer for each app. `close` writes what is left."""

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
        self._waiting: deque[WaitingRow] = deque()
        self._under_way = 0  # rows that the store is given just now
        self.dropped = 0
        self._written: Counter[str] = Counter()  # rows by tenant since they were trimmed
        self._deleted: set[str] = set()  # tenants that were deleted while rows were written
        self._changed = asyncio.Event()  # set, and made anew, with each transaction
        self._writing = asyncio.Lock()

    def add(self, seen: Trace, seconds: float) -> None:
        """A request has ended. Kept are those of routes that say so, with a tenant; not those that
        only index, or only look."""
        if self.store is None or not seen.entry.dialect or seen.tenant is None:
            return
        if seen.entry.index_only or seen.entry.explained:
            return
        try:
            row = request_row(seen, seconds)
        except Exception as error:  # noqa: BLE001  no request fails for want of its row
            log.failure("requests.no_row", error)
            return
        self._waiting.append(WaitingRow(seen.tenant, row))
        self._drop()
        self._begin()

    async def forget(self, tenant: str) -> None:
        """All that the tenant has is to be deleted: nothing that waits is written, and what is
        being written is there before this returns."""
        self._deleted.add(tenant)
        self._waiting = deque(each for each in self._waiting if each.tenant != tenant)
        async with self._writing:
            pass

    async def changed(self, patience: float) -> None:
        """Until a transaction has ended in this process, at most so many seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(patience):
                await self._changed.wait()

    @property
    def left(self) -> int:
        return len(self._waiting) + self._under_way

    async def _write(self) -> None:
        assert self.store is not None
        async with self._writing:
            self._deleted.clear()
            taken, self._waiting = self._waiting, deque()
            if not taken:
                return
            rows: Rows = {}
            for tenant, row in taken:
                rows.setdefault(tenant, []).append(row)
            self._under_way = len(taken)
            stored = await self._stored(self.store.add_requests(rows))
            self._under_way = 0
            if not stored:
                kept = (each for each in taken if each.tenant not in self._deleted)
                self._waiting = deque((*kept, *self._waiting))
        if stored:
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
        """The oldest that waits, where too many do."""
        if self.left <= self._most:
            return
        self._waiting.popleft()
        self.dropped += 1
        if self.dropped == 1:
            logger.warning("requests.dropped waiting=%d", self._most)
