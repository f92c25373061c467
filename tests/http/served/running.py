"""Apps on real sockets: uvicorn in a thread, as `memtree serve` runs it."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

from memtree.config import Settings
from memtree_proxy.server.serve import listening
from memtree_proxy.upstream.upstreams import Upstreams

# Seconds that a test waits for what it expects. None of them passes where all is well; a machine
# with other work to do may need some.
PATIENCE = 180.0


class EventServer(uvicorn.Server):
    """Begins and ends at once. uvicorn's own asks ten times a second whether it shall end, and then
    waits as long again for its connections: with two servers a test, that is most of the time."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.began = threading.Event()  # or failed to
        self._ending = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    def end(self) -> None:
        """Tell the server, from another thread, to end."""
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # it has ended by itself
                self._loop.call_soon_threadsafe(self._ending.set)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)
        self.began.set()

    async def main_loop(self) -> None:
        await self._ending.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for server in self.servers:
            server.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        state = self.server_state
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self.config.timeout_graceful_shutdown):
                while state.connections or state.tasks:  # noqa: ASYNC110  they tell nobody
                    await asyncio.sleep(0.001)
        for task in state.tasks:
            task.cancel()


@contextmanager
def running(
    app: Any, upstreams: Upstreams | None = None, settings: Settings | None = None
) -> Iterator[str]:
    """Serve `app`, yield its address; `upstreams` are closed in the server's own loop. `settings`:
    the limits of connections."""
    config = listening(app, settings or Settings())
    config.lifespan, config.timeout_graceful_shutdown = "off", 1
    server = EventServer(config)

    async def main(listener: socket.socket) -> None:
        await server.serve([listener])
        if upstreams:
            await upstreams.close()

    # The protocol by name: asyncio turns Nagle off only where it is told that this is TCP.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(1_000)
        port = listener.getsockname()[1]

        def serve() -> None:
            try:
                asyncio.run(main(listener))
            finally:
                server.began.set()

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            server.began.wait(PATIENCE)
            assert server.started, "the server did not start"
            yield f"http://127.0.0.1:{port}"
        finally:
            server.end()
            thread.join(PATIENCE)


def wait_for(seen: Callable[[], Any], seconds: float = PATIENCE) -> None:
    """Until `seen`; fails when that takes longer than allowed."""
    end = time.monotonic() + seconds
    while not seen():
        assert time.monotonic() < end, f"not within {seconds:g} seconds"
        time.sleep(0.005)


async def waited_for(seen: Callable[[], Any], seconds: float = PATIENCE) -> None:
    """Wait like `wait_for` in an event loop, which goes on meanwhile."""
    end = time.monotonic() + seconds
    while not seen():
        assert time.monotonic() < end, f"not within {seconds:g} seconds"
        await asyncio.sleep(0.005)


def refused_port() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port
