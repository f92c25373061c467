"""`GET /health/details`: for the operator alone, without secrets, and never for long."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from memtree import __version__
from memtree.background.runtime import open_runtime
from memtree.config import Settings
from memtree_indexer.queues import open_redis_queues
from memtree_proxy.checkups import parts
from memtree_proxy.checkups.health_report import health_report
from memtree_proxy.server.app import create_app
from memtree_proxy.server.serve import open_services
from tests.http.served.fakes import FakeKeys, edge
from tests.http.served.running import PATIENCE, refused_port, running
from tests.http.served.upstream import FakeUpstream

QUIET = Settings(store="memory:", embedder="none", upstream=None, log_level="error")
PATH = "/v1/health/details"


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "SECONDS", PATIENCE)


@asynccontextmanager
async def served(patience: float = PATIENCE, **changes: Any) -> AsyncIterator[httpx.AsyncClient]:
    """A whole server in this process, built as `memtree serve` does. `patience`: for each part."""
    settings = replace(QUIET, **changes)
    async with (
        open_runtime(settings, drain=0, lasting=True, queues=open_redis_queues) as runtime,
        open_services(settings, runtime) as built,
    ):
        patient = replace(built, health=health_report(settings, runtime, patience=patience))
        transport = httpx.ASGITransport(create_app(patient))
        async with httpx.AsyncClient(transport=transport, base_url="http://edge") as client:
            yield client


async def test_each_part_has_a_sentence(tmp_path: Path):
    async with served(store=f"sqlite:///{tmp_path}/m.db") as client:
        answer = await client.get(PATH)
        body = answer.json()
    assert answer.status_code == 200
    assert body["version"] == __version__
    assert {one["part"]: one["level"] for one in body["findings"]} == {
        "upstream": "ok", "store": "ok", "disk": "ok", "embedder": "ok", "summaries": "ok",
        "queue": "ok", "files": "ok",
    }  # fmt: skip
    assert all(one["text"] for one in body["findings"])


async def test_no_secret_is_told():
    secrets = {
        "upstream": f"http://127.0.0.1:{refused_port()}/v1", "upstream_api_key": "hush-upstream",
        "metrics_key": "hush-operator", "embedding_api_key": "hush-embedding",
        "summary_base_url": f"http://127.0.0.1:{refused_port()}/v1", "summary_model": "m",
        "summary_api_key": "hush-summary",
    }  # fmt: skip
    async with served(**secrets) as client:
        answer = await client.get(PATH, headers={"authorization": "Bearer hush-operator"})
    assert answer.status_code == 200
    assert "hush" not in answer.text
    levels = {one["part"]: one["level"] for one in answer.json()["findings"]}
    assert levels["upstream"] == "problem"
    assert levels["summaries"] == "ok"  # it was not asked: that would cost money


async def test_an_upstream_that_hangs_does_not_hold_up_the_answer():
    with socket.create_server(("127.0.0.1", 0)) as silent:  # it takes connections, and that is all
        port = silent.getsockname()[1]
        async with served(patience=0.5, upstream=f"http://127.0.0.1:{port}/v1") as client:
            found = {one["part"]: one for one in (await client.get(PATH)).json()["findings"]}
    assert found["upstream"]["level"] == "problem"
    assert found["upstream"]["text"] == "no answer within 0.5 seconds"
    assert found["files"]["level"] == "ok"  # nobody has to be waited for


async def test_it_is_the_operators_alone():
    keys = FakeKeys(acme=["K"])
    async with edge(None, keys=keys) as client:
        for headers in ({}, {"x-api-key": "K"}):
            answer = await client.get(PATH, headers=headers)
            assert answer.status_code == 401
            assert "findings" not in answer.text
    async with edge(None, keys=keys, metrics_key="operator") as client:
        assert (await client.get(PATH, headers={"x-api-key": "K"})).status_code == 401
        answer = await client.get(PATH, headers={"x-api-key": "operator"})
    assert (answer.status_code, answer.json()["findings"]) == (200, [])


async def test_the_upstream_of_the_messages_api_has_a_line_and_its_own_key():
    with running(FakeUpstream()) as both:
        changes = {
            "upstream": f"{both}/v1", "upstream_api_key": "hush-open",
            "anthropic_upstream": f"http://127.0.0.1:{refused_port()}",
            "anthropic_upstream_api_key": "hush-anthropic",
        }  # fmt: skip
        async with served(**changes) as client:
            answer = await client.get(PATH)
    found = {one["part"]: one for one in answer.json()["findings"]}
    assert (found["upstream"]["level"], found["messages"]["level"]) == ("ok", "problem")
    assert "hush" not in answer.text


async def test_it_is_asked_with_its_own_key_alone():
    fake = FakeUpstream()
    with running(fake) as address:
        settings = replace(
            QUIET,
            upstream_api_key="hush-open",
            anthropic_upstream=address,
            anthropic_upstream_api_key="hush-anthropic",
        )
        (found,), _ = await parts.messages(settings)
    assert found.level == "ok"
    assert fake.last.path == b"/v1/models"
    assert fake.last.header("x-api-key") == ["hush-anthropic"]
    assert fake.last.header("anthropic-version")
    assert "hush-open" not in str(fake.last)


async def test_a_key_that_goes_nowhere_is_told():
    settings = replace(QUIET, upstream="http://127.0.0.1:1/v1", anthropic_upstream_api_key="hush")
    (found,), listed = await parts.messages(settings)
    assert (found.level, listed) == ("warning", ())
    assert "hush" not in found.text
    told, _ = await parts.messages(replace(settings, anthropic_upstream=None))
    assert [one.text for one in told] == ["none: /messages answers 503"]
