"""Chooses the standing memories of a prompt: wishes before facts, of each topic the newest, as many
as their budget takes.

They are chosen anew for each request, of the same memories to the same lines: the text changes
where the set does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from memtree.memories.fields.standing import WISH
from memtree.memories.memory import Memory
from memtree.text import tokens

BUDGET = 300  # tokens of the lines of a request: of the user, then of the chat
MOST = 100  # that are read


def chosen(
    memories: Iterable[Memory], line: Callable[[Memory], str], budget: int = BUDGET
) -> list[Memory]:
    """In the order of numbers. `line`: how one reads, "" where it cannot be shown."""
    newest = sorted(memories, key=lambda memory: -memory.number)
    newest.sort(key=lambda memory: not memory.standing.startswith(WISH))
    seen: set[str] = set()
    kept: list[Memory] = []
    for memory in newest:
        if ":" in memory.standing and memory.standing in seen:
            continue
        cost = size([memory], line)
        if not line(memory) or cost > budget or _is_changed(memory, kept):
            continue
        seen.add(memory.standing)
        budget -= cost
        kept.append(memory)
    return sorted(kept, key=lambda memory: memory.number)


def size(memories: Iterable[Memory], line: Callable[[Memory], str]) -> int:
    """Tokens of their lines."""
    return sum(tokens.count(line(memory)) + _NUMBER for memory in memories)


def _is_changed(memory: Memory, kept: Sequence[Memory]) -> bool:
    """Return True if a newer one says that it changed a value of this."""
    return any(
        update.id == memory.id and " -> " in " ".join(update.differs)
        for other in kept
        for update in other.updates
    )


_NUMBER = 4  # tokens of a line's number and its end
