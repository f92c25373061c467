"""Place memories in a chat's messages while none is folded: behind the leading system messages, or
before the words of the user's newest message. All other bytes stay.

Passages of documents always stand before the newest message: they are others' words, which have no
place among the rules of a system prompt, and they change with each question, while a changed system
prompt makes the provider read everything behind it again.

This file does not choose memories, or decide where they stand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from memtree.conversation.message import SYSTEM_ROLES, Message
from memtree.dialects import openai_chat
from memtree.text import memory_lines, tokens
from memtree.text.memory_lines import SEAM, LineKind, MemoryLine

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
        return tuple(line.memory.id for line in self.lines)

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
        messages = [bytes(raw) for raw in msgspec.json.decode(array, type=list[msgspec.Raw])]
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
            raw = openai_chat.with_text_before(messages[newest], text)
            changes.append(_Change(newest, raw))
        if behind:
            changes.append(_in_system(messages, memory_lines.section(behind)))
        return changes

    def _before(self, line: MemoryLine) -> bool:
        return self.placement == USER or line.kind is LineKind.DOCUMENT


def _in_system(messages: Sequence[bytes], text: str) -> _Change:
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
