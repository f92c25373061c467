"""Runs stage 1 off the event loop."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeAlias

from memtree.tree.growth import GrownTree, Tail

# Stores the next part of a run under way and says whether that went well. Never raises.
Keep: TypeAlias = Callable[[GrownTree], Awaitable[bool]]


class Builder(Protocol):
    """Runs stage 1 (`growth.grow`) where it does not hold up the event loop."""

    async def grow(self, tail: Tail, size: int, keep: Keep | None = None) -> GrownTree:
        """The whole tail, grown. `size`: its tokens. `keep`: gets what a long run has sealed
        while it goes on, and what it had sealed when it was stopped or failed; not the end of a
        run that ended well, which is the result.

        Joins a run under way for the same end; its result may then begin before this tail.
        """
        ...

    def warm(self) -> None:
        """A long tail is on its way: begin to make ready for it, where that takes time. Returns at
        once."""
        ...
