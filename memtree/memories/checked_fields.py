"""Check fields that a caller writes of a memory, and bring them into one form.

Texts that hold a secret are refused, not saved.

Tags are trimmed and in lower case, with hyphens for inner white space, none twice:

>>> canonical_tags([" Family  Trip ", "family-trip", "Köln"])
('family-trip', 'köln')

Times are ISO 8601 where callers write them, unix seconds inside, and UTC where they are answered:

>>> timestamp("2026-03-07T11:30:00+01:00", "expires_at") == timestamp(
...     "2026-03-07 10:30Z", "expires_at")
True
>>> shown(1772879400.25)
'2026-03-07T10:30:00.250Z'
>>> ttl_seconds("7d", "ttl")
604800.0

An agent says how long a memory is kept by `ttl` or `expiresAt`, of the memory or of the request:

>>> lifetime({"ttl": "1h"}, now=1_700_000_000.0)
1700003600.0
>>> lifetime({"expiresAt": 1_735_689_600_000}, now=1_700_000_000.0, place="memories[0].")
1735689600.0
>>> lifetime({}, now=1_700_000_000.0, otherwise=1_700_086_400.0)
1700086400.0
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache
from typing import Any

from memtree.errors import BadRequest, SecretRejected
from memtree.memories.memory import MAX_TAGS
from memtree.text import secrets
from memtree.text.normal_form import nfc

_KINDS = {
    "jwt": "a JSON web token",
    "private key": "a private key",
    "password": "a connection string with a password",
    "named": "a random token beside a word like key, secret or password",
}


def refuse_secrets(text: str) -> None:
    """Raise `SecretRejected` where `text` holds a secret: the error names the kind, never the
    value."""
    matches = secrets.find(text)
    if matches:
        kind = matches[0].kind
        what = _KINDS.get(kind, f"an API key ({kind})")
        raise SecretRejected(f"the text holds {what}; secrets are not saved")


MAX_TAG = 32  # characters
MAX_GIVEN = 1_000  # characters of a tag, white space included


def canonical_tags(values: object, name: str = "tags") -> tuple[str, ...]:
    """Return the tags in their form, in the order given; empty ones are left out. None: no tags.
    Raises `BadRequest` for what is no list of texts, for a tag over 32 characters, and for a list
    of more than 32."""
    if values is None:
        return ()
    if isinstance(values, str | bytes) or not isinstance(values, Sequence):
        raise BadRequest(f"{name} must be an array of strings", param=name)
    if len(values) > MAX_TAGS:
        raise BadRequest(f"{name} must hold at most {MAX_TAGS} tags", param=name)
    tags = dict.fromkeys(canonical_tag(value, f"{name}[{at}]") for at, value in enumerate(values))
    tags.pop("", None)
    return tuple(tags)


def canonical_tag(value: object, name: str) -> str:
    """Return one tag in its form, "" where nothing is left of it."""
    if not isinstance(value, str):
        raise BadRequest(f"{name} must be a string", param=name)
    folded = nfc(nfc(value[: MAX_GIVEN + 1]).lower())
    # White space first: a line break is a control character and a border of words as well.
    joined = "-".join(folded.split())
    # Control, bidi, surrogate and unassigned characters have no place in a line that is shown.
    plain = "".join(char for char in joined if not unicodedata.category(char).startswith("C"))
    tag = nfc(plain.strip("-"))
    if len(value) > MAX_GIVEN or len(tag) > MAX_TAG:
        raise BadRequest(f"{name} must have at most {MAX_TAG} characters", param=name)
    return tag


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
    """Return the unix seconds of an ISO 8601 time; a date is its first instant, and what has no
    offset is UTC. None for None. Raises `BadRequest` naming the field."""
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
    """Read a time as `timestamp` does, and refuse one that is not after `now`."""
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
    """Return the seconds of a time to live: a whole number of s, m, h, d or w. Raises
    `BadRequest`."""
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


TTL, EXPIRES_AT = "ttl", "expiresAt"
LEAST_MS = 100_000_000_000  # below, it is a time in seconds: in milliseconds it lies before 1974
MOST_MS = 253_402_300_799_999  # the end of the year 9999
_LIFETIME = re.compile(r"[0-9]{1,10}[smhdw]")


def lifetime(
    given: Mapping[str, Any], now: float, *, otherwise: float | None = None, place: str = ""
) -> float | None:
    """Return when a memory ends, in unix seconds, or None for never. `given`: the fields of a
    memory or of a request. `otherwise`: what holds where these say nothing, as a request's for its
    memories. Null says nothing. `place`: what stands before the names of the fields in errors.

    Raises `BadRequest` naming the field, also where both are given."""
    ttl, at = given.get(TTL), given.get(EXPIRES_AT)
    if ttl is not None and at is not None:
        raise BadRequest(f"{place}ttl and {place}expiresAt exclude each other", param=place + TTL)
    if ttl is not None:
        # Stricter than elsewhere: the clients of this form know no other.
        if not isinstance(ttl, str) or not _LIFETIME.fullmatch(ttl):
            raise BadRequest(
                f'{place}ttl must be a whole number and one of s, m, h, d, w, as "24h"',
                param=place + TTL,
            )
        return now + ttl_seconds(ttl, place + TTL)
    return otherwise if at is None else expiry(at, now, place + EXPIRES_AT)


def expiry(value: object, now: float, name: str = EXPIRES_AT) -> float:
    """Return the unix seconds of a time in milliseconds that is still to come. Raises
    `BadRequest`."""
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
    """Return a time as answers give it. What was given in whole milliseconds comes out as it was.

    >>> milliseconds(1_735_689_600.001)
    1735689600001
    """
    return round(seconds * 1_000)
