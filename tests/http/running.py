"""Apps on real sockets: uvicorn in a thread, as `memtree serve` runs it."""

from __future__ import annotations

import asyncio
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


@contextmanager
def running(
    app: Any, upstreams: Upstreams | None = None, settings: Settings | None = None
) -> Iterator[str]:
    """Serve `app`, yield its address; `upstreams` are closed in the server's own loop. `settings`:
    the limits of connections."""
    config = listening(app, settings or Settings())
    config.lifespan, config.timeout_graceful_shutdown = "off", 1
    server = uvicorn.Server(config)

    async def main(listener: socket.socket) -> None:
        await server.serve([listener])
        if upstreams:
            await upstreams.close()

    # The protocol by name: asyncio turns Nagle off only where it is told that this is TCP.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(1_000)
        port = listener.getsockname()[1]
        thread = threading.Thread(target=lambda: asyncio.run(main(listener)))
        thread.start()
        try:
            while not server.started:
                assert thread.is_alive(), "the server did not start"
                time.sleep(0.01)
            yield f"http://127.0.0.1:{port}"
        finally:
            server.should_exit = True
            thread.join(PATIENCE)


def wait_for(seen: Callable[[], Any], seconds: float = PATIENCE) -> None:
    """Until `seen`; fails when that takes longer than allowed."""
    end = time.monotonic() + seconds
    while not seen():
        assert time.monotonic() < end, f"not within {seconds:g} seconds"
        time.sleep(0.005)


async def waited_for(seen: Callable[[], Any], seconds: float = PATIENCE) -> None:
    """The same in an event loop, which goes on meanwhile."""
    end = time.monotonic() + seconds
    while not seen():
        assert time.monotonic() < end, f"not within {seconds:g} seconds"
        await asyncio.sleep(0.005)


def refused_port() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port
