"""Hold posted arrays with the canonical messages of their items, and record where these stand.

Items of a posted array are raw, each sliced from the body at access; the canonical messages of a
posted list are each made at first access.

The record lets a longer list with the same beginning be translated from there on. It holds
positions and marks, no text: a message is made again when it is read. Reading can resume at any
step (a user message, or a run of the model with the outputs behind it) behind which no output
answers a call before it.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, overload

from memtree.dialects.tool_definitions import CHAT_MEMORY_TOOLS, CONTEXT_TOOLS
from memtree.history.json_body import PLACES, Body
from memtree.history.message import Message
from memtree.history.message_list import EarlierList, MessageList, next_number


def _none() -> array[int]:
    return array(PLACES)


@dataclass(frozen=True, slots=True)
class RawItems(Sequence[bytes]):
    """Raw items: item i is `buffer[starts[i]:ends[i]]`, the array `buffer[first:end]`. `number`
    identifies the list in this process; `earlier`: a list that shares its first items, byte for
    byte."""

    buffer: bytes
    starts: array[int] = field(default_factory=_none)
    ends: array[int] = field(default_factory=_none)
    first: int = 0
    end: int = 0
    earlier: EarlierList | None = None
    number: int = field(default_factory=next_number)

    def __len__(self) -> int:
        return len(self.starts)

    @overload
    def __getitem__(self, index: int) -> bytes: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[bytes, ...]: ...
    def __getitem__(self, index: int | slice) -> bytes | tuple[bytes, ...]:
        if isinstance(index, slice):
            return tuple(self[at] for at in range(*index.indices(len(self))))
        return self.buffer[self.starts[index] : self.ends[index]]

    def size(self, index: int) -> int:
        return self.ends[index] - self.starts[index]

    def array(self) -> bytes:
        """Return the array as it was posted."""
        return self.buffer[self.first : self.end]

    def with_item(self, index: int, raw: bytes) -> bytes:
        """Return the array with item `index` replaced; all other bytes stay."""
        before = self.buffer[self.first : self.starts[index]]
        return before + raw + self.buffer[self.ends[index] : self.end]


def raw_items(body: Body, name: str) -> RawItems | None:
    """Return the items of a posted field; None if it is no array, or an empty one."""
    items = body.items(name)
    if items is None:
        return None
    span = body.spans[name]
    return RawItems(
        items.buffer, items.starts, items.ends, span.start, span.end, items.earlier, items.number
    )


class TranslatedMessages(MessageList):
    """List of canonical messages, each made at first access and then kept. `leading`: messages from
    outside the posted list. `length`: number of messages of the list, which `make` makes.
    `loading`: indexes of messages with `loads`."""

    __slots__ = ("_leading", "_length", "_made", "_make", "loading")

    def __init__(
        self,
        leading: tuple[Message, ...],
        length: int,
        make: Callable[[int], Message],
        *,
        size: int,
        loading: Sequence[int] = (),
        earlier: EarlierList | None = None,
        number: int | None = None,
        made: Mapping[int, Message] | None = None,
    ) -> None:
        """Create a list. `size`, `loading` and `made` (messages already made) do not count
        `leading`, which loads nothing."""
        super().__init__(size + sum(len(message.raw) for message in leading), earlier, number)
        self._leading, self._length, self._make = leading, len(leading) + length, make
        self._made: dict[int, Message] = dict(enumerate(leading))
        for index, message in (made or {}).items():
            self._made[len(leading) + index] = message
        self.loading = array("I", [len(leading) + index for index in loading])

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> Message: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Message, ...]: ...
    def __getitem__(self, index: int | slice) -> Message | tuple[Message, ...]:
        if isinstance(index, slice):
            return tuple(self._at(at) for at in range(*index.indices(self._length)))
        return self._at(index if index >= 0 else index + self._length)

    def _at(self, index: int) -> Message:
        made = self._made.get(index)
        if made is None:
            if not 0 <= index < self._length:
                raise IndexError("no such message")
            made = self._make(index - len(self._leading))
            made = self._made.setdefault(index, made)  # two threads may read one request
        return made


# Marks of a canonical message. STEP: reading may resume at it; PAIRED and the bits from ALONE on
# give the state of the run before it (`conversation`).
USER, JOINED, STEP, PAIRED, ALONE = 1, 2, 4, 8, 16
MOST_ALONE = 15
ITEM_BYTES, MESSAGE_BYTES = 4, 13
# The item in which Codex sends its tools inside the input, and our tools' names as JSON strings.
DEFINES = b'"additional_tools"'
OURS = {
    name: f'"{name}"'.encode()
    for group in (CHAT_MEMORY_TOOLS, CONTEXT_TOOLS)
    for name in group.names
}
_STEPS = bytes(bool(mark & STEP) for mark in range(256))
_USERS = bytes(bool(mark & USER) for mark in range(256))


def numbers(*values: int) -> array[int]:
    return array("I", values)


class Defined(NamedTuple):
    """Tools defined by items: for each item, the tokens of its tools; for each name of our tools,
    the first item that holds it, if any item defines tools. `first`: the first item that defines
    tools, or -1."""

    tokens: tuple[tuple[int, int], ...] = ()
    first: int = -1
    ours: tuple[tuple[str, int], ...] = ()

    def until(self, item: int) -> Defined:
        return Defined(
            tuple(entry for entry in self.tokens if entry[0] < item),
            self.first if self.first < item else -1,
            tuple(entry for entry in self.ours if self.first < item and entry[1] < item),
        )

    @property
    def size(self) -> int:
        """Tokens of all tools that items define."""
        return sum(size for _, size in self.tokens)

    def names(self) -> frozenset[str] | None:
        """Names of our tools that may be the client's; None if no item defines tools."""
        return None if self.first < 0 else frozenset(name for name, _ in self.ours)


