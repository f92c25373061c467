"""Hold posted messages as a sequence that knows which earlier list it begins with.

A history of a million tokens has thousands of messages, and all but the newest came with the
request before. So a list names an earlier one that it begins with, and callers that kept results
for that one continue from there. `Message` objects are created on access: nobody iterates over all
of a list whose beginning is known.

    >>> posted = RawMessages(b'[{"role":"user"},{"role":"tool"}]', array("q", [1, 17]),
    ...                      array("q", [16, 32]))
    >>> posted[1].role, len(posted), posted.size, posted.size_from(1)
    ('tool', 2, 30, 15)
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from itertools import count
from typing import NamedTuple, overload

from memtree.history.message import Message

_numbers = count(1)


class EarlierList(NamedTuple):
    """The first `length` messages of the list with this number. That list belongs to the same
    tenant, and was read by the same dialect with the same settings, so these messages are equal in
    all respects."""

    number: int
    length: int


def next_number() -> int:
    """Return a number for a list that is unique in this process."""
    return next(_numbers)


class MessageList(Sequence[Message]):
    """Immutable. `number` identifies it in this process: no list with other messages has it.
    `earlier`: the list it begins with, None if unknown; `size`: bytes of all raw messages."""

    __slots__ = ("earlier", "number", "size")

    def __init__(
        self, size: int, earlier: EarlierList | None = None, number: int | None = None
    ) -> None:
        """`number`: if the list has one already, from `next_number`."""
        self.number = next_number() if number is None else number
        self.earlier = earlier
        self.size = size

    def raw(self, index: int) -> bytes:
        """Return the raw bytes of a message without creating a `Message`."""
        return self[index].raw

    def size_from(self, start: int) -> int:
        """Return the bytes of the raw messages from `start` on."""
        return sum(len(self[index].raw) for index in range(start, len(self)))

    def unread(self) -> Sequence[Message]:
        """Return the messages with nothing parsed, for storing them: parsed, they take several
        times the memory."""
        return tuple(message.unread() for message in self)

    @overload
    def __getitem__(self, index: int) -> Message: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Message, ...]: ...
    def __getitem__(self, index: int | slice) -> Message | tuple[Message, ...]:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}(number={self.number}, length={len(self)})"


class RawMessages(MessageList):
    """Messages in one buffer, message i in [starts[i], ends[i]). Messages that were accessed live
    as long as the list."""

    __slots__ = ("_ends", "_made", "_raw", "_starts")

    def __init__(
        self,
        raw: bytes,
        starts: array[int],
        ends: array[int],
        earlier: EarlierList | None = None,
        size: int | None = None,
        number: int | None = None,
    ) -> None:
        """`size`, `number`: if the caller has them already."""
        super().__init__(sum(ends) - sum(starts) if size is None else size, earlier, number)
        self._raw, self._starts, self._ends = raw, starts, ends
        self._made: dict[int, Message] = {}

    def raw(self, index: int) -> bytes:
        return self._raw[self._starts[index] : self._ends[index]]

    def size_from(self, start: int) -> int:
        return sum(self._ends[start:]) - sum(self._starts[start:])

    def unread(self) -> RawMessages:
        return RawMessages(
            self._raw, self._starts, self._ends, self.earlier, self.size, self.number
        )

    def __len__(self) -> int:
        return len(self._starts)

    @overload
    def __getitem__(self, index: int) -> Message: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Message, ...]: ...
    def __getitem__(self, index: int | slice) -> Message | tuple[Message, ...]:
        if isinstance(index, slice):
            return tuple(self._at(at) for at in range(*index.indices(len(self._starts))))
        return self._made.get(index) or self._at(index if index >= 0 else index + len(self))

    def _at(self, index: int) -> Message:
        made = self._made.get(index)
        if made is None:
            if index < 0:
                raise IndexError("no such message")
            made = Message(self._raw[self._starts[index] : self._ends[index]])
            made = self._made.setdefault(index, made)  # two threads may read the same request
        return made


class ChosenMessages(Sequence[Message]):
    """Some messages of a list, in their order: the history without its system messages."""

    __slots__ = ("_indexes", "_raw", "among")

    def __init__(self, among: Sequence[Message], indexes: Sequence[int]) -> None:
        self.among, self._indexes = among, indexes
        self._raw = raws_of(among)

    def raw(self, index: int) -> bytes:
        """Return the raw bytes of a message, as `MessageList.raw` does."""
        return self._raw(self._indexes[index])

    def __len__(self) -> int:
        return len(self._indexes)

    @overload
    def __getitem__(self, index: int) -> Message: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Message, ...]: ...
    def __getitem__(self, index: int | slice) -> Message | tuple[Message, ...]:
        if isinstance(index, slice):
            return tuple(self.among[at] for at in self._indexes[index])
        return self.among[self._indexes[index]]


class NumberedMessages(Sequence[tuple[int, Message]]):
    """Messages, each with its index in the list: the system messages. `markers`: their cache
    markers."""

    __slots__ = ("_among", "indexes", "markers")

    def __init__(
        self, among: Sequence[Message], indexes: tuple[int, ...], markers: int = 0
    ) -> None:
        self._among, self.indexes, self.markers = among, indexes, markers

    def __len__(self) -> int:
        return len(self.indexes)

    @overload
    def __getitem__(self, index: int) -> tuple[int, Message]: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[tuple[int, Message], ...]: ...
    def __getitem__(
        self, index: int | slice
    ) -> tuple[int, Message] | tuple[tuple[int, Message], ...]:
        if isinstance(index, slice):
            return tuple((at, self._among[at]) for at in self.indexes[index])
        return self.indexes[index], self._among[self.indexes[index]]


def raws_of(messages: Sequence[Message]) -> Callable[[int], bytes]:
    """Return a function from index to raw bytes."""
    if isinstance(messages, (MessageList, ChosenMessages)):
        return messages.raw
    return lambda index: messages[index].raw


def size_from(messages: Sequence[Message], start: int = 0) -> int:
    """Return the bytes of the raw messages from `start` on; for chosen messages, of the whole list
    that they keep alive."""
    if isinstance(messages, MessageList):
        return messages.size_from(start) if start else messages.size
    if isinstance(messages, ChosenMessages) and not start:
        return size_from(messages.among)
    return sum(len(messages[index].raw) for index in range(start, len(messages)))


def unread(messages: Sequence[Message]) -> Sequence[Message]:
    """Return the messages with nothing parsed."""
    if isinstance(messages, MessageList):
        return messages.unread()
    return tuple(message.unread() for message in messages)
