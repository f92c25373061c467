"""Read the history that a caller of `/context_memory` posts, in any of the three wire dialects.

The field `dialect` names the dialect. Without it the shape decides: only `/responses` has `input`,
only `/messages` has `system` beside the messages and tool calls as blocks of their content. A
history that reads the same in `/messages` and in a chat counts as a chat: its address and stored
data are the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import msgspec

from memtree.budget.prices import Prices
from memtree.context.answer import Answer
from memtree.context.turn_request import CompressRequest
from memtree.dialects import messages_history, messages_request, openai_chat, responses_history
from memtree.dialects.openai_chat import PlacedMemories
from memtree.dialects.responses_items import INPUT, ItemCache
from memtree.errors import BadRequest
from memtree.history import json_body
from memtree.history.json_body import Body
from memtree.history.message import Message


class DialectHistory(Protocol):
    """A posted history. `messages`: canonical, with the leading system messages first.
    `tools_tokens`, `markers`: tokens and cache markers in the rest of the prompt. `defined`: names
    of our tools that its items may define, None if they define no tools. `passes`: the reason to
    forward the request unchanged, or "". `side`: True if the client says that it is a request of
    its own (a compaction, a title)."""

    @property
    def messages(self) -> Sequence[Message]: ...
    @property
    def tools_tokens(self) -> int: ...
    @property
    def markers(self) -> int: ...
    @property
    def defined(self) -> frozenset[str] | None: ...
    @property
    def passes(self) -> str: ...
    @property
    def side(self) -> bool: ...

    def fields(
        self,
        answer: Answer | None,
        memories: PlacedMemories | None = None,
        more: Sequence[bytes] = (),
        *,
        no_thinking_before: int = 0,
    ) -> Mapping[str, bytes]:
        """Return the changed fields of the body, as raw JSON; empty if nothing changes.

        `answer`: the history to send, None if context memory changes nothing. `memories`: memories
        to place in a posted message while nothing is folded. `more`: items behind the history:
        rounds of our tools. `no_thinking_before`: the canonical message (index in `messages`)
        before which no thinking may be sent, since the upstream refused it."""
        ...

    def unbound(self, items: Sequence[bytes]) -> list[bytes]:
        """Return rounds of our tools (`more`) in a form that is valid behind another prompt than
        the one they came from."""
        ...


CHAT, MESSAGES, RESPONSES = "chat", "messages", "responses"
DIALECTS = (CHAT, MESSAGES, RESPONSES)
OUTPUT_FIELDS = ("max_tokens", "max_completion_tokens")
_CALLS = frozenset({"tool_use", "tool_result", "server_tool_use", "mcp_tool_use"})
_CHAT_ROLES = frozenset({"tool", "function", "developer"})


@dataclass(frozen=True, slots=True)
class PostedDialectHistory:
    """Posted history with its dialect. `field`: the body's field that holds it. `read`: the history
    as read, None for a chat, whose messages are canonical already."""

    dialect: str
    field: str
    posted: bytes
    messages: Sequence[Message]
    read: DialectHistory | None = None

    @property
    def output_fields(self) -> tuple[str, ...]:
        if self.dialect == RESPONSES:
            return ("max_output_tokens",)
        return OUTPUT_FIELDS

    def complete(self, ask: CompressRequest, prices: Prices | None = None) -> CompressRequest:
        """Add the dialect's values to a request. Message orders that some chat templates need are
        off, since the other two APIs refuse them. `prices`: those of the vendor's own API, if
        known."""
        if self.read is None:
            return ask
        return replace(
            ask,
            tools_tokens=self.read.tools_tokens,
            markers=self.read.markers,
            dialect=self.dialect,
            prices=prices or ask.prices,
            alternate=False,
            keep_first=False,
        )

    def sent(self, answer: Answer) -> bytes:
        """Return the raw history that an answer sends, in the same dialect."""
        if self.read is None:
            return json_body.joined(openai_chat.messages(answer.items, self.messages))
        return self.read.fields(answer).get(self.field, self.posted)


def read(body: Body, tenant: str, most: int | None = None) -> PostedDialectHistory:
    """Read a posted history of at most `most` messages or items. Raises `BadRequest` with the
    field."""
    dialect = dialect_of(body)
    if dialect == CHAT:
        return PostedDialectHistory(dialect, MESSAGES, b"", body.messages(most))
    # Translations are not cached: the next request brings the whole history again.
    if dialect == RESPONSES:
        items = ItemCache(0, most=0)
        history: DialectHistory = responses_history.read(body, tenant, items, most)
    else:
        history = messages_history.read(body, tenant, messages_request.Cache(0, most=0), most)
    field = INPUT if dialect == RESPONSES else MESSAGES
    if history.passes:
        raise BadRequest(
            f"{field}: a part of this history lies on the server (a thread, a response or "
            "conversation that is referred to, a compaction), so it cannot be read here",
            param=field,
        )
    return PostedDialectHistory(
        dialect, field, body.fragment(field) or b"[]", history.messages, history
    )


def dialect_of(body: Body) -> str:
    """Return the body's dialect, one of DIALECTS. Raises `BadRequest`."""
    named = body.value("dialect")
    if isinstance(named, str) and named in DIALECTS:
        return named
    if named is not None:
        raise BadRequest(f"dialect must be one of {', '.join(DIALECTS)}", param="dialect")
    if is_given(body, INPUT):
        if is_given(body, MESSAGES):
            raise BadRequest("give messages or input, not both", param=INPUT)
        return RESPONSES
    return MESSAGES if is_given(body, "system") or _has_blocks(body) else CHAT


def is_given(body: Body, name: str) -> bool:
    return body.fragment(name) not in (None, b"null")


def _has_blocks(body: Body) -> bool:
    """Return True if calls and results are blocks of messages, as only in `/messages`."""
    span = body.spans.get(MESSAGES)
    if span is None:
        return False
    names = (f'"{kind}"'.encode() for kind in _CALLS)
    if all(body.raw.find(name, span.start, span.end) < 0 for name in names):
        return False
    try:
        return not _CALLS.isdisjoint(_kinds(body.raw[span.start : span.end]))
    except (msgspec.DecodeError, RecursionError):  # the reader of the history reports where
        return False


class _Role(msgspec.Struct):
    role: msgspec.Raw = msgspec.Raw(b"")
    content: msgspec.Raw = msgspec.Raw(b"")
    tool_calls: msgspec.Raw = msgspec.Raw(b"")


class _Kind(msgspec.Struct):
    type: msgspec.Raw = msgspec.Raw(b"")


def _kinds(raw: bytes) -> Iterator[str]:
    """Yield the types of blocks in order, up to a message that only a chat can hold."""
    for message in msgspec.json.decode(raw, type=list[_Role]):
        if bytes(message.role).strip(b'"').decode() in _CHAT_ROLES or bytes(message.tool_calls):
            return
        if bytes(message.content).startswith(b"["):
            for block in msgspec.json.decode(message.content, type=list[_Kind]):
                yield bytes(block.type).strip(b'"').decode()
