"""Port for the time, so that the core takes it as an argument."""

from __future__ import annotations

from typing import Protocol


class Clock(Protocol):
    def now(self) -> float:
        """Return unix seconds."""
        ...

    def monotonic(self) -> float: ...
