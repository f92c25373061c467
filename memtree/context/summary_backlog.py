"""Find the nodes of a history that lack a model's summary, and pass them to stage 3.

If all nodes are known to have a model's summary, a request does not query the store and looks only
at the top of the tree. Otherwise the store is queried, and the rest submitted, after the answer, so
that no request waits; only the newest history of a conversation counts. Awaits ports.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from memtree.errors import Unavailable
from memtree.history.chat_history import History
from memtree.ports.queues import Pending, SummaryQueue
from memtree.ports.store import TreeStore
from memtree.tree.node import Frontier, Node, to_read
from memtree.tree.summary_batches import CompletedSummaries

log = logging.getLogger("memtree")


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
