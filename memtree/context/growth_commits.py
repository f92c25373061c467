"""Stores the results of stage 1 for one history, unless its data was deleted meanwhile.

They are stored part by part while a run goes on, and at its end. A run that is stopped or killed
leaves the parts it had sealed, so the next one continues from there. Requests that share a run
share its commits, since the addresses of a history form one chain in the store: each commit
continues after the last stored address.

Deletions are counted (`Generations`): a request that began before a deletion must not write deleted
data again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import count, islice
from weakref import WeakValueDictionary

from memtree.clock import DAY, Clock
from memtree.context.index_lookup import thinned
from memtree.context.turn_request import TurnRequest
from memtree.digests.titles import MESSAGES, project_of, title
from memtree.errors import NodesGone, Unavailable
from memtree.history.chat_history import History
from memtree.ports.context_store import HistoryEnd, IndexBatch, TreeStore
from memtree.process import tracing
from memtree.tree.growth import GrownTree
from memtree.tree.node import Node

log = logging.getLogger("memtree")

MAX_TENANTS = 10_000  # with remembered deletions
TOLD = 4_096  # conversations whose title this process has stored
SURROUNDINGS = 4  # how many system messages, and how many first messages, may name the directory


class Generations:
    """A number for each tenant that changes with every deletion."""

    def __init__(self) -> None:
        self._tenants: dict[str, int] = {}
        self._everybody = 0  # deletions of unknown tenants
        self._deletions = count(1)

    def of(self, tenant: str) -> int:
        return max(self._everybody, self._tenants.get(tenant, 0))

    def change(self, tenant: str | None) -> None:
        """Count a deletion of the tenant (None: of an unknown one)."""
        if tenant is None:
            self._everybody = next(self._deletions)
            self._tenants.clear()
            return
        self._tenants[tenant] = next(self._deletions)
        if len(self._tenants) > MAX_TENANTS:  # drop the oldest: no request is that old
            del self._tenants[next(iter(self._tenants))]


class GrowthCommits:
    """Commits of one history, from one stored prefix on."""

    def __init__(
        self,
        store: TreeStore,
        posted: History,
        expires: float,
        stored: int,
        *,
        end: Callable[..., HistoryEnd],
        titled: dict[bytes, None],
        wanted: Callable[[], bool],
        made: Callable[[Sequence[Node]], None],
    ) -> None:
        """`expires`: unix seconds; `stored`: messages of the prefix that is stored already; `end`:
        describes the first so many messages; `titled`: addresses that end conversations whose title
        this process has stored, so that it is not made again for their continuations; `wanted`:
        returns False once something of the tenant was deleted, and then nothing is stored; `made`:
        called with the nodes of each part before the run ends."""
        self._store, self._posted, self._expires = store, posted, expires
        self._end, self._titled, self._wanted, self._made = end, titled, wanted, made
        self._lock = asyncio.Lock()
        self.stored = stored

    async def keep(self, part: GrownTree) -> bool:
        """Store a sealed part. Implements `Keep`."""
        try:
            stored = await self.commit(part)
        except NodesGone:  # the caller that awaits the end finds that too, and starts again
            return True
        self._made(part.nodes)
        return stored

    async def commit(self, grown: GrownTree) -> bool:
        """Store the part of the grown tree that is not stored yet. Returns False if the store
        fails. Raises `NodesGone`."""
        async with self._lock:
            if not grown.frontiers or not self._wanted():
                return True
            addresses = self._posted.addresses
            last = addresses.index(list(grown.frontiers)[-1])
            new = addresses[self.stored + 1 : last + 1]
            frontiers = {at: grown.frontiers[at] for at in new if at in grown.frontiers}
            if not frontiers:
                return True
            before = addresses[self.stored]
            titled = before in self._titled
            ended = await asyncio.to_thread(self._end, last, titled=titled)
            batch = IndexBatch(
                grown.nodes,
                thinned(frontiers, last),
                self._expires,
                addresses[self.stored] if self.stored else b"",
                ended,
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
            if titled or ended.title:
                self._titled.pop(before, None)
                self._titled.pop(
                    next(iter(self._titled), b"") if len(self._titled) >= TOLD else b"", None
                )
                self._titled[addresses[last]] = None
            return True


class SharedCommits:
    """Commits of the running stage 1 runs: requests for the same history with the same stored
    prefix share them."""

    def __init__(
        self,
        store: TreeStore,
        clock: Clock,
        generations: Generations,
        made: Callable[[str, Sequence[Node]], None],
    ) -> None:
        """`made`: called with a tenant and nodes made before the end of a run."""
        self._store, self._clock = store, clock
        self._generations, self._made = generations, made
        self._titled: dict[bytes, None] = {}
        self._runs: WeakValueDictionary[tuple[bytes, int, int], GrowthCommits] = (
            WeakValueDictionary()
        )

    def of(self, request: TurnRequest, stored: int) -> GrowthCommits:
        """Return the commits of a request. `stored`: messages of the prefix that is stored
        already."""
        commits = self._runs.get(_run(request))
        if commits is None:
            tenant = request.tenant
            commits = GrowthCommits(
                self._store,
                request.posted,
                self._clock.now() + request.ask.expiration_days * DAY,
                stored,
                end=partial(
                    history_end,
                    request.posted,
                    client=request.ask.client,
                    used=self._clock.now(),
                ),
                titled=self._titled,
                wanted=lambda: request.generation == self._generations.of(tenant),
                made=lambda nodes: self._made(tenant, nodes),
            )
            self._runs[_run(request)] = commits
        commits.stored = max(commits.stored, stored)
        return commits

    def drop(self, request: TurnRequest) -> None:
        """Drop the commits of a request, because their rows were deleted from the store."""
        self._runs.pop(_run(request), None)


def _run(request: TurnRequest) -> tuple[bytes, int, int]:
    return request.posted.addresses[-1], request.ask.expiration_days, request.generation


def history_end(
    posted: History, length: int, client: str, used: float, *, titled: bool = False
) -> HistoryEnd:
    """Describe the first `length` messages; `used`: unix seconds of their last request; `client`:
    the program that posted them. `titled`: title and project are stored already; otherwise the
    beginning of the conversation is read, which takes milliseconds."""
    return HistoryEnd(
        used,
        length,
        posted.size(0, length),
        posted.posted[0],
        length == len(posted),
        "" if titled else title(posted.first_request(MESSAGES)),
        client,
        "" if titled else project_of(_surroundings(posted)),
    )


def _surroundings(posted: History) -> Iterator[str]:
    """Yield texts in which a client may name the directory."""
    yield from (message.words for _, message in islice(posted.system, SURROUNDINGS))
    for index, info in enumerate(posted.facts[:SURROUNDINGS]):
        if info.role == "user":
            yield posted.messages[index].words
