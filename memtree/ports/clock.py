"""Time, as an argument."""

from __future__ import annotations

from typing import Protocol


class Clock(Protocol):
    def now(self) -> float:
        """Unix seconds."""
        ...

    def monotonic(self) -> float: ...
