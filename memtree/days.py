"""Days as tallies, recipes and limits count them: since 1970, UTC."""

from __future__ import annotations

DAY = 86_400  # seconds


def day_of(now: float) -> int:
    """Days since 1970, UTC, at that time (unix seconds).

    >>> day_of(86_399.9), day_of(86_400.0)
    (0, 1)
    """
    return int(now // DAY)
