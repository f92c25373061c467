"""Places of the items of an array in a request's body, and which of them came in an earlier
request: the posted messages of a chat, the items of a response."""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from memtree.conversation.message_list import EarlierList, next_number

PLACES = "I"  # typecode of the arrays: no body has 4 GiB
_GAP = re.compile(rb"[ \t\r\n]*+,?[ \t\r\n]*+")


@dataclass(frozen=True, slots=True)
class JsonItems:
    """Items of a posted array, as places in the bytes of the body. Item i is
    `buffer[starts[i]:ends[i]]`, any JSON value. `number` names the list in this process; `earlier`:
    the list with which it begins, byte for byte, None if unknown; `size`: bytes of all items
    together."""

    buffer: bytes
    starts: array[int]
    ends: array[int]
    number: int
    earlier: EarlierList | None
    size: int

    def __len__(self) -> int:
        return len(self.starts)

    def raw(self, index: int) -> bytes:
        return self.buffer[self.starts[index] : self.ends[index]]

    def size_from(self, start: int) -> int:
        """Return the bytes of the items from `start` on."""
        return sum(self.ends[start:]) - sum(self.starts[start:])


def items_of(buffer: bytes, start: int, items: Sequence[msgspec.Raw]) -> JsonItems:
    """Return the items, given as decoded, of the valid array that begins at `start`."""
    starts, ends = places_of(buffer, start, items)
    return JsonItems(buffer, starts, ends, next_number(), None, sum(ends) - sum(starts))


def places_of(
    buffer: bytes, start: int, items: Sequence[msgspec.Raw]
) -> tuple[array[int], array[int]]:
    """Return where each item begins and ends. `items`: those of the valid array that begins at
    `start`."""
    starts, ends = array(PLACES), array(PLACES)
    at, gap = start + 1, _GAP.match
    for item in items:
        if match := gap(buffer, at):
            at = match.end()
        starts.append(at)
        at += len(item)
        ends.append(at)
    return starts, ends
