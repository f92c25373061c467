"""Make a canonical message from its items: a run of the model, an output, or a sealed item."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import msgspec

from memtree.conversation.message import Message
from memtree.dialects.openai_responses.items.input_item import (
    InputItem,
    ItemKind,
    tool_opening,
)
from memtree.dialects.openai_responses.translation import JOINED, TranslatedItems

NO_NAMES: frozenset[str] = frozenset()


class ReadItems(Protocol):
    """Access to the items of a list by index."""

    def __getitem__(self, index: int, /) -> InputItem: ...


class Run(NamedTuple):
    """Run of the model's items up to an input. `reasons`: it has reasoning; `paired`: it has
    reasoning with an id; `alone`: it is a single call with an id."""

    raw: bytes
    loads: frozenset[str]
    reasons: bool
    paired: bool
    alone: bool


def run(raws: Sequence[bytes], items: ReadItems, first: int, end: int) -> Run:
    text: list[bytes] = []
    parts: list[bytes] = []
    reasoning: list[bytes] = []
    calls: list[bytes] = []
    loads, reasons, paired, named = NO_NAMES, False, False, False
    for index in range(first, end):
        item = items[index]
        named |= item.identified
        if item.reasons:
            sealed = item.sealed
            reasons, paired = True, paired or item.identified
            reasoning += item.reasoning if sealed is None else (raws[index][slice(*sealed)],)
        elif item.call:
            calls.append(item.call)
        else:
            text.append(item.text)
            parts += item.parts
            loads |= item.loads
    pieces = [b'{"role":"assistant","content":', *_content(b"".join(text), parts)]
    if reasoning:
        pieces += (b',"reasoning_content":[', b",".join(reasoning), b"]")
    if calls:
        pieces += (b',"tool_calls":[', b",".join(calls), b"]")
    pieces.append(b"}")
    alone = named and len(calls) == end - first == 1
    return Run(b"".join(pieces), loads, reasons, paired, alone)


def result(raw: bytes, item: InputItem, other_id: str | None) -> Message:
    """Make the message of an output. `other_id`: the id of its call, if the output names it
    differently."""
    opening = item.opening if other_id is None else tool_opening(other_id)
    content = item.canonical if item.output is None else raw[slice(*item.output)]
    return Message(b"".join((opening, content, b"}")), False, item.loads)


def opaque(raw: bytes, item: InputItem) -> Message:
    """Make the message of an item that keeps its place; only its tokens count."""
    if item.kind is ItemKind.SYSTEM:
        return Message(item.canonical or raw)
    part = raw
    if not isinstance((fields := msgspec.json.decode(raw)).get("type"), str):
        part = msgspec.json.encode({**fields, "type": "message"})
    return Message(b'{"role":"system","content":[' + part + b"]}")


def message(
    translated: TranslatedItems, raws: Sequence[bytes], items: ReadItems, index: int
) -> Message:
    """Make a canonical message of a translated list again."""
    start, end = translated.firsts[index], translated.firsts[index + 1]
    first = translated.order[start]
    item = items[first]
    if first < translated.sealed:
        return opaque(raws[first], item)
    joined = bool(translated.marks[index] & JOINED)
    if item.kind is ItemKind.OUTPUT:
        return result(raws[first], item, translated.other_ids.get(first))
    if item.kind is ItemKind.MODEL:
        made = run(raws, items, first, first + end - start)
        return Message(made.raw, joined, made.loads)
    return Message(item.canonical or raws[first], joined)


def _content(text: bytes, parts: Sequence[bytes]) -> tuple[bytes, ...]:
    """Return the content parts of a message. `text`: the inside of a JSON string."""
    if parts:
        first = (b'{"type":"text","text":"' + text + b'"}',) if text else ()
        return b"[", b",".join((*first, *parts)), b"]"
    return (b'"', text, b'"') if text else (b"null",)
