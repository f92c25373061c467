"""A server that ends, however it does, leaves no process behind that builds a tree."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path

import httpx
import pytest

from tests.programs.processes import alive, descendants, needs_proc
from tests.programs.server import Server
from tests.properties.strategies import conversation

pytestmark = [needs_proc, pytest.mark.slow]

SECONDS = 180.0  # they are gone within two; the rest is for a machine with other things to do


@pytest.fixture(scope="module")
def body() -> bytes:
    messages = [json.loads(message.raw) for message in conversation(1, 200_000)]
    return json.dumps({"messages": messages, "index_only": True}).encode()


def post(server: Server, body: bytes) -> None:
    try:
        httpx.post(
            f"{server.url}/v1/context_memory", content=body, timeout=SECONDS, trust_env=False
        )
    except httpx.HTTPError:
        pass  # the server ends in the middle of it


def until(condition) -> None:
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.005)


@pytest.mark.parametrize("end", [Server.kill, pytest.param(Server.stop, marks=pytest.mark.long)])
def test_nothing_outlives_a_server_in_the_middle_of_a_build(tmp_path: Path, body: bytes, end):
    server = Server(tmp_path / "m.db", "--upstream", "none")
    client = threading.Thread(target=post, args=(server, body))
    try:
        client.start()
        until(lambda: descendants(server.process.pid))
        made = descendants(server.process.pid)
        end(server)
        until(lambda: not alive(made))
    finally:
        server.kill()
        client.join()