NO_TOOLS = Defined()


@dataclass(frozen=True, slots=True)
class TranslatedItems:
    """Positions and marks of the canonical messages of posted items. `order`: the items by message;
    those of message i are `order[firsts[i]:firsts[i+1]]`. `sizes`: bytes of the messages before
    each message, and of all. `loading`: messages that load tools. `sealed`: number of items at the
    beginning that stay unchanged. `other_ids`: call ids of outputs that name their call
    differently."""

    marks: bytes = b""
    order: array[int] = field(default_factory=numbers)
    firsts: array[int] = field(default_factory=lambda: numbers(0))
    sizes: array[int] = field(default_factory=lambda: array("Q", [0]))
    loading: array[int] = field(default_factory=numbers)
    sealed: int = 0
    other_ids: Mapping[int, str] = field(default_factory=dict)
    defined: Defined = NO_TOOLS

    @property
    def nbytes(self) -> int:
        """Size in bytes."""
        ids = sum(100 + len(id_) for id_ in self.other_ids.values())
        tools = 200 * (len(self.defined.tokens) + len(self.defined.ours))
        return ITEM_BYTES * len(self.order) + MESSAGE_BYTES * len(self.marks) + ids + tools + 1_000

    def newest_user(self) -> int | None:
        """Return the item of the user's newest message."""
        message = self.marks.translate(_USERS).rfind(1)
        return None if message < 0 else self.order[self.firsts[message]]

    def beginning(self, items: int) -> Beginning:
        """Return the known beginning of a list that shares its first `items` items with this list:
        everything before the last step that begins in them."""
        common = bisect_right(self.firsts, items - 1) if items > 0 else 0
        message = self.marks.translate(_STEPS).rfind(1, 0, common)
        if message <= 0:
            return Beginning()
        first = self.firsts[message]
        known = TranslatedItems(
            self.marks[:message],
            self.order[:first],
            self.firsts[: message + 1],
            self.sizes[: message + 1],
            self.loading[: bisect_left(self.loading, message)],
            self.sealed,
            {item: id_ for item, id_ in self.other_ids.items() if item < first},
            self.defined.until(first),
        )
        return Beginning(known, self.marks[message])


class Beginning(NamedTuple):
    """Known beginning of a list, and the marks of the message at which reading resumes."""

    known: TranslatedItems = TranslatedItems()
    mark: int = 0

    @property
    def items(self) -> int:
        return len(self.known.order)

    @property
    def messages(self) -> int:
        return len(self.known.marks)


NOTHING = TranslatedItems()


def defined(raws: RawItems, known: Defined, start: int, tokens: Mapping[int, int]) -> Defined:
    """Return the tools that items define. `known`: those of the items before `start`; `tokens`:
    tokens of the tools of later items."""
    counted = (*known.tokens, *tokens.items())
    first, begin = known.first, start
    if first < 0:
        first, begin = _holder(raws, DEFINES, start), 0
    if first < 0:
        return Defined(counted)
    ours = dict(known.ours)
    for name, word in OURS.items():
        if name not in ours and (holder := _holder(raws, word, begin)) >= 0:
            ours[name] = holder
    return Defined(counted, first, tuple(ours.items()))


def _holder(raws: RawItems, word: bytes, start: int) -> int:
    """Return the first item from `start` on that holds a word; -1 if none does."""
    at = raws.buffer.find(word, raws.starts[start], raws.end) if start < len(raws) else -1
    return -1 if at < 0 else bisect_right(raws.starts, at) - 1
