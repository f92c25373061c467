"""Finds stored summaries that are missing or outdated, and has them made in the background.

`ExtractionRenewal` makes what a long cold tail left for later, and renews summaries after an
upgrade of extraction, while the posted history is in memory. For the latter a tree is checked when
it is read from the store, not in later requests of the process. A renewed summary is stored as
another version beside the node, so existing plans keep the versions they name. Nothing is embedded
again, and a model's summary stays the newest.

`SummaryBacklog` finds the nodes of a history that lack a model's summary, and passes them to
stage 3. If all nodes are known to have one, a request does not query the store and looks only at
the top of the tree. Otherwise the store is queried, and the rest submitted, after the answer, so
that no request waits; only the newest history of a conversation counts.

Both await ports.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import msgspec

from memtree.clock import Clock
from memtree.context.index_lookup import IndexState
from memtree.context.turn_request import TurnRequest
from memtree.context.warm_conversations import Conversations
from memtree.digests.summarize import VERSION
from memtree.errors import Unavailable
from memtree.history.chat_history import History
from memtree.history.message import Volatile
from memtree.history.message_list import raws_of
from memtree.ports.context_store import TreeStore
from memtree.ports.indexing_stages import Builder, Pending, SummaryQueue
from memtree.tree.btree import walk
from memtree.tree.extraction import Unsummarised
from memtree.tree.node import SKETCHED, Frontier, Node, NodePlace, Summary, to_read
from memtree.tree.summary_batches import CompletedSummaries

log = logging.getLogger("memtree")

PIECE = 40  # nodes: a quarter of a second at most
FAR = 100_000  # characters
_BELOW = 1_000  # version 0 is in the node itself; a model's versions count up from 1


def newest_version() -> int:
    """Return the version of summaries made by the present extraction: below 0, and greater than
    those of earlier extractions."""
    return VERSION - _BELOW


def is_outdated(summary: Summary) -> bool:
    """Return True if an older extraction made it. A model's summary is not extraction, and a sketch
    is completed in its node."""
    older = summary.extraction < VERSION and summary.extraction != SKETCHED
    return summary.version <= 0 and older


def outdated(nodes: Iterable[Node]) -> list[bytes]:
    """Return the nodes whose summaries an older extraction made."""
    return [node.id for node in nodes if is_outdated(node.summary)]


def in_pieces(
    frontier: Frontier, nodes: Mapping[bytes, Node], wanted: set[bytes], size: int
) -> Iterator[list[tuple[Node, NodePlace]]]:
    """Yield the wanted nodes of a tree with their places, some `size` of one level at once: leaves
    in reading order, then each level above, so that children come before their parents. What lies
    far behind the beginning of a message comes together: each piece reads its messages whole."""
    placed = [pair for pair in walk(frontier.nodes, nodes) if pair[0].id in wanted]
    placed.sort(key=_level)  # stable: the order within a level stays
    for _, level in groupby(placed, key=_level):
        piece: list[tuple[Node, NodePlace]] = []
        for node, place in level:
            if len(piece) >= size and (node.level or place.start <= FAR):
                yield piece
                piece = []
            piece.append((node, place))
        yield piece


def _level(pair: tuple[Node, NodePlace]) -> int:
    return pair[0].level


def unsummarised(
    piece: Sequence[tuple[Node, NodePlace]],
    nodes: Mapping[bytes, Node],
    known: Mapping[bytes, Summary],
    raw: Callable[[int], bytes],
    volatile: Volatile,
) -> Unsummarised:
    """Return the nodes of a piece as the builder takes them: leaves with the messages in which
    their passages lie, parents with their children's summaries. `known`: summaries of nodes below
    that differ from those in `nodes`; `raw`: returns a message of the history."""
    leaves = [(node.passages, place.first) for node, place in piece if node.is_leaf]
    spans = [(place.first, place.last + 1) for node, place in piece if node.is_leaf]
    return Unsummarised(
        leaves,
        {at: raw(at) for span in spans for at in range(*span)},
        volatile.tags,
        [
            (tuple(known.get(id_) or nodes[id_].summary for id_ in node.children), node.level)
            for node, _ in piece
            if not node.is_leaf
        ],
    )


class ExtractionRenewal:
    """Completes trees that were grown with sketches, and renews what an older extraction made. Ids
    and boundaries stay, so vectors and a model's summaries remain valid."""

    def __init__(
        self,
        store: TreeStore,
        builder: Builder,
        clock: Clock,
        conversations: Conversations,
        wanted: Callable[[TurnRequest], bool],
    ) -> None:
        """`wanted`: returns False once something of the tenant was deleted after the request
        began."""
        self._store, self._builder, self._clock = store, builder, clock
        self._conversations, self._wanted = conversations, wanted

    def is_due(self, index: IndexState) -> bool:
        """Return True if nodes of the tree have only a sketch, or if it has just been read from the
        store and has summaries of an older version."""
        if index.tree.conversation.sketches:
            return True
        return not index.cached and any(is_outdated(node.summary) for node in index.nodes.values())

    async def renew(self, request: TurnRequest, index: IndexState) -> None:
        """Make all summaries that are missing or outdated, a piece at a time; skips those already
        renewed."""
        try:
            await self._complete(request, index)
            if not index.cached:
                await self._renew(request, index)
        except Unavailable as error:
            log.warning("extraction.renewal_failed code=%s", error.code)

    async def _complete(self, request: TurnRequest, index: IndexState) -> None:
        """Replace sketches in the nodes themselves, with what the store has of them: another
        history shares these nodes, or another process completed them."""
        tenant, nodes = request.tenant, index.tree
        sketches = nodes.conversation.sketches
        if not sketches:
            return
        stored = await self._store.nodes(tenant, list(sketches))
        complete = {
            id_: node for id_, node in stored.items() if node.summary.extraction != SKETCHED
        }
        known = {id_: node.summary for id_, node in complete.items()}

        async def keep(made: Mapping[bytes, Summary]) -> None:
            new = {
                id_: msgspec.structs.replace(
                    nodes[id_], summary=msgspec.structs.replace(each, rules=None)
                )
                for id_, each in made.items()
            }
            await self._store.complete(tenant, list(new.values()))
            complete.update(new)

        try:
            await self._made(request, index, nodes, sketches - complete.keys(), known, keep)
        finally:
            if self._wanted(request):
                self._conversations.complete(tenant, complete)

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

        async def keep(made: Mapping[bytes, Summary]) -> None:
            # A model's summary stays the newest: an extraction stored beside it would never be
            # read.
            rows = {
                id_: msgspec.structs.replace(each, version=newest)
                for id_, each in made.items()
                if id_ not in by_model
            }
            await self._store.put_summaries(tenant, rows)

        await self._made(request, index, nodes, left, known, keep)

    async def _made(
        self,
        request: TurnRequest,
        index: IndexState,
        nodes: Mapping[bytes, Node],
        left: set[bytes],
        known: dict[bytes, Summary],
        keep: Callable[[Mapping[bytes, Summary]], Awaitable[None]],
    ) -> None:
        """Make the summaries of the nodes `left`, and keep them piece by piece. `known`: those of
        other nodes that are newer than in `nodes`."""
        pieces = list(in_pieces(index.frontier, nodes, left, PIECE))
        if not pieces:  # they belong to other histories of the conversation
            return
        log.info("extraction.renewal_began nodes=%d", sum(map(len, pieces)))
        posted = request.posted
        raw = raws_of(posted.messages)
        for piece in pieces:
            began = self._clock.monotonic()
            work = unsummarised(piece, nodes, known, raw, posted.volatile)
            summaries = await self._builder.summaries(work)
            if not self._wanted(request):
                return
            made = {node.id: each for (node, _), each in zip(piece, summaries, strict=True)}
            known |= made
            await keep(made)
            # leaves half of the time to requests
            await asyncio.sleep(self._clock.monotonic() - began)
        log.info("extraction.renewal_done nodes=%d", sum(map(len, pieces)))

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
