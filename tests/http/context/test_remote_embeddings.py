"""A real server with a remote embedder: it works, the embedding server dies, it comes back."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.http.served.running import PATIENCE
from tests.http.served.upstream import FakeUpstream
from tests.made.embeddings import Embeddings, Status, serving
from tests.programs.server import Server
from tests.programs.sessions import chat

pytestmark = pytest.mark.slow

KEY = "sk-embedding-secret-4711"
CLIENT = {"authorization": "Bearer sk-client-secret-4712"}
QUESTION = "Which vault has the code, asked for the time number"


class Session:
    """A conversation through `memtree serve`, whose embeddings come from `endpoint`."""

    def __init__(self, folder: Path, upstream: str, url: str, **variables: str) -> None:
        self.store = folder / "m.db"
        self.variables = {
            "MEMTREE_STORE": f"sqlite:///{self.store}",
            "MEMTREE_UPSTREAM": upstream,
            "MEMTREE_EMBEDDING_BASE_URL": url,
            "MEMTREE_EMBEDDING_MODEL": "a-model",
            "MEMTREE_EMBEDDING_API_KEY": KEY,
            "MEMTREE_LOG_LEVEL": "debug",
            **variables,
        }
        self.server = Server(self.store, "--mode", "fresh", variables=self.variables)
        self.history = chat(300, words=60)
        self.asked = 0

    def ask(self) -> str:
        """The state of an answer to a new question; every question is another text."""
        self.asked += 1
        question = {"role": "user", "content": f"{QUESTION} {self.asked}?"}
        body = {
            "model": "m",
            "messages": [*self.history, question],
            "memory": True,
            "model_context_limit": 16_000,
        }
        answer = self.server.post("/v1/chat/completions", body, **CLIENT)
        assert answer.status_code == 200, answer.text
        return answer.headers["x-memtree-state"]

    def asked_until(self, state: str) -> set[str]:
        """The other states of answers before the first with this one."""
        before: set[str] = set()
        end = time.monotonic() + PATIENCE
        while (found := self.ask()) != state:
            before.add(found)
            assert time.monotonic() < end, f"never {state}, only {before}"
            time.sleep(0.02)
        return before

    def answers(self, state: str) -> int:
        """How many with this state the metrics count."""
        metrics = self.server.get("/metrics").text
        found = re.search(rf'memtree_answers_total{{.*state="{state}".*}} (\d+)', metrics)
        return int(found[1]) if found else 0

    def settled(self) -> None:
        self.server.settle(CLIENT)

    def doctor(self) -> tuple[int, str]:
        command = [sys.executable, "-m", "memtree_proxy.cli", "doctor", "--settings"]
        done = subprocess.run(
            command, env=self.variables, capture_output=True, text=True, check=False
        )
        return done.returncode, " ".join((done.stdout + done.stderr).split())

    def written(self) -> bytes:
        """All that lies in the files of store and log."""
        return b"".join(path.read_bytes() for path in self.store.parent.iterdir())


@pytest.fixture
def session(tmp_path: Path, base: str) -> Any:
    opened: list[Session] = []

    def make(url: str, **variables: str) -> Session:
        opened.append(Session(tmp_path, base, url, **variables))
        return opened[0]

    yield make
    for one in opened:
        one.server.stop()


def queries(endpoint: Embeddings) -> list[str]:
    return [text for text in endpoint.texts if text.startswith(QUESTION)]


async def test_a_server_lives_through_the_death_of_its_embedder(
    session: Callable[..., Session], upstream: FakeUpstream
) -> None:
    endpoint = Embeddings()
    endpoint.key = KEY
    async with serving(endpoint):
        used = await asyncio.to_thread(session, endpoint.url)
        assert await asyncio.to_thread(used.ask) == "provisional"
        await asyncio.to_thread(used.settled)
        assert await asyncio.to_thread(used.ask) == "packed"
        assert len(queries(endpoint)) == 2
        endpoint.steps = [Status(500)]
        assert await asyncio.to_thread(used.ask) == "degraded:embedder"
        assert used.answers("degraded:embedder") == 1
        assert b"context_memory" in upstream.last.body
        code, told = await asyncio.to_thread(used.doctor)
        assert code == 0
        assert "embedding_api_key set" in told
        assert "ok embedder remote/1/" in told
        said = told
    port = httpx.URL(endpoint.url).port
    assert port

    endpoint.asked.clear()
    used.history += chat(100, seed=2, words=60)
    for _ in range(5):
        assert await asyncio.to_thread(used.ask) == "degraded:embedder"
    assert used.server.get("/context_memory/status", **CLIENT).json()["pending_tokens"] > 0
    code, told = await asyncio.to_thread(used.doctor)
    assert code == 1
    assert f"127.0.0.1:{port} cannot be reached" in told
    said += told

    async with serving(endpoint, port):
        await asyncio.to_thread(used.settled)
        assert await asyncio.to_thread(used.asked_until, "packed") <= {"degraded:embedder"}
        assert queries(endpoint), "no question was ranked by meaning again"
        assert await asyncio.to_thread(used.server.stop) == 0
    written = used.written()
    assert KEY not in said
    assert b"embedder.failed" in written
    assert b"Traceback" not in written
    for secret in (KEY, QUESTION, CLIENT["authorization"].split()[1]):
        assert secret.encode() not in written
    for seen in upstream.seen:
        assert KEY.encode() not in seen.body + repr(seen.headers).encode()
