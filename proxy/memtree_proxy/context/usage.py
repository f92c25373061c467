"""Serve `GET /usage`: the calling tenant's requests, tokens, savings and latencies by day."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from datetime import tzinfo
from typing import Annotated, Any

import msgspec
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from memtree.context.context_memory import ContextMemory
from memtree.days import DAY, date_of, day_of
from memtree.ports.queues import Pending
from memtree.ports.request_log import LOG_DAYS, RequestLog
from memtree.ports.store import TALLY_DAYS
from memtree_proxy.access.auth import Gate
from memtree_proxy.context.local_days import day_shifts, local_day, moved
from memtree_proxy.context.time_zones import IN_UTC, time_zone
from memtree_proxy.http.decoding import OrNull, Posted, queried
from memtree_proxy.observability.usage_tallies import (
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
from memtree_proxy.wire.routes import route

DEFAULT_DAYS = 30
MILLION = 1_000_000


class UsageQuery(Posted, frozen=True):
    days: OrNull[Annotated[int, Meta(ge=1, le=TALLY_DAYS)]] = DEFAULT_DAYS
    timezone: str | None = None


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
        shown = usage_json(counts, first, last, pending, zone.name)
        return Response(msgspec.json.encode(shown), media_type="application/json")

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


def usage_json(
    counts: UsageCounts, first: int, last: int, pending: Pending, timezone: str = IN_UTC.name
) -> dict[str, Any]:
    """Return the usage of the days `first` to `last` (days since 1970, inclusive). Totals are the
    sums of the answer's days, so a page that shows both never contradicts itself."""
    days = range(first, last + 1)
    daily = [_of_day(day, counts.daily.get(day, {})) for day in days]
    by_state: dict[str, int] = {}
    for day_counts in daily:
        for state, count in day_counts["requests"].items():
            by_state[state] = by_state.get(state, 0) + count
    return {
        "period": {
            "first": _date(first),
            "last": _date(last),
            "days": len(days),
            "timezone": timezone,
        },
        "requests": {"total": sum(by_state.values()), "by_state": dict(sorted(by_state.items()))},
        "raw_tokens": sum(day_counts["raw_tokens"] for day_counts in daily),
        "sent_tokens": sum(day_counts["sent_tokens"] for day_counts in daily),
        "saved_tokens": sum(day_counts["saved_tokens"] for day_counts in daily),
        "saved_money": _money(counts.sums),
        "pending": {"tokens": pending.tokens, "jobs": pending.jobs},
        "latency_ms": _latency(counts.sums),
        "daily": daily,
    }


def _of_day(day: int, amounts: Mapping[str, int]) -> dict[str, Any]:
    states = {name.removeprefix(STATE): n for name, n in amounts.items() if name.startswith(STATE)}
    return {
        "date": _date(day),
        "requests": dict(sorted(states.items())),
        "raw_tokens": amounts.get(RAW, 0),
        "sent_tokens": amounts.get(SENT, 0),
        "saved_tokens": round(amounts.get(SAVED, 0) / MILLI),
    }


def _money(sums: Mapping[str, int]) -> dict[str, Any] | None:
    if not (requests := sums.get(PRICED, 0)):
        return None
    return {"amount": sums.get(MICROS, 0) / MILLION, "requests": requests}


def _latency(sums: Mapping[str, int]) -> dict[str, float | None]:
    counts = {float(n.removeprefix(LATENCY)): c for n, c in sums.items() if n.startswith(LATENCY)}
    return {"p50": percentile(counts, 0.5), "p95": percentile(counts, 0.95)}


def _date(day: int) -> str:
    return date_of(day).isoformat()
