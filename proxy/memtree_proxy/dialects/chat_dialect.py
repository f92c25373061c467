"""OpenAI's chat completions as a `Dialect`: the posted messages are already canonical.

Writing messages and placing memories is done by `memtree.dialects.openai_chat`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from memtree.config import Settings
from memtree.context.answer import Answer
from memtree.dialects import openai_chat
from memtree.dialects.fragment_caches import markers, tools_tokens
from memtree.dialects.openai_chat import PlacedMemories
from memtree.dialects.posted_history import OUTPUT_FIELDS
from memtree.dialects.tool_definitions import ToolGroup
from memtree.history import json_body
from memtree.history.json_body import Body
from memtree.history.message import Message
from memtree_proxy.dialects import sse, tool_offer
from memtree_proxy.dialects.chat_stream import ToolStream, WholeAnswer
from memtree_proxy.dialects.round_calls import ToolRound
from memtree_proxy.dialects.tool_offer import Offer
from memtree_proxy.http.error_response import OpenAIErrors

HISTORY = "messages"
# Beginning of a delta's text
_SAYS = re.compile(rb'"delta":[^{]{0,8}\{[^{}"]{0,8}(?:"role": ?"assistant",)?\s*"content": ?"[^"]')


class ChatDialect:
    """The `Dialect` of OpenAI's chat completions (`POST /v1/chat/completions`)."""

    name = "chat"
    history = HISTORY
    output_fields: tuple[str, ...] = OUTPUT_FIELDS
    sign = b": keep-alive\n\n"
    prefix_bound = False

    def __init__(self, settings: Settings) -> None:
        self.errors = ChatErrors(settings.overflow_status)

    def read(self, body: Body, tenant: str, most: int | None = None) -> ChatHistory:
        return ChatHistory(body, body.messages(most), tools_tokens(body), markers(body))

    def offer(
        self, body: Body, groups: tuple[ToolGroup, ...], defined: frozenset[str] | None = None
    ) -> Offer | None:
        return tool_offer.of(body, groups)

    def stream(self, names: frozenset[str]) -> ToolStream:
        return ToolStream(names)

    def whole(self, names: frozenset[str]) -> WholeAnswer:
        return WholeAnswer(names)

    def results(self, round_: ToolRound, texts: Sequence[str]) -> list[bytes]:
        """Return one message for each call's result."""
        return [
            msgspec.json.encode({"role": "tool", "tool_call_id": call.id, "content": text})
            for call, text in zip(round_.calls, texts, strict=True)
        ]

    def forget(self) -> None:
        """Do nothing: chats cache no posted text."""


@dataclass(frozen=True, slots=True)
class ChatHistory:
    """A `DialectHistory` of chat messages. Chat requests do not mark themselves as side requests or
    as requests to pass through."""

    body: Body
    messages: Sequence[Message]
    tools_tokens: int = 0
    markers: int = 0
    passes: str = ""
    side: bool = False
    defined: None = None

    def fields(
        self,
        answer: Answer | None,
        memories: PlacedMemories | None = None,
        more: Sequence[bytes] = (),
        *,
        no_thinking_before: int = 0,
    ) -> Mapping[str, bytes]:
        """Return the changed fields of the body. `no_thinking_before` has no effect: no chat
        upstream refuses thinking."""
        if answer is not None and answer.changed:
            kept: Sequence[bytes] = openai_chat.messages(answer.items, self.messages)
            kept = memories.among(kept) if memories else kept
            return {HISTORY: json_body.joined((*kept, *more))}
        if not (memories or more):
            return {}
        posted = self.body.fragment(HISTORY) or b"[]"
        posted = memories.within(posted) if memories else posted
        return {HISTORY: json_body.extended(posted, more) if more else posted}

    def unbound(self, items: Sequence[bytes]) -> list[bytes]:
        return list(items)


class ChatErrors(OpenAIErrors):
    """The `ErrorForm` of chat completions."""

    def failed(self, error: Mapping[str, Any]) -> bytes:
        return sse.failed(error)

    def whole(self, error: Mapping[str, Any]) -> bytes:
        return msgspec.json.encode({"error": error})

    def first_error(self, beginning: bytes) -> bool | None:
        if _SAYS.search(beginning) and b'"error"' not in beginning:  # nearly every answer
            return False
        return sse.first_error(beginning, _opens)


def _opens(chunk: Mapping[str, Any]) -> bool:
    """Return True for a chunk without content: the role alone, or no choice."""
    choices = chunk.get("choices")
    if not isinstance(choices, list):
        return False
    for choice in choices:
        delta = choice.get("delta") if isinstance(choice, dict) else None
        if not isinstance(delta, dict) or choice.get("finish_reason"):
            return False
        if any(value for name, value in delta.items() if name != "role"):
            return False
    return True
