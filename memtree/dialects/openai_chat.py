"""Write an answer as messages of OpenAI's chat completions, in raw JSON fragments.

It also places memories in a chat's messages while none is folded. A posted message stays the same,
byte for byte; the text of a recall block goes in front of its own. Memories stand behind the
leading system messages, or before the words of the user's newest message. Passages of documents
always stand before the newest message: they are others' words, which have no place among the rules
of a system prompt, and they change with each question, while a changed system prompt makes the
provider read everything behind it again.

What is sent, which memories, and where they stand is decided elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec

from memtree.context.answer import AnswerItem, AssistantLine, KeptMessage, MemoryText
from memtree.history import json_body
from memtree.history.message import SYSTEM_ROLES, Message
from memtree.history.message_list import raws_of
from memtree.text import memory_lines, tokens
from memtree.text.memory_lines import SEAM, LineKind, MemoryLine

# A string, a list of parts, or nothing
_TAKES_TEXT = re.compile(rb'"|null|\[\s*[{\]]')


def messages(items: Iterable[AnswerItem], posted: Sequence[Message]) -> tuple[bytes, ...]:
    """Return the messages that an answer to `posted` sends."""
    raw_of = raws_of(posted)
    sent: list[bytes] = []
    for item in items:
        match item:
            case KeptMessage(index, block, behind):
                raw = raw_of(index)
                sent += _beside(raw, block, behind=behind) if block else (raw,)
            case MemoryText():
                sent.append(_memory_message(item, posted))
            case AssistantLine(text):
                sent.append(msgspec.json.encode({"role": "assistant", "content": text}))
    return tuple(sent)


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
    raw = json_body.elements_of(bytes(json_body.fields_of(message.raw)["content"]))[index]
    if b'"cache_control"' not in raw:
        return msgspec.Raw(raw)
    fields = json_body.fields_of(raw)
    fields.pop("cache_control", None)
    return msgspec.Raw(msgspec.json.encode(fields))


def with_text_before(raw: bytes, text: str) -> bytes:
    """Insert text in front of a message's own; all its other bytes stay. Where the content is
    neither a string nor a list of parts, the text is a user message before it."""
    return b",".join(_beside(raw, text))


def with_text_behind(raw: bytes, text: str, seam: str) -> bytes:
    """Append text to a message's own, with `seam` between two strings, as `with_text_before` does
    in front."""
    return b",".join(_beside(raw, text, seam, behind=True))


def _beside(raw: bytes, text: str, seam: str = "", *, behind: bool = False) -> tuple[bytes, ...]:
    """Return a message with a text in its content, or beside a user message with the text."""
    fields = json_body.fields_of(raw)
    content = bytes(fields.get("content", b"null"))
    if not _TAKES_TEXT.match(content):
        ours = msgspec.json.encode({"role": "user", "content": text})
        return (raw, ours) if behind else (ours, raw)
    changed = _behind(content, text, seam) if behind else _before(content, text)
    return (json_body.with_value(raw, fields, "content", changed),)


def _before(raw: bytes, text: str) -> bytes:
    """Return the raw JSON of a content with a text before it: a list gains a first part."""
    if raw == b"null":
        return msgspec.json.encode(text)
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


SYSTEM, USER = "system", "user"


class _Change(NamedTuple):
    """Replacement of a message; None: a new message before all others."""

    place: int | None
    raw: bytes


@dataclass(frozen=True, slots=True)
class PlacedMemories:
    """Memories as lines, with their `tokens` and place."""

    lines: tuple[MemoryLine, ...]
    tokens: int
    placement: str = SYSTEM

    @classmethod
    def of(cls, lines: tuple[MemoryLine, ...], placement: str) -> PlacedMemories:
        return cls(lines, tokens.count(SEAM + memory_lines.block(lines)), placement)

    @property
    def ids(self) -> tuple[str, ...]:
        return memory_lines.memory_ids(line.memory for line in self.lines)

    def among(self, messages: Sequence[bytes]) -> list[bytes]:
        """Return the messages (raw JSON objects) with the memories in some of them, or in a new
        one."""
        changed = list(messages)
        for place, raw in self._changes(messages):
            if place is None:
                changed.insert(0, raw)
            else:
                changed[place] = raw
        return changed

    def within(self, array: bytes) -> bytes:
        """Like `among`, for a JSON array of messages, whose own bytes stay."""
        messages = json_body.elements_of(array)
        changes = self._changes(messages)
        start = end = array.index(b"[") + 1
        pieces = [array[:start]]
        pieces += [raw + b"," for place, raw in changes if place is None]
        kept = start
        put = {place: raw for place, raw in changes if place is not None}
        for place in range(max(put, default=-1) + 1):
            start = array.index(messages[place], end)
            end = start + len(messages[place])
            if place in put:
                pieces += (array[kept:start], put[place])
                kept = end
        return b"".join((*pieces, array[kept:]))

    def _changes(self, messages: Sequence[bytes]) -> list[_Change]:
        """Return the changes by place, the last first; a message before all others comes last."""
        newest = _newest_user(messages)
        before = [line for line in self.lines if newest is not None and self._before(line)]
        behind = [line for line in self.lines if line not in before]
        changes = []
        if before and newest is not None:
            text = memory_lines.block(before) + SEAM
            raw = with_text_before(messages[newest], text)
            changes.append(_Change(newest, raw))
        if behind:
            changes.append(_in_system(messages, memory_lines.section(behind)))
        return changes

    def _before(self, line: MemoryLine) -> bool:
        return self.placement == USER or line.kind in (LineKind.DOCUMENT, LineKind.NOTE)


def _in_system(messages: Sequence[bytes], text: str) -> _Change:
    last = _last_system(messages)
    if last is None:
        return _Change(None, msgspec.json.encode({"role": "system", "content": text}))
    return _Change(last, with_text_behind(messages[last], text, SEAM))


def _newest_user(messages: Sequence[bytes]) -> int | None:
    for index in range(len(messages) - 1, -1, -1):
        message = Message(messages[index])
        if message.role == "user":
            return index if _has_text(message) else None
    return None


def _last_system(messages: Sequence[bytes]) -> int | None:
    """Return the last of the leading system messages, if it can take more text."""
    last = None
    for index, raw in enumerate(messages):
        message = Message(raw)
        if message.role not in SYSTEM_ROLES:
            break
        last = index if _has_text(message) else None
    return last


def _has_text(message: Message) -> bool:
    return isinstance(message.content, str | list)
