"""Write an answer as messages of OpenAI's chat completions, in raw JSON fragments.

A posted message stays the same, byte for byte; the text of a recall block goes in front of its own.
This file does not decide what is sent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

from memtree.context.answer import AnswerItem, AssistantLine, KeptMessage, MemoryText
from memtree.conversation.message import Message
from memtree.conversation.message_list import raws_of
from memtree.wire import json_body


def messages(items: Iterable[AnswerItem], posted: Sequence[Message]) -> tuple[bytes, ...]:
    """Return the messages that an answer to `posted` sends."""
    raw_of = raws_of(posted)
    return tuple(
        raw_of(item.index)
        if isinstance(item, KeptMessage) and not item.block
        else _message(item, posted)
        for item in items
    )


def _message(item: AnswerItem, posted: Sequence[Message]) -> bytes:
    match item:
        case KeptMessage(index, block, behind):
            raw = posted[index].raw
            return with_text_behind(raw, block, "") if behind else with_text_before(raw, block)
        case MemoryText():
            return _memory_message(item, posted)
        case AssistantLine(text):
            return msgspec.json.encode({"role": "assistant", "content": text})


def _memory_message(memory: MemoryText, posted: Sequence[Message]) -> bytes:
    """Return the memory message; its content is a string, or a list if the client's preamble is a
    list or cache markers are in use."""
    before = memory.preamble
    content: Any = f"{before.text}\n\n{memory.text}" if before.text else memory.text
    if memory.as_parts or before.parts:
        last: dict[str, Any] = {"type": "text", "text": memory.text}
        if memory.cache_marker is not None:
            last["cache_control"] = memory.cache_marker
        carried: list[Any] = [{"type": "text", "text": before.text}] if before.text else []
        carried += [_raw_part(posted[message], part) for message, part in before.parts]
        content = [*carried, last]
    return msgspec.json.encode({"role": "user", "content": content})


def _raw_part(message: Message, index: int) -> msgspec.Raw:
    """Return a posted content part without its cache marker, since the memory message has its
    own."""
    raw = msgspec.json.decode(message.raw, type=_Parts).content[index]
    if b'"cache_control"' not in bytes(raw):
        return raw
    fields = msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
    fields.pop("cache_control", None)
    return msgspec.Raw(msgspec.json.encode(fields))


class _Parts(msgspec.Struct):
    content: list[msgspec.Raw]


def with_text_before(raw: bytes, text: str) -> bytes:
    """Insert text in front of a message's own; all its other bytes stay."""
    return _with_content(raw, lambda content: _before(content, text))


def with_text_behind(raw: bytes, text: str, seam: str) -> bytes:
    """Append text to a message's own, with `seam` between two strings; all its other bytes stay."""
    return _with_content(raw, lambda content: _behind(content, text, seam))


def _with_content(raw: bytes, changed: Callable[[bytes], bytes]) -> bytes:
    fields = msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
    content = bytes(fields.get("content", b"null"))
    return json_body.with_value(raw, fields, "content", changed(content))


def _before(raw: bytes, text: str) -> bytes:
    """Return the raw JSON of a content with a text before it: a list gains a first part."""
    if raw.startswith(b"["):
        first = msgspec.json.encode({"type": "text", "text": text})
        rest = raw[1:]
        return b"[" + first + (b"," if rest.strip() != b"]" else b"") + rest
    return msgspec.json.encode(text)[:-1] + raw[1:]


def _behind(raw: bytes, text: str, seam: str) -> bytes:
    """Return the raw JSON of a content with a text behind it: a list gains a last part."""
    if raw.startswith(b"["):
        last = msgspec.json.encode({"type": "text", "text": text})
        comma = b"," if raw[1:-1].strip() else b""
        return raw[:-1] + comma + last + b"]"
    if raw in (b'""', b"null"):
        return msgspec.json.encode(text)
    return raw[:-1] + msgspec.json.encode(seam + text)[1:]
