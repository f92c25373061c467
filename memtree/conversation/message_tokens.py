"""Count the tokens of a message in a prompt, and its cache markers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from memtree.conversation.media.parts import FLAT_TOKENS, loose_tokens, part_tokens
from memtree.conversation.message import MESSAGE_OVERHEAD, TEXT_PARTS, Message

# Fields that hold the same reasoning in several forms: a provider reads one of them
REASONING = (
    "reasoning_content", "reasoning", "reasoning_text", "reasoning_details", "thinking",
    "thinking_blocks", "reasoning_opaque",
)  # fmt: skip
_CALL_FIELDS = frozenset({"id", "type", "index", "function", "custom", "cache_control"})


def price(message: Message, count: Callable[[str], int]) -> int:
    """Return the tokens of the message when it is sent: text, calls, reasoning, media, overhead.
    Fields that no provider is known to put into a prompt (annotations, `parsed`, fields of a
    gateway) are not counted.
    """
    fields = message.fields
    tokens = MESSAGE_OVERHEAD + count(message.words)
    for part in message.parts:
        if part["type"] == "refusal":
            tokens += count(str(part.get("refusal") or ""))
        elif part["type"] not in TEXT_PARTS:
            tokens += part_tokens(part, count)
    for call in message.calls:
        tokens += count(call.name) + count(call.arguments) + MESSAGE_OVERHEAD
    for call in fields.get("tool_calls") or ():  # thought signatures and the like
        if more := {key: call[key] for key in call if key not in _CALL_FIELDS}:
            tokens += loose_tokens(list(more.values()), count)
    for name in ("refusal", "name"):
        if isinstance(fields.get(name), str):
            tokens += count(fields[name])
    if fields.get("extra_content"):
        tokens += loose_tokens(fields["extra_content"], count)
    if isinstance(fields.get("audio"), dict):  # earlier speech, referred to by its id
        tokens += FLAT_TOKENS
    return tokens + max(loose_tokens(fields.get(name), count) for name in REASONING)


def markers(message: Message) -> list[Any]:
    """Return the cache markers of a message: on itself, its parts, its calls."""
    places = [*message.parts, *(message.fields.get("tool_calls") or ()), message.fields]
    return [place["cache_control"] for place in places if place.get("cache_control")]
