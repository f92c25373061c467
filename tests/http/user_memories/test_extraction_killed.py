"""A real server that is killed while it reads a conversation for memories: the conversation's next
request completes what is missing, and nothing is there twice."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.http.served.upstream import FakeUpstream
from tests.programs.server import Server

pytestmark = [pytest.mark.slow, pytest.mark.outage]

KEY = {"authorization": "Bearer key"}
SECONDS = 180.0
TOWNS = (
    "Rome Oslo Graz Lima Bonn Cork Bath Kyiv Pisa Bern Nice Riga Porto Turin Malmo Gent Brno Linz "
    "Metz Lodz Faro Vigo Bari Trier Leeds Derby Essen Halle Lyon Caen"
).split()


def talk(rounds: int) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for town in TOWNS[:rounds]:
        rows.append({"role": "user", "content": f"I own a house in {town}."})
        rows.append({"role": "assistant", "content": "Noted."})
    return rows[:-1]


def ask(server: Server, rounds: int) -> None:
    body = {"model": "m", "messages": talk(rounds)}
    assert server.post("/v1/chat/completions", body, **KEY).status_code == 200


def told(server: Server) -> list[str]:
    rows = server.get("/v1/memories", **KEY).json()["memories"]
    return [row["text"] for row in rows if row["category"] != "snapshot"]


def snapshots(server: Server) -> list[str]:
    rows = server.get("/v1/memories", **KEY).json()["memories"]
    return [row["conversation_id"] for row in rows if row["category"] == "snapshot"]


@pytest.mark.parametrize("pause", [0.0, 0.05, 0.15])
def test_the_next_request_completes_it(
    tmp_path: Path, base: str, upstream: FakeUpstream, pause: float
) -> None:
    store, flags = tmp_path / "m.db", ("--upstream", base, "--embedder", "none")
    server = Server(store, *flags)
    try:
        url = f"{server.url}/v1/memories/settings"
        on = {"memories_save_enabled": True, "memories_chat_history_enabled": True}
        patched = httpx.patch(url, json=on, headers=KEY, trust_env=False, timeout=SECONDS)
        assert patched.status_code == 200
        ask(server, 20)
        time.sleep(pause)
        server.kill()
        server = Server(store, *flags)
        ask(server, 21)
        end = time.monotonic() + SECONDS
        while len(told(server)) < 21 or len(snapshots(server)) < 4:
            assert time.monotonic() < end, (len(told(server)), len(snapshots(server)))
            time.sleep(0.05)
        texts = told(server)
        assert sorted(texts) == sorted(f"User owns a house in {town}" for town in TOWNS[:21])
        assert len(set(snapshots(server))) == len(snapshots(server)) == 4
        assert server.stop() == 0
    finally:
        if server.process.poll() is None:
            server.kill()
