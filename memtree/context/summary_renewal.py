"""Finds stored summaries that are missing or outdated, and has them made in the background.

`ExtractionRenewal` renews summaries after an upgrade of extraction, while the posted history is in
memory. A tree is checked when it is read from the store, not in later requests of the process. A
renewed summary is stored as another version beside the node, so existing plans keep the versions
they name. Nothing is embedded again, and a model's summary stays the newest.

`SummaryBacklog` finds the nodes of a history that lack a model's summary, and passes them to
stage 3. If all nodes are known to have one, a request does not query the store and looks only at
the top of the tree. Otherwise the store is queried, and the rest submitted, after the answer, so
that no request waits; only the newest history of a conversation counts.

Both await ports.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from memtree.clock import Clock
from memtree.context.index_lookup import IndexState
from memtree.context.turn_request import TurnRequest
from memtree.digests.summarize import VERSION
from memtree.errors import Unavailable
from memtree.history.chat_history import History
from memtree.ports.context_store import TreeStore
from memtree.ports.indexing_stages import Pending, SummaryQueue
from memtree.tree.btree import walk
from memtree.tree.growth import MessageTexts, leaf_extract, summarise
from memtree.tree.node import Frontier, Node, NodePlace, Summary, to_read
from memtree.tree.summary_batches import CompletedSummaries

log = logging.getLogger("memtree")

PIECE = 40  # nodes: some 40 ms of a thread
_BELOW = 1_000  # version 0 is in the node itself; a model's versions count up from 1


def newest_version() -> int:
    """Return the version of summaries made by the present extraction: below 0, and greater than
    those of earlier extractions."""
    return VERSION - _BELOW


def is_outdated(summary: Summary) -> bool:
    """Return True if an older extraction made it. A model's summary is not extraction."""
    return summary.version <= 0 and summary.extraction < VERSION


def outdated(nodes: Iterable[Node]) -> list[bytes]:
    """Return the nodes whose summaries an older extraction made."""
    return [node.id for node in nodes if is_outdated(node.summary)]


def in_pieces(
    frontier: Frontier, nodes: Mapping[bytes, Node], wanted: set[bytes], size: int
) -> Iterator[list[tuple[Node, NodePlace]]]:
    """Yield the wanted nodes of a tree with their places, up to `size` at once: leaves in reading
    order, then each level above, so that children come before their parents."""
    placed = [pair for pair in walk(frontier.nodes, nodes) if pair[0].id in wanted]
    placed.sort(key=lambda pair: pair[0].level)  # stable: the order within a level stays
    for at in range(0, len(placed), size):
        yield placed[at : at + size]


def renewed(
    piece: Sequence[tuple[Node, NodePlace]],
    nodes: Mapping[bytes, Node],
    known: Mapping[bytes, Summary],
    texts: MessageTexts,
) -> dict[bytes, Summary]:
    """Return the summaries of these nodes as the present extraction makes them: leaves from the
    spans of their passages in the posted text, parents from their children's. Ids and boundaries
    stay, so vectors and a model's summaries remain valid. `known`: renewed summaries of the nodes
    below."""
    made: dict[bytes, Summary] = {}
    for node, place in piece:
        if node.is_leaf:
            extract = leaf_extract(node.passages, place.first, texts)
            summary = msgspec.structs.replace(extract.summary, rules=extract.rules)
        else:
            below = [made.get(id_) or known.get(id_) or nodes[id_].summary for id_ in node.children]
            summary = summarise(below, node.level)
        made[node.id] = msgspec.structs.replace(summary, version=newest_version())
    return made


class ExtractionRenewal:
    """`wanted`: returns False once something of the tenant was deleted after the request began."""

    def __init__(
        self, store: TreeStore, clock: Clock, wanted: Callable[[TurnRequest], bool]
    ) -> None:
        self._store, self._clock, self._wanted = store, clock, wanted

    def is_due(self, index: IndexState) -> bool:
        """Return True if the tree has just been read from the store and has summaries of an older
        version."""
        return not index.cached and any(is_outdated(node.summary) for node in index.nodes.values())

    async def renew(self, request: TurnRequest, index: IndexState) -> None:
        """Renew all outdated summaries, a piece at a time; skips those already renewed."""
        try:
            await self._renew(request, index)
        except Unavailable as error:
            log.warning("extraction.renewal_failed code=%s", error.code)

    async def _renew(self, request: TurnRequest, index: IndexState) -> None:
        tenant, nodes = request.tenant, index.nodes
        old = outdated(nodes.values())
        stored = await self._store.newest_summaries(tenant, old)
        by_model = {id_ for id_, each in stored.items() if each.version > 0}
        newest = newest_version()
        known = {id_: each for id_, each in stored.items() if each.version == newest}
        left = set(old) - known.keys()
        if left <= by_model:
            return
        log.info("extraction.renewal_began nodes=%d", len(left))
        texts = MessageTexts(request.posted.view)
        for piece in in_pieces(index.frontier, nodes, left, PIECE):
            began = self._clock.monotonic()
            made = await asyncio.to_thread(renewed, piece, nodes, known, texts)
            if not self._wanted(request):
                return
            known |= made
            # A model's summary stays the newest: an extraction stored beside it would never be
            # read.
            rows = {id_: each for id_, each in made.items() if id_ not in by_model}
            await self._store.put_summaries(tenant, rows)
            # leaves half of the time to requests
            await asyncio.sleep(self._clock.monotonic() - began)
        log.info("extraction.renewal_done nodes=%d", len(left))

    async def loose(self, tenant: str, index: IndexState) -> Mapping[bytes, Node]:
        """Return the nodes of the frontier from which a parent is to be made, with their renewed
        summaries."""
        tops = {id_: index.nodes[id_] for id_ in index.frontier.nodes}
        old = outdated(tops.values())
        if not old:
            return tops
        try:
            stored = await self._store.summaries(tenant, [(id_, newest_version()) for id_ in old])
        except Unavailable as error:
            log.warning("store.summaries_failed code=%s", error.code)
            return tops
        return tops | {
            id_: msgspec.structs.replace(tops[id_], summary=summary)
            for (id_, _), summary in stored.items()
        }


