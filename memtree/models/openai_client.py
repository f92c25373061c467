"""The `openai` SDK's client, configured to send a server only what it needs.

Settings that the SDK finds in the environment (keys, organisation, proxies, extra headers) are not
used; redirects are not followed, since text and key are for this server alone. The size of an
answer is limited after decompression, so that a broken server cannot exhaust the memory.

Importing this file costs half a second and 25 MB (the SDK).
"""

from __future__ import annotations

import hashlib
import logging
import math
import time
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

import httpx2
import openai

SENT = frozenset(
    {"host", "accept", "accept-encoding", "connection", "content-length", "content-type"}
)
CONNECT_SECONDS = 10.0
ANSWER_BYTES = 16 << 20  # of an answer, by default; a model's text has some 100 kB

# They log a line for each call and each retry; final failures are logged by the callers.
for _noisy in ("httpcore2", "httpx2", "openai"):
    logging.getLogger(_noisy).setLevel(logging.WARNING)


class AnswerTooLong(openai.APIConnectionError):
    """Raised when reading stopped because an answer was too long. The connection works, so the call
    is not repeated."""


class _Client(openai.DefaultAsyncHttpxClient):
    """`most`: bytes of an answer."""

    def __init__(self, most: int, **options: Any) -> None:
        super().__init__(**options)
        self._most = most

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Send, and read the whole answer, whatever `stream` says. Raises `AnswerTooLong`."""
        response = await super().send(request, **{**options, "stream": True})
        pieces, size = [], 0
        try:
            async for piece in response.aiter_bytes():  # decompressed, in pieces of at most 1 MB
                size += len(piece)
                if size > self._most:
                    raise AnswerTooLong(request=request)
                pieces.append(piece)
        finally:
            await response.aclose()
        headers = httpx2.Headers(response.headers)
        headers.pop("content-encoding", None)
        return httpx2.Response(
            response.status_code, headers=headers, content=b"".join(pieces), request=request
        )


def connected(url: str, key: str | None, most: int = ANSWER_BYTES) -> openai.AsyncOpenAI:
    """Make a client of the OpenAI SDK for a server. `url`: up to and with `/v1`. `key`: None to
    send none. `most`: bytes of an answer, decompressed; a longer one raises `AnswerTooLong`."""

    async def only_ours(request: httpx2.Request) -> None:
        """Remove headers that the SDK adds, some of them meant for OpenAI (`OPENAI_ORG_ID`)."""
        for name in [name for name in request.headers if name.lower() not in SENT]:
            del request.headers[name]
        request.headers["user-agent"] = "memtree"
        if key:
            request.headers["authorization"] = f"Bearer {key}"

    return openai.AsyncOpenAI(
        base_url=url,
        api_key=key or "none",  # None would read the environment
        http_client=_Client(
            most, trust_env=False, follow_redirects=False, event_hooks={"request": [only_ours]}
        ),
    )


def patience(seconds: float) -> httpx2.Timeout:
    """Return timeouts. `seconds`: for each read; connecting gets less."""
    return httpx2.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS))


def retry_after(value: str | None) -> float:
    """Return the seconds of a `retry-after` header in either form; 0 if it has none."""
    if not value:
        return 0.0
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(value).timestamp() - time.time()
        except (ValueError, OverflowError):
            return 0.0
    return max(0.0, seconds) if math.isfinite(seconds) else 0.0


def place(url: str) -> str:
    """Return a short name for a server, so that no address is stored."""
    parts = urlsplit(url)
    named = f"{parts.netloc.lower()}{parts.path.rstrip('/')}"
    return hashlib.sha256(named.encode()).hexdigest()[:8]
