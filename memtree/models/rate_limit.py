"""Rate limits of a server, and backoff: when the next call may begin.

Limits on requests and tokens per minute; the waits that the server demands (`Retry-After`);
exponential backoff after failures. All calls that share a key share one `RateLimit`. Times are
monotonic seconds given by the caller; only `chat_endpoint.py` waits.

    limit = RateLimit(requests=60, tokens=90_000)
    limit.wait(now, size=2_000)              # 0.0: begin now
    ticket = limit.begin(now, size=2_000)
    limit.end(ticket, used=1_400)            # the actual tokens

After a refusal no call begins until the wait is over. Then a single call is made, and the others
follow once it has succeeded.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

MINUTE = 60.0
# seconds to wait after refusals without `Retry-After`; doubled each time
FIRST_REST, LONGEST_REST = 1.0, 60.0
FAILURES = 3  # in a row; then the server counts as down
FIRST_DOWN, LONGEST_DOWN = 30.0, 600.0  # seconds between two attempts at one that is down
LONGEST_RETRY_AFTER = 86_400.0  # seconds; a longer wait means that the server refuses for today


@dataclass(slots=True, eq=False)
class RateTicket:
    """One call: when it began, its tokens (first estimated, then actual), and True if it is the
    single call after a refusal."""

    begun: float
    size: int
    alone: bool = False
    ended: bool = False


class RateLimit:
    """`requests`, `tokens`: at most so many in any minute; 0: no limit."""

    def __init__(self, requests: int = 0, tokens: int = 0) -> None:
        self._requests, self._tokens = requests, tokens
        self._minute: deque[RateTicket] = deque()
        self._until = 0.0
        self._rests = self._failures = 0  # in a row
        self._careful = False
        self._alone: RateTicket | None = None

    def wait(self, now: float, size: int) -> float:
        """Return the seconds until a call of `size` tokens may begin (0: now); `inf`: until a
        running one has ended."""
        if self._alone is not None:
            return math.inf
        return max(0.0, self._until - now, self._room(now, size))

    def rest(self, now: float) -> float:
        """Return the remaining seconds of backoff, regardless of the limits per minute."""
        return max(0.0, self._until - now)

    @property
    def down(self) -> bool:
        """Return True if several calls in a row have failed."""
        return self._failures >= FAILURES

    def begin(self, now: float, size: int) -> RateTicket:
        """Count a call of `size` tokens that begins now."""
        ticket = RateTicket(now, size, self._careful)
        if self._careful:
            self._alone = ticket
        self._minute.append(ticket)
        return ticket

    def end(self, ticket: RateTicket, used: int | None = None) -> None:
        """End a call, so that others may begin. `used`: its actual tokens; None if unknown.
        Repeating the call for the same ticket does nothing."""
        if ticket.ended:
            return
        ticket.ended = True
        if used is not None:
            ticket.size = used
        if self._alone is ticket:
            self._alone = None

    def worked(self) -> None:
        """Record that a call was answered: backoff ends."""
        self._careful = False
        self._rests = self._failures = 0

    def slowed(self, now: float, retry_after: float = 0.0) -> None:
        """Record that the server is busy, or limits us. `retry_after`: the seconds that it
        named."""
        if now >= self._until:  # concurrent refusals of several calls count once
            self._rests += 1
        self._rest(now, retry_after or _doubled(FIRST_REST, self._rests - 1, LONGEST_REST))

    def failed(self, now: float, retry_after: float = 0.0) -> None:
        """Record another failure; after some failures in a row the server counts as down."""
        if now >= self._until:
            self._failures += 1
        own = _doubled(FIRST_REST, self._failures - 1, LONGEST_REST)
        if self.down:
            own = _doubled(FIRST_DOWN, self._failures - FAILURES, LONGEST_DOWN)
        self._rest(now, max(own, retry_after))

    def _rest(self, now: float, seconds: float) -> None:
        self._careful = True
        self._until = max(self._until, now + min(seconds, LONGEST_RETRY_AFTER))

    def _room(self, now: float, size: int) -> float:
        """Return the seconds until the last minute has room for one more call."""
        while self._minute and self._minute[0].begun <= now - MINUTE:
            self._minute.popleft()
        calls, used = len(self._minute), sum(call.size for call in self._minute)
        wait = 0.0
        for call in self._minute:
            fits = not self._tokens or used + size <= self._tokens
            if fits and (not self._requests or calls < self._requests):
                return wait
            calls, used = calls - 1, used - call.size
            wait = call.begun + MINUTE - now
        return wait  # a call larger than the limit runs alone


def _doubled(first: float, times: int, most: float) -> float:
    return min(most, first * 2.0 ** min(max(times, 0), 20))
