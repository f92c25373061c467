"""Check what the doctor finds around the program, with real sockets, files and a real Redis; and
what `GET /health/details` tells of it: to the operator alone, without secrets, never for long."""

from __future__ import annotations

import os
import re
import socket
from argparse import Namespace
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from memtree import __version__
from memtree.config import Settings, config_file, unknown_variables
from memtree.jobs.runtime import SystemClock, open_runtime
from memtree.stores import open_store
from memtree_indexer.queues import open_redis_queues
from memtree_proxy.cli import doctor
from memtree_proxy.server import listener, part_checks, postgres_check, surroundings
from memtree_proxy.server.app import create_app
from memtree_proxy.server.health_report import health_report
from memtree_proxy.server.serve import open_services
from memtree_proxy.server.surroundings import Finding
from tests.http.served.fakes import FakeKeys, edge, services
from tests.http.served.running import PATIENCE, refused_port, running
from tests.http.served.upstream import FakeUpstream
from tests.programs import postgres
from tests.programs.collector import collecting
from tests.programs.redis_server import redis_server

QUIET = Settings(store="memory:", embedder="none", upstream=None, log_level="error")


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (part_checks, surroundings):
        monkeypatch.setattr(module, "SECONDS", PATIENCE)


# -- settings -----------------------------------------------------------------------------------


def test_where_settings_come_from(tmp_path: Path):
    path = tmp_path / "m.toml"
    path.write_text("port = 1")
    assert config_file({"MEMTREE_CONFIG": str(path)}) == path
    assert config_file({"MEMTREE_CONFIG": str(tmp_path / "none.toml")}) is None
    found = surroundings.settings_file(path, [])
    assert (found.level, str(path) in found.text) == ("ok", True)


def test_variables_that_are_none():
    given = {"MEMTREE_STORE": "x", "MEMTREE_STROE": "secret", "MEMTREE_CONFIG": "y", "HOME": "z",
             "MEMTREE_BENCH_DATA": "d", "MEMTREE_A": "secret"}  # fmt: skip
    assert unknown_variables(given) == ["MEMTREE_A", "MEMTREE_STROE"]
    found = surroundings.settings_file(None, unknown_variables(given))
    assert found.level == "warning"
    assert "MEMTREE_STROE" in found.text
    assert "secret" not in found.text


# -- disk, port, files --------------------------------------------------------------------------


def test_room_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "m.db"
    assert surroundings.disk(f"sqlite:///{path}") is None
    assert surroundings.disk("memory:") is None
    path.touch()
    monkeypatch.setattr(surroundings, "LOW_DISK", 0)
    found = surroundings.disk(f"sqlite:///{path}")
    assert found
    assert found.level == "ok"
    monkeypatch.setattr(surroundings, "LOW_DISK", 1 << 80)
    found = surroundings.disk(f"sqlite:///{path}")
    assert found
    assert found.level == "warning"


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write anything")
def test_a_store_that_cannot_be_written_to(tmp_path: Path):
    path = tmp_path / "m.db"
    path.touch()
    path.chmod(0o400)
    found = surroundings.disk(f"sqlite:///{path}")
    assert found
    assert found.level == "problem"


async def test_a_port_that_is_free_taken_or_ours():
    free = replace(QUIET, port=refused_port())
    assert (await surroundings.port(free)).level == "ok"
    with socket.create_server(("127.0.0.1", 0)) as other:
        other.listen()
        other.settimeout(0.01)
        taken = replace(QUIET, port=other.getsockname()[1])
        # It takes the connection and never answers.
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(surroundings, "SECONDS", 0.2)
            found = await surroundings.port(taken)
    assert found.level == "problem"
    assert f"process {os.getpid()}" in found.text
    with running(create_app(services(None))) as address:
        found = await surroundings.port(replace(QUIET, port=int(address.rpartition(":")[2])))
    assert found.level == "ok"
    assert "MemTree answers" in found.text
    found = await surroundings.port(
        replace(QUIET, host="192.0.2.1")
    )  # no address of ours (RFC 5737)
    assert found.level == "problem"


def test_how_many_files_may_be_open(monkeypatch: pytest.MonkeyPatch):
    for most, level in ((None, "ok"), (listener.FEW_FILES - 1, "warning"), (65_536, "ok")):
        monkeypatch.setattr(surroundings, "most_files", lambda most=most: most)
        assert surroundings.files().level == level
    monkeypatch.undo()
    assert surroundings.files().text


# -- traces -------------------------------------------------------------------------------------


async def test_a_collector_of_traces():
    assert (await surroundings.traces(QUIET)).text == "off"
    with collecting() as collector:
        found = await surroundings.traces(replace(QUIET, otel_endpoint=collector.url))
        assert found.level == "ok"
        assert collector.raw == [b""]
        assert not collector.spans
    nobody = f"http://127.0.0.1:{refused_port()}/v1/traces"
    assert (await surroundings.traces(replace(QUIET, otel_endpoint=nobody))).level == "problem"
    with running(create_app(services(None))) as address:
        wrong = await surroundings.traces(replace(QUIET, otel_endpoint=f"{address}/health/x"))
    assert wrong.level == "problem"


