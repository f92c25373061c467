"""A circuit breaker: after some failures no request is sent to a server, and none while the server
asked for that (`Retry-After`). A probe finds out whether it works again, so no request has to wait.

Times are monotonic seconds, given by the caller.
"""

from __future__ import annotations

FAILURES = 3  # in a row, then the circuit is open
REST = 10.0  # seconds between two probes
LONGEST_RETRY_AFTER = 3_600.0  # seconds; a server that asks for more is taken to be mistaken


class CircuitBreaker:
    """Circuit breaker of one server. `failures`: how many in a row open it; `rest`: seconds between
    probes."""

    def __init__(self, failures: int = FAILURES, rest: float = REST) -> None:
        self._limit, self._rest = failures, rest
        self._failures = 0
        self._next_probe = 0.0
        self._retry_at = 0.0  # before that the server does not want to be asked

    def admits(self, now: float) -> bool:
        """Return True if the server may be asked now."""
        return now >= self._retry_at and self._failures < self._limit

    def due(self, now: float, *, never: bool = False) -> bool:
        """Return True if it is time to probe; once in `rest` seconds. `never`: the server has never
        answered, so it counts as down."""
        down = never or self._failures >= self._limit
        if not down or now < max(self._retry_at, self._next_probe):
            return False
        self._next_probe = now + self._rest
        return True

    def retry_after(self, now: float) -> float:
        """Seconds for which the server itself does not want to be asked."""
        return max(0.0, self._retry_at - now)

    def failed(self, now: float, wait: float = 0.0, *, slow: bool = False) -> None:
        """`wait`: the seconds that the server named. `slow`: a request timed out; one of these is
        enough to open the circuit."""
        self._failures = self._limit if slow else self._failures + 1
        self._next_probe = now + self._rest
        self._retry_at = max(self._retry_at, now + min(wait, LONGEST_RETRY_AFTER))

    def alive(self) -> None:
        """Background work was answered. A probe may find out at once whether queries are answered
        in time, too: a busy server answers batches while every query times out."""
        self._next_probe = 0.0

    def worked(self) -> None:
        """A request was answered in time: the circuit is closed."""
        self._failures = 0
