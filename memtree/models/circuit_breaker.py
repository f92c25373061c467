"""When those who wait may ask a server that has failed: not while it said so, and not once it is
taken to be down. Then a probe finds out whether it works again, so that nobody waits for that.

Times are monotonic seconds, given by the caller.
"""

from __future__ import annotations

FAILURES = 3  # in a row, then it is taken to be down
REST = 10.0  # seconds between two probes
LONGEST_TOLD = 3_600.0  # seconds; what a server says beyond that is taken to be a mistake


class CircuitBreaker:
    def __init__(self, failures: int = FAILURES, rest: float = REST) -> None:
        self._limit, self._rest = failures, rest
        self._failures = 0
        self._next = 0.0
        self._told = 0.0

    def admits(self, now: float) -> bool:
        """Whether to ask now."""
        return now >= self._told and self._failures < self._limit

    def due(self, now: float, *, never: bool = False) -> bool:
        """Whether to probe now; true once in `rest` seconds. `never`: it has never been met, so
        one failure is enough."""
        down = never or self._failures >= self._limit
        if not down or now < max(self._told, self._next):
            return False
        self._next = now + self._rest
        return True

    def told_to_wait(self, now: float) -> float:
        """Seconds for which the server itself does not want to be asked."""
        return max(0.0, self._told - now)

    def failed(self, now: float, wait: float = 0.0, *, slow: bool = False) -> None:
        """`wait`: the seconds that the server named. `slow`: somebody waited in vain, which is
        dear enough to happen once."""
        self._failures = self._limit if slow else self._failures + 1
        self._next = now + self._rest
        self._told = max(self._told, now + min(wait, LONGEST_TOLD))

    def alive(self) -> None:
        """Patient work was answered. Whether that is quick enough for others, a probe may find out
        at once: a busy server answers batches while every query comes too late."""
        self._next = 0.0

    def worked(self) -> None:
        self._failures = 0
