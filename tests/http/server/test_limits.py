"""Requests in a minute and requests that wait at once, tenant by tenant."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.errors import RateLimited
from memtree.process.bounded import MAX_TENANTS
from memtree_proxy.http import rate_limits
from memtree_proxy.http.event_streams import EventStreams
from memtree_proxy.http.rate_limits import MINUTE, CostlyWork, RequestRates, WaitingRequests
from tests.http.served.fakes import FakeKeys, FakeMemory, edge, turn
from tests.http.served.running import waited_for
from tests.http.served.upstream import FakeUpstream


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def taken(rates: RequestRates, tenant: str, count: int) -> int:
    """How many of `count` requests are let through."""
    passed = 0
    for _ in range(count):
        try:
            rates.take(tenant)
        except RateLimited:
            continue
        passed += 1
    return passed


# ---------------------------------------------------------------- rates


@given(st.integers(1, 10_000))
def test_a_minute_of_requests_passes_and_no_more(per_minute: int):
    rates = RequestRates(per_minute, Clock())
    assert taken(rates, "a", per_minute + 5) == per_minute
    assert taken(rates, "b", 1) == 1


@given(st.integers(1, 1_000))
def test_who_waits_as_told_is_let_in_and_not_before(per_minute: int):
    clock = Clock()
    rates = RequestRates(per_minute, clock)
    taken(rates, "a", per_minute)
    with pytest.raises(RateLimited) as caught:
        rates.take("a")
    assert 0 < caught.value.retry_after <= MINUTE / per_minute + 1e-6
    clock.now += caught.value.retry_after * 0.9
    with pytest.raises(RateLimited):
        rates.take("a")
    clock.now += caught.value.retry_after * 0.1 + 1e-6
    rates.take("a")


@given(st.integers(1, 100), st.lists(st.floats(0, 20), max_size=300))
def test_in_the_long_run_it_is_the_rate(per_minute: int, pauses: list[float]):
    clock = Clock()
    rates = RequestRates(per_minute, clock)
    passed = 0
    for pause in pauses:
        clock.now += pause
        passed += taken(rates, "a", 3)
    assert passed <= per_minute * (1 + sum(pauses) / MINUTE) + 1


def test_zero_is_no_limit():
    rates = RequestRates(0, Clock())
    assert taken(rates, "a", 1_000) == 1_000
    assert len(rates) == 0


def test_made_up_tenants_do_not_fill_the_memory():
    clock = Clock()
    rates = RequestRates(10, clock)
    for number in range(MAX_TENANTS + 500):
        rates.take(f"t{number}")
    assert len(rates) == MAX_TENANTS
    clock.now += 2 * MINUTE
    for number in range(MAX_TENANTS):
        rates.take(f"late{number % 10}")
        clock.now += 6
    assert len(rates) <= 10


def test_a_flood_of_others_does_not_lift_the_limit_of_a_busy_tenant():
    rates = RequestRates(10, Clock())
    assert taken(rates, "busy", 11) == 10
    for number in range(MAX_TENANTS - 1):
        rates.take(f"t{number}")
    assert taken(rates, "busy", 1) == 0


LIMITED = [
    ("POST", "/v1/chat/completions"),
    ("POST", "/context_memory"),
    ("POST", "/v1/memory"),
    ("POST", "/context_memory/tree"),
    ("POST", "/context_memory/delete"),
    ("GET", "/v1/models"),
    ("PUT", "/v1/files/1"),
]
FREE = ["/health", "/healthz", "/metrics", "/context_memory/status", "/health/details", "/usage"]


@pytest.mark.usefixtures("rates_without_time")
@pytest.mark.parametrize(("method", "path"), LIMITED)
async def test_a_route_that_counts(method: str, path: str, base: str, upstream: FakeUpstream):
    fake = FakeMemory()
    async with edge(base, fake, requests_per_minute=1) as client:
        await client.get("/v1/models", headers={"x-api-key": "one"})
        upstream.seen.clear()
        answer = await client.request(method, path, json=turn(9), headers={"x-api-key": "one"})
        other = await client.request(method, path, json=turn(9), headers={"x-api-key": "two"})
    assert answer.status_code == 429
    assert int(answer.headers["retry-after"]) == 60
    error = answer.json()["error"]
    assert (error["code"], error["type"]) == ("rate_limit_exceeded", "rate_limit_error")
    assert other.status_code != 429
    assert len(upstream.seen) + len(fake.asks) <= 1  # the other one's


@pytest.mark.usefixtures("rates_without_time")
@pytest.mark.parametrize("path", FREE)
async def test_a_route_that_does_not_count(path: str):
    async with edge(None, requests_per_minute=1) as client:
        await client.post("/context_memory", json=turn(9))
        assert (await client.post("/context_memory", json=turn(9))).status_code == 429
        for _ in range(3):
            assert (await client.get(path)).status_code == 200


async def test_who_is_not_let_in_is_not_counted():
    async with edge(None, keys=FakeKeys(acme=["K"]), requests_per_minute=1) as client:
        for _ in range(3):
            wrong = await client.post("/context_memory", json=turn(9), headers={"x-api-key": "W"})
            assert wrong.status_code == 401
        right = await client.post("/context_memory", json=turn(9), headers={"x-api-key": "K"})
    assert right.status_code == 200


@pytest.mark.usefixtures("rates_without_time")
async def test_a_refused_request_is_not_read():
    read = []

    async def pieces():
        read.append(1)
        yield b"{}"

    async with edge(None, requests_per_minute=1) as client:
        await client.post("/context_memory", json=turn(9))
        answer = await client.post("/context_memory", content=pieces())
    assert answer.status_code == 429
    assert not read


# ---------------------------------------------------------------- waits


def test_places_are_counted_by_tenant():
    waits = WaitingRequests(2)
    waits.enter("a")
    waits.enter("a")
    waits.enter("b")
    with pytest.raises(RateLimited) as caught:
        waits.enter("a")
    assert caught.value.retry_after > 0
    waits.leave("a")
    waits.enter("a")
    assert (waits.waiting("a"), waits.waiting("b")) == (2, 1)
    for tenant in "aab":
        waits.leave(tenant)
    assert len(waits) == 0


class Unread(Counter[str]):
    """Counts that may not be read all at once."""

    def items(self) -> NoReturn:
        raise AssertionError


def test_a_place_costs_no_look_at_other_tenants(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(rate_limits, "Counter", Unread)
    for places in (WaitingRequests(1), EventStreams().places, CostlyWork(1, 0).places):
        places.enter("a")
        places.leave("a")
        assert len(places) == 0


def test_a_place_is_given_back_whatever_happens():
    waits = WaitingRequests(1)
    with pytest.raises(ZeroDivisionError), waits.place("a"):
        raise ZeroDivisionError
    assert waits.waiting("a") == 0


class Work:
    """Ends when it is let go; says whether it was stopped."""

    def __init__(self) -> None:
        self.go, self.begun = asyncio.Event(), asyncio.Event()
        self.stopped = False

    async def run(self) -> str:
        self.begun.set()
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.stopped = True
            raise
        return "done"


async def test_quick_work_takes_no_place():
    waits, work = WaitingRequests(0), Work()
    work.go.set()
    assert await waits.counted("a", work.run()) == "done"


async def test_slow_work_takes_a_place_and_gives_it_back():
    waits, work = WaitingRequests(1), Work()
    running = asyncio.create_task(waits.counted("a", work.run(), 0.01))
    await waited_for(lambda: waits.waiting("a") == 1)
    late = Work()
    with pytest.raises(RateLimited):
        await waits.counted("a", late.run(), 0.01)
    assert late.stopped
    work.go.set()
    assert await running == "done"
    assert waits.waiting("a") == 0


@pytest.mark.parametrize("uncounted", [0.01, 60.0])
async def test_who_goes_stops_the_work_and_frees_the_place(uncounted: float):
    waits, work = WaitingRequests(1), Work()
    running = asyncio.create_task(waits.counted("a", work.run(), uncounted))
    await work.begun.wait()
    if uncounted < 1:
        await waited_for(lambda: waits.waiting("a") == 1)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert work.stopped
    assert waits.waiting("a") == 0


async def test_an_error_of_the_work_comes_out():
    async def fails() -> None:
        await asyncio.sleep(0.02)
        raise ZeroDivisionError

    for uncounted in (0.0, 1.0):
        waits = WaitingRequests(1)
        with pytest.raises(ZeroDivisionError):
            await waits.counted("a", fails(), uncounted)
        assert waits.waiting("a") == 0


async def test_one_request_too_many_is_a_429(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(rate_limits, "UNCOUNTED_SECONDS", 0.01)
    fake, go = FakeMemory(), asyncio.Event()
    fake.before = go.wait
    async with edge(None, fake, max_waits=1) as client:
        first = asyncio.create_task(client.post("/context_memory", json=turn(9)))
        # `get` alone need not let the first one go on.
        while "memtree_requests_waiting 1.0" not in (await client.get("/metrics")).text:  # noqa: ASYNC110  nothing tells
            await asyncio.sleep(0.005)
        second = await client.post("/context_memory", json=turn(9))
        tree = await client.post("/context_memory/tree", json=turn(9))
        go.set()
        assert (await first).status_code == 200
        assert (await client.post("/context_memory", json=turn(9))).status_code == 200
    for answer in (second, tree):
        assert (answer.status_code, answer.headers["retry-after"]) == (429, "10")
