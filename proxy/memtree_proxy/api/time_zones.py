"""Parse time zones of requests: names of the IANA database, or offsets from UTC."""

from __future__ import annotations

import re
from datetime import UTC, timedelta, timezone, tzinfo
from typing import NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from memtree.errors import BadRequest

_OFFSET = re.compile(r"([+-])(\d\d):?([0-5]\d)")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(?:/[A-Za-z0-9_+-]+){0,2}")
LONGEST = 64  # characters in a name
FARTHEST = timedelta(hours=14)


class NamedZone(NamedTuple):
    name: str
    zone: tzinfo


IN_UTC = NamedZone("UTC", UTC)


def time_zone(named: str | None, param: str) -> NamedZone:
    """Return the named zone. Raises `BadRequest` if this machine does not know it.

    >>> time_zone("+05:30", "timezone").name
    '+05:30'
    """
    if named is None or named == IN_UTC.name:
        return IN_UTC
    # An unencoded plus sign in a query arrives as a space.
    text = "+" + named[1:] if named.startswith(" ") else named
    if match := _OFFSET.fullmatch(text):
        east = timedelta(hours=int(match[2]), minutes=int(match[3]))
        if east <= FARTHEST:
            return NamedZone(text, timezone(-east if match[1] == "-" else east))
    elif len(text) <= LONGEST and _NAME.fullmatch(text):
        try:
            return NamedZone(text, ZoneInfo(text))
        except (ZoneInfoNotFoundError, ValueError, OSError):
            pass
    raise BadRequest(
        f'{param} must be a time zone such as "Europe/Berlin", if this machine knows it, or an '
        'offset from UTC such as "+02:00"',
        param=param,
    )
