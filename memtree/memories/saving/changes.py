"""Waiting for a scope to change, in this process or by another one.

Writes of this process wake whoever waits; those of others are found by asking the store, once a
second and scope however many wait.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from memtree.memories.ports import MemoryStore, ScopeState
from memtree.memories.scope import Scope
from memtree.ports.clock import Clock

POLL_SECONDS = 1.0


@dataclass(slots=True)
class ScopeWaiters:
    """`polled`: monotonic seconds of the last look at the store, whose answer was `state`; `wakes`:
    changes of this process so far, any of which makes that answer old."""

    count: int = 0
    wakes: int = 0
    woken: asyncio.Event = field(default_factory=asyncio.Event)
    asking: asyncio.Lock = field(default_factory=asyncio.Lock)
    polled: float = float("-inf")
    state: ScopeState = field(default_factory=ScopeState)


class ScopeWatch:
    def __init__(self, store: MemoryStore, clock: Clock, poll: float = POLL_SECONDS) -> None:
        self._store, self._clock, self._poll = store, clock, poll
        self._waiters: dict[Scope, ScopeWaiters] = {}

    @property
    def watched(self) -> int:
        """Scopes that somebody waits for."""
        return len(self._waiters)

    def wake(self, scope: Scope) -> None:
        """This process changed something."""
        waiters = self._waiters.get(scope)
        if waiters is not None:
            waiters.wakes += 1
            waiters.polled = float("-inf")
            waiters.woken.set()
            waiters.woken = asyncio.Event()

    async def changed(self, scope: Scope, after: int, timeout: float) -> ScopeState:
        """The scope's state as soon as its counter is above `after`, or after `timeout` seconds.
        Raises what the store does."""
        ends = self._clock.monotonic() + timeout
        waiters = self._waiters.setdefault(scope, ScopeWaiters())
        waiters.count += 1
        try:
            while True:
                woken = waiters.woken  # taken before the look: what comes after it wakes us
                state = await self._state(scope, waiters)
                left = ends - self._clock.monotonic()
                if state.changed > after or left <= 0:
                    return state
                try:
                    async with asyncio.timeout(min(left, self._poll)):
                        await woken.wait()
                except TimeoutError:
                    pass
        finally:
            waiters.count -= 1
            if not waiters.count:
                del self._waiters[scope]

    async def _state(self, scope: Scope, waiters: ScopeWaiters) -> ScopeState:
        async with waiters.asking:
            # A little less than the pause: timers may come early.
            if self._clock.monotonic() - waiters.polled >= self._poll * 0.9:
                now, wakes = self._clock.monotonic(), waiters.wakes
                waiters.state = await self._store.state(scope)
                waiters.polled = now if wakes == waiters.wakes else float("-inf")
            return waiters.state
