"""One line an event: `http.request method=POST route=/v1/models status=200 ms=3.1 request=5f2c`.

Never logged: message text, query strings, credentials. A traceback is logged as its frames and the
types of its errors, since the text of an exception may quote its input. Lines of a request and of
its background work have the request's id; lines of libraries (uvicorn among them) have the same
form.

Lines are formatted and written in batches, in their order: writing each line separately costs a
request more than all metrics, since code and file are not in the CPU's cache. Events wait for at
most `SECONDS`, or for `MOST` others; warnings, errors and lines of libraries flush waiting lines at
once. The rest is written when the process ends; only a killed process loses the events of its last
moment. If no other handler would see the `logging` record of an event, none is created: the event
waits as an `EventRow`.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import sys
import time
import traceback
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from json.encoder import encode_basestring_ascii
from typing import NamedTuple, TextIO

from memtree.process import tracing

logger, root = logging.getLogger("memtree"), logging.getLogger()

# event of a request refused by the protocol: too large, too slow, or not HTTP
REFUSED = "http.refused"
_EVENT = re.compile(r"[a-z][a-z_]*\.[a-z_]+(?=[\s,]|$)")
# printable characters except space, quotes, `=` and backslash
_PLAIN = re.compile(r"[!#-<>-\[\]-~]+")
_FIELDS = re.compile(r"(?: [a-z_]+=[^\s=\"]+)+")
_LEVELS = {logging.DEBUG: "DEBUG", logging.INFO: "INFO"}  # names of the levels of events

SECONDS = 0.02  # that an event waits at most
MOST = 64  # events that wait

Value = str | int | float | None


def event(name: str, **fields: Value) -> None:
    """Log an event. Fields that are None are left out."""
    if logger.isEnabledFor(logging.INFO):
        _write(logging.INFO, name, fields)


def detail(name: str, **fields: Value) -> None:
    """Log an event at debug level."""
    if logger.isEnabledFor(logging.DEBUG):
        _write(logging.DEBUG, name, fields)


def failure(name: str, error: BaseException, **fields: Value) -> None:
    """Log an unexpected error, with its frames."""
    logger.error(
        "%s\n%s",
        _line(name, fields),
        frames(error),
        extra={"event": name, "fields": {**fields, "traceback": frames(error)}},
    )


@dataclass(frozen=True, slots=True)
class EventLine:
    """An event as a log message, formatted on demand."""

    name: str
    fields: Mapping[str, Value]

    def __str__(self) -> str:
        return _line(self.name, self.fields)


def _write(level: int, name: str, fields: dict[str, Value]) -> None:
    """Log a line as `logger.log` does, but without finding the caller's file and line: nobody shows
    them, and every request logs a line."""
    known = None if name == REFUSED else _only_lines()
    if known is not None:
        lines, form = known
        lines.put(form, EventRow(time.time(), level, name, fields, _request()))
        return
    extra = {"event": name, "fields": fields, "request": _request()}
    text = EventLine(name, fields)
    logger.handle(logger.makeRecord(logger.name, level, "", 0, text, (), None, extra=extra))


def _only_lines() -> tuple[BatchedLines, EventFormatter] | None:
    """Return our handler and its formatter if nobody needs the record of an event: creating a
    record takes longer than the line. A `Tally` needs warnings and `REFUSED`."""
    handlers = root.handlers
    if not handlers or logger.handlers or logger.filters or logger.disabled:
        return None
    first = handlers[0]
    if type(first) is not BatchedLines or not logger.propagate:
        return None
    if logging.getLogRecordFactory() is not logging.LogRecord:
        return None
    for other in handlers[1:]:
        if type(other) is not Tally:
            return None
    form = first.formatter
    if first.level or first.filters or not isinstance(form, EventFormatter):
        return None
    return first, form


def _line(name: str, fields: Mapping[str, Value]) -> str:
    known = [f"{key}={_shown(value)}" for key, value in fields.items() if value is not None]
    return " ".join((name, *known))


def frames(error: BaseException) -> str:
    """Return the stack of an error and of its causes, without their messages."""
    stacks: list[str] = []
    seen: set[int] = set()
    at: BaseException | None = error
    while at is not None and id(at) not in seen:
        seen.add(id(at))
        stacks.append("".join(traceback.format_tb(at.__traceback__)) + type(at).__qualname__)
        at = at.__cause__ or (None if at.__suppress_context__ else at.__context__)
    return "\ncaused by\n".join(stacks)


# -- lines in batches -------------------------------------------------------------------------


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

    def put(self, form: EventFormatter, row: EventRow) -> None:
        """Add a line as `emit` does, for an event that is not a warning. `form`: the handler's."""
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
                waiting = self._waiting.popleft()
                if isinstance(waiting, tuple):
                    form, row = waiting
                    lines.append(form.event(row) + self.terminator)
                else:
                    lines.append(self.format(waiting) + self.terminator)
            self.stream.write("".join(lines))
            self.stream.flush()
        except Exception:  # noqa: BLE001  as its parent: logging stops nobody
            self.handleError(logging.makeLogRecord({"msg": "log lines"}))


# -- formats ----------------------------------------------------------------------------------


