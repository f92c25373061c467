"""`memtree ui` beside real servers: it finds those of its user, and only those that live."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.http.served.running import running
from tests.http.served.upstream import FakeUpstream
from tests.programs.server import Server

pytestmark = pytest.mark.slow

FLAGS = ("--upstream", "none", "--embedder", "none")


def ui(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "memtree_proxy.cli", "ui", "--print", *words]
    env = os.environ | {"MEMTREE_HOME": str(home)}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=env)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def server(tmp_path: Path, home: Path) -> Iterator[Server]:
    server = Server(tmp_path / "own.db", *FLAGS, variables={"MEMTREE_HOME": str(home)})
    yield server
    server.stop()


def test_it_prints_an_address_whose_code_is_good_once(server: Server, home: Path) -> None:
    (path,) = (home / "servers").iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    secret = json.loads(path.read_bytes())["secret"]
    printed = ui(home)
    assert printed.returncode == 0
    match = re.search(rf"http://127\.0\.0\.1:{server.port}/ui#code=(\S+)", printed.stdout)
    assert match
    statuses = [server.post("/ui/session", {"code": match[1]}).status_code for _ in range(2)]
    assert statuses == [200, 401]
    assert secret not in printed.stdout
    log = server.logged("status=401")
    assert secret not in log
    assert match[1] not in log
    assert server.stop() == 0
    assert list((home / "servers").iterdir()) == []
    assert "no server of this user" in ui(home).stderr


def test_of_several_servers_one_must_be_named(server: Server, home: Path, tmp_path: Path) -> None:
    second = Server(tmp_path / "second.db", *FLAGS, variables={"MEMTREE_HOME": str(home)})
    try:
        refused = ui(home)
        assert refused.returncode == 1
        assert f":{server.port}" in refused.stderr
        assert f":{second.port}" in refused.stderr
        assert f":{second.port}/ui#code=" in ui(home, "--port", str(second.port)).stdout
        second.kill()  # its file stays
        assert len(list((home / "servers").iterdir())) == 2
        assert f":{server.port}/ui#code=" in ui(home).stdout
    finally:
        second.stop()


def test_a_rival_on_the_port_of_a_dead_server_is_none_of_ours(server: Server, home: Path) -> None:
    path = next((home / "servers").iterdir())
    kept = path.with_suffix(".kept")
    shutil.copy(path, kept)
    server.stop()
    with running(FakeUpstream()) as url:
        state = json.loads(kept.read_bytes()) | {"port": httpx.URL(url).port}
        path.write_text(json.dumps(state))
        refused = ui(home)
    assert refused.returncode == 1
    assert "#code=" not in refused.stdout
