"""Shadow mode: a chat is relayed unchanged, while memory compresses the posted history beside it.

Nobody waits for a shadow: it begins when the upstream has answered, few run at once, and of the
waiting ones the newest are kept. The results are numbers: metrics, and daily totals by tenant.
Between two requests of a conversation an address, a cut and keyed hashes are kept, in this process.
Probes are chosen and checked in `memtree.shadow`.

    follow -> [waiting] -> read -> what the answer used -> compress -> probes -> numbers
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from memtree.config import Settings
from memtree.context.context_memory import Answer, ContextMemory
from memtree.context.request import CompressRequest
from memtree.conversation.history import History
from memtree.days import day_of
from memtree.dialects import openai_chat
from memtree.errors import BadRequest, ContextOverflow, MemTreeError
from memtree.ports.store import Tallies
from memtree.shadow import probes, usage
from memtree.shadow.probes import Score, ShadowResult
from memtree.shadow.usage import SightRecord
from memtree.tree.node import Frontier, Node
from memtree.wire import json_body
from memtree_proxy.chat.chat_request import ShadowRequest
from memtree_proxy.observability import log
from memtree_proxy.observability.metrics.metrics import Metrics

AT_ONCE = 2
WAITING = 32  # waiting requests, and
WAITING_BYTES = 64 << 20  # bytes of their bodies
PATIENCE = 120.0  # seconds for one shadow
RECORD_BYTES = 16 << 20


class ShadowJob(NamedTuple):
    tenant: str
    shadowed: ShadowRequest

    @property
    def size(self) -> int:
        return len(self.shadowed.body.raw)


class ShadowRunner:
    """Measures requests in the background. One for each app."""

    def __init__(
        self,
        memory: ContextMemory,
        settings: Settings,
        metrics: Metrics,
        tallies: Tallies | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._memory = memory
        self._settings = settings
        self._metrics = metrics
        self._tallies = tallies
        self._now = now
        self._waiting: deque[ShadowJob] = deque()
        self._running: dict[asyncio.Task[None], str] = {}  # tasks, with their tenant
        self.records = SightRecords()
        self._key = secrets.token_bytes(32)

    def follow(self, tenant: str, shadowed: ShadowRequest) -> None:
        """Queue this request for measurement, or drop it if there are too many. Returns at once."""
        self._waiting.append(ShadowJob(tenant, shadowed))
        while len(self._waiting) > 1 and self._too_many():
            self._waiting.popleft()
            self._metrics.shadowed("dropped")
        self._begin()

    def forget(self, tenant: str) -> None:
        """Drop everything of a tenant, so that it does not come back after a deletion."""
        self._waiting = deque(job for job in self._waiting if job.tenant != tenant)
        for task in [task for task, whose in self._running.items() if whose == tenant]:
            task.cancel()
        self.records.forget(tenant)

    async def settle(self) -> None:
        """Wait until no job waits or runs."""
        while self._running:
            await asyncio.wait(self._running)
            await asyncio.sleep(0)  # finished jobs are removed, and the next one starts

    async def close(self) -> None:
        """Cancel waiting and running jobs."""
        self._waiting.clear()
        running = list(self._running)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    def _too_many(self) -> bool:
        return len(self._waiting) > WAITING or sum(j.size for j in self._waiting) > WAITING_BYTES

    def _begin(self) -> None:
        while self._waiting and len(self._running) < AT_ONCE:
            job = self._waiting.popleft()
            task = asyncio.create_task(self._run(job))
            self._running[task] = job.tenant
            task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        del self._running[task]
        self._begin()

    async def _run(self, job: ShadowJob) -> None:
        outcome, result = "failed", None
        try:
            async with asyncio.timeout(PATIENCE):
                outcome, result = await self._measured(job)
        except BadRequest:
            outcome = "invalid"
        except ContextOverflow:
            outcome = "overflow"
        except TimeoutError:
            outcome = "late"
        except Exception as error:  # noqa: BLE001  a loop of the process: the next one goes on
            log.failure("shadow.failed", error)
        self._metrics.shadowed(outcome, result)
        if result is not None:
            await self._tally(job.tenant, result.amounts())

    async def _measured(self, job: ShadowJob) -> tuple[str, ShadowResult | None]:
        ask = await json_body.off_loop(
            job.size, lambda: job.shadowed.ask(job.tenant, self._settings)
        )
        posted = await self._memory.read(ask)
        if self.records.has(posted.addresses[-1]):  # a client repeats its request
            return "again", None
        scores = await self._used(posted)
        answer = await self._memory.compress(ask)
        raw, sent = answer.raw_tokens, answer.sent_tokens
        if not answer.changed:
            return "whole", ShadowResult(raw, sent, False, scores)
        kept, seen = await self._judged(ask, answer)
        self.records.keep(posted.tenant, posted.addresses[-1], seen)
        return "folded", ShadowResult(raw, sent, True, scores | kept)

    async def _used(self, posted: History) -> dict[str, Score]:
        """Return what the answer to an earlier request of this conversation, which is posted now,
        used."""
        answer, before = self.records.before(posted)
        if before is None:
            return {}
        return await asyncio.to_thread(usage.used, posted, answer, before, self._key)

    async def _judged(
        self, ask: CompressRequest, answer: Answer
    ) -> tuple[dict[str, Score], SightRecord]:
        posted, frontier, nodes = await self._memory.outline(ask)
        cut = probes.cut_of(posted, answer.recent_tokens)
        sent = openai_chat.messages(answer.items, ask.messages)
        return await asyncio.to_thread(judged, posted, frontier, nodes, cut, sent, self._key)

    async def _tally(self, tenant: str, amounts: Mapping[str, int]) -> None:
        if self._tallies is None:
            return
        try:
            await self._tallies.add(tenant, day_of(self._now()), amounts)
        except MemTreeError as error:
            log.event("shadow.not_tallied", code=error.code)


class SightRecords:
    """Records of what was visible in recent requests, by their address; oldest first out."""

    def __init__(self, most: int = RECORD_BYTES) -> None:
        self._most = most
        self._size = 0
        self.kept: OrderedDict[bytes, tuple[str, SightRecord]] = OrderedDict()

    def has(self, address: bytes) -> bool:
        return address in self.kept

    def keep(self, tenant: str, address: bytes, seen: SightRecord) -> None:
        self._take(address)
        self.kept[address] = (tenant, seen)
        self._size += _size(seen)
        while self._size > self._most:
            self._take(next(iter(self.kept)))

    def before(self, posted: History) -> tuple[int, SightRecord | None]:
        """Return the newest request that this one continues, with its number of messages; each is
        returned once, so that no answer counts twice."""
        for length in range(len(posted) - 1, 0, -1):
            if (seen := self._take(posted.addresses[length])) is not None:
                return length, seen
        return 0, None

    def forget(self, tenant: str) -> None:
        for address in [at for at, (whose, _) in self.kept.items() if whose == tenant]:
            self._take(address)

    def _take(self, address: bytes) -> SightRecord | None:
        _, seen = self.kept.pop(address, ("", None))
        if seen is not None:
            self._size -= _size(seen)
        return seen


def judged(
    posted: History,
    frontier: Frontier,
    nodes: Mapping[bytes, Node],
    cut: int,
    sent: Sequence[bytes],
    key: bytes,
) -> tuple[dict[str, Score], SightRecord]:
    """Return the scores of the probes of a folded history, and the record of what is visible to the
    model. `sent`: raw messages."""
    visible = probes.visible(sent)
    questions = probes.probes(posted, frontier, nodes, cut)
    return probes.survival(questions, visible), usage.seen(cut, visible, key)


def _size(seen: SightRecord) -> int:
    return len(seen.hashes) + 300  # plus its entry in the dict
