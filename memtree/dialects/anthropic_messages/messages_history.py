"""Read a posted history of the Messages API as canonical messages.

system, messages -> canonical messages, each with its posted message

System messages directly behind the user's first message, and those that load tools or change the
output, stay system messages in the canonical form: they are never hashed or folded. Later system
messages with text are notes of the harness (the state of a list, the tokens left): they become
messages of the user's role that are never separated from the message before.

A history with a compaction block begins with the provider's summary: nothing may stand before it,
so it passes unchanged, as do threads. A request for no answer (`max_tokens: 0`), or for one token
on a single message, is a client's probe: a side request, like a compaction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memtree.context.answer import Answer
from memtree.context.state import Reason
from memtree.conversation.message import Message
from memtree.dialects.anthropic_messages import writing
from memtree.dialects.anthropic_messages.canonical import translation
from memtree.dialects.anthropic_messages.canonical.posted_request import (
    Cache,
    KnownBeginning,
    KnownRequests,
    PostedMessages,
    PostedRequest,
)
from memtree.dialects.anthropic_messages.content import without_thinking
from memtree.dialects.fragment_counts import tools_tokens
from memtree.dialects.placed_memories import PlacedMemories
from memtree.dialects.raw_items import RawItems, raw_items
from memtree.dialects.translated_messages import TranslatedMessages
from memtree.errors import BadRequest
from memtree.wire.json_body import Body

_BILLING = "x-anthropic-billing-header"
_PROBE_TOKENS = (0, 1)


@dataclass(frozen=True, slots=True)
class MessagesHistory:
    """`DialectHistory` of the Messages API. `request`: the posted request, with the places of its
    messages."""

    messages: TranslatedMessages
    request: PostedRequest
    tools_tokens: int
    markers: int
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
        return writing.fields(
            self.request, answer, memories, more, no_thinking_before=no_thinking_before
        )

    def unbound(self, items: Sequence[bytes]) -> list[bytes]:
        """Remove the thinking of items, except for models that require it at the beginning of a
        turn: these do not check the prompt that led to it."""
        if self.request.enabled:
            return list(items)
        return [without_thinking(item) for item in items]


def read(
    body: Body,
    tenant: str,
    cache: Cache,
    most: int | None = None,
    known: KnownRequests | None = None,
) -> MessagesHistory:
    """Read a posted history. `known`: earlier requests, whose beginnings are not translated again.
    Raises `BadRequest` with the place in the body."""
    return read_items(body, _raws(body, most), tenant, cache, known)


def read_items(
    body: Body, raws: RawItems, tenant: str, cache: Cache, known: KnownRequests | None = None
) -> MessagesHistory:
    """Like `read`, for a body that is already split into raw messages."""
    thread = _given(body, "thread")  # the messages it answers may not be here
    beginning = known.beginning(tenant, raws) if known and not thread else KnownBeginning()
    posted = PostedMessages(raws, tenant, cache)
    new = [posted[place] for place in range(beginning.length, len(raws))]
    system = _system(body)
    enabled = _kind(body.value("thinking")) == "enabled"
    translated = translation.extended(
        beginning.known.translated, beginning.length, raws, posted, paired=not thread
    )
    request = PostedRequest(
        posted=posted,
        translated=translated,
        system=system,
        enabled=enabled,
        before=tuple(body.fragment(name) or b"" for name in ("tools", "system")),
        top=body.value("cache_control"),
    )
    passes = thread or any(message.compacted for message in new)
    messages = request.messages(beginning)
    if known and not passes:
        known.put(tenant, raws.number, request.known(messages), beginning.number)
    return MessagesHistory(
        messages=messages,
        request=request,
        tools_tokens=tools_tokens(body),
        markers=_marks(body, "tools") + _given(body, "cache_control"),
        passes=Reason.SERVER_STATE if passes else Reason.NONE,
        side=_asks_for_itself(body, raws),
    )


def _raws(body: Body, most: int | None) -> RawItems:
    raws = raw_items(body, "messages")
    if raws is None:
        raise BadRequest("messages must be a non-empty array", param="messages")
    if most is not None and len(raws) > most:
        raise BadRequest(f"messages must be at most {most}", param="messages")
    return raws


def _given(body: Body, name: str) -> bool:
    return body.fragment(name) not in (None, b"null", b"false")


def _marks(body: Body, name: str) -> int:
    return (body.fragment(name) or b"").count(b'"cache_control"')


def _kind(value: Any) -> Any:
    return value.get("type") if isinstance(value, dict) else None


def _asks_for_itself(body: Body, raws: Sequence[bytes]) -> bool:
    most = body.value("max_tokens")
    probe = not isinstance(most, bool) and most in _PROBE_TOKENS
    return _given(body, "compaction") or (probe and (most == 0 or len(raws) == 1))


def _system(body: Body) -> tuple[Message, ...]:
    """Return the canonical system message, if any. Each block is a line of its own; the billing
    block is no part of the prompt."""
    given = body.value("system")
    if given is None or isinstance(given, str):
        return (Message.of({"role": "system", "content": given}),) if given else ()
    if not isinstance(given, list):
        raise BadRequest("system must be a string or an array of blocks", param="system")
    parts = []
    for index, block in enumerate(given):
        place = f"system[{index}]"
        if not isinstance(block, dict) or not isinstance(block.get("type"), str):
            raise BadRequest(f"{place} must be an object with a type", param=place)
        text = block.get("text")
        if block["type"] == "text" and not isinstance(text, str):
            raise BadRequest(f"{place}.text must be a string", param=f"{place}.text")
        if not isinstance(text, str):
            parts.append(block)
        elif not text.startswith(_BILLING):
            parts.append({**block, "text": text + "\n"})
    return (Message.of({"role": "system", "content": parts}),) if parts else ()
