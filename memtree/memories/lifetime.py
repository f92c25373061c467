"""How long a memory of an agent is kept: `ttl` or `expiresAt`, of the memory or of the request.

>>> lifetime({"ttl": "1h"}, now=1_700_000_000.0)
1700003600.0
>>> lifetime({"expiresAt": 1_735_689_600_000}, now=1_700_000_000.0, place="memories[0].")
1735689600.0
>>> lifetime({}, now=1_700_000_000.0, otherwise=1_700_086_400.0)
1700086400.0
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from memtree.errors import BadRequest
from memtree.memories.times import ttl_seconds

TTL, EXPIRES_AT = "ttl", "expiresAt"
LEAST_MS = 100_000_000_000  # below, it is a time in seconds: in milliseconds it lies before 1974
MOST_MS = 253_402_300_799_999  # the end of the year 9999
_TTL = re.compile(r"[0-9]{1,10}[smhdw]")


def lifetime(
    given: Mapping[str, Any], now: float, *, otherwise: float | None = None, place: str = ""
) -> float | None:
    """When it ends, unix seconds; None: never. `given`: the fields of a memory or of a request.
    `otherwise`: what holds where it says nothing, as the request for its memories. Null says
    nothing. `place`: what stands before the names of the fields in errors.

    Raises `BadRequest` naming the field, also where both are given."""
    ttl, at = given.get(TTL), given.get(EXPIRES_AT)
    if ttl is not None and at is not None:
        raise BadRequest(f"{place}ttl and {place}expiresAt exclude each other", param=place + TTL)
    if ttl is not None:
        return now + _duration(ttl, place + TTL)
    return otherwise if at is None else expiry(at, now, place + EXPIRES_AT)


def expiry(value: object, now: float, name: str = EXPIRES_AT) -> float:
    """Unix seconds of a time in milliseconds that is still to come. Raises `BadRequest`."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        raise BadRequest(f"{name} must be a number of milliseconds since 1970", param=name)
    if value < LEAST_MS:
        raise BadRequest(
            f"{name} must be in milliseconds since 1970; this looks like seconds", param=name
        )
    if value > MOST_MS:
        raise BadRequest(f"{name} must lie before the year 10000, in milliseconds", param=name)
    if value / 1_000 <= now:
        raise BadRequest(f"{name} must lie in the future", param=name)
    return value / 1_000


def milliseconds(seconds: float) -> int:
    """A time as answers give it. What was given in whole milliseconds comes out as it was.

    >>> milliseconds(1_735_689_600.001)
    1735689600001
    """
    return round(seconds * 1_000)


def _duration(value: object, name: str) -> float:
    # Stricter than elsewhere: the clients of this form know no other.
    if not isinstance(value, str) or not _TTL.fullmatch(value):
        raise BadRequest(
            f'{name} must be a whole number and one of s, m, h, d, w, as "24h"', param=name
        )
    return ttl_seconds(value, name)
