"""Log lines, and the other renderings of a record."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from memtree.config import Settings
from memtree.context.answer_state import State
from memtree.context.sent_requests import Saving
from memtree.process import tracing
from memtree_proxy.http import log, request_trace
from memtree_proxy.http.log import BatchedLines, Value
from memtree_proxy.http.metrics import Metrics
from memtree_proxy.http.request_rows import request_row
from memtree_proxy.http.request_trace import LogEntry, MemoryShare, RequestTimes, Trace
from memtree_proxy.http.usage_tallies import RAW, SAVED, SENT, STATE, amounts
from memtree_proxy.server.wrapped_runs import RunTotals

# ------------------------------------------------------------------------------------------------
# Log lines in both forms: fields, request ids, tracebacks without text, and what is counted.


SECRET = "the secret of the user"


class Lines:
    """The memtree loggers into a string, in one form."""

    def __init__(self, form: str) -> None:
        self._out = io.StringIO()
        self._handler = logging.StreamHandler(self._out)
        self._handler.setFormatter(log.FORMS[form]())
        self.root = logging.getLogger()
        self.root.addHandler(self._handler)
        self._level = self.root.level
        self.root.setLevel(logging.INFO)

    def close(self) -> None:
        self.root.removeHandler(self._handler)
        self.root.setLevel(self._level)

    @property
    def text(self) -> str:
        return self._out.getvalue()

    @property
    def last(self) -> dict:
        return json.loads(self.text.splitlines()[-1])


@pytest.fixture
def plain() -> Iterator[Lines]:
    lines = Lines("text")
    yield lines
    lines.close()


@pytest.fixture
def objects() -> Iterator[Lines]:
    lines = Lines("json")
    yield lines
    lines.close()


def broken() -> BaseException:
    try:
        raise ValueError(SECRET)
    except ValueError as error:
        return error


def test_an_event_as_text_and_as_an_object(plain: Lines, objects: Lines):
    log.event("http.request", method="GET", status=200, ms=3.14159, why='a "b"', none=None)
    assert 'INFO memtree http.request method=GET status=200 ms=3.1 why="a \\"b\\""' in plain.text
    found = objects.last
    assert found.pop("time").endswith("Z")
    assert found == {
        "level": "info", "logger": "memtree", "event": "http.request",
        "method": "GET", "status": 200, "ms": 3.142, "why": 'a "b"',
    }  # fmt: skip


def test_lines_of_a_request_carry_its_id(plain: Lines, objects: Lines):
    with tracing.watched(Trace("GET", "/", "r-1")):
        log.event("chat.recalled", round=1)
        logging.getLogger("some.library").warning("Invalid HTTP request received.")
    log.event("chat.recalled", round=2)
    first, second, third = plain.text.splitlines()
    assert first.endswith("round=1 request=r-1")
    assert second.endswith("some.library Invalid HTTP request received. request=r-1")
    assert third.endswith("round=2")
    shown = [json.loads(line) for line in objects.text.splitlines()]
    assert [one.get("request") for one in shown] == ["r-1", "r-1", None]
    assert shown[1]["message"] == "Invalid HTTP request received."


def test_work_behind_a_request_carries_its_id(plain: Lines):
    trace = Trace("GET", "/", "r-2")
    with tracing.behind("embed", trace):
        log.event("indexer.job", jobs=1)
    with tracing.behind("embed", None):
        log.event("indexer.job", jobs=2)
    assert [line.endswith("request=r-2") for line in plain.text.splitlines()] == [True, False]


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_traceback_has_frames_and_no_text(form: str):
    lines = Lines(form)
    try:
        log.failure("chat.memory_failed", broken(), route="/x")
        try:
            raise KeyError(SECRET)
        except KeyError:
            logging.getLogger("memtree.indexer").exception("indexer.job_failed")
            logging.getLogger("some.library").exception("Exception in ASGI application")
    finally:
        lines.close()
    assert SECRET not in lines.text
    assert lines.text.count("test_log.py") >= 3
    assert "ValueError" in lines.text
    assert lines.text.count("KeyError(SECRET)") == 2


def test_warnings_of_other_files_are_read_into_fields(objects: Lines):
    ours = logging.getLogger("memtree.indexer")
    ours.warning("indexer.job_delayed code=%s seconds=%.0f", "store_unavailable", 4.0)
    assert objects.last.items() >= {
        "level": "warning", "event": "indexer.job_delayed", "code": "store_unavailable",
        "seconds": "4",
    }.items()  # fmt: skip
    ours.warning("embedder.unavailable, ranking by words alone: %s", "no model")
    assert objects.last["event"] == "embedder.unavailable"
    assert objects.last["message"] == "ranking by words alone: no model"
    logging.getLogger("aiohttp").warning("store.like this one")
    assert objects.last["message"] == "store.like this one"


def test_an_object_stays_a_line(objects: Lines):
    log.event("a.b", text="two\nlines\u2028\x00ü")
    assert len(objects.text.splitlines()) == 1
    assert objects.last["text"] == "two\nlines\u2028\x00ü"


def test_warnings_are_counted_by_event_and_never_by_text():
    tally, ours = log.Tally(), logging.getLogger("memtree")
    ours.addHandler(tally)
    level = ours.level
    ours.setLevel(logging.INFO)
    try:
        ours.warning("store.unavailable code=%s", "x")
        ours.warning("store.unavailable code=%s", "y")
        ours.warning("%s", f"{SECRET}.{SECRET}")
        ours.info("store.fine")
        log.event("http.request", status=200)
        log.event("http.refused", status=431)
        log.failure("chat.memory_failed", broken())
    finally:
        ours.removeHandler(tally)
        ours.setLevel(level)
    assert tally.counts == {"store.unavailable": 2, "other": 1, "chat.memory_failed": 1,
                            "http.refused": 1}  # fmt: skip


class RecordList(logging.Handler):
    def __init__(self, seen: list[logging.LogRecord]) -> None:
        super().__init__()
        self._seen = seen

    def emit(self, record: logging.LogRecord) -> None:
        self._seen.append(record)


class DirectLines:
    """Lines that `to_stderr` sets up, into a string; `with_record`: somebody else listens as
    well."""

    def __init__(self, form: str, *, with_record: bool) -> None:
        self._out, self._root = io.StringIO(), logging.getLogger()
        self._before, self._level = self._root.handlers[:], self._root.level
        self.handler = BatchedLines(self._out, most=1)
        self.handler.setFormatter(log.FORMS[form]())
        self.seen: list[logging.LogRecord] = []
        others = [RecordList(self.seen)] if with_record else []
        self._root.handlers = [self.handler, log.Tally(), *others]
        self._root.setLevel(logging.INFO)

    def close(self) -> str:
        self._root.handlers = self._before
        self._root.setLevel(self._level)
        return self._out.getvalue()


FIELDS: dict[str, Value] = {
    "method": "GET", "status": 200, "ms": 3.14159, "why": 'a "b" é\u2028', "none": None,
    "state": State.PACKED, "flag": True, "far": 1e300, "empty": "",
}  # fmt: skip


@pytest.mark.parametrize("request_id", ["", "call-7"])
@pytest.mark.parametrize("form", ["text", "json"])
def test_an_event_without_a_record_is_the_same_line(form: str, request_id: str):
    shown = []
    for with_record in (False, True):
        lines = DirectLines(form, with_record=with_record)
        with tracing.watched(Trace("GET", "/", request_id) if request_id else None):
            log.event("http.request", **FIELDS)
            log.detail("http.request", **FIELDS)  # below the level
        shown.append(lines.close())
        assert [getattr(record, "event", None) for record in lines.seen] == (
            ["http.request"] if with_record else []
        )
    without_time = [line[line.index("INFO" if form == "text" else '"level"') :] for line in shown]
    assert without_time[0] == without_time[1]
    assert without_time[0].count("\n") == 1


def test_an_event_that_a_filter_or_a_logger_asks_for_has_a_record():
    ours = logging.getLogger("memtree")
    lines, seen = DirectLines("text", with_record=False), []
    try:
        lines.handler.addFilter(lambda record: seen.append(record) or False)
        log.event("a.b")
        lines.handler.filters.clear()
        ours.addFilter(lambda record: seen.append(record) or False)
        log.event("a.c")
        ours.filters.clear()
        log.event("a.d")
    finally:
        ours.filters.clear()
        text = lines.close()
    assert [record.event for record in seen] == ["a.b", "a.c"]
    assert text.count("\n") == 1


def test_a_tally_counts_a_refusal_that_has_no_other_listener():
    lines = DirectLines("text", with_record=False)
    try:
        tally = logging.getLogger().handlers[1]
        assert isinstance(tally, log.Tally)
        log.event("http.refused", status=431)
        log.event("http.request", status=200)
    finally:
        text = lines.close()
    assert tally.counts == {"http.refused": 1}
    assert text.count("\n") == 2


# ------------------------------------------------------------------------------------------------
# When log lines are written, and in which order.


def lines(most: int = 64, seconds: float = 60) -> tuple[BatchedLines, io.StringIO]:
    stream = io.StringIO()
    return BatchedLines(stream, seconds, most), stream


def record(text: str, level: int = logging.INFO, *, event: bool = True) -> logging.LogRecord:
    made = logging.LogRecord("memtree", level, "", 0, text, (), None)
    if event:
        made.__dict__["fields"] = {}
    return made


async def test_events_wait_for_each_other():
    handler, stream = lines(most=3)
    handler.handle(record("a"))
    handler.handle(record("b"))
    assert stream.getvalue() == ""
    handler.handle(record("c"))
    assert stream.getvalue() == "a\nb\nc\n"
    handler.handle(record("d"))
    handler.flush()
    assert stream.getvalue() == "a\nb\nc\nd\n"


async def test_events_do_not_wait_for_ever():
    handler, stream = lines(seconds=0)
    for text in ("a", "b"):
        handler.handle(record(text))
        for _ in range(3):  # turns of the loop
            await asyncio.sleep(0)
    assert stream.getvalue() == "a\nb\n"


async def test_a_warning_is_written_at_once_behind_what_waits():
    handler, stream = lines()
    handler.handle(record("a"))
    handler.handle(record("b", logging.WARNING))
    assert stream.getvalue() == "a\nb\n"


async def test_a_line_of_a_library_is_written_at_once():
    """The values that it shows may be others a moment later."""
    handler, stream = lines()
    handler.handle(record("a"))
    handler.handle(record("b", event=False))
    assert stream.getvalue() == "a\nb\n"


def test_without_a_loop_nothing_waits():
    handler, stream = lines()
    handler.handle(record("a"))
    assert stream.getvalue() == "a\n"


async def test_a_thread_keeps_to_the_order():
    handler, stream = lines()
    handler.handle(record("a"))
    other = threading.Thread(target=lambda: handler.handle(record("b")))
    other.start()
    other.join()
    handler.handle(record("c", logging.ERROR))
    assert stream.getvalue() == "a\nb\nc\n"


async def test_a_forked_child_writes_nothing_of_its_parent():
    handler, stream = lines()
    handler.handle(record("a"))
    handler.forget()  # as a child begins
    handler.handle(record("b", logging.WARNING))
    assert stream.getvalue() == "b\n"


async def test_the_end_of_logging_writes_what_is_left():
    handler, stream = lines()
    handler.handle(record("a"))
    handler.flush()  # as `logging.shutdown` does
    handler.close()
    assert stream.getvalue() == "a\n"


# ------------------------------------------------------------------------------------------------
# Check what a request is called in the log.


@pytest.mark.parametrize(
    ("raw", "route"),
    [
        (b"/v1/models?key=secret", "/v1/models"),
        (b"/v1/a%0Ab", "/v1/a%0Ab"),
        (b"/" + b"x" * 500, "/" + "x" * 119),
    ],
)
def test_a_route_is_the_path_without_the_query(raw: bytes, route: str):
    scope: dict[str, Any] = {"method": "GET", "path": "/", "raw_path": raw}
    assert request_trace.begin(scope).route == route


# ------------------------------------------------------------------------------------------------
# Row, tallies, metrics, log line and span are renderings of one record: they say the same.


class EndedSpan:
    """A `TraceSpan` that keeps the attributes of its end."""

    def __init__(self) -> None:
        self.known: dict[str, Any] = {}

    def end(self, name: str, status: int, taken: Any, known: dict[str, Any]) -> None:
        self.known = {"name": name, "status": status, **known}


def test_all_renderings_of_a_record_say_the_same(caplog: pytest.LogCaptureFixture) -> None:
    span = EndedSpan()
    seen = Trace(
        "POST",
        "/v1/chat/completions",
        pattern="/chat/completions",
        status=200,
        tenant="t",
        memory=MemoryShare(
            State.PACKED, "cheaper-whole; folds-at=9", "auto", epoch="ab" * 8, raw_tokens=900,
            sent_tokens=200, recall_tokens=30, continued=True, stays=150, ms=3.0,
        ),
        entry=LogEntry(id="1" * 16, dialect="chat", saving=Saving(-70, 5, 2)),
        work=RequestTimes(seconds=1.25, span=span),  # type: ignore[arg-type]  # it only ends
    )  # fmt: skip
    metrics, totals = Metrics(), RunTotals()
    metrics.end(seen)
    totals.add(seen.memory, seen.entry.saving.saved, "m")
    with caplog.at_level(logging.INFO, "memtree"):
        seen.end()
        seen.log()
    row, page = request_row(seen), bytes(metrics.page().body).decode().splitlines()

    assert (row.state, row.reason, row.status, row.turn) == ("packed", "cheaper-whole", 200, 2)
    assert (row.posted_tokens, row.sent_tokens, row.saved_tokens) == (900, 200, -70)
    assert (row.epoch, row.total_ms) == (b"\xab" * 8, 1250)

    counts = amounts(seen)
    assert counts[f"{STATE}packed"] == 1
    assert (counts[RAW], counts[SENT], counts[SAVED]) == (900, 200, -70_000)

    for sample in (
        'memtree_requests_total{route="/chat/completions",status="200"} 1.0',
        'memtree_request_seconds_sum{route="/chat/completions"} 1.25',
        'memtree_answers_total{mode="auto",reason="cheaper-whole",state="packed"} 1.0',
        "memtree_raw_tokens_total 900.0",
        "memtree_sent_tokens_total 200.0",
        "memtree_recall_tokens_total 30.0",
        "memtree_folding_lost_tokens_total 70.0",
        'memtree_epoch_answers_total{kind="continued"} 1.0',
        'memtree_prefix_tokens_total{kind="stays"} 150.0',
        'memtree_prefix_tokens_total{kind="changes"} 50.0',
    ):
        assert sample in page

    assert (totals.requests, totals.folded, totals.saved_tokens) == (1, 1, -70)
    assert (totals.posted_tokens, totals.sent_tokens) == (900, 200)

    assert caplog.messages == [
        "http.request method=POST route=/v1/chat/completions status=200 ms=1250.0 tenant=t "
        'state=packed reason="cheaper-whole; folds-at=9" raw_tokens=900 sent_tokens=200 '
        "epoch=abababab recall_tokens=30 memory_ms=3.0"
    ]
    assert (span.known["name"], span.known["status"]) == ("POST /chat/completions", 200)
    assert span.known["memtree.state"] == State.PACKED
    assert span.known["memtree.epoch.continued"] is True
    assert span.known["memtree.raw_tokens"] == 900
    assert span.known["memtree.sent_tokens"] == 200


@pytest.mark.parametrize(
    ("state", "reason", "tokens", "told"),
    [
        (State.BELOW_THRESHOLD, "", 900, 20_000),
        (State.PASSED, "cheaper-whole; folds-at=53000", 40_000, 53_000),
        (State.PASSED, "one-round", 90_000, 0),  # its size does not keep it whole
        (State.OFF, "", None, 0),
    ],
)
def test_totals_tell_at_what_size_a_run_is_folded(
    state: State, reason: str, tokens: int | None, told: int
):
    totals = RunTotals()
    totals.add(MemoryShare(state, reason, "auto", raw_tokens=tokens), 0, "gpt-4o-mini")
    assert totals.folds_at(Settings()) == told
