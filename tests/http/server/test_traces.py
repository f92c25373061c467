"""Traces: which spans a request makes, whose they are, and what goes to the upstream with it."""

from __future__ import annotations

import asyncio
import dataclasses
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from memtree.config import Settings
from memtree.context.context_memory import ContextMemory
from memtree.errors import BadRequest
from memtree.jobs.embedding import InProcessQueue
from memtree.jobs.growing import StageOne
from memtree.jobs.runtime import SystemClock
from memtree.stores import open_store
from memtree_proxy.http import otel
from memtree_proxy.http.observers import open_tracing
from memtree_proxy.http.otel import Tracing
from tests.fakes import HashingEmbedder
from tests.http.served.fakes import FakeMemory, client_of, edge, raising, services, turn
from tests.http.served.mcp_client import OLD
from tests.http.served.running import PATIENCE, refused_port
from tests.http.served.upstream import FakeUpstream
from tests.programs.collector import Collector, attributes, collecting

ON = {"x-polychat-memory": "on"}
TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
CLIENT = {"traceparent": f"00-{TRACE}-{PARENT}-01", "tracestate": "vendor=1"}
SERVER, CLIENT_KIND = 2, 3
ERROR = 2


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Collect what is sent in one delivery, when the traces end, however long that takes."""
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", f"{PATIENCE * 1_000:.0f}")
    monkeypatch.setattr(otel, "CLOSE_SECONDS", PATIENCE)
    with collecting() as found:
        yield found


@asynccontextmanager
async def traced(
    base: str | None, collector: Collector, memory: Any = None, *, propagate: bool = False
) -> AsyncIterator[httpx.AsyncClient]:
    """Open an edge like `edge`, with traces; all of them are delivered when the block is left."""
    tracing = Tracing(collector.url, propagate=propagate)
    built = dataclasses.replace(services(base, memory), spans=tracing)
    try:
        async with client_of(built) as client:
            yield client
    finally:
        await asyncio.to_thread(tracing.close)


async def test_a_chat_and_its_parts(base: str, upstream: FakeUpstream, collector: Collector):
    async with traced(base, collector) as client:
        answer = await client.post(
            "/v1/chat/completions", json=turn(9), headers={**ON, "x-api-key": "sk-credential"}
        )
    assert answer.status_code == 200
    assert collector.paths == ["/v1/traces"]
    assert collector.resource["service.name"] == "memtree"
    request = collector.one("POST /chat/completions")
    assert request.kind == SERVER
    assert not request.parent_span_id
    known = attributes(request)
    assert known["http.route"] == "/chat/completions"
    assert known["http.response.status_code"] == 200
    assert known["memtree.state"] == "packed"
    assert known["memtree.sent_tokens"] == 20
    assert known["memtree.request_id"] == answer.headers["x-memtree-request-id"]
    assert collector.below(request) == {"memtree.compact", "upstream"}
    compact = collector.one("memtree.compact")
    assert collector.below(compact) == {"parse", "pack"}
    assert attributes(compact)["gen_ai.operation.name"] == "memtree.compact"
    assert attributes(compact)["memtree.sent_tokens"] == 20
    call = collector.one("upstream")
    assert call.kind == CLIENT_KIND
    assert attributes(call)["http.response.status_code"] == 200
    for span in collector.spans:
        assert span.trace_id == request.trace_id
        assert request.start_time_unix_nano - 10**7 <= span.start_time_unix_nano
        assert span.start_time_unix_nano <= span.end_time_unix_nano
        assert span.end_time_unix_nano <= request.end_time_unix_nano + 10**7
    raw = b"".join(collector.raw)
    for absent in (b"message 8", b"be brief", b"sk-credential", b"gpt-4o", b"127.0.0.1"):
        assert absent not in raw
    assert not upstream.last.header("traceparent")


async def test_operations_on_memories_have_the_names_of_the_conventions(
    base: str, collector: Collector
):
    async with traced(base, collector) as client:
        saved = await client.post("/v1/memories", json={"text": "The port is 8090."})
        id_ = saved.json()["id"]
        await client.get("/v1/memories/search", params={"query": "the port of the shop"})
        await client.patch(f"/v1/memories/{id_}", json={"text": "The port is 8091."})
        await client.delete(f"/v1/memories/{id_}")
    for name in ("upsert_memory", "search_memory", "update_memory", "delete_memory"):
        known = attributes(collector.one(name))
        assert known == {"gen_ai.operation.name": name, "gen_ai.memory.store.id": "memtree"}
    raw = b"".join(collector.raw)
    assert b"The port" not in raw
    assert b"shop" not in raw


async def test_calls_of_tools_are_below_the_span_of_their_request(base: str, collector: Collector):
    calls = [
        ("remember", {"text": "The port is 8090."}),
        ("recall", {"query": "the port of the shop"}),
        ("forget", {"id": 1, "reason": "the shop is closed"}),
    ]
    async with traced(base, collector) as client:
        for number, (name, given) in enumerate(calls):
            params = {"name": name, "arguments": given}
            body = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
            answer = await client.post("/mcp", json=body, headers={"mcp-protocol-version": OLD})
            assert answer.json()["result"]["structuredContent"]["ok"] is True, answer.text
    requests = {span.trace_id for span in collector.spans if span.name == "POST /mcp"}
    assert len(requests) == len(calls)
    for name in ("upsert_memory", "search_memory", "delete_memory"):
        span = collector.one(name)
        assert attributes(span)["gen_ai.operation.name"] == name
        assert span.trace_id in requests
    raw = b"".join(collector.raw)
    assert b"The port" not in raw
    assert b"shop" not in raw


async def test_a_trace_of_the_client_goes_on_to_the_upstream(
    base: str, upstream: FakeUpstream, collector: Collector
):
    async with traced(base, collector) as client:
        await client.post("/chat/completions", json=turn(9), headers={**ON, **CLIENT})
    request, call = collector.one("POST /chat/completions"), collector.one("upstream")
    assert request.trace_id.hex() == TRACE
    assert request.parent_span_id.hex() == PARENT
    assert upstream.last.header("traceparent") == [f"00-{TRACE}-{call.span_id.hex()}-01"]
    assert upstream.last.header("tracestate") == ["vendor=1"]


@pytest.mark.parametrize("propagate", [False, True])
async def test_without_one_only_the_setting_sends_one(
    base: str, upstream: FakeUpstream, collector: Collector, propagate: bool
):
    async with traced(base, collector, propagate=propagate) as client:
        await client.get("/v1/models")
    call = collector.one("upstream")
    named = [one[:-2] for one in upstream.last.header("traceparent")]  # flags say how it was made
    assert named == ([f"00-{call.trace_id.hex()}-{call.span_id.hex()}-"] if propagate else [])
    assert collector.one("GET /*").kind == SERVER


async def test_a_broken_one_begins_a_new_trace(
    base: str, upstream: FakeUpstream, collector: Collector
):
    async with traced(base, collector) as client:
        await client.get("/v1/models", headers={"traceparent": "00-junk"})
    assert not collector.one("GET /*").parent_span_id
    (sent,) = upstream.last.header("traceparent")
    assert sent.split("-")[1] == collector.one("upstream").trace_id.hex()


async def test_a_trace_that_the_client_does_not_sample_is_not_sent(
    base: str, upstream: FakeUpstream, collector: Collector
):
    unsampled = {"traceparent": f"00-{TRACE}-{PARENT}-00"}
    async with traced(base, collector) as client:
        await client.post("/chat/completions", json=turn(9), headers={**ON, **unsampled})
    assert not collector.spans
    (sent,) = upstream.last.header("traceparent")
    assert sent.startswith(f"00-{TRACE}-")
    assert sent.endswith("-00")


async def test_without_traces_headers_go_on_as_they_came(base: str, upstream: FakeUpstream):
    async with edge(base) as client:
        await client.get("/v1/models", headers={**CLIENT, "x-request-id": "r"})
    for name, value in {**CLIENT, "x-request-id": "r"}.items():
        assert upstream.last.header(name) == [value]


async def test_what_fails_is_marked(collector: Collector):
    memory = FakeMemory()
    memory.before = raising(KeyError("the secret of the user"))
    nobody = f"http://127.0.0.1:{refused_port()}/v1"
    async with traced(nobody, collector, memory) as client:
        await client.post("/context_memory", json=turn(9))
        await client.post("/chat/completions", json=turn(9))
    assert collector.one("POST /context_memory").status.code == ERROR
    call = collector.one("upstream")
    assert call.status.code == ERROR
    assert attributes(call)["error.type"] == "upstream_unreachable"
    assert attributes(collector.one("POST /chat/completions"))["memtree.error"] == (
        "upstream_unreachable"
    )
    assert b"secret" not in b"".join(collector.raw)


async def test_work_in_the_background_is_linked(collector: Collector):
    store, clock = open_store("memory:"), SystemClock()
    embedder = HashingEmbedder()
    queue = InProcessQueue(store, embedder, clock)
    memory = ContextMemory(store, StageOne(child=False), queue, clock, embedder=embedder)
    queue.start()
    try:
        async with traced(None, collector, memory) as client:
            said = [{**one, "content": one["content"] * 60} for one in turn(300)["messages"]]
            await client.post("/context_memory", json={"messages": said, "target_tokens": 4_000})
            await queue.join()
    finally:
        await memory.close()
        await queue.close()
        await store.close()
    request = collector.one("POST /context_memory")
    assert {"read", "look_up", "grow", "write", "rank"} <= collector.below(
        collector.one("memtree.compact")
    )
    works = collector.named("embed")
    works = [one for one in works if not one.parent_span_id]
    assert works
    for work in works:
        assert work.trace_id != request.trace_id
        assert [link.span_id for link in work.links] == [request.span_id]
        assert [link.trace_id for link in work.links] == [request.trace_id]


@pytest.mark.slow
async def test_a_collector_that_is_away_holds_up_nothing():
    tracing = Tracing(f"http://127.0.0.1:{refused_port()}/v1/traces")
    built = dataclasses.replace(services(None), spans=tracing)
    async with client_of(built) as client:
        assert (await client.post("/context_memory", json=turn(9))).status_code == 200
    await asyncio.to_thread(tracing.close)


def test_without_the_extra_the_server_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    settings = Settings(otel_endpoint="http://127.0.0.1:1/v1/traces")
    monkeypatch.delitem(sys.modules, "memtree_proxy.http.otel")
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    with pytest.raises(BadRequest, match=r"pip install 'memtree-proxy\[otel\]'") as caught:
        open_tracing(settings)
    assert caught.value.param == "otel_endpoint"
    assert open_tracing(Settings()) is None
