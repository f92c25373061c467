"""Other processes that keep memory in the same store: whose turn it is, and what was deleted.

Two proxies that get the same long history at once would both spend its seconds of stage 1: one
does, the others wait for it and read what it has committed. And what one process deletes, the
others must not have at hand any more. No answer needs any of this: who knows of no others, or
cannot reach them, does all by itself.
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
        """A turn at growing the history that ends at the last of these addresses: to be held
        until what grew is committed. The others are addresses of its prefixes.

        None: another process was at that history, or at one of those prefixes, and has come to
        its end, so the store may know more by now. Never raises; may take long where another one
        is at it, and is given up by being cancelled. Who cannot reach the others gets a turn.
        """
        ...

    async def forgotten(self, tenant: str) -> None:
        """Tell the others that something of this tenant is deleted. Never raises; who cannot be
        reached now hears of it later."""
        ...


class NoPeers:
    """The `Peers` of a process that has none."""

    async def take(self, tenant: str, addresses: Sequence[bytes]) -> GrowthLock | None:
        return OWN

    async def forgotten(self, tenant: str) -> None:
        return None
