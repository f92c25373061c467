"""The log of requests over a store that fails: chats go on, a bounded number of rows waits for it,
and a server still stops."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import sqlite3
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import httpx
import pytest

from memtree.errors import StoreUnavailable
from memtree.stores import RamStore, SqliteStore
from memtree_proxy.http import request_log_writer, request_trace
from memtree_proxy.http.request_log_writer import RequestLogWriter
from tests.http.pages.test_usage import metrics
from tests.http.served.fakes import FakeMemory, client_of, services, turn
from tests.http.served.running import PATIENCE

SOON = 0.01


class Outage:
    """A real store whose log can fail, or keep whoever writes waiting."""

    def __init__(self, error: Exception | None = None) -> None:
        self.store, self.error = RamStore(), error
        self.stuck = asyncio.Event()
        self.stuck.set()
        self.tries = 0

    def __getattr__(self, name: str) -> Any:
        method = getattr(self.store, name)

        async def called(*given: Any) -> Any:
            self.tries += name == "add_requests"
            await self.stuck.wait()
            if self.error is not None:
                raise self.error
            return await method(*given)

        return called

    async def ids(self) -> list[str]:
        return [row.id for row in await self.store.requests("t", 1_000)][::-1]


def ended(id_: str) -> request_trace.Trace:
    trace = request_trace.begin({"method": "POST", "path": "/v1/chat/completions"})
    trace.entry.id, trace.tenant, trace.status = id_, "t", 200
    trace.keep("chat", [])
    return trace


async def until(what: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not what():  # noqa: ASYNC110  nobody tells
            await asyncio.sleep(SOON)


def app(store: Any) -> AbstractAsyncContextManager[httpx.AsyncClient]:
    built = dataclasses.replace(services(None, FakeMemory()), requests=store, log_pace=SOON)
    return client_of(built, lives=True)


@pytest.mark.parametrize("error", [StoreUnavailable("it is down"), RuntimeError("odd")])
async def test_chats_go_on_and_their_rows_are_written_later(error: Exception) -> None:
    store = Outage(error)
    async with app(store) as client:
        asked = []
        for _ in range(30):
            answer = await client.post("/context_memory", json=turn(9))
            assert answer.status_code == 200
            asked.append(answer.headers["x-memtree-request"])
        await until(lambda: store.tries >= 3)
        if isinstance(error, StoreUnavailable):
            assert (await client.get("/v1/requests")).status_code == 503
        store.error = None
        async with asyncio.timeout(PATIENCE):
            while len(rows := await store.store.requests("anonymous", 99)) < 30:  # noqa: ASYNC110
                await asyncio.sleep(SOON)
        assert [row.id for row in rows][::-1] == asked
        assert (await metrics(client))["memtree_requests_dropped_total"] == 0


async def test_the_oldest_are_dropped_and_counted(caplog: pytest.LogCaptureFixture) -> None:
    store = Outage(StoreUnavailable("it is down"))
    writer = RequestLogWriter(store, pace=SOON, most=20)  # type: ignore[arg-type]
    for number in range(25):
        writer.count(ended(f"{number:016x}"))
    await until(lambda: store.tries >= 2)
    for number in range(25, 50):
        writer.count(ended(f"{number:016x}"))
        await asyncio.sleep(SOON / 10)
    (shown,) = writer.dropped.collect()
    assert shown.samples[0].value == 30
    store.error = None
    async with asyncio.timeout(PATIENCE):
        while len(await store.ids()) < 20:  # noqa: ASYNC110
            await asyncio.sleep(SOON)
    await writer.close()
    assert await store.ids() == [f"{number:016x}" for number in range(30, 50)]
    assert caplog.text.count("requests.dropped") == 1
    assert caplog.text.count("requests.unwritten") == 1


async def test_a_store_that_never_answers_holds_no_stop(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(request_log_writer, "PATIENCE", 0.1)
    store = Outage()
    store.stuck.clear()
    writer = RequestLogWriter(store, pace=SOON)  # type: ignore[arg-type]
    for number in range(3):
        writer.count(ended(f"{number:016x}"))
    await until(lambda: store.tries > 0)
    writer.count(ended("0" * 16))
    begun = time.monotonic()
    with caplog.at_level(logging.WARNING):
        await writer.close()
    assert time.monotonic() - begun < PATIENCE
    assert "requests.lost rows=4" in caplog.text
    writer.count(ended("1" * 16))  # what comes later starts nothing
    store.stuck.set()


async def test_a_row_that_cannot_be_made_takes_no_others_along() -> None:
    store = Outage()
    writer = RequestLogWriter(store, pace=SOON)  # type: ignore[arg-type]
    odd = ended("0" * 16)
    odd.memory.address = "no hexadecimal digits"
    for trace in (ended("a" * 16), odd, ended("b" * 16)):
        writer.count(trace)
    await writer.close()
    assert await store.ids() == ["a" * 16, "b" * 16]


async def test_a_file_that_another_program_locks(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    store = SqliteStore(path)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    async with app(store) as client:
        for _ in range(5):
            begun = time.monotonic()
            answer = await client.post("/context_memory", json=turn(9))
            assert answer.status_code == 200
            await asyncio.sleep(5 * SOON)
            assert time.monotonic() - begun < PATIENCE
        assert await store.requests("anonymous", 9) == []
        other.execute("ROLLBACK")
    other.close()
    assert len(await store.requests("anonymous", 9)) == 5
    await store.close()