# -- Redis --------------------------------------------------------------------------------------


async def looked_at(url: str) -> list[Finding]:
    store = open_store("memory:")
    settings = replace(QUIET, queue=url, store="sqlite:///unused.db")
    queues = open_redis_queues(settings, store, SystemClock())
    try:
        return await surroundings.queue(queues)
    finally:
        if queues is not None:
            await queues.close(0)
        await store.close()


async def test_without_redis_there_is_nothing_to_see():
    (found,) = await looked_at("inprocess")
    assert found.level == "ok"


@pytest.mark.slow
async def test_a_real_redis():
    with redis_server(password="hush") as server:
        redis, workers = await looked_at(server.url())
        assert redis.level == "ok"
        assert "noeviction" in redis.text
        assert workers.level == "problem"
        assert "memtree worker" in workers.text
        with server.client() as client:
            client.config_set("maxmemory-policy", "allkeys-lru")
        redis, _ = await looked_at(server.url())
        assert redis.level == "warning"
        assert "maxmemory-policy noeviction" in redis.text
        (found,) = await looked_at(server.url().replace("hush", "wrong"))
        assert found.level == "problem"
        assert "wrong" not in found.text


@pytest.mark.slow
async def test_a_redis_that_is_not_there_and_one_that_is_too_old():
    (found,) = await looked_at(f"redis://:hush@127.0.0.1:{refused_port()}/0")
    assert found.level == "problem"
    assert "hush" not in found.text
    old = surroundings.redis_version_and_policy(
        {"redis_version": "5.0.14", "maxmemory_policy": "noeviction"}
    )
    assert (old.level, "6.2" in old.text) == ("problem", True)
    assert surroundings.redis_version_and_policy(
        {"redis_version": "7.4.1", "maxmemory_policy": "noeviction"}
    ).level == ("ok")


# -- PostgreSQL ---------------------------------------------------------------------------------


@pytest.mark.slow
async def test_a_real_postgres(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    postgres.postgres_url()  # or the test is skipped
    url = postgres.store_url(tmp_path)
    try:
        store = open_store(url)
        await store.stats()
        await store.close()
        found = await postgres_check.database(url)
        assert found.level == "ok"
        assert re.match(r"PostgreSQL \d+\.\d+.*, schema \w+, \d+ of \d+ connections$", found.text)
        for name, value, level in (("OLDEST", 990_000, "problem"), ("CROWDED", 0.01, "warning")):
            with monkeypatch.context() as patch:
                patch.setattr(postgres_check, name, value)
                assert (await postgres_check.database(url)).level == level
    finally:
        postgres.drop_schema(tmp_path)


async def test_a_postgres_that_is_not_there():
    url = f"postgresql://user:hush@127.0.0.1:{refused_port()}/base"
    found = await postgres_check.database(url)
    assert found.level == "problem"
    assert "hush" not in found.text


# -- all of it ----------------------------------------------------------------------------------


@pytest.mark.slow
async def test_no_secret_is_shown_and_each_part_has_a_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("COLUMNS", "300")
    with redis_server(password="hush-redis") as server, collecting() as collector:
        changes: dict[str, Any] = {
            "store": f"sqlite:///{tmp_path}/m.db", "queue": server.url(), "port": refused_port(),
            "otel_endpoint": collector.url, "metrics_key": "hush-metrics",
            "upstream_api_key": "hush-upstream", "summary_api_key": "hush-summary",
            "embedding_api_key": "hush-embedding",
        }  # fmt: skip
        code = await doctor.run(Namespace(settings=True, json=False), replace(QUIET, **changes))
    said = capsys.readouterr().out
    assert "hush" not in said
    lines = {line.split()[1]: line.split()[0] for line in said.splitlines()
             if line.startswith(("ok ", "warning ", "problem "))}  # fmt: skip
    assert lines == {
        "settings": "ok", "store": "warning", "embedder": "ok", "summaries": "ok", "queue": "ok",
        "memory": "ok",
        "workers": "problem", "models": "ok", "upstream": "ok", "port": "ok",
        "files": "ok", "traces": "ok",
    }  # fmt: skip
    assert code == 1


PATH = "/v1/health/details"


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
        (found,), _ = await part_checks.messages(settings)
    assert found.level == "ok"
    assert fake.last.path == b"/v1/models"
    assert fake.last.header("x-api-key") == ["hush-anthropic"]
    assert fake.last.header("anthropic-version")
    assert "hush-open" not in str(fake.last)


async def test_a_key_that_goes_nowhere_is_told():
    settings = replace(QUIET, upstream="http://127.0.0.1:1/v1", anthropic_upstream_api_key="hush")
    (found,), listed = await part_checks.messages(settings)
    assert (found.level, listed) == ("warning", ())
    assert "hush" not in found.text
    told, _ = await part_checks.messages(replace(settings, anthropic_upstream=None))
    assert [one.text for one in told] == ["none: /messages answers 503"]