class TextFormatter(EventFormatter):
    """Formats a line as `2026-11-21 16:33:35,123 INFO memtree http.request ... request=5f2c`."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s %(message)s")
        self._second = (0, "")  # a second, and its formatted text

    def format(self, record: logging.LogRecord) -> str:
        record.exc_text = None  # another formatter may have cached a text with the error's message
        return super().format(record)

    def event(self, row: EventRow) -> str:
        second = int(row.created)
        when = f"{self._shown(second)},{int((row.created - second) * 1000):03}"
        shown = f"{when} {_LEVELS[row.level]} {logger.name} {_line(row.name, row.fields)}"
        return f"{shown} request={row.request}" if row.request else shown

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:
        return f"{self._shown(int(record.created))},{int(record.msecs):03}"

    def _shown(self, second: int) -> str:
        if second != self._second[0]:
            self._second = (second, time.strftime(self.default_time_format, time.localtime(second)))
        return self._second[1]

    def formatMessage(self, record: logging.LogRecord) -> str:
        shown = super().formatMessage(record)
        request = _request_of(record)
        if not request:
            return shown
        first, end, rest = shown.partition("\n")
        return f"{first} request={request}{end}{rest}"

    def formatException(self, ei: object) -> str:
        return _frames(ei)


class JsonFormatter(EventFormatter):
    """Formats one JSON object a line: `time` (UTC), `level`, `logger`, `event` and its fields,
    `request`; for lines of libraries `message` in place of the event."""

    def event(self, row: EventRow) -> str:
        shown = f'{{"time": "{_utc(row.created)}", "level": "{_LEVELS[row.level].lower()}", '
        shown += f'"logger": "{logger.name}", "event": "{row.name}"'
        for key, value in row.fields.items():
            if value is not None:
                shown += f', "{key}": {_encoded(value)}'
        return f'{shown}, "request": {_encoded(row.request)}}}' if row.request else shown + "}"

    def format(self, record: logging.LogRecord) -> str:
        shown: dict[str, Value] = {
            "time": _utc(record.created),
            "level": record.levelname.lower(),
            "logger": record.name,
            **_content(record),
        }
        if request := _request_of(record):
            shown["request"] = request
        if record.exc_info and "traceback" not in shown:
            shown["traceback"] = _frames(record.exc_info)
        return json.dumps({key: _short(value) for key, value in shown.items() if value is not None})


FORMS = {"text": TextFormatter, "json": JsonFormatter}


def to_stderr(level: str, form: str) -> None:
    """Write all log lines of this process to stderr, in one of `FORMS`, from this level on."""
    # No format shows these, so they need not be determined for every line.
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    handler = BatchedLines(sys.stderr)
    handler.setFormatter(FORMS[form]())
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=handler.forget)
    logging.basicConfig(level=level.upper(), handlers=[handler])


# -- counts -----------------------------------------------------------------------------------


class Tally(logging.Handler):
    """Counts warnings and errors by event, each degradation among them, and requests that the
    protocol refused before they counted as requests. Event names are constants in the code, so
    there are few; lines of libraries count as `other`.
    """

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.counts: Counter[str] = Counter()

    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno >= logging.WARNING or getattr(record, "event", None) == REFUSED:
            self.counts[_name(record) or "other"] += 1


@contextmanager
def counting() -> Iterator[Tally]:
    """Count warnings of the whole process while the block runs."""
    tally, root = Tally(), logging.getLogger()
    root.addHandler(tally)
    try:
        yield tally
    finally:
        root.removeHandler(tally)


# ---------------------------------------------------------------------------------------------


def _name(record: logging.LogRecord) -> str | None:
    """Return the event of a record, never from its arguments, which may be any text."""
    given = getattr(record, "event", None)
    if isinstance(given, str):
        return given
    match = _EVENT.match(record.msg) if isinstance(record.msg, str) else None
    return match[0] if match and record.name.partition(".")[0] == "memtree" else None


def _content(record: logging.LogRecord) -> Mapping[str, Value]:
    """Return event and fields, else the message."""
    name = _name(record)
    if name is None:
        return {"message": record.getMessage()}
    fields = getattr(record, "fields", None)
    if isinstance(fields, dict):
        return {"event": name, **fields}
    rest = record.getMessage().removeprefix(name)
    if not rest:
        return {"event": name}
    if not _FIELDS.fullmatch(rest):
        return {"event": name, "message": rest.lstrip(" ,:")}
    return {"event": name, **dict(pair.split("=", 1) for pair in rest.split())}


def _request() -> str:
    watch = tracing.current()
    return watch.request if watch else ""


def _request_of(record: logging.LogRecord) -> str:
    """Return the id of a line's request, which may have ended before the line is written."""
    request: str | None = getattr(record, "request", None)
    return _request() if request is None else request


def _frames(info: object) -> str:
    error = info[1] if isinstance(info, tuple) else None
    return frames(error) if isinstance(error, BaseException) else ""


def _short(value: Value) -> Value:
    return round(value, 3) if isinstance(value, float) else value


def _utc(seconds: float) -> str:
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
    return f"{whole}.{int(seconds % 1 * 1000):03}Z"


def _encoded(value: Value) -> str:
    """Encode a value as `json.dumps` does inside an object."""
    return encode_basestring_ascii(value) if isinstance(value, str) else json.dumps(_short(value))


def _shown(value: Value) -> str:
    """Return a value unquoted if it is one word, else quoted, so that an event stays on one
    line."""
    if type(value) is int:
        return str(value)
    return f"{value:.1f}" if isinstance(value, float) else _quoted(str(value))


@lru_cache(256)  # most values repeat those of the previous request; those of events are short
def _quoted(text: str) -> str:
    return text if _PLAIN.fullmatch(text) else json.dumps(text)
