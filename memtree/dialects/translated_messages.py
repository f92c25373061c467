"""Canonical messages of a posted list, each made at first access."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from typing import overload

from memtree.conversation.message import Message
from memtree.conversation.message_list import EarlierList, MessageList


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
