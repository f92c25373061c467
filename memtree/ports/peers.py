"""Other processes on the same store: a lock for stage 1 of a long history, notices of deletions.

Two proxies that get the same long history at once would both spend its seconds of stage 1: one
does, the others wait for it and read what it has committed. And what one process deletes, the
others must drop from their caches. No answer needs any of this: a process that is alone, or cannot
reach the others, does everything by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Protocol

# Tokens of a tail from which on the others are asked. To ask takes half a millisecond, to grow a
# tail of this size an eighth of a second, in a child process; an ordinary turn is far below it.
SHARED_TOKENS = 60_000
NEWEST = 64  # prefixes of a history that are looked for: an agent adds some messages with a turn

GrowthLock = AbstractAsyncContextManager[object]
OWN: GrowthLock = nullcontext()  # that of a process which asks nobody


class Peers(Protocol):
    async def take(self, tenant: str, addresses: Sequence[bytes]) -> GrowthLock | None:
        """The lock for growing the history that ends at the last of these addresses: to be held
        until what grew is committed. The others are addresses of its prefixes.

        None: another process held the lock of that history, or of one of those prefixes, and has
        released it, so the store may have more by now. Never raises. Waits while another process
        holds it, and may be cancelled. If Redis is unreachable, the lock is granted locally.
        """
        ...

    async def forgotten(self, tenant: str) -> None:
        """Notify the others that something of this tenant is deleted. Never raises; a process that
        cannot be reached now is notified later."""
        ...


class NoPeers:
    """The `Peers` of a process that has none."""

    async def take(self, tenant: str, addresses: Sequence[bytes]) -> GrowthLock | None:
        return OWN

    async def forgotten(self, tenant: str) -> None:
        return None
