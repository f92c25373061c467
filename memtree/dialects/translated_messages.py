"""Raw items of a posted array, each sliced from the body at access, and the canonical messages of a
posted list, each made at first access.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import overload

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
