"""The canonical messages of a list of items, and which items each one is.

    instructions                                   system
    developer, tools, settings, anywhere           system
    all up to the newest compaction                system: only the server can read what it holds
    message of the user                            user
    reasoning, messages, calls up to an input      assistant: one message
    each output                                    tool, behind the message that called

An output may come late, with other items between it and its call. Its canonical message stands
where a chat would have it; what lies between is joined to the call, so that no cut parts the two.
In the same way a call that is all of a run is joined to the run before that has reasoning: the
server wants a call's reasoning beside it, and parallel calls may come one by one.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from memtree.conversation.message import Message
from memtree.dialects.openai_responses.items import canonical_message
from memtree.dialects.openai_responses.items.canonical_message import ReadItems
from memtree.dialects.openai_responses.items.input_item import InputItem, ItemKind
from memtree.dialects.openai_responses.translation import (
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
from memtree.errors import BadRequest

TOGETHER = 8  # calls behind one reasoning that may be parallel ones, each with its output
_SYSTEM = (ItemKind.SYSTEM, ItemKind.COMPACTION)


@dataclass(frozen=True, slots=True)
class CanonicalMessages:
    """`order`: the posted items by message; those of message i are `order[starts[i]:starts[i+1]]`,
    ascending, and none for `instructions`. One array, since a history has thousands of them, and
    each small object costs the garbage collector a look."""

    messages: Sequence[Message] = ()
    order: array[int] = field(default_factory=numbers)
    starts: array[int] = field(default_factory=lambda: numbers(0))

    def items(self, message: int) -> array[int]:
        return self.order[self.starts[message] : self.starts[message + 1]]


def instructing(instructions: bytes | None) -> tuple[Message, ...]:
    """The canonical message of `instructions`, the raw JSON string."""
    if instructions is None:
        return ()
    return (Message(b'{"role":"system","content":' + instructions + b"}"),)


def read(
    instructions: bytes | None, raws: Sequence[bytes], items: Sequence[InputItem]
) -> CanonicalMessages:
    """Raises `BadRequest` where an output has no call."""
    made = read_on(raws, items, Beginning())
    leading = instructing(instructions)
    return behind(leading, (*leading, *made.messages), made.translated)


def behind(
    leading: tuple[Message, ...], messages: Sequence[Message], translated: TranslatedItems
) -> CanonicalMessages:
    """`messages`: all of them, those of no item (`leading`) first."""
    starts = translated.firsts
    if leading:
        starts = numbers(*(0 for _ in leading)) + starts
    return CanonicalMessages(messages, translated.order, starts)


class BeginningChanged(Exception):
    """An item changes what stands before it: a compaction, or an output that comes late."""


class Translation(NamedTuple):
    """`messages`: those behind what was known."""

    translated: TranslatedItems
    messages: list[Message]


def read_on(raws: Sequence[bytes], items: ReadItems, beginning: Beginning) -> Translation:
    """The canonical messages of all items; those of `beginning` are not looked at. Raises
    `BadRequest` where an output has no call behind the newest compaction, and `BeginningChanged`
    where only what is known may say whether it has."""
    start, sealed = beginning.items, beginning.known.sealed
    kinds = [items[index].kind for index in range(start, len(raws))]
    if start and ItemKind.COMPACTION in kinds:
        raise BeginningChanged
    reader = _Reader(raws, items, beginning)
    if not start and ItemKind.COMPACTION in kinds:
        start = sealed = _sealed(items, kinds)
        for index in range(sealed):
            reader.put(canonical_message.opaque(raws[index], items[index]), 0, index)
    try:
        pairs = _Pairs(items, start, len(raws))
    except BadRequest:
        if beginning.items:
            raise BeginningChanged from None
        raise
    reader.read(start, pairs)
    return reader.done(sealed, pairs)


def _sealed(items: ReadItems, kinds: Sequence[ItemKind]) -> int:
    """How many items at the beginning go as they are: up to the newest compaction, and further
    where an output there answers a call before it."""
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
    """Pair outputs with the calls they answer, for items from `start` on. Steps are counted: a
    message of the user, or a run of the model with the outputs behind it. Raises `BadRequest`.

    `late`: by step, the outputs that come behind another one. `until`: by step, the last one that
    may not be parted from it. `other_ids`: of calls that an output names otherwise."""

    def __init__(self, items: ReadItems, start: int, end: int) -> None:
        self.late: dict[int, list[int]] = {}
        self.until: dict[int, int] = {}
        self.other_ids: dict[int, str] = {}
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
            elif kind is ItemKind.USER:
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
            place = f"input[{index}].call_id"
            raise BadRequest(f"{place} must name a call before it", param=place)
        if id_ and (named := self._id_of.get(id_, id_)) != id_:
            self.other_ids[index] = named
        if step < self._step:
            self.late.setdefault(step, []).append(index)
            self.until[step] = self._step
        else:
            self._waiting -= 1


class _Reader:
    """Makes the messages, item by item."""

    def __init__(self, raws: Sequence[bytes], items: ReadItems, beginning: Beginning) -> None:
        known, mark = beginning
        self._raws, self._items, self._known = raws, items, known
        self._messages: list[Message] = []
        self._marks = bytearray(known.marks)
        self._order, self._firsts = known.order[:], known.firsts[:]
        self._sizes, self._loading = known.sizes[:], known.loading[:]
        self._step, self._end = -1, -1  # the last one joined to one before
        # Has reasoning with an id, calls without behind it.
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
                self.put(message, USER | mark, first)
        self._late(pairs)

    def _begin(self, pairs: _Pairs) -> tuple[int, bool]:
        """A new step: its marks, and whether it may not be parted from the one before."""
        self._late(pairs)
        self._step += 1
        joined = self._step <= self._end
        self._end = max(self._end, pairs.until.get(self._step, -1))
        stands = PAIRED * self._paired | ALONE * min(self._alone, MOST_ALONE)
        return 0 if joined else STEP | stands, joined

    def _late(self, pairs: _Pairs) -> None:
        """The outputs of the present step that come later."""
        for index in pairs.late.get(self._step, ()):
            self._result(index, pairs)

    def _run(self, first: int, end: int, pairs: _Pairs) -> None:
        mark, joined = self._begin(pairs)
        made = canonical_message.run(self._raws, self._items, first, end)
        joined |= self._goes_on(made.reasons, made.paired, made.alone)
        self.put(Message(made.raw, joined, made.loads), mark, *range(first, end))

    def _goes_on(self, reasons: bool, paired: bool, alone: bool) -> bool:
        """Return True if a run may be a parallel call that has its reasoning in a run before."""
        if reasons:
            self._paired, self._alone = paired, 0
            return False
        self._paired = self._paired and alone and self._alone < TOGETHER
        self._alone += 1
        return self._paired

    def _result(self, index: int, pairs: _Pairs) -> None:
        other = pairs.other_ids.get(index)
        self.put(canonical_message.result(self._raws[index], self._items[index], other), 0, index)
