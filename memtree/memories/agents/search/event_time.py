"""When what a memory tells of happens: as it was said, or as a field of its data says.

>>> when(None, {"title": "Dentist", "startsAt": "2026-03-07T10:30:00Z"})
1772879400.0
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memtree.errors import BadRequest
from memtree.memories.fields.times import LONGEST_TEXT, timestamp

# Names of fields in lower case without signs, the most telling first. What says when a row was
# made, changed or ends (`createdAt`, `expiresAt`) says nothing of what happens.
FIELDS = (
    "when", "date", "datetime", "time", "at", "on", "day",
    "eventdate", "eventtime", "eventat", "happenedat", "happened", "occurredat", "occurred",
    "start", "starts", "startdate", "starttime", "startsat", "startat", "begin", "begins",
    "beginsat", "from", "scheduledat", "scheduledfor", "scheduled", "appointment", "due",
    "duedate", "dueat", "deadline", "remindat", "reminder", "departure", "arrival", "timestamp",
    "birthday", "birthdate", "dateofbirth", "anniversary",
)  # fmt: skip
MOST_FIELDS = 200  # of one object that are looked at
LONGEST_NAME = 40


def when(happened: float | None, data: Mapping[str, Any] | None) -> float | None:
    """Unix seconds; None where neither says. Only ISO 8601 in fields of `data` itself counts."""
    if happened is not None or data is None:
        return happened
    times: dict[str, float] = {}
    for _, (name, value) in zip(range(MOST_FIELDS), data.items(), strict=False):
        plain = _plain(name)
        if plain in FIELDS and plain not in times and (time := _time(value)) is not None:
            times[plain] = time
    return next((times[name] for name in FIELDS if name in times), None)


def _plain(name: str) -> str:
    return "".join(filter(str.isalnum, name[:LONGEST_NAME].lower()))


def _time(value: object) -> float | None:
    if not isinstance(value, str) or len(value) > LONGEST_TEXT:
        return None
    try:
        return timestamp(value, "when")
    except BadRequest:
        return None
