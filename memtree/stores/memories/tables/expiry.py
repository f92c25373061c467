"""A memory's expiry, enforced: reads, counts and searches leave out what has expired at `:now`.

A memory without an expiry has 0. Expired memories are erased later (`erasing.py`); until then only
these conditions hide them.
"""

from __future__ import annotations

NOT_EXPIRED = "(expires = 0 OR expires > :now)"
LIVE = f"counted = 1 AND {NOT_EXPIRED}"
EXPIRED = "counted = 1 AND expires > 0 AND expires <= :now"


def has_expired(expires: float, now: float) -> bool:
    """Return True for a row that `NOT_EXPIRED` would leave out."""
    return 0 < expires <= now
