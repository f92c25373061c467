"""A list of messages that are there already, for tests of whatever reads lists."""

from __future__ import annotations

from typing import overload

from memtree.history.message import Message
from memtree.history.message_list import EarlierList, MessageList


class ListedMessages(MessageList):
    """`earlier`: the list that it begins with; `size`: bytes, None to sum them up."""

    __slots__ = ("_messages",)

    def __init__(
        self,
        messages: tuple[Message, ...],
        earlier: EarlierList | None = None,
        size: int | None = None,
    ) -> None:
        super().__init__(sum(len(m.raw) for m in messages) if size is None else size, earlier)
        self._messages = messages

    def __len__(self) -> int:
        return len(self._messages)

    @overload
    def __getitem__(self, index: int) -> Message: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Message, ...]: ...
    def __getitem__(self, index: int | slice) -> Message | tuple[Message, ...]:
        return self._messages[index]
