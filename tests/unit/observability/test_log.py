"""Log lines in both forms: fields, request ids, tracebacks without text, and what is counted."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator

import pytest

from memtree.context.state import State
from memtree.process import tracing
from memtree_proxy.observability import log
from memtree_proxy.observability.log import BatchedLines, Value
from memtree_proxy.observability.request_trace import Trace

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