@dataclass(frozen=True, slots=True)
class _Handover:
    """Nodes to submit. `wanted`: returns False once something of the tenant was deleted."""

    posted: History
    frontier: Frontier
    nodes: Mapping[bytes, Node]
    lacking: Sequence[Node]
    wanted: Callable[[], bool]
    backfill: bool


class SummaryBacklog:
    """`settled`: shared with the queue of the same process, which knows first which nodes are
    done."""

    def __init__(self, store: TreeStore, queue: SummaryQueue, settled: CompletedSummaries) -> None:
        self._store, self._queue, self._settled = store, queue, settled
        self._waiting: dict[tuple[str, bytes], _Handover] = {}
        self._tasks: dict[tuple[str, bytes], asyncio.Task[None]] = {}

    async def lacking(
        self, tenant: str, frontier: Frontier, nodes: Mapping[bytes, Node], *, cached: bool
    ) -> list[Node]:
        """Return the nodes that are not known to have a later summary. `cached`: this process has
        checked the tree before; otherwise the store is queried."""
        lacking = self._settled.lacking(tenant, frontier.nodes, nodes)
        if cached or not lacking:
            return lacking
        await self._ask(tenant, lacking)
        return self._settled.lacking(tenant, frontier.nodes, nodes)

    def hand_on(
        self,
        posted: History,
        frontier: Frontier,
        nodes: Mapping[bytes, Node],
        lacking: Sequence[Node],
        wanted: Callable[[], bool],
        *,
        backfill: bool = False,
    ) -> None:
        """Submit the nodes in the background, except those that another process has done."""
        name = (posted.tenant, posted.addresses[1])
        self._waiting[name] = _Handover(posted, frontier, nodes, lacking, wanted, backfill)
        if name not in self._tasks:
            task = asyncio.create_task(self._hand_on(name), name="summary-backlog")
            self._tasks[name] = task
            task.add_done_callback(lambda _: self._tasks.pop(name, None))

    async def pending(self, tenant: str) -> Pending:
        """Return the work that is queued, or about to be."""
        # Read these first: they may reach the queue while it is read.
        waiting = [handover for name, handover in self._waiting.items() if name[0] == tenant]
        queued = await self._queue.pending(tenant)
        tokens = sum(to_read(node) for handover in waiting for node in handover.lacking)
        return Pending(queued.tokens + tokens, queued.jobs + len(waiting))

    def forget(self, tenant: str | None) -> None:
        self._settled.forget(tenant)

    def grown(self, tenant: str, nodes: Sequence[Node]) -> None:
        """Handle nodes that stage 1 has just made: what was known of them may be out of date, since
        they may have been deleted."""
        self._settled.discard(tenant, [node.id for node in nodes])

    async def close(self) -> None:
        """Wait until all nodes are submitted."""
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    async def _hand_on(self, name: tuple[str, bytes]) -> None:
        while (handover := self._waiting.get(name)) is not None:
            tenant = name[0]
            await self._ask(tenant, handover.lacking)
            if self._waiting[name] is not handover:
                continue  # a newer history arrived meanwhile
            del self._waiting[name]
            work = self._settled.work(tenant, handover.frontier.nodes, handover.nodes)
            if work and handover.wanted():
                # The address after the first message, so that chats that begin alike differ.
                start = handover.posted.addresses[work[0].place.first + 1]
                self._queue.submit(
                    handover.posted, start, work, handover.nodes, backfill=handover.backfill
                )

    async def _ask(self, tenant: str, lacking: Sequence[Node]) -> None:
        """Query for which of them the store has a later summary."""
        try:
            later = await self._store.newest_summaries(tenant, [node.id for node in lacking])
        except Unavailable as error:
            log.warning("store.summaries_failed code=%s", error.code)
            return
        done = [id_ for id_, summary in later.items() if summary.version > 0]
        self._settled.add(tenant, done)
