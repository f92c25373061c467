"""A memory's expiry, enforced: reads, counts and searches leave out what has expired at `:now`.

A memory without an expiry has 0. What expired is erased only later (`erasing.py`), so that until
then these conditions alone hide it.
"""

from __future__ import annotations

NOT_EXPIRED = "(expires = 0 OR expires > :now)"
LIVE = f"counted = 1 AND {NOT_EXPIRED}"
EXPIRED = "counted = 1 AND expires > 0 AND expires <= :now"


def has_expired(expires: float, now: float) -> bool:
    """Return what `NOT_EXPIRED` denies, of a row that was read."""
    return 0 < expires <= now
