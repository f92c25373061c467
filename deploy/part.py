"""A part of the topology: something that can be started, stopped, killed and frozen on its port."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import httpx

START_SECONDS = 300.0  # a machine that starts all of it has much to do
STOP_SECONDS = 120.0
ROOT = Path(__file__).resolve().parent.parent


class Part(Protocol):
    """Common interface of all parts. `start` waits until it answers, the others until it is so."""

    @property
    def url(self) -> str: ...
    @property
    def log(self) -> Path: ...
    @property
    def alive(self) -> bool: ...
    def start(self) -> None: ...
    def stop(self) -> None: ...
    def kill(self) -> None: ...
    def freeze(self) -> None: ...
    def thaw(self) -> None: ...
    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Health:
    """Where a process tells that it is there."""

    url: str
    answers: Callable[[], bool]


def health(port: int) -> Health:
    url = f"http://127.0.0.1:{port}"

    def answers() -> bool:
        with contextlib.suppress(httpx.HTTPError):
            return httpx.get(f"{url}/health", trust_env=False, timeout=5).status_code == 200
        return False

    return Health(url, answers)


class Process:
    """One of our own processes. Of the environment it keeps all but MEMTREE_*.

    In a session of its own, so that Ctrl-C is for whoever started it.
    """

    def __init__(
        self, command: Sequence[str], log: Path, env: Mapping[str, str], health: Health
    ) -> None:
        self.log = log
        self._command = command
        kept = {k: v for k, v in os.environ.items() if not k.startswith("MEMTREE_")}
        self._env = kept | dict(env)
        self._health = health
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return self._health.url

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int:
        assert self._process
        return self._process.pid

    def start(self) -> None:
        """`RuntimeError` with the end of the log where it does not answer in time."""
        assert self._process is None or self._process.poll() is not None
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command, stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                env=self._env, cwd=ROOT, start_new_session=True,
            )  # fmt: skip
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end and self.alive:
            if self._health.answers():
                return
            time.sleep(0.05)
        self.close()
        said = self.log.read_text("utf-8", "replace")[-3000:]
        raise RuntimeError(f"{self.log.stem} did not start:\n{said}")

    def stop(self) -> None:
        """`subprocess.TimeoutExpired` where it does not end in time; it is killed by then."""
        self._signal(signal.SIGTERM)
        self._ended()

    def kill(self) -> None:
        self._signal(signal.SIGKILL)
        self._ended()

    def freeze(self) -> None:
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal(signal.SIGCONT)

    def close(self) -> None:
        """End it and whatever it started, in one way or another."""
        self.thaw()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.stop()
        if self._process:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def _signal(self, number: int) -> None:
        if self.alive:
            os.kill(self.pid, number)

    def _ended(self) -> None:
        if self._process:
            try:
                self._process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()  # nothing ignores that
                raise
