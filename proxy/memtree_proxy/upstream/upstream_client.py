"""HTTP client for the upstream, over connections of our own.

Only this room implements HTTP. httptools under asyncio takes a third of the CPU that aiohttp takes
for a small post, most of which goes into objects that a relay does not need: parsed URLs,
multidicts of headers, a writing task. This client neither decodes nor follows redirects; callers
choose the credential with `request_headers`.

Retry: servers close idle connections at any time (uvicorn after 5 s), sometimes just as a request
is sent on one. An idempotent request is sent once more if its connection ended without a byte of an
answer. A POST is repeated, as in browsers, only if the connection had been used before and broke at
once. If it breaks later, a model may have begun to work, and would be paid twice.

The connections to an upstream are opened on demand and kept for the next request. Streams last
long, so the number of connections has no limit. Proxy settings of the environment are ignored.
"""

from __future__ import annotations

import asyncio
import os
import re
import socket
import ssl
import time
from collections import deque
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import quote, urlsplit

import aiohappyeyeballs

from memtree.errors import BadRequest, UpstreamFailed, UpstreamTimeout
from memtree_proxy.http.headers import DEFAULT_PORTS, Headers, end_to_end
from memtree_proxy.upstream.upstream_connection import (
    PIECE,
    BadAnswer,
    IncomingAnswer,
    NoAnswer,
    UpstreamConnection,
)

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
        self._context: ssl.SSLContext | None = None  # made for the first secure connection

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
        if secure and self._context is None:
            self._context = await asyncio.to_thread(_verifying)
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
                ssl=self._context,
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


def _verifying() -> ssl.SSLContext:
    """Return a context that verifies certificates; reads the system's certificates."""
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    return context


CONNECT_SECONDS = 10.0
STALE_SECONDS = 1.0  # a closed connection answers with a reset within one round trip
MAX_STATUS = 599  # RFC 9110 section 15: "values outside the range 100..599 are invalid"

IDEMPOTENT_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"})
_BODILESS_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})  # if no body is announced
_HOST = re.compile(r"[A-Za-z0-9._:%-]+")
_SAFE = "/%:@!$&'()*+,;=~"  # characters of a path that stay unencoded


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A request for the upstream. `target`: raw path and query below the upstream's base path.
    `body`: the whole body, or a stream of `length` announced bytes (None: unknown).
    """

    method: str
    target: str
    headers: Headers
    body: bytes | AsyncIterator[bytes] | None = None
    length: int | None = None

    @property
    def streams(self) -> bool:
        """Return True if its body is a stream, which can be sent only once."""
        return self.body is not None and not isinstance(self.body, bytes)


class Upstream:
    """HTTP client of one upstream. `base`: such as `https://host/v1`. Its creator must close it."""

    def __init__(self, base: str, setting: str = "upstream") -> None:
        """Raises `BadRequest` that names the setting, for an invalid URL or one that contains a
        password."""
        url = _split(base)
        if url.scheme not in DEFAULT_PORTS or not url.host:
            raise BadRequest(f"{setting} must be an http:// or https:// address", param=setting)
        if not url.plain:
            raise BadRequest(f"{setting} must be a URL without a password or query", param=setting)
        usual = DEFAULT_PORTS[url.scheme]
        shown = f"[{url.host}]" if ":" in url.host else url.host
        authority = shown if url.port in (None, usual) else f"{shown}:{url.port}"
        self._path = url.path
        self._host = authority.encode()
        self._name = f"{url.scheme}://{authority}"
        self._pool = ConnectionPool(
            UpstreamAddress(url.host, url.port or usual, secure=url.scheme == "https")
        )

    async def send(self, outgoing: Outgoing) -> Reply:
        """Send a request, and return the reply as soon as its head has arrived. Raises
        `UpstreamFailed`, or `UpstreamTimeout` if no connection could be made in time."""
        head = self._head(outgoing)
        begun = time.monotonic()
        kept = self._pool.kept()
        try:
            try:
                answer = await _ask(kept or await self._connected(), head, outgoing)
            except NoAnswer:
                stale = kept is not None and time.monotonic() - begun < STALE_SECONDS
                if not (stale or outgoing.method in IDEMPOTENT_METHODS) or outgoing.streams:
                    raise
                # On a new connection: if one kept connection is stale, the others may be, too.
                answer = await _ask(await self._connected(), head, outgoing)
        except (NoAnswer, BadAnswer) as error:
            why = _cause(error)
            raise UpstreamFailed(
                f"The upstream {self._name} could not be reached: {why}."
            ) from error
        if answer.status > MAX_STATUS:
            answer.close()
            raise UpstreamFailed(f"The upstream {self._name} answered with an invalid status.")
        return Reply(answer, self._name)

    async def close(self) -> None:
        await self._pool.close()

    async def _connected(self) -> UpstreamConnection:
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                return await self._pool.connect()
        except TimeoutError as error:
            raise UpstreamTimeout(
                f"The upstream {self._name} did not accept a connection in {CONNECT_SECONDS:.0f} s."
            ) from error
        except (OSError, UnicodeError) as error:
            why = _cause(error)
            raise UpstreamFailed(
                f"The upstream {self._name} could not be reached: {why}."
            ) from error

    def _head(self, outgoing: Outgoing) -> bytes:
        """Return the head of a request, with its body if that is small."""
        body, method = outgoing.body, outgoing.method
        lines = [
            f"{method} {self._path}{outgoing.target} HTTP/1.1".encode("latin-1"),
            b"Host: " + self._host,
        ]
        lines += [name + b": " + value for name, value in outgoing.headers]
        if isinstance(body, bytes):
            lines.append(b"Content-Length: %d" % len(body))
        elif body is not None and outgoing.length is not None:
            lines.append(b"Content-Length: %d" % outgoing.length)
        elif body is not None:
            lines.append(b"Transfer-Encoding: chunked")
        elif method not in _BODILESS_METHODS:
            lines.append(b"Content-Length: 0")
        head = b"\r\n".join(lines)
        # A line break in a header would begin another header, or another request.
        if head.count(b"\n") != len(lines) - 1 or head.count(b"\r") != len(lines) - 1:
            raise UpstreamFailed(f"A header for the upstream {self._name} cannot be sent.")
        small = body if isinstance(body, bytes) and len(body) <= PIECE else b""
        return b"%b\r\n\r\n%b" % (head, small)


class Reply:
    """An answer whose head has arrived. `headers`: as they came, without hop-by-hop ones."""

    def __init__(self, answer: IncomingAnswer, name: str) -> None:
        self._answer = answer
        self._name = name
        self.status = answer.status
        self.headers = end_to_end(answer.headers)

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield the body as it comes, with its content-encoding untouched. Raises `UpstreamFailed`
        if it is interrupted."""
        read = self._answer.read
        try:
            while chunk := await read():
                yield chunk
        except BadAnswer as error:
            raise UpstreamFailed(
                f"The upstream {self._name} broke off its answer: {_cause(error)}."
            ) from error

    def close(self) -> None:
        """Discard the rest of the body. Does nothing once it was read completely."""
        self._answer.close()


