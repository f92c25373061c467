"""Summaries by a model from end to end: a real endpoint, the runtime, the routes, the command."""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from memtree.config import Settings
from memtree.errors import BadRequest
from memtree.jobs.runtime import Runtime, open_runtime
from memtree.jobs.summary_stage import open_summarizer
from memtree_proxy.cli import history_commands
from memtree_proxy.server.app import create_app
from memtree_proxy.server.serve import open_services
from tests.http.served.running import PATIENCE, refused_port
from tests.made.embeddings import Silence, Status
from tests.made.summaries import SHORT, Held, Summaries, half, serving
from tests.properties.strategies import prose

KEY = {"authorization": "Bearer k"}


def posted(count: int = 60, **fields: Any) -> dict[str, Any]:
    said = [
        {"role": ("user", "assistant")[n % 2], "content": prose(n, 150)} for n in range(count - 1)
    ]
    return {"messages": [*said, {"role": "user", "content": "And now?"}], **fields}


def settings(url: str, path: Path, **more: Any) -> Settings:
    return Settings(
        store=f"sqlite:///{path / 'm.db'}",
        upstream=None,
        embedder="none",
        summary_base_url=url,
        summary_model="m",
        **more,
    )


@asynccontextmanager
async def app(given: Settings) -> AsyncIterator[tuple[httpx.AsyncClient, Runtime]]:
    async with (
        open_runtime(given, drain=0.01) as runtime,
        open_services(given, runtime) as services,
        httpx.AsyncClient(
            transport=httpx.ASGITransport(create_app(services)), base_url="http://edge", headers=KEY
        ) as client,
    ):
        yield client, runtime


async def status(client: httpx.AsyncClient) -> dict[str, Any]:
    return dict((await client.get("/v1/context_memory/status")).json())


@pytest.mark.slow
async def test_status_tree_answers_and_metrics(tmp_path: Path):
    go = asyncio.Event()
    model = Summaries(Held(go))
    async with (
        serving(model) as server,
        app(settings(server.url, tmp_path, summary_input_price=2.0)) as (client, runtime),
    ):
        before = await status(client)
        assert before["summaries"] == {
            "state": "ok", "pending_nodes": 0,
            "today": {"calls": 0, "input_tokens": 0, "cached_tokens": 0, "output_tokens": 0,
                      "money": 0.0},
        }  # fmt: skip
        indexed = await client.post("/v1/context_memory", json=posted(index_only=True))
        memory = indexed.json()["memory"]
        assert indexed.status_code == 202
        assert memory["state"] == "packed", "owed summaries are no change of state"
        assert memory["pending_tokens"] == memory["indexed_tokens"] > 0
        waiting = await status(client)
        assert waiting["pending_tokens"] > 0
        assert waiting["pending_jobs"] == 1
        go.set()
        await runtime.settle()
        done = await status(client)
        today = done["summaries"]["today"]
        assert (done["pending_tokens"], done["pending_jobs"]) == (0, 0)
        assert (done["summaries"]["state"], done["summaries"]["pending_nodes"]) == ("ok", 0)
        assert today["calls"] == model.calls > 0
        assert today["input_tokens"] == model.input_tokens
        assert today["output_tokens"] == model.output_tokens
        assert today["money"] == pytest.approx(2 * model.input_tokens / 1e6)
        tree = (await client.post("/v1/context_memory/tree", json=posted())).json()
        kinds = {(node["sealed"], node["summary"]) for node in tree["nodes"]}
        assert kinds == {(True, "model"), (False, "extracted")}
        assert all(node["body"].startswith(SHORT) for node in tree["nodes"] if node["sealed"])
        asked = posted(target_tokens=4_000, explain=True)
        answer = await client.post("/v1/context_memory", json=asked)
        shown = answer.json()["explain"]["nodes"]
        assert [one["version"] for one in shown].count(1) >= len(shown) - 1 > 0
        outline = answer.json()["messages"][0]["content"]
        assert all(one["headline"] in outline for one in shown)
        assert answer.json()["memory"]["pending_tokens"] == 0
        assert answer.headers["x-memtree-state"] == "packed"
        other = await client.get("/v1/context_memory/status", headers={"authorization": "Bearer o"})
        assert other.json()["summaries"]["today"]["calls"] == 0, "another tenant's is not told"
        page = await client.get("/metrics")
    samples = {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(page.text)
        for sample in family.samples
        if sample.name.startswith("memtree_summary")
    }
    nodes = sum(node["sealed"] for node in tree["nodes"])
    assert samples["memtree_summary_calls_total", "answered"] == model.calls
    assert samples["memtree_summary_tokens_total", "input"] == model.input_tokens
    assert samples["memtree_summary_tokens_total", "output"] == model.output_tokens
    assert samples["memtree_summary_nodes_total", "written"] == nodes
    assert samples["memtree_summary_money_total",] == pytest.approx(2 * model.input_tokens / 1e6)
    assert samples["memtree_summary_pending_nodes",] == 0
    assert samples["memtree_summary_call_seconds_count",] == model.calls
    assert samples["memtree_summary_call_seconds_sum",] > 0


