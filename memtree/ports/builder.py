"""Port that runs stage 1 off the event loop."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeAlias

from memtree.tree.growth import GrownTree, Tail

# Stores the next part of a run in progress and returns True on success. Never raises.
Keep: TypeAlias = Callable[[GrownTree], Awaitable[bool]]


class Builder(Protocol):
    """Runs stage 1 (`growth.grow`) without blocking the event loop."""

    async def grow(self, tail: Tail, size: int, keep: Keep | None = None) -> GrownTree:
        """Grow the whole tail and return the result. `size`: its tokens. `keep`: receives the parts
        that a long run has sealed so far, and the rest of them if it is stopped or fails; not the
        end of a successful run, which is the result.

        Joins a running run with the same end; its result may then begin before this tail.
        """
        ...

    def warm(self) -> None:
        """Prepare for a long tail that is about to come, if that takes time. Returns at once."""
        ...
