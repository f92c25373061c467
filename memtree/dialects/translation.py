"""Record where the canonical messages of a posted list of items stand, so that a longer list with
the same beginning is translated from there on.

The record holds positions and marks, no text: a message is made again when it is read. Reading can
resume at any step (a user message, or a run of the model with the outputs behind it) behind which
no output answers a call before it.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from memtree.dialects.tool_definitions import CHAT_MEMORY_TOOLS, CONTEXT_TOOLS
from memtree.dialects.translated_messages import RawItems

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
