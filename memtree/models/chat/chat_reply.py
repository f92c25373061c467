"""Read the reply of a chat endpoint: an answer, or what a refusal is about.

Every kind of answer is accepted: text, parts of text, only reasoning, a tool call, a refusal,
nothing at all. Pure, and cheap to import: no SDK is needed to read a reply.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from memtree.errors import SummarizerUnavailable
from memtree.models.chat import response_format
from memtree.ports.models import Usage
from memtree.text import tokens

REFUSED = frozenset({400, 413, 422})  # statuses of a refused form, or text


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


@dataclass(frozen=True, slots=True)
class ChatReply:
    """`text`: the answer. `hidden`: reasoning that came with it. `cut`: the answer ended at the
    token limit. `usage`: None if the server reports none."""

    text: str
    hidden: str = ""
    cut: bool = False
    usage: Usage | None = None
    thinks: bool = False

    def used(self, sent: int) -> Usage:
        """Return the tokens as the server reports them, or counted here if it reports none.
        `sent`: tokens of the prompt."""
        if self.usage is not None:
            return self.usage
        written = f"{self.text}{self.hidden if self.hidden != self.text else ''}"
        size = tokens.count(written.encode(errors="replace").decode())
        return Usage(sent, size, counted=True)


def refusal(body: Any) -> str:
    """Return the subject of a refused call, a word of `response_format.py`. `body`: the decoded
    error in any of the usual forms."""
    if not isinstance(body, dict):
        return response_format.complaint(None, str(body or ""))
    said = " ".join(str(body.get(name) or "") for name in ("code", "type"))
    param = body.get("param")
    text = body.get("message") or body.get("detail") or body.get("error") or ""
    return response_format.complaint(param if isinstance(param, str) else None, f"{said} {text}")


def refusal_in(content: bytes) -> str:
    """Return the subject of a refused call, by the body of the answer."""
    try:
        body = msgspec.json.decode(content)
        error = body.get("error") if isinstance(body, dict) else None
        return refusal(error if isinstance(error, dict) else body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return refusal(content[: 4 * response_format.REACH].decode(errors="replace"))


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
