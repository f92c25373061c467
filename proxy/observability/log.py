"""One line an event: `http.request method=POST route=/v1/models status=200 ms=3.1 request=5f2c`.

Never logged: message text, query strings, credentials. A traceback is logged as its frames and the
types of its errors, since the text of an exception may quote what it read. Lines of a request and
of its background work carry the request's id; lines of libraries (uvicorn among them) have the same
form. What this file does not do: decide what is an event.
"""

from __future__ import annotations

import json
import logging
import re
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from memtree import tracing

logger = logging.getLogger("memtree")

Value = str | int | float | None

REFUSED = "http.refused"  # by the protocol: too large, too slow, or no HTTP
_EVENT = re.compile(r"[a-z][a-z_]*\.[a-z_]+(?=[\s,]|$)")
_FIELDS = re.compile(r"(?: [a-z_]+=[^\s=\"]+)+")


def event(name: str, **fields: Value) -> None:
    """Fields that are None are left out."""
    if logger.isEnabledFor(logging.INFO):
        logger.info("%s", line(name, **fields), extra={"event": name, "fields": fields})


def failure(name: str, error: BaseException, **fields: Value) -> None:
    """An unexpected error, with its frames."""
    logger.error(
        "%s\n%s",
        line(name, **fields),
        frames(error),
        extra={"event": name, "fields": {**fields, "traceback": frames(error)}},
    )


def line(name: str, **fields: Value) -> str:
    known = [f"{key}={_shown(value)}" for key, value in fields.items() if value is not None]
    return " ".join((name, *known))


def frames(error: BaseException) -> str:
    """The stack of an error and of its causes, without their messages."""
    stacks: list[str] = []
    seen: set[int] = set()
    at: BaseException | None = error
    while at is not None and id(at) not in seen:
        seen.add(id(at))
        stacks.append("".join(traceback.format_tb(at.__traceback__)) + type(at).__qualname__)
        at = at.__cause__ or (None if at.__suppress_context__ else at.__context__)
    return "\ncaused by\n".join(stacks)


# -- forms ------------------------------------------------------------------------------------


class TextFormatter(logging.Formatter):
    """`2026-11-21 16:33:35,123 INFO memtree http.request ... request=5f2c`."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        record.exc_text = None  # another formatter may have cached one, with the error's message
        return super().format(record)

    def formatMessage(self, record: logging.LogRecord) -> str:
        shown = super().formatMessage(record)
        request = _request()
        if not request:
            return shown
        first, end, rest = shown.partition("\n")
        return f"{first} request={request}{end}{rest}"

    def formatException(self, ei: object) -> str:
        return _frames(ei)


class JsonFormatter(logging.Formatter):
    """One object a line: `time` (UTC), `level`, `logger`, `event` and its fields, `request`; for
    lines of libraries `message` in the event's place."""

    def format(self, record: logging.LogRecord) -> str:
        shown: dict[str, Value] = {
            "time": _utc(record.created),
            "level": record.levelname.lower(),
            "logger": record.name,
            **_content(record),
        }
        if request := _request():
            shown["request"] = request
        if record.exc_info and "traceback" not in shown:
            shown["traceback"] = _frames(record.exc_info)
        return json.dumps({key: _short(value) for key, value in shown.items() if value is not None})


FORMS = {"text": TextFormatter, "json": JsonFormatter}


def to_stderr(level: str, form: str) -> None:
    """All log lines of this process, in one of `FORMS`, from this level on."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(FORMS[form]())
    logging.basicConfig(level=level.upper(), handlers=[handler])


# -- counts -----------------------------------------------------------------------------------


class Tally(logging.Handler):
    """Counts warnings and errors by event, each degradation among them, and requests that the
    protocol refused before there was a request to count.

    Event names are constants in the code, so there are few; lines of libraries count as `other`.
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
    """The event of a record, never taken from its arguments: those may be any text."""
    given = getattr(record, "event", None)
    if isinstance(given, str):
        return given
    match = _EVENT.match(record.msg) if isinstance(record.msg, str) else None
    return match[0] if match and record.name.partition(".")[0] == "memtree" else None


def _content(record: logging.LogRecord) -> Mapping[str, Value]:
    """Event and fields, else the message."""
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


def _frames(info: object) -> str:
    error = info[1] if isinstance(info, tuple) else None
    return frames(error) if isinstance(error, BaseException) else ""


def _short(value: Value) -> Value:
    return round(value, 3) if isinstance(value, float) else value


def _utc(seconds: float) -> str:
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
    return f"{whole}.{int(seconds % 1 * 1000):03}Z"


def _shown(value: Value) -> str:
    """Plain where it is one word, else quoted, so that an event stays on one line."""
    shown = f"{value:.1f}" if isinstance(value, float) else str(value)
    plain = shown.isascii() and shown.isprintable() and not set(shown) & set(' "=\\')
    return shown if plain and shown else json.dumps(shown)
