"""Check what `/metrics` tells of requests: routes, times of steps, failures; and which names it
has."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from memtree.errors import StoreUnavailable
from memtree.process.tracing import STEPS, step
from memtree_proxy.access import rate_limits
from memtree_proxy.observability.metrics import STATUSES, status
from memtree_proxy.observability.request_trace import Trace
from tests.http.served.fakes import FakeMemory, edge, real_memory, turn
from tests.http.served.running import PATIENCE, refused_port
from tests.http.served.upstream import FakeUpstream

ON = {"x-polychat-memory": "on"}


async def samples(client: httpx.AsyncClient) -> dict[tuple[str, ...], float]:
    """By name and label values that are not empty, buckets left out."""
    page = await client.get("/metrics")
    return {
        (
            sample.name.removeprefix("memtree_"),
            *sorted(filter(None, sample.labels.values())),
        ): sample.value
        for family in text_string_to_metric_families(page.text)
        for sample in family.samples
        if not sample.name.endswith("_bucket")
    }


async def test_requests_by_route_and_status(base: str, upstream: FakeUpstream):
    async with edge(base) as client:
        await client.post("/v1/context_memory", json=turn(9))
        await client.post("/api/v1/context_memory", json=turn(9))
        await client.post("/context_memory", json={"messages": []})
        await client.post("/chat/completions", json=turn(9), headers=ON)
        await client.get("/v1/files/secret-name")
        await client.get("/context_memory/nowhere/secret-name")
        found = await samples(client)
    requests = {name[1:]: value for name, value in found.items() if name[0] == "requests_total"}
    assert requests == {
        ("/context_memory", "200"): 2,
        ("/context_memory", "400"): 1,
        ("/chat/completions", "200"): 1,
        ("/*", "200"): 1,
        ("/context_memory/*", "404"): 1,
    }
    assert found["request_seconds_count", "/context_memory"] == 3
    assert found["upstream_answers_total", "200"] == 2
    assert found["upstream_seconds_count",] == 2
    assert found["refusals_total", "invalid_request"] == 1
    assert found["refusals_total", "not_found"] == 1
    assert found["added_seconds_count",] == 3
    assert found["requests_in_flight",] == 1  # the page itself


async def test_steps_of_a_real_answer():
    async with edge(None, real_memory()) as client:
        long = [*turn(400)["messages"], {"role": "user", "content": "what of message 7? " * 300}]
        long = [{**one, "content": one["content"] * 40} for one in long[:-1]] + long[-1:]
        await client.post("/context_memory", json={"messages": long, "target_tokens": 8_000})
        begun = await samples(client)
        said = (("assistant", "Yes."), ("user", "Thanks."))
        again = [*long, *({"role": role, "content": text} for role, text in said)]
        await client.post("/context_memory", json={"messages": again, "target_tokens": 8_000})
        found = await samples(client)
    steps = {name[1] for name in found if name[0] == "step_seconds_count"}
    assert {"parse", "read", "look_up", "grow", "write", "rank", "pack"} <= steps <= set(STEPS)
    assert found["step_seconds_sum", "grow"] > 0
    total = found["added_seconds_sum",] + found["step_seconds_sum", "parse"]
    assert 0 < found["step_seconds_sum", "read"] < total
    assert found["epoch_answers_total", "begun"] == 1
    assert found["epoch_answers_total", "continued"] == 1
    stays, changes = (found["prefix_tokens_total", one] for one in ("stays", "changes"))
    assert stays + changes == found["sent_tokens_total",]
    assert begun["prefix_tokens_total", "stays"] >= 4  # "be brief", and "in the middle" with it
    assert stays > 0.4 * found["sent_tokens_total",]


async def test_a_step_that_fails_and_one_that_is_given_up():
    memory = FakeMemory()

    def fail() -> None:
        with step("look_up"):
            raise StoreUnavailable("away")

    memory.before = fail
    async with edge(None, memory) as client:
        await client.post("/context_memory", json=turn(9))
        found = await samples(client)
    assert found["step_failures_total", "look_up"] == 1
    assert found["refusals_total", "store_unavailable"] == 1
    trace = Trace("POST", "/")
    with pytest.raises(asyncio.CancelledError), trace.step("read"):
        raise asyncio.CancelledError
    assert trace.work.failed == []
    assert set(trace.work.steps) == {"read"}


async def test_an_upstream_that_is_not_there():
    async with edge(f"http://127.0.0.1:{refused_port()}/v1") as client:
        await client.post("/chat/completions", json=turn(9))
        found = await samples(client)
    assert found["upstream_answers_total", "upstream_unreachable"] == 1
    assert found["upstream_seconds_count",] == 0
    assert found["refusals_total", "upstream_unreachable"] == 1


async def test_who_waits_is_counted_while_he_waits(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(rate_limits, "UNCOUNTED_SECONDS", PATIENCE)
    memory, waits, go = FakeMemory(), asyncio.Event(), asyncio.Event()

    async def pause() -> None:
        waits.set()
        await go.wait()

    memory.before = pause
    async with edge(None, memory) as client:
        asked = asyncio.create_task(client.post("/context_memory", json=turn(9)))
        await waits.wait()
        found = await samples(client)
        assert found["requests_in_flight",] == 2
        assert found["requests_waiting",] == 0  # not so soon
        go.set()
        await asked
        assert (await samples(client))["requests_in_flight",] == 1


def test_few_values_whatever_an_upstream_answers():
    shown: set[Any] = {status(code) for code in range(-5, 1_200)}
    assert shown == {str(code) for code in STATUSES} | {f"{c}xx" for c in range(1, 6)} | {"other"}
    assert status(429) == "429"
    assert status(418) == "4xx"
    assert status("upstream_timeout") == "upstream_timeout"
