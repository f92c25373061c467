"""Bound the bytes of all request bodies that this process has in work, as sent and unpacked.

A few kilobytes may unpack to the largest body that is allowed, and a dozen of those would fill the
memory. So a body takes its bytes from a budget before they are in memory, and waits while others
have it. It gives them back when its request ends, or when the upstream has answered.

Bodies of up to `FREE` bytes are not counted: small chats never wait for large bodies. Of the
counted bytes a tenant with several bodies may have `SHARE`, so that others find room. A body that
is half received and finds no room may go on if no other one does: bodies that all wait for the rest
of each other would never end.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import ClassVar

import msgspec
from starlette.types import Scope

from memtree.errors import RateLimited
from memtree.process import threads

FREE = 1 << 20  # bytes; a history of 250,000 tokens
SHARE = 0.75  # of one tenant, as in the queues
WAIT_SECONDS = 30.0
WAIT_AGAIN_SECONDS = 10.0


class BodyBudget:
    """`most`: bytes of all counted bodies together; twice the largest body that is allowed lets one
    of any size in while others are in work. `wait`: seconds that a body waits for room."""

    def __init__(self, most: int, wait: float = WAIT_SECONDS) -> None:
        self._most, self._wait = most, wait
        self.used = 0
        self.tenants: Counter[str] = Counter()
        self._waiting: dict[asyncio.Future[None], tuple[BodyHold, int]] = {}  # the oldest first
        self._ahead: BodyHold | None = None  # may exceed the budget

    async def take(self, hold: BodyHold, size: int) -> None:
        """Add bytes to a hold. Raises `RateLimited` if there is no room for them in time."""
        if self._lets(hold, size):
            self._add(hold, size)
        else:
            await self._turn(hold, size)

    def give(self, hold: BodyHold, size: int) -> None:
        """Take bytes from a hold, and let waiting bodies use them."""
        self._add(hold, -size)
        if self._ahead is hold:  # it was received: what it keeps may stay for a whole stream
            self._ahead = None
        for turn, (waiting, wanted) in list(self._waiting.items()):
            if not turn.done() and self._lets(waiting, wanted):
                self._add(waiting, wanted)
                turn.set_result(None)

    def _lets(self, hold: BodyHold, size: int) -> bool:
        """Return True if a hold may have more bytes now. One that has some may exceed the budget if
        no other one does."""
        others = self.tenants[hold.tenant] - hold.size
        alone = not others or others + hold.size + size <= self._most * SHARE
        fits = alone and self.used + size <= self._most
        if not fits and hold.size and self._ahead is None and self.used <= self._most:
            self._ahead = hold
        return fits or self._ahead is hold

    def move(self, hold: BodyHold, tenant: str) -> None:
        """Count a hold to a tenant."""
        self._add(hold, -(size := hold.size))
        hold.tenant = tenant
        self._add(hold, size)

    async def _turn(self, hold: BodyHold, size: int) -> None:
        turn = asyncio.get_running_loop().create_future()
        self._waiting[turn] = (hold, size)
        try:
            async with asyncio.timeout(self._wait):
                await turn
        except TimeoutError as error:
            raise RateLimited(
                "Other large bodies are in work, and there is no room for this one; post it again.",
                retry_after=WAIT_AGAIN_SECONDS,
            ) from error
        finally:
            del self._waiting[turn]

    def _add(self, hold: BodyHold, size: int) -> None:
        self.used += size
        hold.size += size
        self.tenants[hold.tenant] += size
        if not self.tenants[hold.tenant]:
            del self.tenants[hold.tenant]


class BodyHold(msgspec.Struct, eq=False):  # one a request, made without a call of ours
    """The bytes of one request in a budget. It stands in the scope of the request."""

    KEY: ClassVar[str] = "memtree.body_hold"
    budget: BodyBudget
    size: int = 0
    tenant: str = ""

    def drop_to(self, size: int) -> None:
        """Give back all bytes but so many."""
        if self.size > size:
            self.budget.give(self, self.size - size)


async def reach(scope: Scope, size: int) -> None:
    """Take what the request lacks of `size` bytes, before they are in memory. Raises
    `RateLimited`."""
    hold: BodyHold | None = scope.get(BodyHold.KEY)
    if hold is not None and size > max(FREE, hold.size):
        belongs_to(scope, threads.OWNER.get())
        await hold.budget.take(hold, size - hold.size)


def belongs_to(scope: Scope, tenant: str) -> None:
    """Count the bytes of a request to its tenant, which may be known only after they are read."""
    hold: BodyHold | None = scope.get(BodyHold.KEY)
    if hold is not None and not hold.tenant:
        hold.budget.move(hold, tenant)


def drop_to(scope: Scope, size: int) -> None:
    """Give back what the request holds above `size` bytes."""
    hold: BodyHold | None = scope.get(BodyHold.KEY)
    if hold is not None:
        hold.drop_to(size)
