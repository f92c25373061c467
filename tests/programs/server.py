"""A real `memtree serve` in a process of its own, for tests that need one."""

from __future__ import annotations

import contextlib
import fcntl
import functools
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO

import httpx

from tests.fakes import LONG

# Seconds for what takes one or two on a machine with nothing else to do; a busy one may need many.
PATIENCE = 600.0

# Below the ports that systems give to outgoing connections, any of which could take one away
# between the look at it and the start of the server that is to have it.
_PORTS = range(20_000, 32_000)
_given: set[int] = set()


@functools.cache
def _reservations() -> IO[bytes]:
    """A byte of it is locked for each port of a process, and free again when the process ends."""
    return Path(tempfile.gettempdir(), f"memtree-test-ports-{os.getuid()}").open("wb")


def free_port() -> int:
    """A port that nobody listens on, and that no other test, process of tests or outgoing
    connection is given while this process runs."""
    for port in random.SystemRandom().sample(_PORTS, len(_PORTS)):
        if port in _given:
            continue
        try:
            fcntl.lockf(_reservations(), fcntl.LOCK_EX | fcntl.LOCK_NB, 1, port)
            with socket.socket() as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind(("127.0.0.1", port))
        except OSError:  # another process of tests has it, or a program of this machine
            continue
        _given.add(port)
        return port
    raise RuntimeError("no port is free")


@functools.cache
def _client() -> httpx.Client:
    """The one client of this process, since a new one loads the certificates for 30 ms. It keeps no
    connection: servers are killed, and ports are used again. Threads may share it."""
    return httpx.Client(trust_env=False, limits=httpx.Limits(max_keepalive_connections=0))


class Server:
    """A running server; `url` ends before the path. `kill` is SIGKILL, `stop` is SIGTERM."""

    def __init__(
        self,
        store: Path,
        *flags: str,
        port: int | None = None,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        self.port = port or free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = store.with_suffix(f".{self.port}.log")
        env = {k: v for k, v in os.environ.items() if not k.startswith("MEMTREE_")}
        env |= {"MEMTREE_EMBEDDING_SECONDS": str(LONG), **(variables or {})}
        command = [sys.executable, "-m", "memtree_proxy.cli", "serve", "--port", str(self.port)]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*command, "--store", f"sqlite:///{store}", *flags],
                stdout=subprocess.DEVNULL,
                stderr=log,
                env=env,
            )
        self._wait()

    def _wait(self) -> None:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if self.process.poll() is not None:
                break
            with contextlib.suppress(httpx.HTTPError):
                if _client().get(f"{self.url}/health").status_code == 200:
                    return
            time.sleep(0.05)
        self.process.kill()
        self.process.wait()  # or a later test is told that it still runs
        raise RuntimeError(f"the server did not start:\n{self.log.read_text()}")

    def post(self, path: str, json: object, **headers: str) -> httpx.Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return _client().post(self.url + path, json=json, headers=named, timeout=PATIENCE)

    def get(self, path: str, **headers: str) -> httpx.Response:
        return _client().get(self.url + path, headers=headers, timeout=PATIENCE)

    def settle(self, headers: dict[str, str], seconds: float = PATIENCE) -> None:
        """Wait until nothing of the calling tenant is pending."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.get("/context_memory/status", **headers).json()["pending_tokens"] == 0:
                return
            time.sleep(0.1)
        lines = self.log.read_text().splitlines()
        rest = [line for line in lines if "/status" not in line][-40:]
        raise RuntimeError("\n".join(["indexing did not come to its end:", *rest]))

    def logged(self, text: str) -> str:
        """The log, once `text` stands in it: lines are written some at a time."""
        end = time.monotonic() + PATIENCE
        while text not in (log := self.log.read_text()):
            assert time.monotonic() < end, f"{text!r} is not in the log:\n{log}"
            time.sleep(0.02)
        return log

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(PATIENCE)

    def stop(self) -> int:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)


@contextlib.contextmanager
def running(store: Path, *flags: str) -> Iterator[Server]:
    server = Server(store, *flags)
    try:
        yield server
    finally:
        server.stop()
