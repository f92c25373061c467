"""When the next call to a server may begin: limits per minute, rests that it asked for, and rests
of one that is down.

All calls that share a key share one `RateLimit`. Times are monotonic seconds given by the caller;
only `summariser.py` waits.

    pace = Pace(requests=60, tokens=90_000)
    pace.wait(now, size=2_000)              # 0.0: begin now
    ticket = pace.begin(now, size=2_000)
    pace.end(ticket, used=1_400)            # what it was in truth

After a refusal nobody begins until the rest is over; then one call finds out alone how things are,
and the others follow when it has worked.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

MINUTE = 60.0
FIRST_REST, LONGEST_REST = 1.0, 60.0  # seconds after refusals that name none; doubled each time
FAILURES = 3  # in a row, then it is taken to be down
FIRST_DOWN, LONGEST_DOWN = 30.0, 600.0  # seconds between two attempts at one that is down
LONGEST_TOLD = 86_400.0  # a server that says more means: not today


@dataclass(slots=True, eq=False)
class RateTicket:
    """One call: when it began, its tokens (first estimated, then known), whether it is alone."""

    begun: float
    size: int
    alone: bool = False
    ended: bool = False


class RateLimit:
    """`requests`, `tokens`: at most so many in any minute; 0: any number."""

    def __init__(self, requests: int = 0, tokens: int = 0) -> None:
        self._requests, self._tokens = requests, tokens
        self._minute: deque[RateTicket] = deque()
        self._until = 0.0
        self._rests = self._failures = 0  # in a row
        self._careful = False
        self._alone: RateTicket | None = None

    def wait(self, now: float, size: int) -> float:
        """Seconds until a call of `size` tokens may begin (0: now); `inf`: until one has ended."""
        if self._alone is not None:
            return math.inf
        return max(0.0, self._until - now, self._room(now, size))

    def rest(self, now: float) -> float:
        """Seconds for which the server is to be left alone, limits aside."""
        return max(0.0, self._until - now)

    @property
    def down(self) -> bool:
        return self._failures >= FAILURES

    def begin(self, now: float, size: int) -> RateTicket:
        ticket = RateTicket(now, size, self._careful)
        if self._careful:
            self._alone = ticket
        self._minute.append(ticket)
        return ticket

    def end(self, ticket: RateTicket, used: int | None = None) -> None:
        """`used`: its tokens in truth; None: not known. A second time it does nothing."""
        if ticket.ended:
            return
        ticket.ended = True
        if used is not None:
            ticket.size = used
        if self._alone is ticket:
            self._alone = None

    def worked(self) -> None:
        self._careful = False
        self._rests = self._failures = 0

    def slowed(self, now: float, told: float = 0.0) -> None:
        """The server is busy, or limits us. `told`: the seconds that it named."""
        if now >= self._until:  # several calls of one moment are one refusal
            self._rests += 1
        self._rest(now, told or _doubled(FIRST_REST, self._rests - 1, LONGEST_REST))

    def failed(self, now: float, told: float = 0.0) -> None:
        """It failed in another way; after some failures in a row it is down."""
        if now >= self._until:
            self._failures += 1
        own = _doubled(FIRST_REST, self._failures - 1, LONGEST_REST)
        if self.down:
            own = _doubled(FIRST_DOWN, self._failures - FAILURES, LONGEST_DOWN)
        self._rest(now, max(own, told))

    def _rest(self, now: float, seconds: float) -> None:
        self._careful = True
        self._until = max(self._until, now + min(seconds, LONGEST_TOLD))

    def _room(self, now: float, size: int) -> float:
        """Seconds until the last minute has room for one more call."""
        while self._minute and self._minute[0].begun <= now - MINUTE:
            self._minute.popleft()
        calls, used = len(self._minute), sum(one.size for one in self._minute)
        wait = 0.0
        for one in self._minute:
            fits = not self._tokens or used + size <= self._tokens
            if fits and (not self._requests or calls < self._requests):
                return wait
            calls, used = calls - 1, used - one.size
            wait = one.begun + MINUTE - now
        return wait  # one that is larger than the limit goes alone


def _doubled(first: float, times: int, most: float) -> float:
    return min(most, first * 2.0 ** min(max(times, 0), 20))
