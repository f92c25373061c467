"""The `openai` SDK's client, made to send a server nothing but what it must know.

Whatever the SDK finds in the environment (keys, organisation, proxies, headers of its own) stays
here; redirects are not followed, since text and key are for this server alone. An answer is read as
far as it may be long, unpacked: a broken server must not fill the memory.

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
ANSWER_BYTES = 16 << 20  # of an answer, by default; what a model writes has some 100 kB

# A line for each call and each retry; what failed in the end is logged by the callers.
for _noisy in ("httpcore2", "httpx2", "openai"):
    logging.getLogger(_noisy).setLevel(logging.WARNING)


class AnswerTooLong(openai.APIConnectionError):
    """Raised when reading stopped because an answer was too long. The connection is sound, so the
    call is not tried again."""


class _Client(openai.DefaultAsyncHttpxClient):
    """`most`: bytes of an answer."""

    def __init__(self, most: int, **options: Any) -> None:
        super().__init__(**options)
        self._most = most

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """`AnswerTooLong`; whole answers alone, whatever `stream` says."""
        response = await super().send(request, **{**options, "stream": True})
        pieces, size = [], 0
        try:
            async for piece in response.aiter_bytes():  # unpacked, in pieces of at most 1 MB
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
    """Make a client of the OpenAI SDK for a server. `url`: up to and with `/v1`. `key` None: none
    is sent. `most`: bytes of an answer, unpacked; beyond that `AnswerTooLong`."""

    async def only_ours(request: httpx2.Request) -> None:
        """The SDK adds headers of its own, some of them for OpenAI's eyes (`OPENAI_ORG_ID`)."""
        for name in [name for name in request.headers if name.lower() not in SENT]:
            del request.headers[name]
        request.headers["user-agent"] = "memtree"
        if key:
            request.headers["authorization"] = f"Bearer {key}"

    return openai.AsyncOpenAI(
        base_url=url,
        api_key=key or "none",  # None would be the environment's
        http_client=_Client(
            most, trust_env=False, follow_redirects=False, event_hooks={"request": [only_ours]}
        ),
    )


def patience(seconds: float) -> httpx2.Timeout:
    """`seconds`: for connecting (less of it) and for each read."""
    return httpx2.Timeout(seconds, connect=min(seconds, CONNECT_SECONDS))


def retry_after(value: str | None) -> float:
    """Seconds of a `retry-after` header in either form; 0 where it says nothing."""
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
    """A short name for a server, so that no address stands in the store."""
    parts = urlsplit(url)
    named = f"{parts.netloc.lower()}{parts.path.rstrip('/')}"
    return hashlib.sha256(named.encode()).hexdigest()[:8]
