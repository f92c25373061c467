"""A real `memtree serve` in a process of its own, for tests that need one."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import httpx

START_SECONDS = 60.0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


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
        env |= variables or {}
        command = [sys.executable, "-m", "proxy.cli", "serve", "--port", str(self.port)]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*command, "--store", f"sqlite:///{store}", *flags],
                stdout=subprocess.DEVNULL,
                stderr=log,
                env=env,
            )
        self._wait()

    def _wait(self) -> None:
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            if self.process.poll() is not None:
                break
            with contextlib.suppress(httpx.HTTPError):
                if httpx.get(f"{self.url}/health", trust_env=False).status_code == 200:
                    return
            time.sleep(0.05)
        self.process.kill()
        raise RuntimeError(f"the server did not start:\n{self.log.read_text()}")

    def post(self, path: str, json: object, **headers: str) -> httpx.Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return httpx.post(self.url + path, json=json, headers=named, timeout=120, trust_env=False)

    def get(self, path: str, **headers: str) -> httpx.Response:
        return httpx.get(self.url + path, headers=headers, timeout=30, trust_env=False)

    def settle(self, headers: dict[str, str], seconds: float = 400.0) -> None:
        """Wait until nothing of the calling tenant is pending."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.get("/context_memory/status", **headers).json()["pending_tokens"] == 0:
                return
            time.sleep(0.1)
        lines = self.log.read_text().splitlines()
        rest = [line for line in lines if "/status" not in line][-40:]
        raise RuntimeError("\n".join(["indexing did not come to its end:", *rest]))

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(30)

    def stop(self) -> int:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)


@contextlib.contextmanager
def running(store: Path, *flags: str) -> Iterator[Server]:
    server = Server(store, *flags)
    try:
        yield server
    finally:
        server.stop()
