"""Configure the client of the `openai` SDK, and make one call of a chat endpoint with it.

    reply = await ChatClient(url, key).ask(body, seconds=120)   # POST {base}/chat/completions
    reply.text, reply.cut, reply.usage

The client sends a server only what it needs. Settings that the SDK finds in the environment (keys,
organisation, proxies, extra headers) are not used; redirects are not followed, since text and key
are for this server alone. The size of an answer is limited after decompression, so that a broken
server cannot exhaust the memory.

Every failure of a call is one of four errors, which differ in what to do next: `CallRefused` (ask
in another form), `ServerBusy` and `BrokenReply` (retry later), `CallDenied` (much later). The body
of an error is searched for the parameter that it names, and is never logged or shown: some servers
quote the text that they refuse. Retries and rate limits are in `chat_endpoint.py`.

Importing this module costs half a second and 25 MB (the SDK).
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import math
import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any, NoReturn
from urllib.parse import urlsplit

import httpx2
import openai

from memtree.models.chat_reply import (
    REFUSED,
    CallFailed,
    CallRefused,
    ChatReply,
    read_answer,
    refusal,
)

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


TOO_LATE = frozenset({504, 522, 524})  # a gateway gave up waiting for a model that is still working
# A connection that breaks sooner had been idle and was closed by the server: no model was at work.
SOON = 1.0
PASSING = frozenset({408, 409, 425})  # concerns this request alone; the list is the SDK's
REASONS = {
    401: " (is summary_api_key right?)",
    402: " (is the account paid?)",
    403: " (may this key use the model?)",
    404: " (are summary_base_url and summary_model right?)",
}
DENIED_SECONDS = 600.0  # wait before a wrong key, or an empty account, is tried again


class ServerBusy(CallFailed):
    """The server has too many calls, or tokens; `wait`: seconds that it named, or 0."""


class BrokenReply(CallFailed):
    """There was no answer, or an unreadable one. `again`: an immediate retry may help."""

    def __init__(
        self, message: str, *, wait: float = 0.0, billed: bool = False, again: bool = True
    ) -> None:
        super().__init__(message, wait=wait, billed=billed)
        self.again = again


class CallDenied(CallFailed):
    """The server rejects the key, the model or the account; a retry will not help soon."""


class ChatClient:
    """A server's chat endpoint. `url`: up to and with `/v1`; `key`: None to send none."""

    def __init__(self, url: str, key: str | None) -> None:
        self.host = urlsplit(url).netloc
        self._client = connected(url, key)

    async def ask(self, body: Mapping[str, Any], *, seconds: float) -> ChatReply:
        """Make one call. `seconds`: limit for all of it."""
        begun = time.monotonic()
        try:
            async with asyncio.timeout(seconds):
                answer = await self._client.post(
                    "/chat/completions",
                    cast_to=httpx2.Response,
                    body=body,
                    options={"timeout": patience(seconds), "max_retries": 0},
                )
        except openai.APIStatusError as error:
            self._failed(error)
        except (TimeoutError, openai.APITimeoutError) as error:
            reached = not isinstance(error.__cause__, httpx2.ConnectTimeout)
            message = f"{self.host} did not answer in time"
            raise BrokenReply(message, billed=reached, again=False) from None
        except openai.APIConnectionError as error:
            reached = not isinstance(error.__cause__, httpx2.ConnectError)
            worked = reached and time.monotonic() - begun > SOON
            problem = "broke off" if reached else "cannot be reached"
            raise BrokenReply(f"{self.host} {problem}", billed=worked, again=not worked) from None
        reply = read_answer(answer.content)
        if reply is None:
            raise BrokenReply(
                f"{self.host} answered with no chat completion", billed=True, again=False
            )
        return reply

    async def close(self) -> None:
        await self._client.close()

    def _failed(self, error: openai.APIStatusError) -> NoReturn:
        status = error.status_code
        message = f"{self.host} answers {status}{REASONS.get(status, '')}"
        wait = asked_wait(error.response.headers)
        if status == 429 and error.code != "insufficient_quota":
            raise ServerBusy(message, wait=wait) from None
        if status in REFUSED:
            raise CallRefused(message, refusal(error.body)) from None
        if status < 500 and status not in PASSING:
            raise CallDenied(message, wait=max(wait, DENIED_SECONDS)) from None
        timed_out = status in TOO_LATE
        raise BrokenReply(message, wait=wait, billed=timed_out, again=not timed_out) from None


# ---------------------------------------------------------------- seconds to wait

_LENGTH = re.compile(r"(?<!\d)(\d++(?:\.\d++)?)(ms|s|m|h|d)")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}


def asked_wait(headers: Mapping[str, str]) -> float:
    """Return the seconds to wait before a retry, by `Retry-After` or the rate limit headers; 0 if
    there are none."""
    if milliseconds := retry_after(headers.get("retry-after-ms")):
        return milliseconds / 1_000
    if seconds := retry_after(headers.get("retry-after")):
        return seconds
    resets = [
        length(headers.get(f"x-ratelimit-reset-{kind}", ""))
        for kind in ("requests", "tokens")
        if headers.get(f"x-ratelimit-remaining-{kind}") in ("0", "0.0")
    ]
    return max(resets, default=0.0)


def length(value: str) -> float:
    """Return the seconds in `6m0s`, `1h2m3.5s`, `12ms`, or a number; 0 for anything else.

    >>> length("1m30.5s")
    90.5
    """
    if _LENGTH.sub("", value).strip():
        return retry_after(value) if value.replace(".", "", 1).isdigit() else 0.0
    return sum(float(number) * _UNITS[unit] for number, unit in _LENGTH.findall(value))
