"""Translate a list of items into canonical messages, with the items of each.

    instructions                                   system
    developer, tools, settings, anywhere           system
    all up to the newest compaction                system: only the server can read what it holds
    message of the user                            user
    reasoning, messages, calls up to an input      assistant: one message
    each output                                    tool, behind the message that called

An output may come late, with other items between it and its call. Its canonical message stands
where a chat would have it; the items between are joined to the call, so that no cut separates the
two. Likewise a run of a single call is joined to an earlier run with reasoning: the server needs a
call's reasoning beside it, and parallel calls may come one by one. A canonical message is made from
its items: a run of the model, an output, or a sealed item.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from memtree.dialects.responses_items import InputItem, ItemKind, tool_opening
from memtree.dialects.translated_messages import (
    ALONE,
    JOINED,
    MOST_ALONE,
    PAIRED,
    STEP,
    USER,
    Beginning,
    TranslatedItems,
    numbers,
)
from memtree.history.message import Message
from memtree.history.posted_json import decode_any, encode

TOGETHER = 8  # calls behind one reasoning item that may be parallel, each with its output
_SYSTEM = (ItemKind.SYSTEM, ItemKind.COMPACTION)
_SPOKEN = (ItemKind.USER, ItemKind.OTHER)


@dataclass(frozen=True, slots=True)
class CanonicalMessages:
    """Canonical messages of a list. `order`: the posted items by message; those of message i are
    `order[starts[i]:starts[i+1]]`, ascending, and none for `instructions`. It is one array, since a
    history has thousands of items, and each small object costs time in garbage collection."""

    messages: Sequence[Message] = ()
    order: array[int] = field(default_factory=numbers)
    starts: array[int] = field(default_factory=lambda: numbers(0))

    def items(self, message: int) -> array[int]:
        return self.order[self.starts[message] : self.starts[message + 1]]


def instructing(instructions: bytes | None) -> tuple[Message, ...]:
    """Return the canonical message of `instructions`, a raw JSON string."""
    if instructions is None:
        return ()
    return (Message(b'{"role":"system","content":' + instructions + b"}"),)


def read(
    instructions: bytes | None, raws: Sequence[bytes], items: Sequence[InputItem]
) -> CanonicalMessages:
    """Read all items."""
    made = read_on(raws, items, Beginning())
    leading = instructing(instructions)
    return behind(leading, (*leading, *made.messages), made.translated)


def behind(
    leading: tuple[Message, ...], messages: Sequence[Message], translated: TranslatedItems
) -> CanonicalMessages:
    """Join translated items with their messages. `messages`: all, with those of no item (`leading`)
    first."""
    starts = translated.firsts
    if leading:
        starts = numbers(*(0 for _ in leading)) + starts
    return CanonicalMessages(messages, translated.order, starts)


class BeginningChanged(Exception):
    """Raised if an item changes earlier messages: a compaction, or an output that comes late."""


class Translation(NamedTuple):
    """Translation of a list. `messages`: those behind the known beginning."""

    translated: TranslatedItems
    messages: list[Message]


def read_on(raws: Sequence[bytes], items: ReadItems, beginning: Beginning) -> Translation:
    """Translate all items; those of `beginning` are not read again. Raises `BeginningChanged` for
    an output without its call, which may be in the beginning."""
    start, sealed = beginning.items, beginning.known.sealed
    kinds = [items[index].kind for index in range(start, len(raws))]
    if start and ItemKind.COMPACTION in kinds:
        raise BeginningChanged
    reader = _Reader(raws, items, beginning)
    if not start and ItemKind.COMPACTION in kinds:
        start = sealed = _sealed(items, kinds)
        for index in range(sealed):
            reader.put(opaque(raws[index], items[index]), 0, index)
    pairs = _Pairs(items, start, len(raws))
    if pairs.orphaned and beginning.items:
        raise BeginningChanged
    reader.read(start, pairs)
    return reader.done(sealed, pairs)


def _sealed(items: ReadItems, kinds: Sequence[ItemKind]) -> int:
    """Count the items at the beginning that are sent unchanged: up to the newest compaction, and
    further if an output behind it answers a call before it."""
    end = len(kinds) - kinds[::-1].index(ItemKind.COMPACTION)
    before: dict[str, int] = {}
    for index, kind in enumerate(kinds):
        item = items[index]
        if kind is ItemKind.MODEL and item.call:
            before.update((id_, index) for id_ in item.ids)
        elif index >= end and any(before.get(id_, end) < end for id_ in item.ids):
            end = index + 1
    return end


class _Pairs:
    """Pairs of outputs and the calls they answer, for items from `start` on. Steps are numbered: a
    step is a message, or a run of the model with the outputs behind it. `orphaned`: an output has
    no call among the items, so it stays where it is.

    `late`: by step, its outputs that stand behind a later step. `until`: by step, the last step
    that may not be separated from it. `other_ids`: ids of calls that an output names
    differently."""

    def __init__(self, items: ReadItems, start: int, end: int) -> None:
        self.late: dict[int, list[int]] = {}
        self.until: dict[int, int] = {}
        self.other_ids: dict[int, str] = {}
        self.orphaned = False
        self._step_of: dict[str, int] = {}
        self._id_of: dict[str, str] = {}
        self._step, self._waiting = -1, 0
        runs = False
        for index in range(start, end):
            item = items[index]
            kind = item.kind
            if kind is ItemKind.MODEL:
                if not runs:
                    runs = True
                    self._step, self._waiting = self._step + 1, 0
                if item.call:
                    self._call(item)
                continue
            runs = False
            if kind is ItemKind.OUTPUT:
                self._answer(index, item)
            elif kind in _SPOKEN:
                self._step, self._waiting = self._step + 1, 0

    def _call(self, item: InputItem) -> None:
        self._waiting += 1
        for id_ in item.ids:
            self._step_of[id_] = self._step
            if id_ != item.ids[0] or id_ in self._id_of:
                self._id_of[id_] = item.ids[0]

    def _answer(self, index: int, item: InputItem) -> None:
        id_ = item.ids[0] if item.ids else None
        step = self._step_of.get(id_) if id_ else self._step if self._waiting > 0 else None
        if step is None:
            self.orphaned = True
            return
        if id_ and (named := self._id_of.get(id_, id_)) != id_:
            self.other_ids[index] = named
        if step < self._step:
            self.late.setdefault(step, []).append(index)
            self.until[step] = self._step
        else:
            self._waiting -= 1


class _Reader:
    """Reader that makes the messages, item by item."""

    def __init__(self, raws: Sequence[bytes], items: ReadItems, beginning: Beginning) -> None:
        known, mark = beginning
        self._raws, self._items, self._known = raws, items, known
        self._messages: list[Message] = []
        self._marks = bytearray(known.marks)
        self._order, self._firsts = known.order[:], known.firsts[:]
        self._sizes, self._loading = known.sizes[:], known.loading[:]
        self._step, self._end = -1, -1  # the last step joined to an earlier step
        # The run has reasoning with an id, and behind it calls without ids.
        self._paired, self._alone = bool(mark & PAIRED), mark // ALONE

    def put(self, message: Message, mark: int, *items: int) -> None:
        if message.loads:
            self._loading.append(len(self._marks))
        self._messages.append(message)
        self._marks.append(mark | JOINED * message.joined)
        self._order.extend(items)
        self._firsts.append(len(self._order))
        self._sizes.append(self._sizes[-1] + len(message.raw))

    def done(self, sealed: int, pairs: _Pairs) -> Translation:
        translated = TranslatedItems(
            bytes(self._marks),
            self._order,
            self._firsts,
            self._sizes,
            self._loading,
            sealed,
            {**self._known.other_ids, **pairs.other_ids},
        )
        return Translation(translated, self._messages)

    def read(self, start: int, pairs: _Pairs) -> None:
        items, end = self._items, len(self._raws)
        late = frozenset(index for outputs in pairs.late.values() for index in outputs)
        at = start
        while at < end:
            item = items[at]
            kind, first = item.kind, at
            at += 1
            if kind is ItemKind.MODEL:
                while at < end and items[at].kind is ItemKind.MODEL:
                    at += 1
                self._run(first, at, pairs)
            elif kind is ItemKind.OUTPUT:
                if first not in late:
                    self._result(first, pairs)
            elif kind in _SYSTEM:
                self.put(Message(item.canonical or self._raws[first]), 0, first)
            else:
                mark, joined = self._begin(pairs)
                self._paired = False
                message = Message(item.canonical or self._raws[first], joined)
                self.put(message, USER * (kind is ItemKind.USER) | mark, first)
        self._late(pairs)

    def _begin(self, pairs: _Pairs) -> tuple[int, bool]:
        """Begin a step; return its marks, and True if it may not be separated from the step
        before."""
        self._late(pairs)
        self._step += 1
        joined = self._step <= self._end
        self._end = max(self._end, pairs.until.get(self._step, -1))
        stands = PAIRED * self._paired | ALONE * min(self._alone, MOST_ALONE)
        return 0 if joined else STEP | stands, joined

    def _late(self, pairs: _Pairs) -> None:
        """Add the outputs of the current step that come later."""
        for index in pairs.late.get(self._step, ()):
            self._result(index, pairs)

    def _run(self, first: int, end: int, pairs: _Pairs) -> None:
        mark, joined = self._begin(pairs)
        made = run(self._raws, self._items, first, end)
        joined |= self._goes_on(made.reasons, made.paired, made.alone)
        self.put(Message(made.raw, joined, made.loads), mark, *range(first, end))

    def _goes_on(self, reasons: bool, paired: bool, alone: bool) -> bool:
        """Return True if a run may be a parallel call with its reasoning in an earlier run."""
        if reasons:
            self._paired, self._alone = paired, 0
            return False
        self._paired = self._paired and alone and self._alone < TOGETHER
        self._alone += 1
        return self._paired

    def _result(self, index: int, pairs: _Pairs) -> None:
        other = pairs.other_ids.get(index)
        self.put(result(self._raws[index], self._items[index], other), 0, index)


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
    part, fields = raw, decode_any(raw)
    if isinstance(fields, dict) and not isinstance(fields.get("type"), str):
        part = encode({**fields, "type": "message"})
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
