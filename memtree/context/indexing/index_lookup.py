"""Look up in the store how much of a history is indexed."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from memtree.context.caches.caches import NodeCache
from memtree.context.indexing.index_request import IndexRequest
from memtree.context.indexing.index_state import NOTHING_INDEXED, IndexState, Trouble
from memtree.context.indexing.prefix_lookup import CoveredPrefix, covering, former_covering
from memtree.days import DAY
from memtree.errors import NodesGone, Unavailable
from memtree.ports.clock import Clock
from memtree.ports.store import IndexBatch, TreeStore
from memtree.process import tracing
from memtree.tree.node import Node

log = logging.getLogger("memtree")


class IndexLookup:
    """Finds the longest indexed prefix with its nodes, and keeps it from expiring."""

    def __init__(
        self, store: TreeStore, clock: Clock, wanted: Callable[[IndexRequest], bool]
    ) -> None:
        """`wanted`: returns False once something of the tenant was deleted after the request
        began."""
        self._store, self._clock, self._wanted = store, clock, wanted

    async def find(self, request: IndexRequest, nodes: NodeCache) -> IndexState:
        """Return the stored index of the history; `nodes`: the process's cache, which is read and
        filled."""
        try:
            with tracing.step("look_up"):
                return await self._find(request, nodes)
        except Unavailable as error:
            log.warning("store.unavailable code=%s", error.code)
            return replace(NOTHING_INDEXED, trouble=Trouble.STORE)

    async def _find(self, request: IndexRequest, cache: NodeCache) -> IndexState:
        tenant = request.tenant
        covered = await covering(self._store, request.posted) or await self._adopted(request)
        if covered is None:
            return NOTHING_INDEXED
        frontier = covered.frontier
        tree = cache.tree(tenant, frontier)
        cached = tree is not None
        if tree is None:
            nodes = await self._store.descendants(tenant, frontier.nodes)
            if not _complete(frontier.nodes, nodes):
                log.warning("store.node_missing")
                return NOTHING_INDEXED
            tree = cache.grown(tenant, {}, frontier, tuple(nodes.values()))
        await self._renew(request, covered)
        return IndexState(frontier, tree, covered.length, cached=cached)

    async def _adopted(self, request: IndexRequest) -> CoveredPrefix | None:
        """Find a prefix under an address of the former format, and store it under its present
        address as well.

        The former address becomes the previous one on the chain, so a deletion takes both.
        """
        former = await former_covering(self._store, request.posted)
        if former is None or not self._wanted(request):
            return None
        covered, previous = former
        expires = self._clock.now() + request.days * DAY
        frontiers = {request.posted.addresses[covered.length]: covered.frontier}
        end = request.end(covered.length, self._clock.now())
        try:
            await self._store.commit(
                request.tenant, IndexBatch((), frontiers, expires, previous, end)
            )
        except NodesGone:  # forgotten meanwhile
            return None
        return covered._replace(expires=expires)

    async def _renew(self, request: IndexRequest, covered: CoveredPrefix) -> None:
        """Extend the expiry of a chain in use; written at most once a day."""
        expires = self._clock.now() + request.days * DAY
        if covered.expires > expires - DAY:
            return
        chain = request.posted.addresses[1 : covered.length + 1]
        try:
            await self._store.renew(request.tenant, chain, expires, self._clock.now())
        except Unavailable as error:
            log.warning("store.renew_failed code=%s", error.code)


def _complete(ids: Sequence[bytes], nodes: Mapping[bytes, Node]) -> bool:
    return all(id_ in nodes and _complete(nodes[id_].children, nodes) for id_ in ids)
