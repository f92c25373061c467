"""Stores what stage 1 finds of one history: part by part while it runs, and the end of it.

A run that is stopped or killed leaves what it had sealed, so that the next one goes on from there.
Requests that share a run share this too, since the addresses of a history make one chain in the
store: whoever commits goes on behind the last address that is stored.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence

from memtree import tracing
from memtree.context.prefix_lookup import thinned
from memtree.conversation.history import History
from memtree.errors import NodesGone, Unavailable
from memtree.ports.store import IndexBatch, TreeStore
from memtree.tree.growth import GrownTree
from memtree.tree.node import Node

log = logging.getLogger("memtree")


class GrowthCommits:
    """Those of one history, from one stored prefix on."""

    def __init__(
        self,
        store: TreeStore,
        posted: History,
        expires: float,
        stored: int,
        *,
        wanted: Callable[[], bool],
        made: Callable[[Sequence[Node]], None],
    ) -> None:
        """`expires`: unix seconds; `stored`: messages of the prefix that is stored already;
        `wanted`: False once something of the tenant was deleted, and then nothing is stored;
        `made`: told of the nodes of a part before its end."""
        self._store, self._posted, self._expires = store, posted, expires
        self._wanted, self._made = wanted, made
        self._lock = asyncio.Lock()
        self.stored = stored

    async def keep(self, part: GrownTree) -> bool:
        """A `Keep`."""
        try:
            stored = await self.commit(part)
        except NodesGone:  # whoever waits for the end finds that too, and begins anew
            return True
        self._made(part.nodes)
        return stored

    async def commit(self, grown: GrownTree) -> bool:
        """Store what of it is not stored yet. False where the store fails. Raises `NodesGone`."""
        async with self._lock:
            if not grown.frontiers or not self._wanted():
                return True
            addresses = self._posted.addresses
            last = addresses.index(list(grown.frontiers)[-1])
            new = addresses[self.stored + 1 : last + 1]
            frontiers = {one: grown.frontiers[one] for one in new if one in grown.frontiers}
            if not frontiers:
                return True
            batch = IndexBatch(
                grown.nodes,
                thinned(frontiers, last),
                self._expires,
                addresses[self.stored] if self.stored else b"",
            )
            try:
                with tracing.step("write"):
                    await self._store.commit(self._posted.tenant, batch)
            except NodesGone:
                raise
            except Unavailable as error:
                log.warning("store.commit_failed code=%s", error.code)
                return False
            self.stored = last
            return True
