"""The three kinds of data through the real server process over HTTP, every answer checked."""

from __future__ import annotations

import asyncio
import socket
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import msgspec

from benchmarks.data import Conversation, Data
from benchmarks.invariants import Tally, violations
from benchmarks.report import Row, promises
from benchmarks.subject import Bench
from memtree.history.message import Message

EVERY = 5  # question of LoCoMo; the others differ in nothing that this file looks at
SESSION_QUESTIONS = (
    "Which of the fixes to the linter broke the tests, and what did we do about it?",
    "What does the Spinner class do?",
    "How do I run the benchmark in docker?",
)


@dataclass(slots=True)
class Client:
    http: httpx.AsyncClient
    pid: int
    tally: Tally = field(default_factory=Tally)

    async def learn(self, tenant: str, messages: Sequence[Message]) -> None:
        """Post for indexing and wait until nothing is pending."""
        await self._post(tenant, messages, index_only=True)
        while (await self._status(tenant))["pending_tokens"]:  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.2)

    async def ask(
        self, tenant: str, messages: Sequence[Message], question: str, target: int
    ) -> float:
        """Milliseconds that the answer took; it is checked after that."""
        asked = Message(msgspec.json.encode({"role": "user", "content": question}))
        posted = (*messages, asked)
        started = time.perf_counter()
        body = await self._post(tenant, posted, target_tokens=target, explain=True, mode="fresh")
        took = (time.perf_counter() - started) * 1000
        answer = msgspec.json.decode(body, type=dict[str, msgspec.Raw])
        raws = [
            bytes(raw) for raw in msgspec.json.decode(answer["messages"], type=list[msgspec.Raw])
        ]
        explain = msgspec.json.decode(answer["explain"])
        found = violations(posted, raws, explain, target)
        self.tally.add(f"{tenant} at {target}, question {question!r}", found)
        return took

    async def _post(self, tenant: str, messages: Sequence[Message], **fields: Any) -> bytes:
        raws = [msgspec.Raw(message.raw) for message in messages]
        body = msgspec.json.encode({"messages": raws, **fields})
        headers = {"authorization": f"Bearer {tenant}", "content-type": "application/json"}
        response = await self.http.post("/context_memory", content=body, headers=headers)
        response.raise_for_status()
        return response.content

    async def _status(self, tenant: str) -> dict[str, int]:
        headers = {"authorization": f"Bearer {tenant}"}
        answer = (await self.http.get("/context_memory/status", headers=headers)).json()
        return {key: int(value) for key, value in answer.items() if key.startswith("pending")}


async def run(bench: Bench) -> tuple[list[Row], list[str]]:
    async with open_server(bench.keep) as client:
        rows = await _chats(client, "locomo", bench.data.locomo(), (2_000, 4_000, 8_000), EVERY)
        rows += await _chats(client, "beam 100k", bench.data.beam("100k"), (8_000,), 1)
        rows += await _session(client, bench.data)
        rows.append(Row("server peak RSS", _peak(client.pid), "MiB", 330, True))
    return [*rows, *promises(client.tally.answers, len(client.tally.broken))], client.tally.broken


async def _chats(
    client: Client, name: str, chats: Any, targets: Sequence[int], every: int
) -> list[Row]:
    times: list[float] = []
    chat: Conversation
    for chat in chats:
        await client.learn(chat.id, chat.messages)
        for probe in chat.probes[::every]:
            for target in targets:
                times.append(await client.ask(chat.id, chat.messages, probe.question, target))
    return [
        Row(f"{name} p50", statistics.median(times), "ms"),
        Row(f"{name} slowest", max(times), "ms"),
    ]


async def _session(client: Client, data: Data) -> list[Row]:
    history = data.coding_session()
    cold = await client.ask("session", history, SESSION_QUESTIONS[0], 20_000)
    await client.learn("session", history)
    times = [
        await client.ask("session", history, question, target)
        for question in SESSION_QUESTIONS
        for target in (2_000, 4_000, 20_000)
    ]
    return [
        Row("coding session cold", cold / 1000, "s", 3, True),
        Row("coding session p50", statistics.median(times), "ms"),
        Row("coding session slowest", max(times), "ms"),
    ]


@asynccontextmanager
async def open_server(keep: Path | None) -> AsyncIterator[Client]:
    """`memtree serve` in a process of its own on a free port, without an upstream."""
    with tempfile.TemporaryDirectory(prefix="memtree-bench-") as folder:
        port = free_port()
        store = f"sqlite:///{(keep or Path(folder)) / 'server.db'}"
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "memtree_proxy.cli", "serve", "--port", str(port)),
            *("--upstream", "none", "--store", store, "--log-level", "warning"),
        )
        try:
            url = f"http://127.0.0.1:{port}"
            async with httpx.AsyncClient(base_url=url, timeout=300, trust_env=False) as http:
                await ready(http, process)
                yield Client(http, process.pid)
        finally:
            if process.returncode is None:
                process.terminate()
            await process.wait()


async def ready(http: httpx.AsyncClient, process: asyncio.subprocess.Process) -> None:
    for _ in range(300):
        if process.returncode is not None:
            raise SystemExit(f"benchmarks: the server ended with {process.returncode}")
        try:
            await http.get("/context_memory/status")
            return
        except httpx.TransportError:
            await asyncio.sleep(0.1)
    raise SystemExit("benchmarks: the server does not answer after 30 s")


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _peak(pid: int) -> float:
    """The largest resident size so far, in MiB (Linux; 0 elsewhere)."""
    path = Path(f"/proc/{pid}/status")
    if not path.exists():
        return 0.0
    line = next(line for line in path.read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024
