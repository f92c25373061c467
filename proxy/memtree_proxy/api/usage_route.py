"""Serves `GET /usage`: the calling tenant's requests, tokens, savings and latencies by day.

Days are those of a time zone: a name of the IANA database, or an offset from UTC. Counts are kept
by UTC day, and converted with the log of requests:

    UTC    |----- 21st -----|----- 22nd -----|
    +02:00   |----- 21st -----|----- 22nd ---    requests from 22:00 to midnight move a day on

Only requests between the two midnights change their day, and the log holds them for `LOG_DAYS`
days. Older requests stay on their UTC day, so none is lost or counted twice. Converting does no
I/O.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Annotated, NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from memtree.clock import DAY, date_of, day_of
from memtree.context.context_memory import ContextMemory
from memtree.errors import BadRequest
from memtree.ports.context_store import TALLY_DAYS
from memtree.ports.indexing_stages import Pending
from memtree.ports.request_log import LOG_DAYS, RequestLog, StateSums
from memtree_proxy.http.auth import Gate
from memtree_proxy.http.decoding import OrNull, Posted, queried
from memtree_proxy.http.usage_tallies import (
    LATENCY,
    MICROS,
    MILLI,
    PRICED,
    RAW,
    SAVED,
    SENT,
    STATE,
    UsageCounts,
    UsageTallies,
    percentile,
)
from memtree_proxy.wire.routes import answer, route
from memtree_proxy.wire.values import Answer, Count

_OFFSET = re.compile(r"([+-])(\d\d):?([0-5]\d)")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(?:/[A-Za-z0-9_+-]+){0,2}")
LONGEST = 64  # characters in a name
FARTHEST = timedelta(hours=14)
DEFAULT_DAYS = 30
MILLION = 1_000_000
_1970 = date_of(0).toordinal()


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


class DayShift(NamedTuple):
    """Requests to move: those from `since` to `until` (unix seconds) are counted on the UTC day
    `away`, and belong to the zone's day `to`."""

    since: float
    until: float
    away: int
    to: int


def local_day(now: float, zone: tzinfo) -> int:
    """Return the zone's current day, in days since 1970."""
    return datetime.fromtimestamp(now, zone).toordinal() - _1970


def day_shifts(first: int, last: int, zone: tzinfo) -> list[DayShift]:
    """Return the shifts that turn the UTC days `first` to `last`, inclusive, into days of the zone.

    >>> from datetime import timedelta, timezone
    >>> day_shifts(1, 1, timezone(timedelta(hours=2)))[0]
    DayShift(since=79200.0, until=86400.0, away=0, to=1)
    """
    shifts = []
    for day in range(first, last + 2):
        begins = datetime.combine(date_of(day), datetime.min.time(), zone).timestamp()
        midnight = float(day * DAY)
        if begins < midnight:
            shifts.append(DayShift(begins, midnight, day - 1, day))
        elif begins > midnight:
            shifts.append(DayShift(midnight, begins, day, day - 1))
    return shifts


def moved(
    daily: Mapping[int, Mapping[str, int]],
    shifts: Sequence[tuple[DayShift, Sequence[StateSums]]],
) -> dict[int, dict[str, int]]:
    """Return the counts by day after moving the requests that the log holds for each shift."""
    days = {day: dict(amounts) for day, amounts in daily.items()}
    for shift, of_shift in shifts:
        for sums in of_shift:
            for name, amount in _amounts(sums).items():
                for day, sign in ((shift.away, -1), (shift.to, 1)):
                    amounts = days.setdefault(day, {})
                    amounts[name] = amounts.get(name, 0) + sign * amount
    # Negative counts are dropped, except savings: a killed server may have logged requests that it
    # never counted.
    return {
        day: {name: n for name, n in amounts.items() if n > 0 or (n and name == SAVED)}
        for day, amounts in days.items()
    }


def _amounts(sums: StateSums) -> dict[str, int]:
    return {
        STATE + sums.state: sums.requests,
        RAW: sums.posted_tokens,
        SENT: sums.sent_tokens,
        SAVED: sums.saved_tokens * MILLI,
    }


class UsageQuery(Posted, frozen=True):
    days: OrNull[Annotated[int, Meta(ge=1, le=TALLY_DAYS)]] = DEFAULT_DAYS
    timezone: str | None = None


class Period(Answer, frozen=True, kw_only=True):
    """Days of a time zone, both included."""

    first: str
    last: str
    days: Count
    timezone: str


class RequestCounts(Answer, frozen=True, kw_only=True):
    total: Count
    by_state: dict[str, Count]


