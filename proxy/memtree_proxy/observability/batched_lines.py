"""Log lines of requests, formatted and written in batches, in their order.

Writing each line separately costs a request more than all metrics, since code and file are not in
the CPU's cache. Events wait for at most `SECONDS`, or for `MOST` others; warnings, errors and lines
of libraries flush waiting lines at once. The rest is written when the process ends; only a killed
process loses the events of its last moment.

If no other handler would see the `logging` record of an event, none is created: the event waits as
an `EventRow`.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Mapping
from typing import NamedTuple, TextIO

SECONDS = 0.02
MOST = 64

Value = str | int | float | None


class EventRow(NamedTuple):
    """The parts of an event that a log line shows. `created`: from `time.time`."""

    created: float
    level: int
    name: str
    fields: Mapping[str, Value]
    request: str


class EventFormatter(logging.Formatter):
    """Formats events without log records."""

    def event(self, row: EventRow) -> str:
        """Return the line that `format` makes of a record of this event."""
        raise NotImplementedError


class BatchedLines(logging.StreamHandler[TextIO]):
    """A stream handler that batches events; outside of an event loop it behaves like its parent."""

    def __init__(self, stream: TextIO, seconds: float = SECONDS, most: int = MOST) -> None:
        super().__init__(stream)
        self._seconds, self._most = seconds, most
        # A deque, so that a line appended by one thread while another one writes is not lost.
        self._waiting: deque[logging.LogRecord | tuple[EventFormatter, EventRow]] = deque()
        self._due: asyncio.TimerHandle | None = None

    def emit(self, record: logging.LogRecord) -> None:
        self._waiting.append(record)
        # The fields of an event never change, while the arguments of others may.
        waits = record.levelno < logging.WARNING and hasattr(record, "fields")
        if not waits or len(self._waiting) >= self._most or not self._flushes_soon():
            self.flush()

    def row_formatter(self) -> EventFormatter | None:
        """Return the formatter for `put`; None if this handler needs records."""
        if self.level or self.filters or not isinstance(self.formatter, EventFormatter):
            return None
        return self.formatter

    def put(self, form: EventFormatter, row: EventRow) -> None:
        """Add a line as `emit` does, for an event that is not a warning."""
        self._waiting.append((form, row))
        due = self._due is not None or self._flushes_soon()
        if len(self._waiting) >= self._most or not due:
            self.flush()

    def flush(self) -> None:
        self.acquire()
        try:
            self._due = None
            if self._waiting:
                self._write()
        finally:
            self.release()

    def forget(self) -> None:
        """Drop waiting lines, because another process writes them."""
        self._waiting.clear()

    def _flushes_soon(self) -> bool:
        if self._due is None:
            try:
                loop = asyncio.get_running_loop()
            except RuntimeError:
                return False
            self._due = loop.call_later(self._seconds, self.flush)
        return True

    def _write(self) -> None:
        lines: list[str] = []
        try:
            while self._waiting:
                lines.append(self._line(self._waiting.popleft()) + self.terminator)
            self.stream.write("".join(lines))
            self.stream.flush()
        except Exception:  # noqa: BLE001  as its parent: logging stops nobody
            self.handleError(logging.makeLogRecord({"msg": "log lines"}))

    def _line(self, waiting: logging.LogRecord | tuple[EventFormatter, EventRow]) -> str:
        if isinstance(waiting, tuple):
            form, row = waiting
            return form.event(row)
        return self.format(waiting)
