"""When to ask a server that has failed: not while it said so, and rarely after several failures.

Times are monotonic seconds, given by the caller.
"""

from __future__ import annotations

FAILURES = 3  # in a row, then it is taken to be down
REST = 30.0  # seconds between two attempts at one that is down


class Breaker:
    def __init__(self, failures: int = FAILURES, rest: float = REST) -> None:
        self._limit, self._rest = failures, rest
        self._failures = 0
        self._next = 0.0
        self._told = 0.0

    def admits(self, now: float) -> bool:
        """Whether to ask now. Of one that is down, one caller in `rest` seconds finds out."""
        if now < self._told:
            return False
        if self._failures < self._limit:
            return True
        if now < self._next:
            return False
        self._next = now + self._rest
        return True

    def told_to_wait(self, now: float) -> float:
        """Seconds for which the server itself does not want to be asked."""
        return max(0.0, self._told - now)

    def failed(self, now: float, wait: float = 0.0) -> None:
        """`wait`: the seconds that the server named."""
        self._failures += 1
        self._next = now + self._rest
        self._told = max(self._told, now + wait)

    def worked(self) -> None:
        self._failures = 0
