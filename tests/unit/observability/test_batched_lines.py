"""When log lines are written, and in which order."""

from __future__ import annotations

import asyncio
import io
import logging
import threading

from memtree_proxy.observability.log import BatchedLines


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
