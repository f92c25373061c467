"""Redis and PostgreSQL as parts of the topology: the real servers that the tests start."""

from __future__ import annotations

from pathlib import Path

from tests.redis_server import RedisServer


class Redis:
    """Begins with nothing; what it holds outlives `stop` and `kill`."""

    def __init__(self) -> None:
        self._server: RedisServer | None = None
        self.alive = False

    @property
    def server(self) -> RedisServer:
        """The server itself, for what only it can do (`client`, `empty`)."""
        assert self._server, "not started"
        return self._server

    @property
    def url(self) -> str:
        return self.server.url()

    @property
    def log(self) -> Path:
        return self.server.log

    def start(self) -> None:
        if self._server is None:
            self._server = RedisServer()
        else:
            self._server.start()
        self.alive = True

    def stop(self) -> None:
        self.server.stop()
        self.alive = False

    def kill(self) -> None:
        self.server.kill()
        self.alive = False

    def freeze(self) -> None:
        self.server.freeze()

    def thaw(self) -> None:
        self.server.thaw()

    def close(self) -> None:
        if self._server:
            self._server.close()
        self.alive = False
