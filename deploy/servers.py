"""Redis and PostgreSQL as parts of the topology: the real servers that the tests start.

Both begin with nothing; what they hold outlives `stop` and `kill`.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from tests.programs.postgres import Postgres as PostgresServer
from tests.programs.postgres import launched
from tests.programs.redis_server import RedisServer


class Launched(Protocol):
    """Common interface of both servers. They run from the moment that they are made."""

    def start(self) -> None: ...
    def freeze(self) -> None: ...
    def thaw(self) -> None: ...
    def close(self) -> None: ...


S = TypeVar("S", bound=Launched)


class Served(Generic[S]):
    """A server that is made by its first `start`."""

    def __init__(self, launch: Callable[[], S]) -> None:
        self._launch = launch
        self._server: S | None = None
        self.alive = False

    @property
    def server(self) -> S:
        """The server itself, for what only it can do."""
        assert self._server, "not started"
        return self._server

    def start(self) -> None:
        if self._server is None:
            self._server = self._launch()
        else:
            self._server.start()
        self.alive = True

    def freeze(self) -> None:
        self.server.freeze()

    def thaw(self) -> None:
        self.server.thaw()

    def close(self) -> None:
        if self._server:
            self._server.close()
        self.alive = False


class Redis(Served[RedisServer]):
    def __init__(self) -> None:
        super().__init__(RedisServer)

    @property
    def url(self) -> str:
        return self.server.url()

    @property
    def log(self) -> Path:
        return self.server.log

    def stop(self) -> None:
        self.server.stop()
        self.alive = False

    def kill(self) -> None:
        self.server.kill()
        self.alive = False


class Postgres(Served[PostgresServer]):
    def __init__(self) -> None:
        super().__init__(launched)

    @property
    def url(self) -> str:
        return self.server.url

    @property
    def log(self) -> Path:
        return self.server.data.parent / "log"

    def stop(self) -> None:
        """All sessions are ended at once, in order."""
        self.server.stop()
        self.alive = False

    def kill(self) -> None:
        """All of its processes at once."""
        self.server.stop(signal.SIGKILL)
        self.alive = False