class _BaseUrl(NamedTuple):
    """Parts of the URL. `plain`: it has no other parts."""

    scheme: str
    host: str
    port: int | None
    path: str
    plain: bool


def _split(base: str) -> _BaseUrl:
    """Split a URL; all parts are empty if it is invalid."""
    try:
        url = urlsplit(base)
        host = (url.hostname or "").encode("idna").decode()
        port = url.port
    except ValueError:
        return _BaseUrl("", "", None, "", plain=True)
    if not _HOST.fullmatch(host):
        host = ""
    plain = url.username is None and url.password is None and not (url.query or url.fragment)
    return _BaseUrl(url.scheme, host, port, quote(url.path.rstrip("/"), safe=_SAFE), plain)


async def _ask(connection: UpstreamConnection, head: bytes, outgoing: Outgoing) -> IncomingAnswer:
    body = outgoing.body
    pieces: AsyncIterator[bytes] | None = None
    if isinstance(body, bytes):
        pieces = _pieces(body) if len(body) > PIECE else None
    elif body is not None:
        pieces = body if outgoing.length is not None else _chunked(body)
    return await connection.ask(head, pieces, bodiless=outgoing.method == "HEAD")


async def _pieces(body: bytes) -> AsyncIterator[bytes]:
    for start in range(0, len(body), PIECE):
        yield body[start : start + PIECE]


async def _chunked(body: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Encode a chunked body: RFC 9112 section 7.1."""
    async for piece in body:
        if piece:
            yield b"%x\r\n%b\r\n" % (len(piece), piece)
    yield b"0\r\n\r\n"


def _cause(error: BaseException) -> str:
    """Return the reason of an error, in the system's or our own words; never a header or a body."""
    if isinstance(error, (NoAnswer, BadAnswer)) and isinstance(error.__cause__, OSError):
        error = error.__cause__
    if isinstance(error, NoAnswer):
        return "it closed the connection without an answer"
    if isinstance(error, socket.gaierror):
        return "its name cannot be resolved"
    if isinstance(error, BadAnswer):
        return str(error)
    if isinstance(error, OSError) and error.errno and not isinstance(error, ssl.SSLError):
        return os.strerror(error.errno)  # asyncio and uvloop word their own messages differently
    return type(error).__name__
