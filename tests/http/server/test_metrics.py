"""`GET /metrics`: what is counted of answers, routes, steps and failures, in which form, under
which names, and who may read it."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from memtree.context.answer_state import State
from memtree.errors import ContextOverflow, StoreUnavailable
from memtree.process.tracing import STEPS, step
from memtree_proxy.http import rate_limits
from memtree_proxy.http.auth import tenant_id
from memtree_proxy.http.metrics import STATUSES, Metrics, status
from memtree_proxy.http.request_trace import MemoryShare, Trace
from tests.http.served.fakes import FakeKeys, FakeMemory, edge, raising, real_memory, turn
from tests.http.served.running import PATIENCE, refused_port
from tests.http.served.upstream import PLAIN, FakeUpstream

ON = {"x-polychat-memory": "on"}


async def samples(client: httpx.AsyncClient) -> dict[tuple[str, ...], float]:
    """Ours by name and label values that are not empty, buckets left out."""
    page = await client.get("/metrics")
    assert page.status_code == 200
    return {
        (
            sample.name.removeprefix("memtree_"),
            *sorted(filter(None, sample.labels.values())),
        ): sample.value
        for family in text_string_to_metric_families(page.text)
        for sample in family.samples
        if sample.name.startswith("memtree_") and not sample.name.endswith("_bucket")
    }


async def counted(client: httpx.AsyncClient) -> dict[str, float]:
    """Counters, as in `answers_total packed stable`."""
    found = (await samples(client)).items()
    return {" ".join(name): value for name, value in found if name[0].endswith("_total")}


async def test_everything_begins_at_nothing():
    async with edge(None) as client:
        assert await counted(client) == {
            "raw_tokens_total": 0, "sent_tokens_total": 0, "recall_tokens_total": 0,
            "folding_saved_tokens_total": 0, "folding_lost_tokens_total": 0,
            "requests_dropped_total": 0,
            "overflows_total": 0, "thinking_replays_total": 0, "recall_rounds_total": 0,
            "injected_memories_total": 0,
            "extraction_messages_total": 0, "extraction_memories_total memory": 0,
            "extraction_memories_total snapshot": 0, "extraction_jobs_dropped_total full": 0,
            "extraction_jobs_dropped_total failed": 0,
            "extraction_model_calls_total answered": 0, "extraction_model_calls_total failed": 0,
            "extraction_model_calls_total limited": 0, "extraction_model_tokens_total input": 0,
            "extraction_model_tokens_total cached": 0, "extraction_model_tokens_total output": 0,
        }  # fmt: skip


async def test_answers_and_tokens_of_both_routes(base: str):
    memory = FakeMemory()
    memory.told = {"recall_tokens": 5}
    async with edge(base, memory) as client:
        first = await client.post("/context_memory", json=turn(9))
        await client.post("/chat/completions", json=turn(9), headers=ON)
        await client.post("/chat/completions", json=turn(1), headers=ON)
        await client.post("/chat/completions", json=turn(9))
        await client.get("/v1/models")
        found = await counted(client)
    raw = int(first.headers["x-memtree-raw-tokens"])
    assert found["answers_total packed stable"] == 1
    assert found["answers_total auto packed"] == 1
    assert found["answers_total auto below-threshold"] == 1
    assert found["answers_total off"] == 1
    assert sum(value for name, value in found.items() if name.startswith("answers")) == 4
    assert 2 * raw < found["raw_tokens_total"] < 3 * raw
    assert 40 < found["sent_tokens_total"] < found["raw_tokens_total"]
    assert found["recall_tokens_total"] == 15


async def test_what_went_wrong_is_counted_with_its_tokens(base: str):
    memory = FakeMemory()
    async with edge(base, memory) as client:
        await client.post("/chat/completions", content=b"no json", headers=ON)
        whole: int = PLAIN["usage"]["prompt_tokens"]  # type: ignore[index]  # as the provider says
        for error in (KeyError("x"), ContextOverflow(1, 2)):
            memory.before = raising(error)
            answer = await client.post("/chat/completions", json=turn(9), headers=ON)
            whole += int(answer.headers.get("x-memtree-sent-tokens", 0))
        found = await counted(client)
    assert found["answers_total degraded:invalid-history"] == 1
    assert found["answers_total auto degraded:internal"] == 1
    assert found["answers_total auto refused"] == 1
    assert (found["raw_tokens_total"], found["sent_tokens_total"]) == (2 + whole, whole)
    assert whole > 50


async def test_indexing_alone_is_no_answer():
    async with edge(None) as client:
        await client.post("/context_memory", json=turn(9, index_only=True))
        found = await counted(client)
    assert found["raw_tokens_total"] == 0
    assert not [name for name in found if name.startswith("answers")]


async def test_a_request_that_was_given_up_is_no_answer():
    metrics = Metrics()
    given_up = Trace("POST", "/chat/completions", memory=MemoryShare(State.UNDECIDED, mode="auto"))
    metrics.end(given_up)
    metrics.end(Trace("GET", "/v1/models"))
    assert b"memtree_answers_total{" not in metrics.page().body
    share = MemoryShare(State.PACKED, mode="auto")
    metrics.end(Trace("POST", "/chat/completions", memory=share))
    sample = b'memtree_answers_total{mode="auto",reason="",state="packed"} 1.0'
    assert sample in metrics.page().body


async def test_passed_answers_are_counted_by_reason_without_its_numbers():
    memory = FakeMemory()
    async with edge(None, memory) as client:
        for reason in ("fits", "cheaper-whole; folds-at=53000", "cheaper-whole; folds-at=54000"):
            memory.told = {"state": State.PASSED, "reason": reason}
            answer = await client.post("/context_memory", json=turn(1))
            assert answer.headers["x-memtree-reason"] == reason
        found = await counted(client)
    assert found["answers_total fits passed stable"] == 1
    assert found["answers_total cheaper-whole passed stable"] == 2


async def test_deletions_that_were_carried_out():
    async with edge(None) as client:
        for body in ({"all": True}, {"all": True}, {"messages": turn(1)["messages"]}, {}):
            await client.post("/context_memory/delete", json=body)
        await client.post("/context_memory/delete", json={"address": "00" * 32})
        found = await counted(client)
    assert found["deletions_total tenant"] == 2
    assert found["deletions_total history"] == 1
    assert "deletions_total address" not in found


async def test_two_apps_do_not_share_counts():
    async with edge(None) as one, edge(None) as other:
        await one.post("/context_memory", json=turn(9))
        assert (await counted(one))["raw_tokens_total"] > 0
        assert (await counted(other))["raw_tokens_total"] == 0


async def test_no_tenant_and_no_text_on_the_page():
    async with edge(None) as client:
        headers = {"x-api-key": "credential"}
        await client.post("/context_memory", json=turn(9), headers=headers)
        page = (await client.get("/metrics")).text
    for absent in ("credential", tenant_id("credential")[:8], "tenant", "message 8", "gpt-4o"):
        assert absent not in page


@pytest.mark.parametrize(
    ("accept", "kind"),
    [("", "text/plain"), ("text/plain;version=0.0.4", "text/plain"),
     ("application/openmetrics-text;version=1.0.0", "application/openmetrics-text"),
     ("nonsense;;;,", "text/plain")],
)  # fmt: skip
async def test_the_form_that_the_reader_asks_for(accept: str, kind: str):
    async with edge(None) as client:
        page = await client.get("/metrics", headers={"accept": accept})
        head = await client.head("/metrics")
    assert (page.status_code, head.status_code) == (200, 200)
    assert page.headers["content-type"].startswith(kind)


async def test_only_the_root_is_ours(base: str, upstream: FakeUpstream):
    async with edge(base) as client:
        ours = await client.get("/metrics")
        assert not upstream.seen
        await client.get("/v1/metrics")
    assert "memtree_raw_tokens_total" in ours.text
    assert upstream.last.path == b"/up/v1/metrics"


BEARER = {"authorization": "Bearer op"}


@pytest.mark.parametrize(
    ("keys", "changes", "headers", "status"),
    [
        ({}, {}, {}, 200),
        ({}, {}, {"x-api-key": "anything"}, 200),
        ({}, {"metrics_key": "op"}, {}, 401),
        ({}, {"metrics_key": "op"}, BEARER, 200),
        ({}, {"host": "0.0.0.0"}, BEARER, 401),
        ({}, {"host": "0.0.0.0", "metrics_key": "op"}, BEARER, 200),
        ({"acme": ["K"]}, {}, {"x-api-key": "K"}, 401),
        ({"acme": ["K"]}, {"metrics_key": "op"}, {"x-api-key": "K"}, 401),
        ({"acme": ["K"]}, {"metrics_key": "op"}, BEARER, 200),
        ({"acme": ["K"]}, {"metrics_key": "op"}, {"authorization": "Bearer öp"}, 401),
    ],
)
async def test_who_may_read(
    keys: dict[str, list[str]], changes: dict[str, Any], headers: dict[str, str], status: int
):
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    async with edge(None, keys=FakeKeys(**keys), **changes) as client:
        page = await client.get("/metrics", headers=raw)
    assert page.status_code == status
    assert ("memtree_" in page.text) is (status == 200)


async def test_the_metrics_key_opens_nothing_else():
    async with edge(None, keys=FakeKeys(acme=["K"]), metrics_key="op") as client:
        answer = await client.get("/context_memory/status", headers=BEARER)
    assert answer.status_code == 401


async def test_each_cache_of_posted_conversations_shows_what_it_holds() -> None:
    async with edge(None) as client:
        page = await client.get("/metrics")
    shown = {
        sample.labels["cache"]
        for family in text_string_to_metric_families(page.text)
        for sample in family.samples
        if sample.name == "memtree_cache_bytes"
    }
    assert shown == {"known_bodies", "message_translations", "response_translations"}


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
