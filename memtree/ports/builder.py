"""Runs stage 1 off the event loop."""

from __future__ import annotations

from typing import Protocol

from memtree.tree.growth import GrownTree, Tail


class Builder(Protocol):
    """Runs stage 1 (`build.grow`) where it does not hold up the event loop."""

    async def grow(self, tail: Tail, size: int) -> GrownTree:
        """`size`: tokens of the tail. Joins a run for the same end that is under way."""
        ...
