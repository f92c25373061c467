"""Ports of stage 1: what runs it off the event loop, and other processes on the same store.

If two proxies get the same long history at once, both would spend its seconds of stage 1: with the
lock of `Peers` one does, and the others wait for it and read the result. And when one process
deletes data, the others must drop it from their caches. No answer depends on this: a process that
is alone, or cannot reach the others, does everything by itself.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
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


# Tokens of a tail from which on a lock is taken. Taking it costs half a millisecond, growing a tail
# of this size an eighth of a second, in a child process; an ordinary turn is far smaller.
SHARED_TOKENS = 60_000
NEWEST = 64  # prefixes of a history that are checked: an agent adds some messages in each turn

GrowthLock = AbstractAsyncContextManager[object]
OWN: GrowthLock = nullcontext()  # the lock of a process without peers


class Peers(Protocol):
    async def take(self, tenant: str, addresses: Sequence[bytes]) -> GrowthLock | None:
        """Take the lock for growing the history that ends at the last of these addresses; hold it
        until the result is committed. The other addresses are those of its prefixes.

        Returns None if another process held the lock of that history, or of one of those prefixes,
        and has released it: the store may have more by now. Never raises. Waits while another
        process holds the lock, and may be cancelled. If Redis is unreachable, the lock is granted
        locally.
        """
        ...

    async def forgotten(self, tenant: str) -> None:
        """Notify the others that something of this tenant was deleted. Never raises; a process that
        cannot be reached now is notified later."""
        ...


class NoPeers:
    """The `Peers` of a process without any."""

    async def take(self, tenant: str, addresses: Sequence[bytes]) -> GrowthLock | None:
        return OWN

    async def forgotten(self, tenant: str) -> None:
        return None
