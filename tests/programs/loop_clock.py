"""The clock of the running event loop, in the hand of a test."""

from __future__ import annotations

import asyncio


class LoopClock:
    """The clock of the running loop, which a test moves on: whatever else the machine does, no
    timer of many seconds comes early or late."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        real, self._ahead = loop.time, 0.0
        loop.time = lambda: real() + self._ahead  # type: ignore[method-assign]

    async def passes(self, seconds: float) -> None:
        self._ahead += seconds
        await settled()


async def settled() -> None:
    """Let everything run that waits for nothing but its turn."""
    for _ in range(20):
        await asyncio.sleep(0)
