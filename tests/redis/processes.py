"""A proxy and workers as real processes on one store, with scripted models and a real Redis."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.made.embeddings import Embeddings
from tests.programs.redis_server import RedisServer
from tests.programs.server import Server

SECONDS = 240.0  # a busy machine must not fail a test


class Held(Embeddings):
    """An endpoint for embeddings that can be made to wait before it answers."""

    def __init__(self) -> None:
        super().__init__()
        self.arrived, self.gate = asyncio.Event(), asyncio.Event()
        self.gate.set()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.arrived.set()
        await self.gate.wait()
        await super().__call__(scope, receive, send)


class Rig:
    """`close` ends every process that was started."""

    def __init__(self, folder: Path, redis: RedisServer, embeddings: Embeddings, **more: str):
        self.folder, self.redis = folder, redis
        self.variables = {
            "MEMTREE_QUEUE": redis.url(),
            "MEMTREE_EMBEDDER": "remote",
            "MEMTREE_EMBEDDING_BASE_URL": embeddings.url,
            "MEMTREE_EMBEDDING_MODEL": "m",
            "MEMTREE_EMBEDDING_RELEVANT": "0.3",
            **more,
        }
        self.workers: list[subprocess.Popen[bytes]] = []
        self.servers: list[Server] = []

    async def serve(self, *flags: str) -> Server:
        given = ("--upstream", "none", *flags)
        server = await asyncio.to_thread(
            lambda: Server(self.folder / "m.db", *given, variables=self.variables)
        )
        self.servers.append(server)
        return server

    def command(self, *arguments: str) -> tuple[list[str], dict[str, str]]:
        env = {k: v for k, v in os.environ.items() if not k.startswith("MEMTREE_")}
        env |= self.variables | {"MEMTREE_STORE": f"sqlite:///{self.folder / 'm.db'}"}
        return [sys.executable, "-m", "memtree_proxy.cli", *arguments], env

    def worker(self, *flags: str) -> subprocess.Popen[bytes]:
        command, env = self.command("worker", *flags)
        with self.log(len(self.workers)).open("wb") as log:
            one = subprocess.Popen(command, env=env, stdout=log, stderr=log)
        self.workers.append(one)
        return one

    def log(self, number: int) -> Path:
        return self.folder / f"worker{number}.log"

    async def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """One command, to its end."""
        command, env = self.command(*arguments)
        return await asyncio.to_thread(
            lambda: subprocess.run(
                command, env=env, capture_output=True, text=True, timeout=SECONDS, check=False
            )
        )

    async def ended(self, one: subprocess.Popen[bytes]) -> int:
        return await asyncio.to_thread(one.wait, SECONDS)

    async def settled(self, server: Server, *headers: dict[str, str]) -> None:
        for each in headers:
            await asyncio.to_thread(server.settle, each, SECONDS)

    def said(self) -> str:
        logs = [self.log(at).read_text() for at in range(len(self.workers))]
        return "\n".join([*logs, *(server.log.read_text() for server in self.servers)])

    def close(self) -> None:
        for server in self.servers:
            server.kill()
        for one in self.workers:
            if one.poll() is None:
                one.send_signal(signal.SIGKILL)
            one.wait(60)
