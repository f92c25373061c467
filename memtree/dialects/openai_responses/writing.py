"""Write an answer as items for the server, and insert text into posted items.

A posted item stays the same, byte for byte; inserted text goes in front of its own. This file does
not decide what is sent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

import msgspec

from memtree.context.answer import AnswerItem, AssistantLine, KeptMessage, MemoryText
from memtree.dialects.openai_responses.conversation import CanonicalMessages
from memtree.wire import json_body

_BREAKPOINT = "prompt_cache_breakpoint"
_MARKER = b'"prompt_cache_breakpoint"'
_EXPLICIT = {"mode": "explicit"}  # the only cache marker of this API


class PostedItems:
    """Raw items, and the items of each canonical message."""

    def __init__(self, raws: Sequence[bytes], canonical: CanonicalMessages) -> None:
        self._raws = raws
        self._canonical = canonical

    def of(self, answer: Iterable[AnswerItem], texts: Mapping[int, str]) -> list[bytes]:
        """Return the items that an answer sends. Kept messages are sent in the order of their
        items, since a late output's canonical message precedes items posted before it. `texts`: by
        item, the text to insert in front of its own."""
        sent: list[bytes] = []
        kept: dict[int, bytes] = {}
        for item in answer:
            if isinstance(item, KeptMessage):
                for place in self._canonical.items(item.index):
                    kept[place] = self._kept(place, texts.get(place, ""), item)
                continue
            sent += (kept[place] for place in sorted(kept))
            kept = {}
            sent += self._of_ours(item)
        return [*sent, *(kept[place] for place in sorted(kept))]

    def _kept(self, place: int, text: str, item: KeptMessage) -> bytes:
        raw = self._raws[place]
        if item.behind:
            raw = with_text_behind(raw, item.block)
        elif item.block:
            text += item.block
        return with_text_before(raw, text) if text else raw

    def _of_ours(self, item: MemoryText | AssistantLine) -> list[bytes]:
        if isinstance(item, AssistantLine):
            return [msgspec.json.encode({"role": "assistant", "content": item.text})]
        before = item.preamble
        text = [_text(before.text)] if before.text else []
        own = _text(item.text, _breakpoint(item.cache_marker))
        return [*self._carried(before.parts), user_message([*text, own])]

    def _carried(self, parts: Sequence[tuple[int, int]]) -> Iterator[bytes]:
        """Yield the items of a preamble, each with its own fields and the carried content parts.
        Their cache markers are left out, since the memory's marker follows."""
        for message, group in groupby(parts, key=itemgetter(0)):
            (place,) = self._canonical.items(message)
            raw, chosen = self._raws[place], [index for _, index in group]
            content = msgspec.json.decode(raw, type=_Parts).content
            if len(chosen) == len(content) and _MARKER not in raw:
                yield raw
                continue
            fields = msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
            carried = msgspec.json.encode([_unmarked(content[index]) for index in chosen])
            yield json_body.with_value(raw, fields, "content", carried)


def _unmarked(part: msgspec.Raw) -> msgspec.Raw:
    if _MARKER not in bytes(part):
        return part
    fields = msgspec.json.decode(part, type=dict[str, msgspec.Raw])
    fields.pop(_BREAKPOINT, None)
    return msgspec.Raw(msgspec.json.encode(fields))


class _Parts(msgspec.Struct):
    content: list[msgspec.Raw]


def user_message(content: Sequence[Any]) -> bytes:
    """Return a user message made here, without an id, since only the server assigns ids."""
    return msgspec.json.encode({"type": "message", "role": "user", "content": content})


def memory_message(text: str) -> bytes:
    return user_message([_text(text)])


def with_text_before(raw: bytes, text: str) -> bytes:
    """Insert text in front of an item's own; all its other bytes stay. For a message without
    content the text is a separate message in front."""
    fields = msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
    name = "content" if "content" in fields else "output"
    content = bytes(fields.get(name, b""))
    if content[:1] not in (b"[", b'"'):
        return memory_message(text) + b"," + raw
    return json_body.with_value(raw, fields, name, before(content, text))


def with_text_behind(raw: bytes, text: str) -> bytes:
    """Append text to an output's own; all its other bytes stay. Behind an output without text it is
    a separate message."""
    fields = msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
    output = bytes(fields.get("output", b""))
    if output.startswith(b'"'):
        return json_body.with_value(
            raw, fields, "output", output[:-1] + msgspec.json.encode(text)[1:]
        )
    if output.startswith(b"["):
        comma = b"," if output[1:-1].strip() else b""
        last = comma + msgspec.json.encode(_text(text)) + b"]"
        return json_body.with_value(raw, fields, "output", output[:-1] + last)
    return raw + b"," + memory_message(text)


def before(content: bytes, text: str) -> bytes:
    """Return the raw JSON of a content with a text before it: a string stays one, a list gains a
    part."""
    if content.startswith(b"["):
        first = msgspec.json.encode(_text(text))
        rest = content[1:]
        return b"[" + first + (b"," if rest.strip() != b"]" else b"") + rest
    return msgspec.json.encode(text)[:-1] + content[1:]


def _text(text: str, marker: Mapping[str, Any] | None = None) -> dict[str, Any]:
    part: dict[str, Any] = {"type": "input_text", "text": text}
    return part if marker is None else {**part, _BREAKPOINT: marker}


def _breakpoint(marker: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    if marker is None:
        return None
    return marker if marker.get("mode") == "explicit" else _EXPLICIT