class Money(Answer, frozen=True, kw_only=True):
    """`requests`: those whose model had a price."""

    amount: float
    requests: Count


class PendingWork(Answer, frozen=True, kw_only=True):
    tokens: Count
    jobs: Count


class Latency(Answer, frozen=True, kw_only=True):
    """The time that memory added to a request, in milliseconds."""

    p50: float | None
    p95: float | None


class DayUsage(Answer, frozen=True, kw_only=True):
    date: str
    requests: dict[str, Count]
    raw_tokens: Count
    sent_tokens: Count
    saved_tokens: int


class UsageReport(Answer, frozen=True, kw_only=True):
    period: Period
    requests: RequestCounts
    raw_tokens: Count
    sent_tokens: Count
    saved_tokens: int
    saved_money: Money | None
    pending: PendingWork
    latency_ms: Latency
    daily: list[DayUsage]


class UsageRoute:
    def __init__(
        self,
        tallies: UsageTallies,
        memory: ContextMemory,
        gate: Gate,
        log: RequestLog | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        """Count by days of any time zone if there is a `log` of requests, else by days in UTC."""
        self._tallies, self._memory, self._gate, self._now = tallies, memory, gate, now
        self._log = log

    @route("GET /usage", UsageQuery)
    async def usage(self, request: Request) -> Response:
        tenant = await self._gate.tenant(request, counted=False)
        query = queried(UsageQuery, request.query_params)
        named = time_zone(query.timezone, "timezone")
        zone = named if self._log is not None else IN_UTC
        last = local_day(self._now(), zone.zone)
        first = last + 1 - query.days
        counts = await self._counts(tenant.id, first, last, zone.zone)
        pending = await self._memory.pending(tenant.id)
        return answer(usage_report(counts, first, last, pending, zone.name))

    async def _counts(self, tenant: str, first: int, last: int, zone: tzinfo) -> UsageCounts:
        """Return the counts by day of the zone. Sums without days cover the same dates in UTC,
        which may begin later."""
        now = self._now()
        oldest = (day_of(now) - LOG_DAYS) * DAY
        shifts = [each for each in day_shifts(first, last, zone) if oldest <= each.until]
        shifts = [each for each in shifts if each.since <= now]
        if self._log is None or not shifts:
            return await self._tallies.read(tenant, first, last)
        today = day_of(now)
        sums = await self._tallies.read(tenant, min(first, today), min(last, today))
        daily = (await self._tallies.read(tenant, first - 1, last + 1)).daily
        spans = await self._log.span_sums(tenant, [each[:2] for each in shifts])
        return UsageCounts(moved(daily, list(zip(shifts, spans, strict=True))), sums.sums)


def usage_report(
    counts: UsageCounts, first: int, last: int, pending: Pending, timezone: str = IN_UTC.name
) -> UsageReport:
    """Return the usage of the days `first` to `last` (days since 1970, inclusive). Totals are the
    sums of the answer's days, so a page that shows both never contradicts itself."""
    days = range(first, last + 1)
    daily = [_of_day(day, counts.daily.get(day, {})) for day in days]
    by_state: Counter[str] = Counter()
    for day in daily:
        by_state.update(day.requests)
    sums = counts.sums
    priced = sums.get(PRICED, 0)
    waited = {float(n.removeprefix(LATENCY)): c for n, c in sums.items() if n.startswith(LATENCY)}
    return UsageReport(
        period=Period(first=_date(first), last=_date(last), days=len(days), timezone=timezone),
        requests=RequestCounts(total=by_state.total(), by_state=dict(sorted(by_state.items()))),
        raw_tokens=sum(day.raw_tokens for day in daily),
        sent_tokens=sum(day.sent_tokens for day in daily),
        saved_tokens=sum(day.saved_tokens for day in daily),
        saved_money=(
            Money(amount=sums.get(MICROS, 0) / MILLION, requests=priced) if priced else None
        ),
        pending=PendingWork(tokens=pending.tokens, jobs=pending.jobs),
        latency_ms=Latency(p50=percentile(waited, 0.5), p95=percentile(waited, 0.95)),
        daily=daily,
    )


def _of_day(day: int, amounts: Mapping[str, int]) -> DayUsage:
    states = {name.removeprefix(STATE): n for name, n in amounts.items() if name.startswith(STATE)}
    return DayUsage(
        date=_date(day),
        requests=dict(sorted(states.items())),
        raw_tokens=amounts.get(RAW, 0),
        sent_tokens=amounts.get(SENT, 0),
        saved_tokens=round(amounts.get(SAVED, 0) / MILLI),
    )


def _date(day: int) -> str:
    return date_of(day).isoformat()
