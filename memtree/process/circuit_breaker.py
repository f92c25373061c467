"""Circuit breaker: calls to a server or a store that does not answer fail at once, and probes find
out when it works again."""

from __future__ import annotations

FAILURES = 3  # in a row; then the circuit opens
REST = 10.0  # seconds between two probes
LONGEST_RETRY_AFTER = 3_600.0  # seconds; a longer wait is considered a mistake of the server
SHORT_WAIT = 0.2  # seconds; a failed call that took less has held up nobody
STORE_REST = (
    1.0  # seconds between two probes of a store: an outage ends for its users so much later
)


class CircuitBreaker:
    """After some failures no request is sent to a server, nor while the server asked for a pause
    (`Retry-After`). A probe finds out whether it works again: a request of our own, or, for a
    store, one call in `rest` seconds that waits a short time only. All others fail at once. Times
    are monotonic seconds, given by the caller. `failures`: how many in a row open the circuit.
    `reason`: why the circuit of a store is open; empty while it is not."""

    def __init__(self, failures: int = FAILURES, rest: float = REST) -> None:
        self._limit, self._rest = failures, rest
        self._failures = 0
        self._next_probe = 0.0
        self._retry_at = 0.0  # the server asked for no requests before this time
        self._worked = 0.0
        self.reason = ""

    @classmethod
    def of_store(cls) -> CircuitBreaker:
        """Return the circuit of a store, which one call that waited in vain opens."""
        return cls(1, STORE_REST)

    def admits(self, now: float) -> bool:
        """Return True if requests may be sent now."""
        return now >= self._retry_at and self._failures < self._limit

    def due(self, now: float, *, never: bool = False) -> bool:
        """Return True if it is time to probe, which happens once in `rest` seconds. `never`: the
        server has never answered, so it counts as down."""
        down = never or self._failures >= self._limit
        if not down or now < max(self._retry_at, self._next_probe):
            return False
        self._next_probe = now + self._rest
        return True

    def retry_after(self, now: float) -> float:
        """Return the seconds for which the server itself asked for no requests."""
        return max(0.0, self._retry_at - now)

    def failed(self, now: float, wait: float = 0.0, *, slow: bool = False) -> None:
        """Record a failure. `wait`: the seconds that the server named. `slow`: a request timed out;
        one such failure opens the circuit."""
        self._failures = self._limit if slow else self._failures + 1
        self._next_probe = now + self._rest
        self._retry_at = max(self._retry_at, now + min(wait, LONGEST_RETRY_AFTER))

    def waited(self, began: float, now: float, reason: str) -> None:
        """Record that a call failed which began at `began`. The circuit opens if the call took
        long, unless another one worked meanwhile: then it met a lock of its own rows."""
        if now - began >= SHORT_WAIT and self._worked < began:
            self.reason = reason
            self.failed(now, slow=True)

    def alive(self) -> None:
        """Record that background work was answered. A probe may then be made at once, to find out
        if queries are answered in time, too: a busy server answers batches while every query times
        out."""
        self._next_probe = 0.0

    def worked(self, now: float = 0.0) -> None:
        """Record that a request was answered in time: the circuit closes."""
        self._failures = 0
        self._worked, self.reason = now, ""
