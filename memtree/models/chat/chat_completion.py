"""One call of `POST {base}/chat/completions`: send messages, read the reply.

    reply = await ChatClient(url, key).ask(body, seconds=120)
    reply.text, reply.cut, reply.usage

Every kind of reply is accepted: text, parts of text, only reasoning, a tool call, a refusal,
nothing at all. Every failure is one of four errors, which differ in what to do next: `CallRefused`
(ask in another form), `ServerBusy` and `BrokenReply` (retry later), `CallDenied` (much later). The
body of an error is searched for the parameter that it names, and is never logged or shown: some
servers quote the text that they refuse.

Retries are made in `chat_endpoint.py`, rate limits in `rate_limit.py`.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn
from urllib.parse import urlsplit

import httpx2
import msgspec
import openai

from memtree.errors import SummarizerUnavailable
from memtree.models import openai_client
from memtree.models.chat import response_format
from memtree.ports.models import Usage

TOO_LATE = frozenset({504, 522, 524})  # a gateway gave up waiting for a model that is still working
# A connection that breaks sooner had been idle and was closed by the server: no model was at work.
SOON = 1.0
REFUSED = frozenset({400, 413, 422})
PASSING = frozenset({408, 409, 425})  # concerns this request alone; the list is the SDK's
REASONS = {
    401: " (is summary_api_key right?)",
    402: " (is the account paid?)",
    403: " (may this key use the model?)",
    404: " (are summary_base_url and summary_model right?)",
}
DENIED_SECONDS = 600.0  # wait before a wrong key, or an empty account, is tried again


class CallFailed(SummarizerUnavailable):
    """A call failed. `billed`: the server may have worked on it all the same."""

    def __init__(self, message: str, *, wait: float = 0.0, billed: bool = False) -> None:
        super().__init__(message, wait=wait)
        self.billed = billed


class CallRefused(CallFailed):
    """The server refuses the form of the call, or its text. `about`: a word of
    `response_format.py`."""

    def __init__(self, message: str, about: str) -> None:
        super().__init__(message)
        self.about = about


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


@dataclass(frozen=True, slots=True)
class ChatReply:
    """`text`: the answer. `hidden`: reasoning that came with it. `cut`: the answer ended at the
    token limit. `usage`: None if the server reports none."""

    text: str
    hidden: str = ""
    cut: bool = False
    usage: Usage | None = None
    thinks: bool = False


class ChatClient:
    """A server's chat endpoint. `url`: up to and with `/v1`; `key`: None to send none."""

    def __init__(self, url: str, key: str | None) -> None:
        self.host = urlsplit(url).netloc
        self._client = openai_client.connected(url, key)

    async def ask(self, body: Mapping[str, Any], *, seconds: float) -> ChatReply:
        """Make one call. `seconds`: limit for all of it."""
        begun = time.monotonic()
        try:
            async with asyncio.timeout(seconds):
                answer = await self._client.post(
                    "/chat/completions",
                    cast_to=httpx2.Response,
                    body=body,
                    options={"timeout": openai_client.patience(seconds), "max_retries": 0},
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
        wait = retry_after(error.response.headers)
        if status == 429 and error.code != "insufficient_quota":
            raise ServerBusy(message, wait=wait) from None
        if status in REFUSED:
            raise CallRefused(message, response_format.complaint(*_named(error))) from None
        if status < 500 and status not in PASSING:
            raise CallDenied(message, wait=max(wait, DENIED_SECONDS)) from None
        timed_out = status in TOO_LATE
        raise BrokenReply(message, wait=wait, billed=timed_out, again=not timed_out) from None


def _named(error: openai.APIStatusError) -> tuple[str | None, str]:
    """Return (parameter, code and message) of an error in any of the usual forms."""
    body: Any = error.body
    if isinstance(body, dict):
        said = " ".join(str(body.get(name) or "") for name in ("code", "type"))
        param = body.get("param")
        text = body.get("message") or body.get("detail") or body.get("error") or ""
        return param if isinstance(param, str) else None, f"{said} {text}"
    return None, str(body or "")


# ---------------------------------------------------------------- seconds to wait

_LENGTH = re.compile(r"(?<!\d)(\d++(?:\.\d++)?)(ms|s|m|h|d)")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}


def retry_after(headers: Mapping[str, str]) -> float:
    """Return the seconds to wait before a retry, by `Retry-After` or the rate limit headers; 0 if
    there are none."""
    if milliseconds := openai_client.retry_after(headers.get("retry-after-ms")):
        return milliseconds / 1_000
    if seconds := openai_client.retry_after(headers.get("retry-after")):
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
        return openai_client.retry_after(value) if value.replace(".", "", 1).isdigit() else 0.0
    return sum(float(number) * _UNITS[unit] for number, unit in _LENGTH.findall(value))


# ---------------------------------------------------------------- reading


def read_answer(content: bytes) -> ChatReply | None:
    """Read the answer in a body; None if it is not a chat completion (or is an error with status
    200)."""
    try:
        answer = msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    if not isinstance(answer, dict) or not isinstance(answer.get("choices"), list):
        return None
    usage = _object(answer.get("usage"))
    choice = _object(answer["choices"][0]) if answer["choices"] else {}
    if choice.get("error") or (answer.get("error") and not choice):
        return None
    message = _object(choice.get("message"))
    text, hidden = _text(message.get("content")), _reasoning(message)
    cut = choice.get("finish_reason") in ("length", "max_tokens")
    text = text or _called(message)
    if not text and not cut:
        text = hidden  # a server that labels the whole answer as reasoning
    details = _object(usage.get("completion_tokens_details"))
    thinks = bool(hidden) or _number(details.get("reasoning_tokens")) > 0
    return ChatReply(text, hidden, cut, _usage(usage), thinks or (cut and not text))


def _text(content: Any) -> str:
    """Return content as text: a string, or its parts without reasoning."""
    if isinstance(content, str):
        return content
    parts = [_object(part) for part in content] if isinstance(content, list) else []
    texts = [
        part.get("text") for part in parts if part.get("type") in (None, "text", "output_text")
    ]
    return "".join(text for text in texts if isinstance(text, str))


def _reasoning(message: Mapping[str, Any]) -> str:
    for name in ("reasoning_content", "reasoning"):
        if text := _text(message.get(name)):
            return text
    return ""


def _called(message: Mapping[str, Any]) -> str:
    """Return the arguments of a tool that was never offered: some models answer so when JSON is
    requested."""
    calls = message.get("tool_calls")
    offered = calls if isinstance(calls, list) else []
    functions = [_object(_object(call).get("function")) for call in offered]
    functions.append(_object(message.get("function_call")))
    return "\n".join(f["arguments"] for f in functions if isinstance(f.get("arguments"), str))


def _usage(usage: Mapping[str, Any]) -> Usage | None:
    """Return the tokens as the server counts them. Some include reasoning in the total only: it
    counts as output."""
    read, written = _number(usage.get("prompt_tokens")), _number(usage.get("completion_tokens"))
    if not read:
        return None
    details = _object(usage.get("prompt_tokens_details"))
    cached = _number(details.get("cached_tokens")) or _number(usage.get("prompt_cache_hit_tokens"))
    written = max(written, _number(usage.get("total_tokens")) - read)
    return Usage(read, written, min(cached, read))


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _number(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
