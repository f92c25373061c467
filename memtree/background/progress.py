"""Progress of indexing in numbers, for metrics: its backlog and the work done.

Every queue has a `Backlog`, wherever it keeps its jobs; workers count in a `StageTotals`.
Prometheus is left to `proxy/memtree_proxy/observability/index_metrics.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

from memtree.background.jobs import Job


@dataclass(frozen=True, slots=True)
class Backlog:
    """Waiting work of all tenants in one stage. `oldest`: seconds since the first submission of the
    oldest waiting job, 0 if none waits."""

    jobs: int = 0
    tokens: int = 0
    oldest: float = 0.0


class PendingQueue(Protocol):
    """A queue that reports its backlog."""

    async def backlog(self) -> Backlog:
        """Return the backlog. Raises `Unavailable` if it cannot be read at the moment."""
        ...


@dataclass(slots=True)
class StageTotals:
    """Work that this process has done in one stage: tokens indexed, seconds of work, batches by
    outcome (`done`, or the code of the error)."""

    tokens: int = 0
    seconds: float = 0.0
    batches: Counter[str] = field(default_factory=Counter)

    def add(self, tokens: int, seconds: float) -> None:
        """Count a finished batch."""
        self.tokens += tokens
        self.seconds += seconds
        self.batches["done"] += 1

    def fail(self, code: str) -> None:
        """Count a failed batch, by the code of its error."""
        self.batches[code] += 1


def waiting(jobs: Iterable[Job[Any]], now: float) -> Backlog:
    """Sum up jobs in memory; `now`: monotonic seconds, as in `Job.since`."""
    pending = [job for job in jobs if job.work]
    oldest = min((job.since for job in pending), default=now)
    return Backlog(len(pending), sum(job.tokens for job in pending), max(0.0, now - oldest))
