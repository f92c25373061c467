"""Look up in the store how much of a history is indexed."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace

from memtree.context.caches_caches import Conversations
from memtree.context.index_state import NOTHING_INDEXED, IndexState, Trouble
from memtree.context.prefix_lookup import CoveredPrefix, covering
from memtree.context.turn_request import TurnRequest
from memtree.days import DAY
from memtree.errors import Unavailable
from memtree.ports.clock import Clock
from memtree.ports.store import TreeStore
from memtree.process import tracing
from memtree.tree.node import Node

log = logging.getLogger("memtree")


class IndexLookup:
    """Finds the longest indexed prefix with its nodes, and keeps it from expiring."""

    def __init__(self, store: TreeStore, clock: Clock) -> None:
        self._store, self._clock = store, clock

    async def find(self, request: TurnRequest, known: Conversations) -> IndexState:
        """Return the stored index of the history; `known`: the process's conversations, which are
        read and added to."""
        try:
            with tracing.step("look_up"):
                return await self._find(request, known)
        except Unavailable as error:
            log.warning("store.unavailable code=%s", error.code)
            return replace(NOTHING_INDEXED, trouble=Trouble.STORE)

    async def _find(self, request: TurnRequest, known: Conversations) -> IndexState:
        tenant = request.tenant
        covered = await covering(self._store, request.posted)
        if covered is None:
            return NOTHING_INDEXED
        frontier = covered.frontier
        tree = known.tree(tenant, frontier)
        cached = tree is not None
        if tree is None:
            nodes = await self._store.descendants(tenant, frontier.nodes)
            if not _complete(frontier.nodes, nodes):
                log.warning("store.node_missing")
                return NOTHING_INDEXED
            tree = known.add(tenant, frontier, nodes)
        await self._renew(request, covered)
        return IndexState(frontier, tree, covered.length, cached=cached)

    async def _renew(self, request: TurnRequest, covered: CoveredPrefix) -> None:
        """Extend the expiry of a chain in use; written at most once a day."""
        expires = self._clock.now() + request.ask.expiration_days * DAY
        if covered.expires > expires - DAY:
            return
        chain = request.posted.addresses[1 : covered.length + 1]
        try:
            await self._store.renew(request.tenant, chain, expires, self._clock.now())
        except Unavailable as error:
            log.warning("store.renew_failed code=%s", error.code)


def _complete(ids: Sequence[bytes], nodes: Mapping[bytes, Node]) -> bool:
    return all(id_ in nodes and _complete(nodes[id_].children, nodes) for id_ in ids)
