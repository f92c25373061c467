"""The connections to one upstream: opened on demand, kept for the next request.

Streams last long, so the number of connections has no limit. Proxy settings of the environment are
ignored.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

import aiohappyeyeballs

from memtree_proxy.upstream.connection import UpstreamConnection

KEPT_SECONDS = 15.0  # without a request; servers close idle connections after 5 s and more
NAME_SECONDS = 10.0  # how long the addresses of a name are cached
HAPPY_EYEBALLS = 0.25  # RFC 8305 section 5: seconds before the next address is tried in parallel


class UpstreamAddress(NamedTuple):
    host: str
    port: int
    secure: bool


class ConnectionPool:
    """Connections in the event loop of the first request; the creator closes the pool."""

    def __init__(self, address: UpstreamAddress) -> None:
        self._address = address
        self._idle: deque[UpstreamConnection] = deque()  # the most recently used one is last
        self._open: set[UpstreamConnection] = set()
        self._sweep: asyncio.TimerHandle | None = None
        self._looking_up = asyncio.Lock()
        self._found: tuple[float, Sequence[aiohappyeyeballs.AddrInfoType]] = (0.0, ())
        self._context: ssl.SSLContext | None = None

    def kept(self) -> UpstreamConnection | None:
        """Return a free connection that has carried a request before, if there is one."""
        while self._idle:
            connection = self._idle.pop()
            if connection.is_quiet():
                return connection
            connection.close()
        return None

    async def connect(self) -> UpstreamConnection:
        """Open a connection. Raises `OSError`."""
        host, _, secure = self._address
        loop = asyncio.get_running_loop()
        context = await self._tls() if secure else None
        addresses = await self._addresses(loop)
        reached = await aiohappyeyeballs.start_connection(
            addresses, happy_eyeballs_delay=HAPPY_EYEBALLS, interleave=1, loop=loop
        )
        try:
            reached.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            reached.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            _, connection = await loop.create_connection(
                lambda: UpstreamConnection(self._keep, self._drop),
                sock=reached,
                ssl=context,
                server_hostname=host if secure else None,
            )
        except BaseException:
            reached.close()
            raise
        if not connection.closed:
            self._open.add(connection)
        return connection

    async def close(self) -> None:
        if self._sweep is not None:
            self._sweep.cancel()
            self._sweep = None
        for connection in list(self._open):
            connection.abort()
        self._idle.clear()
        self._open.clear()
        await asyncio.sleep(0)  # transports close their sockets one turn of the loop later

    # ----------------------------------------------------------------------------------------

    def _keep(self, connection: UpstreamConnection) -> None:
        self._idle.append(connection)
        if self._sweep is None:
            self._sweep = asyncio.get_running_loop().call_later(KEPT_SECONDS, self._close_idle)

    def _drop(self, connection: UpstreamConnection) -> None:
        self._open.discard(connection)
        if connection in self._idle:
            self._idle.remove(connection)

    def _close_idle(self) -> None:
        loop = asyncio.get_running_loop()
        since = loop.time() - KEPT_SECONDS
        while self._idle and (self._idle[0].closed or self._idle[0].idle_since <= since):
            self._idle.popleft().close()
        self._sweep = None
        if self._idle:
            again = self._idle[0].idle_since + KEPT_SECONDS
            self._sweep = loop.call_at(again, self._close_idle)

    async def _addresses(
        self, loop: asyncio.AbstractEventLoop
    ) -> Sequence[aiohappyeyeballs.AddrInfoType]:
        async with self._looking_up:
            until, addresses = self._found
            if loop.time() >= until:
                host, port, _ = self._address
                addresses = await loop.getaddrinfo(
                    host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP
                )
                self._found = (loop.time() + NAME_SECONDS, addresses)
            return addresses

    async def _tls(self) -> ssl.SSLContext:
        if self._context is None:
            self._context = await asyncio.to_thread(_verifying)
        return self._context


def _verifying() -> ssl.SSLContext:
    """Return a context that verifies certificates; reads the system's certificates."""
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    return context
