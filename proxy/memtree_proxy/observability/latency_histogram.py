"""Histograms of milliseconds, which can be summed over days and processes, and their percentiles.

>>> percentile({bucket(30.0): 3, bucket(500.0): 1}, 0.5)
29.0
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping

# Milliseconds. Each is some 1.4 times the one before, so a percentile is off by a sixth at most.
# Memory takes from a third of a millisecond to five minutes.
BOUNDS = (
    0.25, 0.35, 0.5, 0.7, 1, 1.4, 2, 2.8, 4, 5.6, 8, 11, 16, 23, 32, 45, 64, 90, 128, 180, 256, 360,
    512, 720, 1_024, 1_440, 2_048, 2_900, 4_096, 5_800, 8_192, 11_600, 16_384, 32_768, 65_536,
    131_072, 262_144, 524_288,
)  # fmt: skip


def bucket(ms: float) -> float:
    """Return the upper bound of the bucket for `ms`, which names it."""
    return BOUNDS[min(bisect_left(BOUNDS, ms), len(BOUNDS) - 1)]


def percentile(counts: Mapping[float, int], share: float) -> float | None:
    """Return the milliseconds below which this share of all values lies, assuming even distribution
    within a bucket; None if nothing was counted. `counts`: by bound."""
    total = sum(counts.values())
    if total <= 0:
        return None
    left, lower = share * total, 0.0
    for bound in BOUNDS:
        here = counts.get(bound, 0)
        if here and left <= here:
            return round(lower + (bound - lower) * max(0.0, left) / here, 1)
        left, lower = left - here, bound
    return BOUNDS[-1]
