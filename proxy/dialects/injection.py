"""Where memories stand in the messages of a chat, while none of these is folded: behind the
leading system messages, or before the words of the newest message of the user. All other bytes stay
as they are.

What this file does not do: choose memories, or decide where they stand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from memtree.conversation.message import SYSTEM_ROLES, Message
from memtree.text import memory_lines, tokens
from memtree.text.memory_lines import SEAM, MemoryLine
from proxy.dialects import openai_chat

SYSTEM, USER = "system", "user"


class _Change(NamedTuple):
    """A message in the place of that one; None: before all."""

    place: int | None
    raw: bytes


@dataclass(frozen=True, slots=True)
class PlacedMemories:
    """Memories as lines, `tokens` of them, and where they stand."""

    lines: tuple[MemoryLine, ...]
    tokens: int
    placement: str = SYSTEM

    @classmethod
    def of(cls, lines: tuple[MemoryLine, ...], placement: str) -> PlacedMemories:
        return cls(lines, tokens.count(SEAM + memory_lines.block(lines)), placement)

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(line.memory.id for line in self.lines)

    def among(self, messages: Sequence[bytes]) -> list[bytes]:
        """The messages (raw JSON objects) with the memories in one of them, or in one more."""
        place, raw = self._change(messages)
        if place is None:
            return [raw, *messages]
        return [*messages[:place], raw, *messages[place + 1 :]]

    def within(self, array: bytes) -> bytes:
        """The same for a JSON array, whose own bytes stay."""
        messages = [bytes(raw) for raw in msgspec.json.decode(array, type=list[msgspec.Raw])]
        place, raw = self._change(messages)
        start = end = array.index(b"[") + 1
        if place is None:
            return array[:start] + raw + b"," + array[start:]
        for message in messages[: place + 1]:
            start = array.index(message, end)
            end = start + len(message)
        return array[:start] + raw + array[end:]

    def _change(self, messages: Sequence[bytes]) -> _Change:
        if self.placement == USER:
            newest = _newest_user(messages)
            if newest is not None:
                text = memory_lines.block(self.lines) + SEAM
                return _Change(newest, openai_chat.with_text_before(messages[newest], text))
        text = memory_lines.section(self.lines)
        last = _last_system(messages)
        if last is None:
            return _Change(None, msgspec.json.encode({"role": "system", "content": text}))
        return _Change(last, openai_chat.with_text_behind(messages[last], text, SEAM))


def _newest_user(messages: Sequence[bytes]) -> int | None:
    for index in range(len(messages) - 1, -1, -1):
        message = Message(messages[index])
        if message.role == "user":
            return index if _has_text(message) else None
    return None


def _last_system(messages: Sequence[bytes]) -> int | None:
    """The last of the leading system messages, where it can take more text."""
    last = None
    for index, raw in enumerate(messages):
        message = Message(raw)
        if message.role not in SYSTEM_ROLES:
            break
        last = index if _has_text(message) else None
    return last


def _has_text(message: Message) -> bool:
    return isinstance(message.content, str | list)
