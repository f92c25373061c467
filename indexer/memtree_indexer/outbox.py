"""The jobs that this process sent to Redis and has not seen finished: names, numbers, no text.

Redis may lose its data, and then nobody works on those jobs any more. So that they count as pending
until their history is posted again, the sender remembers how to tell a lost job from a finished
one. Both are missing in Redis, but:

- `memtree:life` is a random name that Redis has for as long as it keeps its data. Another name than
  when the job was sent, or none: everything from then is lost.
- `memtree:clock` only grows. A job with a later version than that is lost too: Redis came back with
  older data.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memtree.background.jobs import Job

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
