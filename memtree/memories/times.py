"""Times as callers write and read them: ISO 8601 in, unix seconds inside, UTC out.

>>> timestamp("2026-03-07T11:30:00+01:00", "expires_at") == timestamp(
...     "2026-03-07 10:30Z", "expires_at")
True
>>> shown(1772879400.25)
'2026-03-07T10:30:00.250Z'
>>> ttl_seconds("7d", "ttl")
604800.0
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache

from memtree.errors import BadRequest

LONGEST_TEXT = 40  # characters of a timestamp
LONGEST_TTL = 100 * 365 * 86_400.0  # seconds
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST, _LAST = -62_135_596_800, 253_402_300_799  # of the calendar: years 1 to 9999
_TIMESTAMP = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})"
    r"(?:[Tt ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]{1,9}))?)?"
    r" ?([Zz]|[+-][0-9]{2}(?::?[0-9]{2})?)?)?"
)
_TTL = re.compile(r"([0-9]{1,10}) ?([smhdw])", re.IGNORECASE)
_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


def timestamp(value: object, name: str) -> float | None:
    """Unix seconds of an ISO 8601 time; a date is its first instant, and what has no offset is
    UTC. None for None. Raises `BadRequest` naming the field."""
    if value is None:
        return None
    text = value.strip() if isinstance(value, str) and len(value) <= LONGEST_TEXT else ""
    match = _TIMESTAMP.fullmatch(text)
    if match is None:
        raise _not_a_time(name)
    year, month, day, hour, minute, second = (int(part or 0) for part in match.groups()[:6])
    try:
        when = datetime(year, month, day, hour, minute, second, tzinfo=_offset(match[8], name))
    except ValueError:
        raise _not_a_time(name) from None
    # An offset may lead out of the calendar, by hours.
    whole = max(_FIRST, min(_LAST, (when - _EPOCH).total_seconds()))
    return whole + float(f"0.{match[7] or 0}")


def future_timestamp(value: object, name: str, now: float) -> float | None:
    """Read a time as `timestamp` does; one that is not after `now` is refused: nobody saves what is
    gone already."""
    seconds = timestamp(value, name)
    if seconds is not None and seconds <= now:
        raise BadRequest(f"{name} must lie in the future", param=name)
    return seconds


def shown(seconds: float) -> str:
    """Write a time as answers give it: UTC, with milliseconds, rounded up."""
    microseconds = round(max(_FIRST, min(_LAST, seconds)) * 1_000_000)
    whole, part = divmod(-(-microseconds // 1_000), 1_000)
    return f"{_second(whole)}.{part:03}Z"


@lru_cache(maxsize=4_096)  # several times of a memory lie in one second
def _second(whole: int) -> str:
    return (_EPOCH + timedelta(seconds=whole)).replace(tzinfo=None).isoformat()


def ttl_seconds(text: object, name: str) -> float:
    """Seconds of a time to live: a whole number of s, m, h, d or w. Raises `BadRequest`."""
    match = _TTL.fullmatch(text) if isinstance(text, str) and len(text) <= LONGEST_TEXT else None
    seconds = float(int(match[1]) * _SECONDS[match[2].lower()]) if match else 0.0
    if not 0 < seconds <= LONGEST_TTL:
        raise BadRequest(
            f'{name} must be a number and one of s, m, h, d, w, as "24h", at most 100 years',
            param=name,
        )
    return seconds


def _offset(text: str | None, name: str) -> timezone:
    if text is None or text in "Zz":
        return UTC
    digits = text[1:].replace(":", "")
    hours, minutes = int(digits[:2]), int(digits[2:] or 0)
    if hours > 23 or minutes > 59:
        raise _not_a_time(name)
    east = timedelta(hours=hours, minutes=minutes)
    return timezone(-east if text[0] == "-" else east)


def _not_a_time(name: str) -> BadRequest:
    return BadRequest(
        f'{name} must be an ISO 8601 time such as "2026-03-07T10:30:00Z" or "2026-03-07"',
        param=name,
    )
