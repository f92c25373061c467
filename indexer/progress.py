"""How far indexing is behind and what it has done, in numbers: what metrics are made of.

A queue tells its `Backlog`, wherever it keeps its jobs; whoever works counts in a `StageTotals`.
What this file does not do: know Prometheus (`proxy.index_metrics`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

from indexer.jobs import Job


@dataclass(frozen=True, slots=True)
class Backlog:
    """What waits in one stage, of all tenants. `oldest`: seconds since the first submission of the
    job that waits longest, 0 where none does."""

    jobs: int = 0
    tokens: int = 0
    oldest: float = 0.0


class PendingQueue(Protocol):
    """A queue that tells what waits in it."""

    async def backlog(self) -> Backlog:
        """Raises `Unavailable` where nobody knows at the moment."""
        ...


@dataclass(slots=True)
class StageTotals:
    """What this process has done of one stage: tokens that are indexed, seconds of work, batches
    by outcome (`done`, or the code of the error)."""

    tokens: int = 0
    seconds: float = 0.0
    batches: Counter[str] = field(default_factory=Counter)

    def add(self, tokens: int, seconds: float) -> None:
        self.tokens += tokens
        self.seconds += seconds
        self.batches["done"] += 1

    def fail(self, code: str) -> None:
        self.batches[code] += 1


def waiting(jobs: Iterable[Job[Any]], now: float) -> Backlog:
    """Of jobs in memory; `now`: monotonic seconds, as in `Job.since`."""
    held = [one for one in jobs if one.work]
    oldest = min((one.since for one in held), default=now)
    return Backlog(len(held), sum(one.tokens for one in held), max(0.0, now - oldest))