async def test_rejected_summaries_are_counted_by_what_was_wrong(tmp_path: Path):
    async with (
        serving(Summaries(half)) as server,
        app(settings(server.url, tmp_path, summary_parallel=1)) as (client, runtime),
    ):
        await client.post("/v1/context_memory", json=posted(30, index_only=True))
        await runtime.settle()
        page = (await client.get("/metrics")).text
    assert 'memtree_summary_rejected_total{problem="missing"} 1.0' in page


@pytest.mark.parametrize("down", ["refused", "error", "silent"])
async def test_an_endpoint_that_is_down_fails_nothing(tmp_path: Path, down: str):
    model = Summaries(always=Silence() if down == "silent" else Status(500))
    async with serving(model) as server:
        url = f"http://127.0.0.1:{refused_port()}/v1" if down == "refused" else server.url
        async with app(settings(url, tmp_path)) as (client, runtime):
            async with asyncio.timeout(PATIENCE):
                answer = await client.post("/v1/context_memory", json=posted(target_tokens=4_000))
                assert answer.headers["x-memtree-state"] == "packed"
                assert answer.json()["memory"]["pending_tokens"] > 0
                assert (await status(client))["pending_tokens"] > 0
        assert runtime.summaries


async def test_a_server_that_comes_back_is_used_by_the_next_process(tmp_path: Path):
    async with app(settings(f"http://127.0.0.1:{refused_port()}/v1", tmp_path)) as (client, _):
        await client.post("/v1/context_memory", json=posted(index_only=True))
    async with (
        serving(Summaries()) as server,
        app(settings(server.url, tmp_path)) as (client, runtime),
    ):
        await client.post("/v1/context_memory", json=posted(index_only=True))
        await runtime.settle()
        assert (await status(client))["summaries"]["pending_nodes"] == 0
        tree = (await client.post("/v1/context_memory/tree", json=posted())).json()
        assert "model" in {node["summary"] for node in tree["nodes"]}


async def test_without_a_model_the_state_is_off(tmp_path: Path):
    given = Settings(store=f"sqlite:///{tmp_path / 'm.db'}", upstream=None, embedder="none")
    async with app(given) as (client, runtime):
        answer = await client.post("/v1/context_memory", json=posted(index_only=True))
        assert answer.json()["memory"]["pending_tokens"] == 0
        assert (await status(client))["summaries"]["state"] == "off"
        assert "memtree_summary" not in (await client.get("/metrics")).text
        assert runtime.summaries is None


def test_a_model_without_an_address_is_refused():
    with pytest.raises(BadRequest) as error:
        open_summarizer(Settings(summary_model="m"))
    assert error.value.param == "summary_base_url"
    assert open_summarizer(Settings()) is None


async def test_the_command_line_waits_for_summaries_and_tells_what_they_cost(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    file = tmp_path / "chat.json"
    file.write_text(json.dumps(posted(40)))
    model = Summaries()
    async with serving(model) as server:
        given = settings(server.url, tmp_path)
        assert (
            await history_commands.index(argparse.Namespace(file=str(file), estimate=False), given)
            == 0
        )
        told = " ".join(capsys.readouterr().out.split())
        assert f"summaries today: {model.calls:,} calls, {model.input_tokens:,} tokens" in told
        assert "all nodes done" in told
        calls = model.calls
        assert (
            await history_commands.index(argparse.Namespace(file=str(file), estimate=False), given)
            == 0
        )
        assert model.calls == calls


async def test_drawing_a_tree_asks_no_model_and_shows_what_it_wrote(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    file = tmp_path / "chat.json"
    file.write_text(json.dumps(posted(40)))
    words = {"query": None, "target": None, "mode": None, "json": False}
    options = argparse.Namespace(file=str(file), **words)
    model = Summaries()
    async with serving(model) as server:
        given = settings(server.url, tmp_path)
        assert await history_commands.tree(options, given) == 0
        assert model.calls == 0
        assert "(model)" not in capsys.readouterr().out
        await history_commands.index(options, given)
        capsys.readouterr()
        assert await history_commands.tree(options, given) == 0
        assert "(model)" in capsys.readouterr().out


async def test_the_command_line_tells_of_a_limit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    file = tmp_path / "chat.json"
    file.write_text(json.dumps(posted(40)))
    async with serving(Summaries()) as server:
        given = settings(server.url, tmp_path, summary_tokens_per_day=5_000)
        assert (
            await history_commands.index(argparse.Namespace(file=str(file), estimate=False), given)
            == 0
        )
    told = " ".join(capsys.readouterr().out.split())
    assert "nodes left (the day's limit is reached)" in told
