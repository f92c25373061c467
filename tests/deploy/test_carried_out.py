"""Check what the chart and the compose file hand to a shell or to Redis, handed to these for
real."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from redis import AuthenticationError, Redis

from tests.deploy.programs import ROOT
from tests.deploy.test_chart import FULL, of, render
from tests.deploy.test_compose import SECRETS, composed
from tests.programs.redis_server import program
from tests.programs.server import free_port

pytestmark = pytest.mark.slow


@pytest.fixture
def memtree(tmp_path):
    """`memtree` on the path, with a store of its own."""
    script = tmp_path / "memtree"
    script.write_text(
        f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m memtree_proxy.cli "$@"\n'
    )
    script.chmod(0o755)
    return os.environ | {
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "MEMTREE_STORE": f"sqlite:///{tmp_path / 'a.db'}",
    }


@pytest.mark.long
def test_the_first_proxy_puts_the_access_key_there_once(memtree):
    pod = of(render(FULL), "Deployment", "-proxy")["spec"]["template"]["spec"]
    (opener,) = pod["initContainers"]
    env = memtree | {"ACCESS_KEY_LABEL": "helm", "ACCESS_KEY": "mt-something"}
    for _ in range(2):  # every pod does it
        subprocess.run([*opener["command"], *opener["args"]], env=env, check=True)
    listed = subprocess.check_output(["memtree", "keys", "list"], env=env, text=True)
    assert listed.count("helm") == 1
    other = env | {"ACCESS_KEY_LABEL": "hel", "ACCESS_KEY": "mt-other"}
    subprocess.run([*opener["command"], *opener["args"]], env=other, check=True)
    listed = subprocess.check_output(["memtree", "keys", "list"], env=env, text=True)
    assert len(listed.splitlines()) == 2  # a label that another begins with is one of its own


@pytest.mark.long
def test_a_store_that_is_not_there_holds_the_pod_back(memtree, tmp_path):
    pod = of(render(FULL), "Deployment", "-proxy")["spec"]["template"]["spec"]
    (opener,) = pod["initContainers"]
    (tmp_path / "a.db").write_bytes(b"no database")
    env = memtree | {"ACCESS_KEY_LABEL": "helm", "ACCESS_KEY": "mt-something"}
    done = subprocess.run([*opener["command"], *opener["args"]], env=env, capture_output=True,
                          check=False)  # fmt: skip
    assert done.returncode


def test_redis_takes_its_file_and_wants_the_password(tmp_path):
    content = composed(**SECRETS)["model"]["configs"]["valkey"]["content"]
    config, port = tmp_path / "valkey.conf", free_port()
    config.write_text(content.replace("dir /data", f"dir {tmp_path}"), "utf-8")
    command = [str(program()), str(config), "--port", str(port), "--bind", "127.0.0.1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout
            assert any("Ready to accept connections" in line for line in server.stdout)
            with Redis(port=port, protocol=2) as stranger, pytest.raises(AuthenticationError):
                stranger.ping()
            with Redis(port=port, protocol=2, password="r1") as known:
                assert known.config_get("maxmemory*")["maxmemory-policy"] == "noeviction"
                known.set("a", 1)
        finally:
            server.terminate()
    assert list(tmp_path.rglob("*.aof"))
