"""Serve `GET /usage`: the calling tenant's requests, tokens, savings and latencies by day."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import tzinfo
from typing import Annotated

from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from memtree.context.context_memory import ContextMemory
from memtree.days import DAY, date_of, day_of
from memtree.ports.queues import Pending
from memtree.ports.request_log import LOG_DAYS, RequestLog
from memtree.ports.store import TALLY_DAYS
from memtree_proxy.api.local_days import day_shifts, local_day, moved
from memtree_proxy.api.time_zones import IN_UTC, time_zone
from memtree_proxy.http.access_auth import Gate
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
from memtree_proxy.wire.answers import answer
from memtree_proxy.wire.routes import route
from memtree_proxy.wire.values import Answer, Count

DEFAULT_DAYS = 30
MILLION = 1_000_000


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
    return UsageReport(
        period=Period(first=_date(first), last=_date(last), days=len(days), timezone=timezone),
        requests=RequestCounts(total=by_state.total(), by_state=dict(sorted(by_state.items()))),
        raw_tokens=sum(day.raw_tokens for day in daily),
        sent_tokens=sum(day.sent_tokens for day in daily),
        saved_tokens=sum(day.saved_tokens for day in daily),
        saved_money=_money(counts.sums),
        pending=PendingWork(tokens=pending.tokens, jobs=pending.jobs),
        latency_ms=_latency(counts.sums),
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


def _money(sums: Mapping[str, int]) -> Money | None:
    if not (requests := sums.get(PRICED, 0)):
        return None
    return Money(amount=sums.get(MICROS, 0) / MILLION, requests=requests)


def _latency(sums: Mapping[str, int]) -> Latency:
    counts = {float(n.removeprefix(LATENCY)): c for n, c in sums.items() if n.startswith(LATENCY)}
    return Latency(p50=percentile(counts, 0.5), p95=percentile(counts, 0.95))


def _date(day: int) -> str:
    return date_of(day).isoformat()
