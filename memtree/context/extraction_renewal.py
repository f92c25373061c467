"""Brings stored summaries up to date after an upgrade of extraction: in the background, while the
posted history is at hand. Awaits ports.

A tree is looked at when it is read from the store, not in later requests of the process. What was
made anew is stored as another version beside the node, so plans under way keep what they name.
Nothing is embedded again, and what a model wrote stays the newest.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping

import msgspec

from memtree.context.index_request import IndexRequest
from memtree.context.index_state import IndexState
from memtree.errors import Unavailable
from memtree.ports.clock import Clock
from memtree.ports.store import TreeStore
from memtree.tree import renewal
from memtree.tree.growth import MessageTexts
from memtree.tree.node import Node

log = logging.getLogger("memtree")

PIECE = 40  # nodes: some 40 ms of a thread


class ExtractionRenewal:
    """`wanted`: nothing of the tenant was deleted since the request began."""

    def __init__(
        self, store: TreeStore, clock: Clock, wanted: Callable[[IndexRequest], bool]
    ) -> None:
        self._store, self._clock, self._wanted = store, clock, wanted

    def is_due(self, index: IndexState) -> bool:
        """Return True if the tree came from the store just now and has summaries of an older
        version."""
        return not index.cached and any(
            renewal.is_outdated(node.summary) for node in index.nodes.values()
        )

    async def renew(self, request: IndexRequest, index: IndexState) -> None:
        """Make all of them anew, a piece at a time; what was done before is not done again."""
        try:
            await self._renew(request, index)
        except Unavailable as error:
            log.warning("extraction.renewal_failed code=%s", error.code)

    async def _renew(self, request: IndexRequest, index: IndexState) -> None:
        tenant, nodes = request.tenant, index.nodes
        old = renewal.outdated(nodes.values())
        stored = await self._store.newest_summaries(tenant, old)
        by_model = {id_ for id_, each in stored.items() if each.version > 0}
        newest = renewal.newest_version()
        known = {id_: each for id_, each in stored.items() if each.version == newest}
        left = set(old) - known.keys()
        if left <= by_model:
            return
        log.info("extraction.renewal_began nodes=%d", len(left))
        texts = MessageTexts(request.posted.view)
        for piece in renewal.in_pieces(index.frontier, nodes, left, PIECE):
            began = self._clock.monotonic()
            made = await asyncio.to_thread(renewal.renewed, piece, nodes, known, texts)
            if not self._wanted(request):
                return
            known |= made
            # A model's summary stays the newest: nobody would read what extraction says there.
            rows = {id_: each for id_, each in made.items() if id_ not in by_model}
            await self._store.put_summaries(tenant, rows)
            await asyncio.sleep(self._clock.monotonic() - began)  # requests have the other half
        log.info("extraction.renewal_done nodes=%d", len(left))

    async def loose(self, tenant: str, index: IndexState) -> Mapping[bytes, Node]:
        """The nodes of the frontier as a parent is to be made of them: today's extraction where it
        was made anew."""
        tops = {id_: index.nodes[id_] for id_ in index.frontier.nodes}
        old = renewal.outdated(tops.values())
        if not old:
            return tops
        try:
            stored = await self._store.summaries(
                tenant, [(id_, renewal.newest_version()) for id_ in old]
            )
        except Unavailable as error:
            log.warning("store.summaries_failed code=%s", error.code)
            return tops
        return tops | {
            id_: msgspec.structs.replace(tops[id_], summary=summary)
            for (id_, _), summary in stored.items()
        }
