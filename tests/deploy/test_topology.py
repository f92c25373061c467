"""The topology as processes: all answer, parts die and come back, nothing is left behind."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from urllib.parse import urlsplit

import httpx
import pytest

from deploy.part import Health, Process
from deploy.topology import ROOT, Shape, topology
from tests.deploy.programs import program
from tests.programs.redis_server import refuses
from tests.programs.server import PATIENCE
from tests.programs.sessions import coding

pytestmark = pytest.mark.slow
HEADERS = {"authorization": "Bearer somebody"}
MESSAGES = coding(26_000)


def compress(url: str) -> httpx.Response:
    body = {"messages": MESSAGES, "model_context_limit": 128_000}
    return httpx.post(
        f"{url}/v1/context_memory", json=body, headers=HEADERS, timeout=PATIENCE, trust_env=False
    )


def pending(url: str) -> int:
    answer = httpx.get(
        f"{url}/v1/context_memory/status", headers=HEADERS, timeout=PATIENCE, trust_env=False
    )
    return int(answer.json()["pending_tokens"])


def settled(url: str) -> bool:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if pending(url) == 0:
            return True
        time.sleep(0.1)
    return False


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    program("caddy")
    with topology(tmp_path_factory.mktemp("parts"), Shape()) as made:
        yield made


@pytest.mark.long
def test_what_is_there(parts):
    assert set(parts.names) >= {
        "postgres",
        "redis",
        "proxy-1",
        "proxy-2",
        "worker-1",
        "worker-2",
        "balancer",
    }
    assert all(parts.alive(name) for name in parts.names)
    assert all(parts.log(name).exists() for name in parts.names)


@pytest.mark.long
def test_workers_index_what_came_in_by_the_balancer(parts):
    assert compress(parts.url).status_code == 200
    assert settled(parts.url)
    for name in ("proxy-1", "proxy-2"):  # one of them has never seen it
        assert compress(parts.urls[name]).headers["x-memtree-state"] == "packed"


@pytest.mark.outage
def test_a_dead_proxy_is_gone_round_and_comes_back(parts):
    parts.kill("proxy-1")
    assert not parts.alive("proxy-1")
    for _ in range(4):
        assert compress(parts.url).status_code == 200
    parts.start("proxy-1")
    assert compress(parts.urls["proxy-1"]).status_code == 200


@pytest.mark.outage
def test_a_frozen_worker_leaves_the_work_to_the_other(parts):
    parts.freeze("worker-1")
    try:
        body = {"messages": coding(26_000, seed=7), "model_context_limit": 128_000}
        httpx.post(f"{parts.url}/v1/context_memory", json=body, headers=HEADERS, timeout=PATIENCE,
                   trust_env=False).raise_for_status()  # fmt: skip
        assert settled(parts.url)
    finally:
        parts.thaw("worker-1")


@pytest.mark.outage
def test_chat_goes_on_without_redis(parts):
    parts.stop("redis")
    try:
        assert compress(parts.url).status_code == 200
    finally:
        parts.start("redis")
    assert parts.alive("redis")


@pytest.mark.outage
@pytest.mark.parametrize("how", ["stop", "kill"])
def test_chat_goes_on_without_postgres_and_memory_comes_back(parts, how):
    getattr(parts, how)("postgres")
    try:
        assert compress(parts.url).status_code in (200, 503)
        assert not parts.alive("postgres")
    finally:
        parts.start("postgres")
    end = time.monotonic() + PATIENCE
    while compress(parts.url).headers.get("x-memtree-state") != "packed":
        assert time.monotonic() < end


def test_a_part_that_does_not_come_up_says_why_and_nothing_is_left(tmp_path):
    settings = {"MEMTREE_STORE": "nonsense:"}
    shape = Shape(2, 0, postgres=False, balancer=False, settings=settings)
    with (
        pytest.raises(RuntimeError, match=r"proxy-1 did not start:[\s\S]*nonsense"),
        topology(tmp_path, shape),
    ):
        pytest.fail("it started")


@pytest.mark.long
def test_ctrl_c_ends_it_all(tmp_path):
    program("caddy")
    command = [sys.executable, "-m", "deploy.topology", "--workers", "1", "--proxies", "1"]
    process = subprocess.Popen(
        [*command, "--folder", str(tmp_path)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout
    said = []
    for line in process.stdout:
        said.append(line)
        if line.startswith("Ctrl-C"):
            break
    rows = [line.split() for line in said]
    urls = {row[0]: urlsplit(row[1]) for row in rows if len(row) == 3 and "://" in row[1]}
    assert urls.keys() >= {"postgres", "redis", "proxy-1", "worker-1", "balancer"}, said
    process.send_signal(signal.SIGINT)
    try:
        assert process.wait(PATIENCE) == 0
    finally:
        process.kill()
    process.stdout.close()
    assert [name for name, url in urls.items() if not refuses(url.port or 0)] == []


def test_a_process_that_ignores_its_signal_is_killed(tmp_path, monkeypatch):
    monkeypatch.setattr("deploy.part.STOP_SECONDS", 0.5)
    deaf = "import signal, sys, time; signal.signal(15, signal.SIG_IGN); print(1, flush=True)"
    log = tmp_path / "deaf.log"
    process = Process(
        [sys.executable, "-c", f"{deaf}; time.sleep(3_600)"], log, {},
        Health("http://nowhere", lambda: log.read_text() == "1\n"),
    )  # fmt: skip
    process.start()
    with pytest.raises(subprocess.TimeoutExpired):
        process.stop()
    assert not process.alive
