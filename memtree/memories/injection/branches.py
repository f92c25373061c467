"""Where a memory was said, seen from the history of a request: in it, in another branch of the same
conversation, or in another conversation.

A user who takes a message back, edits it or asks for another answer leaves a branch behind. What
was said there counts no more in this conversation; in a new one it is as good as any other memory.
The histories of both branches begin alike, so a memory keeps the address of that beginning.
"""

from __future__ import annotations

from collections.abc import Container

from memtree.memories.memory import MemorySource

SAME, STRICT, OFF = "same", "strict", "off"
BRANCHES = (SAME, STRICT, OFF)  # values of the setting `memories_branches`


def elsewhere(source: MemorySource | None, addresses: Container[str], rule: str) -> bool:
    """Whether a memory is of a branch that this history is not. `addresses`: hex, of all its
    prefixes; with `strict` every other conversation counts as such a branch."""
    if source is None or not source.address or rule == OFF or source.address in addresses:
        return False
    return rule == STRICT or (bool(source.origin) and source.origin in addresses)


def said_in(source: MemorySource | None, addresses: Container[str]) -> bool:
    """Whether the history holds the message that the memory is of."""
    return source is not None and bool(source.address) and source.address in addresses
