"""Where a memory was said, seen from the history of a request: in it, in another branch of the same
conversation, or in another conversation.

A user who takes a message back, edits it or asks for another answer leaves a branch behind. What
was said there counts no more in this conversation; in a new one it is as good as any other memory.
The histories of both branches begin alike, so a memory keeps the address of that beginning.

What a history says itself is not said once more beside it: a line that follows from the message
before would change the prompt's beginning for nothing. But where that message may be folded away,
the history says it no more, and the memory stands.
"""

from __future__ import annotations

from collections.abc import Container

from memtree.memories.memory import MemorySource

SAME, STRICT, OFF = "same", "strict", "off"
BRANCHES = (SAME, STRICT, OFF)  # values of the setting `memories_branches`


def depends(source: MemorySource | None, rule: str) -> bool:
    """Return True if it has to be known where a memory was said."""
    return source is not None and bool(source.address) and rule != OFF


def fits(
    source: MemorySource | None,
    addresses: Container[str],
    rule: str,
    folded: Container[str] = (),
) -> bool:
    """Return True if a memory may stand beside a history. `addresses`: hex, of all its prefixes;
    `folded`: of those whose last message may be folded away. With `strict`, only beside one in
    which it was said; else not beside one that shows it, nor beside another branch of it."""
    if source is None or not depends(source, rule):
        return True
    if rule == STRICT:
        return source.address in addresses
    if source.address in addresses:
        return source.address in folded
    return source.origin not in addresses
