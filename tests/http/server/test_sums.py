"""Random requests, and every surface that adds them up: all must say the sum of the rows."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime, timedelta
from datetime import time as clock
from itertools import count
from typing import Any, NamedTuple

import httpx
import pytest
from hypothesis import Phase, event, given, settings
from hypothesis import strategies as st

from memtree.context.context_memory import ContextMemory
from memtree.jobs.embedding import NoQueue
from memtree.jobs.growing import StageOne
from memtree.jobs.runtime import SystemClock
from memtree.ports.request_log import ALL
from memtree.stores import RamStore
from memtree_proxy.api.usage_route import time_zone
from memtree_proxy.cli.request_log_command import read_log
from memtree_proxy.http import request_trace
from tests.http.pages.test_usage import metrics
from tests.http.served.fakes import FakeKeys, client_of, services
from tests.http.served.running import PATIENCE, running
from tests.http.served.upstream import JSON, reply
from tests.programs.sessions import chat

HOUR, DAY = 3_600, 86_400
TALKS = [chat(200, seed=seed, words=110) for seed in range(3)]
LENGTHS = (3, 91, 111)  # messages of the first request: the first talk is not folded
ZONES = ("Europe/Berlin", "America/Los_Angeles", "Asia/Kathmandu", "+14:00", "-11:30")
PRICES = {"gpt-5": 2.5, "own": 0.0}
USAGES: list[dict[str, Any] | None] = [
    None,
    {"prompt_tokens": 5_000, "completion_tokens": 3},
    {"prompt_tokens": 6_000, "completion_tokens": 9, "prompt_tokens_details": {"cached_tokens": 0}},
    {"prompt_tokens": 4_000, "prompt_tokens_details": {"cached_tokens": 3_500}},
]


class Step(NamedTuple):
    """One request. `gap`: seconds since the one before; `more`: messages that its conversation has
    grown by, twice."""

    tenant: str
    talk: int
    model: str
    route: str
    usage: int
    status: int
    gap: int
    more: int


STEPS = st.lists(
    st.builds(
        Step,
        tenant=st.sampled_from("AB"),
        talk=st.integers(0, len(TALKS) - 1),
        model=st.sampled_from(["gpt-5", "own", "unpriced"]),
        route=st.sampled_from(["chat", "chat", "context", "off", "explain"]),
        usage=st.integers(0, len(USAGES) - 1),
        status=st.sampled_from([200, 200, 200, 500]),
        gap=st.sampled_from([1, 400, 2 * HOUR, 11 * HOUR, 3 * DAY]),
        more=st.integers(0, 2),
    ),
    min_size=1,
    max_size=8,
)


class Provider:
    """Answers with the usage and the status that it is told."""

    usage: dict[str, Any] | None = None
    status = 200

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        while (await receive()).get("more_body"):
            pass
        told = {"choices": [{"message": {"role": "assistant", "content": "yes"}}]}
        if self.usage:
            told["usage"] = self.usage  # type: ignore[assignment]
        await reply(send, self.status, JSON, json.dumps(told).encode())


PROVIDER = Provider()


@pytest.fixture(scope="module")
def provider() -> Any:
    with running(PROVIDER) as address:
        yield address


class Asked:
    """An app over one store, asked by two tenants."""

    def __init__(self, store: RamStore, client: httpx.AsyncClient) -> None:
        self.store, self.client = store, client
        self.ids = count()
        self.lengths: dict[tuple[str, int], int] = {}
        self.rows: dict[str, int] = {"A": 0, "B": 0}
        self.told: list[tuple[str, bytes, int]] = []  # what `/context_memory` said was saved

    async def get(self, tenant: str, path: str, **query: Any) -> Any:
        headers = {"authorization": f"Bearer {tenant}"}
        answer = await self.client.get(path, params=query, headers=headers)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def step(self, step: Step, came: float, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(
            request_trace, "new_id", lambda: (came, f"{int(came * 1000):011x}{next(self.ids):05x}")
        )
        PROVIDER.usage, PROVIDER.status = USAGES[step.usage], step.status
        key = (step.tenant, step.talk)
        length = self.lengths.get(key, LENGTHS[step.talk] - 2 * step.more) + 2 * step.more
        self.lengths[key] = length
        body: dict[str, Any] = {"model": step.model, "messages": TALKS[step.talk][:length]}
        headers = {"authorization": f"Bearer {step.tenant}"}
        if step.route != "off":
            body["target_tokens"] = 6_000
        if step.route in ("chat", "off"):
            body["memory"] = step.route == "chat"
            await self.client.post("/v1/chat/completions", json=body, headers=headers)
        else:
            body["explain"] = step.route == "explain"
            answer = await self.client.post("/v1/context_memory", json=body, headers=headers)
            assert answer.status_code == 200, answer.text
            memory = answer.json()["memory"]
            self.told.append(
                (step.tenant, bytes.fromhex(memory["address"]), memory["saved_tokens"])
            )
        self.rows[step.tenant] += step.route != "explain"

    async def written(self, tenant: str) -> list[dict[str, Any]]:
        """All rows, as soon as they are there, in pages."""
        async with asyncio.timeout(PATIENCE):
            while True:
                rows: list[dict[str, Any]] = []
                query: dict[str, Any] = {"limit": 3}
                while query.get("cursor", "") is not None:
                    page = await self.get(tenant, "/v1/requests", **query)
                    rows += page["requests"]
                    query["cursor"] = page["next_cursor"]
                if len(rows) >= self.rows[tenant]:
                    assert len(rows) == self.rows[tenant]
                    return rows
                await asyncio.sleep(0.01)


@asynccontextmanager
async def opened(base: str) -> AsyncIterator[Asked]:
    store = RamStore()
    memory = ContextMemory(store, StageOne(child=False), NoQueue(), SystemClock())
    prices = tuple(f"{model}={price}" for model, price in PRICES.items())
    built = services(base + "/v1", memory, FakeKeys(A=["A"], B=["B"]), input_prices=prices,
                     metrics_key="M")  # fmt: skip
    built = dataclasses.replace(built, requests=store, tallies=store, log_pace=0.01)
    async with client_of(built, lives=True) as client:
        yield Asked(store, client)


def totals(rows: Iterable[dict[str, Any]]) -> dict[str, int]:
    listed = list(rows)
    sums = {
        name: sum(row[name] or 0 for row in listed)
        for name in ("posted_tokens", "sent_tokens", "saved_tokens")
    }
    folded = sum(
        row["epoch"] is not None or (row["sent_tokens"] or 0) < (row["posted_tokens"] or 0)
        for row in listed
    )
    return {"requests": len(listed), "folded": folded, **sums}


def with_memory(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those that count as usage."""
    return [row for row in rows if row["state"] not in (None, "off")]


