"""From a proxy to Redis: submitted jobs go into memory at once, and from there to Redis when
possible.

The event loop never waits: compression and communication with Redis happen in a thread. While Redis
is down the newest job of each conversation waits here, within the limits of in-process queues, and
is sent when Redis is back; so are deletions, before any job.

Jobs that were sent and are not known to be finished are remembered: names and numbers, no text.
Redis may lose its data, and then nobody works on those jobs any more. So that they count as pending
until their history is posted again, `SentJob` tells a lost job from a finished one. Both are
missing in Redis, but:

- `memtree:life` is a random name that Redis has for as long as it keeps its data. Another name than
  when the job was sent, or none: everything from then is lost.
- `memtree:clock` only grows. A job with a later version than that is lost too: Redis came back with
  older data.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from redis.exceptions import RedisError

from memtree.clock import Clock
from memtree.jobs.job_queue import Job, Jobs
from memtree.jobs.summary_queue import GATHER
from memtree.tree.summary_batches import CALL_TOKENS
from memtree_indexer.ledger import EMBED, STAGES, AddedJob, JobEntry, JobLedger, NewJob
from memtree_indexer.payloads import SHORT, job_id, pack, payload_of, tenant_name
from memtree_indexer.redis_connection import RedisConnection, blocking

MAX_WORK = 100_000  # leaves or nodes of all jobs, some 150 bytes each


@dataclass(frozen=True, slots=True)
class SentJob:
    """`id`, `life`, `version`: what Redis assigned to it; `start`, `end`: addresses; `work`: the
    tokens of each leaf or node by its id."""

    id: str
    life: bytes
    version: int
    start: bytes
    end: bytes
    work: Mapping[bytes, int]

    def is_lost(self, life: bytes, clock: int) -> bool:
        """Return True if Redis, which does not have the job, lost it, judging by the life and clock
        that Redis has now."""
        return self.life != life or self.version > clock


class SentJobs:
    """Jobs of one stage, by tenant and the address where they start. Bounded; oldest first out."""

    def __init__(self, max_work: int = MAX_WORK) -> None:
        self._max_work = max_work
        self._jobs: OrderedDict[tuple[str, bytes], SentJob] = OrderedDict()

    def add(self, job: Job[Any], id_: str, life: bytes, version: int) -> None:
        """Add a job in the place of those that began in the same history."""
        addresses = set(job.history.addresses)
        for old in self.of(job.tenant):
            if old.start in addresses:
                self.drop(job.tenant, old)
        work = {each.id: each.tokens for each in job.work.values()}
        end = job.history.addresses[-1]
        self._jobs[job.name] = SentJob(id_, life, version, job.start, end, work)
        while sum(len(sent.work) for sent in self._jobs.values()) > self._max_work:
            self._jobs.popitem(last=False)

    def of(self, tenant: str) -> Sequence[SentJob]:
        return [sent for (whose, _), sent in self._jobs.items() if whose == tenant]

    def drop(self, tenant: str, sent: SentJob) -> None:
        """Drop a job, unless a newer one has replaced it meanwhile."""
        if self._jobs.get((tenant, sent.start)) is sent:
            del self._jobs[tenant, sent.start]

    def forget(self, tenant: str, addresses: Collection[bytes] | None) -> None:
        """Forget the jobs of histories that end at one of these addresses, or all jobs of the
        tenant."""
        for sent in self.of(tenant):
            if addresses is None or sent.end in addresses:
                self.drop(tenant, sent)


# ---------------------------------------------------------------- the outbox

log = logging.getLogger("memtree.queue")

AGAIN = 0.5  # seconds between two attempts while Redis is down
# Multiple of a command's time limit: a deletion waits so long for the number of removed jobs.
ANSWER = 1.5
# tenants; if more deletions wait, the oldest is dropped and its payloads expire by themselves
MAX_FORGETS = 1_000

Addresses = frozenset[bytes] | None


class Outbox:
    """Jobs and deletions on their way to Redis. Call `start()` and `close()` in a running event
    loop."""

    def __init__(
        self, url: str, link: RedisConnection, clock: Clock, *, parts: int, gather: float = GATHER
    ):
        """`parts`: nodes of a full call for summaries; fewer nodes wait `gather` seconds."""
        self.jobs: dict[str, Jobs[Any]] = {stage: Jobs() for stage in STAGES}
        self.sent_jobs = {stage: SentJobs() for stage in STAGES}
        self._link, self._clock = link, clock
        self._parts, self._gather = parts, gather
        self._client = blocking(url)
        self._ledger = JobLedger(self._client)
        self._forgets: OrderedDict[tuple[str, str], tuple[Addresses, asyncio.Future[set[str]]]] = (
            OrderedDict()
        )
        self._wake, self._empty = asyncio.Event(), asyncio.Event()
        self._empty.set()
        self._task: asyncio.Task[None] | None = None

    def put(self, stage: str, job: Job[Any]) -> None:
        job.since, job.submitted = self._clock.now(), self._clock.monotonic()
        self.jobs[stage].add(job)
        self._awake()

    async def forget(self, stage: str, tenant: str, addresses: Collection[bytes] | None) -> int:
        """Forget jobs, as `IndexQueue.forget` says."""
        before = self.jobs[stage].of(tenant)
        self.jobs[stage].forget(tenant, addresses)
        self.sent_jobs[stage].forget(tenant, addresses)
        gone = {job_id(tenant, stage, job.start) for job in before if job not in self.jobs[stage]}
        gone_jobs = self._to_forget(
            (stage, tenant), None if addresses is None else frozenset(addresses)
        )
        self._awake()
        with contextlib.suppress(TimeoutError):
            patience = ANSWER * self._link.seconds if self._link.up else 0.0
            gone |= await asyncio.wait_for(asyncio.shield(gone_jobs), patience)
        return len(gone)

    async def sent(self) -> None:
        """Wait until everything here is sent."""
        await self._empty.wait()

    def start(self) -> None:
        self._task = asyncio.create_task(self._run(), name="outbox")

    async def close(self, patience: float = 5.0) -> None:
        """Send what can be sent within `patience` seconds; other jobs stay owed until their history
        is posted again."""
        if (task := self._task) is not None:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.sent(), patience)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            if left := sum(len(jobs) for jobs in self.jobs.values()):
                log.info("queue.stopped jobs_left=%d", left)
            self._task = None
        await asyncio.to_thread(self._client.close)

    # ----------------------------------------------------------------------------------------

    def _awake(self) -> None:
        self._empty.clear()
        self._wake.set()

    def _to_forget(self, whose: tuple[str, str], addresses: Addresses) -> asyncio.Future[set[str]]:
        before = self._forgets.pop(whose, None)
        gone_jobs = before[1] if before else asyncio.get_running_loop().create_future()
        if before and addresses is not None:
            addresses = None if before[0] is None else before[0] | addresses
        self._forgets[whose] = (addresses, gone_jobs)
        while len(self._forgets) > MAX_FORGETS:
            _, (_, dropped) = self._forgets.popitem(last=False)
            if not dropped.done():
                dropped.set_result(set())
            log.warning("queue.forget_dropped")
        return gone_jobs

    async def _run(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            while (pause := await self._step()) is not None:  # noqa: ASYNC110  it is Redis's turn
                await asyncio.sleep(pause)
            self._empty.set()

    async def _step(self) -> float | None:
        """Send one item; returns the seconds before the next, None if there is none."""
        try:
            if self._forgets:
                await self._forget_first()
            elif not await self._send_first():
                return None
        except (RedisError, OSError) as error:
            self._link.lost(error)
            # Those who wait for a number, which is not available now, go on; the deletions are
            # still to be sent.
            for _, gone_jobs in self._forgets.values():
                if not gone_jobs.done():
                    gone_jobs.set_result(set())
            return AGAIN
        except Exception:
            log.exception("queue.outbox_failed")
            return AGAIN
        self._link.answered()
        return 0.0

    async def _forget_first(self) -> None:
        whose, what = next(iter(self._forgets.items()))
        names = None if what[0] is None else [address.hex() for address in what[0]]
        gone = await asyncio.to_thread(self._ledger.forget, whose[0], tenant_name(whose[1]), names)
        if self._forgets.get(whose) == what:  # further deletions may have come meanwhile
            del self._forgets[whose]
            if not what[1].done():
                what[1].set_result(gone)

    async def _send_first(self) -> bool:
        """Send the job that has waited longest; returns False if there is none."""
        for stage, jobs in self.jobs.items():
            job = next(jobs.due(0.0), None)
            if job is None:
                continue
            try:
                added = await asyncio.to_thread(self._send, stage, job)
            except (RedisError, OSError):
                jobs.move_to_end(job)  # a job that Redis refuses must not block the others
                raise
            except Exception:
                log.exception("queue.job_not_sent")
                jobs.give_up(job)
                return True
            self.sent_jobs[stage].add(job, added.id, added.life, added.version)
            jobs.drop(job)  # unless a newer one has replaced it meanwhile
            return True
        return False

    def _send(self, stage: str, job: Job[Any]) -> AddedJob:
        """Send a job, in a thread."""
        work = list(job.work.values())
        payload = payload_of(job.history, job.start, work)
        ids = [each.id for each in work]
        entry = JobEntry(
            start=job.start.hex(),
            end=job.history.addresses[-1].hex(),
            tokens=job.tokens,
            count=len(ids),
            first=ids[0][:SHORT].hex(),
            last=ids[-1][:SHORT].hex(),
            backfill=job.backfill,
            since=job.since,
        )
        new = NewJob(
            stage,
            tenant_name(job.tenant),
            job_id(job.tenant, stage, job.start),
            entry,
            frozenset(address.hex() for address in job.history.addresses),
            ids,
            pack(payload),
            age=self._clock.monotonic() - job.submitted,
        )
        full = len(job.work) >= self._parts or job.tokens >= CALL_TOKENS
        wait = 0.0 if stage == EMBED or full else self._gather
        return self._ledger.add(new, self._clock.now(), wait)
