"""The way to the upstream: one shared aiohttp session, bytes out and bytes back.

Nothing outside of this file knows the HTTP client. aiohttp bare adds 0.52 ms to a request at p50,
under httpx (`httpx-aiohttp`) 0.73, plain httpx 1.04 (3,000 small posts, two busy cores); and httpx
maps a dropped connection to a connect time-out. What this file does not do: decode, follow
redirects, or decide whose credential goes out (`request_headers` does, for its callers).

Retry: servers close idle connections when they like (uvicorn after 5 s), now and then just as a
request goes out on one. aiohttp retries that for idempotent methods. A POST is retried here, as
browsers do it: once, when a connection that had been used before broke at once and without a byte
of an answer. If it breaks later, a model may have begun to work, and would be paid twice.
"""

from __future__ import annotations

import os
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from types import SimpleNamespace

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from memtree.errors import BadRequest, MemTreeError, UpstreamFailed, UpstreamTimeout
from proxy.http.headers import Headers, end_to_end

CONNECT_SECONDS = 10.0
STALE_SECONDS = 1.0  # a closed connection answers with a reset, which takes one round trip
PIECE = 128 * 1024  # of a large body: a write this size does not hold up the event loop
MAX_STATUS = 599  # RFC 9110 section 15: "values outside the range 100..599 are invalid"
MAX_HEADER = 64 * 1024  # some upstreams answer with long cookies and policies


