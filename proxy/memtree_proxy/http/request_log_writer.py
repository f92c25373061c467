"""Write a row for each ended request to the store's log, in batches behind the answers.

    a request ends -> [row waits] -> once a second, in one transaction: store -> listeners

A row is made when its request ends, which takes some microseconds; keeping its sources for a
second, to make it in a thread, would take more. A killed process loses waiting rows, up to a
second; a graceful stop writes them. Rows that a failing store does not accept wait as well: at most
`MOST`, after which the oldest are dropped and counted.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from prometheus_client import Counter as MetricCounter

from memtree.errors import MemTreeError
from memtree.ports.request_log import RequestLog, RequestRow
from memtree_proxy.http import log
from memtree_proxy.http.request_rows import request_row
from memtree_proxy.http.request_trace import Trace

logger = logging.getLogger("memtree")

PATIENCE = 5.0  # seconds for the last write
PACE = 1.0  # seconds between two transactions
MOST = 10_000  # rows that wait
TRIMMED = 1_000  # new rows of a tenant after which its oldest ones are trimmed


class BackgroundWriter:
    """Writes every `pace` seconds while something waits; `close` writes the rest. `name`: prefix of
    its log events; `unit`: what it counts there."""

    def __init__(self, name: str, unit: str, pace: float) -> None:
        self._name, self._unit, self._pace = name, unit, pace
        self._failing = False
        self._stop = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @property
    def left(self) -> int:
        """Return the number of waiting records."""
        raise NotImplementedError

    async def _write(self) -> None:
        """Write waiting records, or as many as the store accepts."""
        raise NotImplementedError

    def _begin(self) -> None:
        """Start the writer's task, because a record waits."""
        if self._task is None and not self._stop.is_set():
            self._task = asyncio.create_task(self._run(), name=self._name)

    async def close(self) -> None:
        """Write the rest, within `PATIENCE`; later records are not written."""
        self._stop.set()
        if self._task is None:
            return
        await asyncio.wait((self._task,), timeout=PATIENCE)
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        if self.left:
            logger.warning("%s.lost %s=%d", self._name, self._unit, self.left)

    async def _run(self) -> None:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._pace):
                    await self._stop.wait()
            # read before the write, so that records added during it are written, too
            last = self._stop.is_set()
            try:
                await self._write()
            except Exception as error:  # noqa: BLE001  a loop of the process: the next write goes on
                log.failure(f"{self._name}.failed", error)
            if last:
                return
            if not self._stop.is_set() and not self.left:
                self._task = None  # no task runs while no records come
                return

    async def _stored(self, write: Awaitable[object]) -> bool:
        """Return False if the store fails, or reports a failure itself. The first failure is
        logged."""
        try:
            return await write is not False
        except MemTreeError as error:
            if not self._failing:
                logger.warning("%s.unwritten code=%s", self._name, error.code)
        except Exception as error:  # noqa: BLE001  a loop of the process: the next write goes on
            log.failure(f"{self._name}.failed", error)
        self._failing = True
        return False


class WaitingRow(NamedTuple):
    tenant: str
    row: RequestRow


Rows = dict[str, list[RequestRow]]


class RequestLogWriter(BackgroundWriter):
    """Writes the log of requests, one writer for each app. `close` writes the rest."""

    def __init__(
        self,
        store: RequestLog | None,
        now: Callable[[], float] = time.time,
        *,
        pace: float = PACE,
        most: int = MOST,
    ) -> None:
        """`store`: None to keep no rows."""
        super().__init__("requests", "rows", pace)
        self.store, self._now, self._most = store, now, most
        self._waiting: deque[WaitingRow] = deque()
        self._under_way = 0  # rows that are being written now
        help_ = "Requests that the log dropped, since the store did not take them."
        self.dropped = MetricCounter("memtree_requests_dropped", help_, registry=None)
        self._dropping = False
        self._written: Counter[str] = Counter()  # rows by tenant since they were trimmed
        self._deleted: set[str] = set()  # tenants deleted while rows were written
        self._changed = asyncio.Event()  # set, and replaced by a new one, with each transaction
        self._writing = asyncio.Lock()

    def count(self, seen: Trace) -> None:
        """Add a row for an ended request, if its route is logged and it has a tenant; requests that
        only index or explain are left out. Implements `RequestSink`."""
        if self.store is None or not seen.entry.dialect or seen.tenant is None:
            return
        if seen.entry.index_only or seen.entry.explained:
            return
        try:
            row = request_row(seen)
        except Exception as error:  # noqa: BLE001  no request fails for want of its row
            log.failure("requests.row_failed", error)
            return
        self._waiting.append(WaitingRow(seen.tenant, row))
        self._drop()
        self._begin()

    async def forget(self, tenant: str) -> None:
        """Drop the tenant's rows before its deletion: waiting rows are not written, and rows being
        written are stored before this returns."""
        self._deleted.add(tenant)
        self._waiting = deque(each for each in self._waiting if each.tenant != tenant)
        async with self._writing:
            pass

    async def changed(self, patience: float) -> None:
        """Wait until a transaction has ended in this process, at most so many seconds."""
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
        """Drop the oldest waiting row, if there are too many."""
        if self.left <= self._most:
            return
        self._waiting.popleft()
        self.dropped.inc()
        if not self._dropping:
            logger.warning("requests.dropped waiting=%d", self._most)
        self._dropping = True