def day_sums(rows: Iterable[dict[str, Any]]) -> dict[str, Any]:
    listed = list(rows)
    states = Counter(row["state"] for row in listed)
    sums = totals(listed)
    return {
        "requests": dict(sorted(states.items())), "raw_tokens": sums["posted_tokens"],
        "sent_tokens": sums["sent_tokens"], "saved_tokens": sums["saved_tokens"],
    }  # fmt: skip


def came(row: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(row["time"])


async def check_log(asked: Asked, tenant: str, rows: list[dict[str, Any]]) -> None:
    """The list: all of it, and what each filter lets through."""
    queries: list[dict[str, Any]] = [{}]
    queries += [{"state": state} for state in {row["state"] for row in rows} - {None}]
    queries += [{"since": row["time"]} for row in rows[:2]]
    queries += [{"until": row["time"]} for row in rows[:2]]
    for query in queries:
        page = await asked.get(tenant, "/v1/requests", limit=100, **query)
        assert page["totals"] == totals(page["requests"]), query
    assert (await asked.get(tenant, "/v1/requests"))["totals"] == totals(rows)


async def check_usage(asked: Asked, tenant: str, rows: list[dict[str, Any]]) -> None:
    """The days, their sum, and money."""
    used = with_memory(rows)
    usage = await asked.get(tenant, "/v1/usage", days=35)
    by_day: dict[date, list[dict[str, Any]]] = {}
    for row in used:
        by_day.setdefault(came(row).astimezone(UTC).date(), []).append(row)
    told = {each.pop("date"): each for each in usage["daily"]}
    for day, sums in told.items():
        assert sums == day_sums(by_day.get(date.fromisoformat(day), [])), day
    sums = day_sums(used)
    states = sums.pop("requests")
    assert usage["requests"] == {"total": len(used), "by_state": states}
    assert {name: usage[name] for name in sums} == sums
    priced = [row for row in used if row["model"] in PRICES]
    money = sum(round(row["saved_tokens"] * PRICES[row["model"]]) for row in priced) / 1e6
    expected = {"amount": money, "requests": len(priced)} if priced else None
    assert usage["saved_money"] == expected


async def check_days(asked: Asked, tenant: str, rows: list[dict[str, Any]], zone: str) -> None:
    """The days elsewhere: as the list of requests has them from midnight to midnight there."""
    usage = await asked.get(tenant, "/v1/usage", days=35, timezone=zone)
    assert usage["period"]["timezone"] == zone
    known = time_zone(zone, "").zone
    for each in usage["daily"]:
        day = date.fromisoformat(each.pop("date"))
        there = [row for row in rows if came(row).astimezone(known).date() == day]
        assert each == day_sums(with_memory(there)), day
        if there:
            begin, end = (
                datetime.combine(day + timedelta(days=more), clock(), known) for more in (0, 1)
            )
            span = {"since": begin.isoformat(), "until": end.isoformat()}
            page = await asked.get(tenant, "/v1/requests", **span)
            assert page["totals"] == totals(there)
            assert page["totals"]["saved_tokens"] == each["saved_tokens"]
    used = day_sums(with_memory(rows))
    assert usage["saved_tokens"] == used["saved_tokens"]
    assert usage["raw_tokens"] == used["raw_tokens"]


async def check_conversations(asked: Asked, tenant: str) -> None:
    page = await asked.get(tenant, "/v1/context_memory/conversations")
    for each in page["conversations"]:
        log = await asked.get(tenant, "/v1/requests", conversation=each["address"], limit=100)
        assert each["saved_tokens"] == log["totals"]["saved_tokens"]


async def check_all(asked: Asked) -> None:
    """The counters of the server, and the terminal."""
    shown = await read_log(asked.store, await asked.store.logged_tenants(), ALL, 100)
    rows = [each.row for each in shown.rows]
    assert len(rows) == shown.totals.requests == sum(asked.rows.values())
    assert shown.totals.saved_tokens == sum(row.saved_tokens for row in rows)
    assert shown.totals.posted_tokens == sum(max(0, row.posted_tokens) for row in rows)
    assert shown.totals.sent_tokens == sum(max(0, row.sent_tokens) for row in rows)
    asked.client.headers["authorization"] = "Bearer M"
    counted = await metrics(asked.client)
    folding = (counted[f"memtree_folding_{name}_tokens_total"] for name in ("saved", "lost"))
    assert next(folding) - next(folding) == shown.totals.saved_tokens
    for tenant, address, saved in asked.told:
        at = [row for row in rows if row.address == address and row.dialect == "context_memory"]
        known = {row.saved_before + row.saved_tokens for row in at} | {
            row.saved_before for row in rows if row.address == address
        }
        assert not at or saved in known, (tenant, saved)


# A step takes too long to shrink many.
@pytest.mark.slow
@settings(phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(steps=STEPS, zone=st.sampled_from(ZONES))
def test_every_surface_says_the_sum_of_the_rows(
    provider: str, steps: list[Step], zone: str
) -> None:
    asyncio.run(_check(provider, steps, zone))


async def _check(base: str, steps: list[Step], zone: str) -> None:
    at = time.time() - sum(step.gap for step in steps)
    with pytest.MonkeyPatch.context() as monkeypatch:
        async with opened(base) as asked:
            for step in steps:
                at += step.gap
                await asked.step(step, int(at * 1000) / 1000, monkeypatch)
            for tenant in "AB":
                rows = await asked.written(tenant)
                event(f"folded: {any(row['epoch'] for row in rows)}")
                await check_log(asked, tenant, rows)
                await check_usage(asked, tenant, rows)
                await check_days(asked, tenant, rows, zone)
                await check_conversations(asked, tenant)
            await check_all(asked)