IDEMPOTENT_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"})
_AUTOMATIC = ("User-Agent", "Accept", "Accept-Encoding", "Content-Type")


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A request for the upstream. `target`: raw path and query below the upstream's base path.

    `body`: all of it, or a stream of which `length` bytes are announced (None: not known).
    """

    method: str
    target: str
    headers: Headers
    body: bytes | AsyncIterator[bytes] | None = None
    length: int | None = None


class Upstream:
    """`base`: as in `https://host/v1`. Whoever builds it closes it."""

    def __init__(self, base: str) -> None:
        """Raises `BadRequest` for an address that is none, or that carries a password."""
        url = URL(base)
        if url.scheme not in ("http", "https") or not url.raw_host:
            raise BadRequest("upstream must be an http:// or https:// address", param="upstream")
        if url.raw_user or url.raw_password or url.raw_query_string or url.raw_fragment:
            raise BadRequest("upstream must be a plain address, its key apart", param="upstream")
        self._base = str(url).rstrip("/")
        self._name = f"{url.scheme}://{url.authority}"
        self._sessions: dict[str, aiohttp.ClientSession] = {}

    async def send(self, outgoing: Outgoing) -> Reply:
        """Returns when the head of the answer is there.

        Raises `UpstreamFailed`, or `UpstreamTimeout` where no connection came about.
        """
        body = _Source(outgoing.body) if isinstance(outgoing.body, AsyncIterator) else None
        attempt = _Attempt()
        try:
            try:
                response = await self._request(self._pooled(), outgoing, body, attempt)
            except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError):
                if body is not None or outgoing.method in IDEMPOTENT_METHODS or not attempt.stale:
                    raise
                response = await self._request(self._fresh(), outgoing, None, _Attempt())
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            if body is not None and body.failure is not None:
                raise body.failure from error
            raise self._failed(error) from error
        if response.status > MAX_STATUS:
            response.close()
            raise UpstreamFailed(f"The upstream {self._name} answered with no valid status.")
        return Reply(response, self._name)

    async def _request(
        self,
        session: aiohttp.ClientSession,
        outgoing: Outgoing,
        source: _Source | None,
        attempt: _Attempt,
    ) -> aiohttp.ClientResponse:
        headers = CIMultiDict((_text(name), _text(value)) for name, value in outgoing.headers)
        data: bytes | AsyncIterator[bytes] | None
        if isinstance(outgoing.body, bytes):
            headers["Content-Length"] = str(len(outgoing.body))
            data = _pieces(outgoing.body) if len(outgoing.body) > PIECE else outgoing.body
        else:
            data = None if source is None else source.pieces()
            if data is not None and outgoing.length is not None:
                headers["Content-Length"] = str(outgoing.length)
        return await session.request(
            outgoing.method,
            URL(self._base + outgoing.target, encoded=True),
            data=data,
            headers=headers,
            allow_redirects=False,
            skip_auto_headers=_AUTOMATIC,
            trace_request_ctx=attempt,
        )

    async def close(self) -> None:
        sessions, self._sessions = self._sessions, {}
        for session in sessions.values():
            await session.close()

    def _pooled(self) -> aiohttp.ClientSession:
        return self._session("pooled", keep=True)

    def _fresh(self) -> aiohttp.ClientSession:
        """Without kept connections: where one is stale, the others may be, too."""
        return self._session("fresh", keep=False)

    def _session(self, name: str, *, keep: bool) -> aiohttp.ClientSession:
        """Made at the first request: a session belongs to the running event loop."""
        if name not in self._sessions:
            trace = aiohttp.TraceConfig()
            trace.on_connection_reuseconn.append(_reused)
            self._sessions[name] = aiohttp.ClientSession(
                # Streams last long: never queue.
                connector=aiohttp.TCPConnector(limit=0, force_close=not keep),
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=None, connect=CONNECT_SECONDS),
                auto_decompress=False,
                trust_env=False,
                max_line_size=MAX_HEADER,
                max_field_size=MAX_HEADER,
                trace_configs=[trace],
            )
        return self._sessions[name]

    def _failed(self, error: Exception) -> MemTreeError:
        if isinstance(error, TimeoutError):
            return UpstreamTimeout(
                f"The upstream {self._name} did not accept a connection in {CONNECT_SECONDS:.0f} s."
            )
        return UpstreamFailed(f"The upstream {self._name} could not be reached: {_cause(error)}.")


class _Attempt:
    """One request on its way. `reused`: on a connection that had carried another before."""

    def __init__(self) -> None:
        self.reused = False
        self._begun = time.monotonic()

    @property
    def stale(self) -> bool:
        """Whether a connection that broke now was closed before the request had come there."""
        return self.reused and time.monotonic() - self._begun < STALE_SECONDS


async def _reused(
    _: aiohttp.ClientSession, context: SimpleNamespace, __: aiohttp.TraceConnectionReuseconnParams
) -> None:
    context.trace_request_ctx.reused = True


class _Source:
    """A streamed request body. An error in it is kept, because it is no fault of the upstream."""

    def __init__(self, body: AsyncIterator[bytes]) -> None:
        self._body = body
        self.failure: Exception | None = None

    async def pieces(self) -> AsyncIterator[bytes]:
        try:
            async for piece in self._body:
                yield piece
        except Exception as error:
            self.failure = error
            raise


class Reply:
    """An answer whose head is there. `headers` as they came, without hop-by-hop ones."""

    def __init__(self, response: aiohttp.ClientResponse, name: str) -> None:
        self._response = response
        self._name = name
        self.status = response.status
        self.headers = end_to_end(response.raw_headers)

    async def chunks(self) -> AsyncIterator[bytes]:
        """The body as it comes, its content-encoding untouched. Raises `UpstreamFailed` when it
        breaks off."""
        try:
            async for chunk in self._response.content.iter_any():
                yield chunk
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise UpstreamFailed(
                f"The upstream {self._name} broke off its answer: {_cause(error)}."
            ) from error

    def close(self) -> None:
        """Give up the rest. Does nothing once all has been read."""
        self._response.close()


async def _pieces(body: bytes) -> AsyncIterator[bytes]:
    for start in range(0, len(body), PIECE):
        yield body[start : start + PIECE]


def _cause(error: Exception) -> str:
    """Why, in words of the system or of the library; never a header or a body."""
    if isinstance(error, aiohttp.ServerDisconnectedError):
        return "it closed the connection without an answer"
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return "its name cannot be resolved"
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno)  # the event loops word their own differently
    return type(error).__name__


def _text(value: bytes) -> str:
    """aiohttp writes headers as UTF-8; what is none is read as the Latin-1 that it must be."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")
