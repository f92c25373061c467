"""A server that is told to stop finishes what it can, closes its parts, and ends in peace."""

from __future__ import annotations

import signal
import sqlite3
from pathlib import Path

import pytest

from tests.server import Server
from tests.sessions import chat

pytestmark = [pytest.mark.slow, pytest.mark.clients]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_stopping_drains_the_queue_and_leaves_nothing_behind(
    tmp_path: Path, number: signal.Signals
) -> None:
    store = tmp_path / "stop.db"
    server = Server(store, "--upstream", "none")
    # The first is embedded in time, the second is long enough for the child process.
    small = {"messages": chat(40, words=60), "index_only": True}
    body = {"messages": [*chat(6, words=3_500), *chat(1_100, words=60)], "index_only": True}
    assert server.post("/v1/context_memory", small, authorization="Bearer b").status_code == 202
    assert server.post("/v1/context_memory", body, authorization="Bearer a").status_code == 202
    server.process.send_signal(number)
    assert server.process.wait(60) == 0
    log = server.log.read_text()
    assert "leaked" not in log
    assert "Traceback" not in log
    with sqlite3.connect(store) as base:
        (vectors,) = base.execute("SELECT count(*) FROM vectors").fetchone()
    base.close()
    assert vectors > 0
    assert not store.with_name("stop.db-wal").exists(), "the store was not closed"
