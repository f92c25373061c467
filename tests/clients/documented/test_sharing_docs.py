"""The examples of docs/sharing.md, run as they stand there against real servers."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.http.wire.documented import DOCUMENT
from tests.programs.server import PATIENCE, Server, running

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.clients]

PAGE = (Path(__file__).parents[3] / "docs" / "sharing.md").read_text("utf-8")
FLAGS = ("--upstream", "none", "--embedder", "none")


def block(name: str) -> str:
    found = re.search(rf"<!-- tested: {name} -->\n```\w+\n(.*?)```", PAGE, re.DOTALL)
    assert found, name
    return found[1]


def run(code: str, server: Server) -> str:
    code = code.replace("http://127.0.0.1:8787", server.url)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running(tmp_path_factory.mktemp("docs") / "docs.db", *FLAGS) as made:
        yield made


def test_two_wallets(server: Server):
    told = run(block("client"), server)
    assert (
        told
        == "shared:researcher Staging listens on port 8090.\nx-grants: grant 1: it was revoked\n"
    )
    assert told in PAGE


def test_two_keys(tmp_path: Path):
    """The definitions of the first block, and what the second one does with them."""
    store = tmp_path / "keys.db"
    keys = []
    for label in ("ada", "bob"):
        made = subprocess.run(
            [sys.executable, "-m", "memtree_proxy.cli", "keys", "create", label],
            env={"MEMTREE_STORE": f"sqlite:///{store}"},
            cwd=Path(__file__).parents[3], capture_output=True, text=True, check=True,
        )  # fmt: skip
        keys.append(made.stdout.strip())
    definitions = block("client").partition("ada, bob = ")[0]
    save = (
        'ada.request("POST", "/memories", {"agentId": "researcher", "memories": '
        '[{"kind": "Finding", "data": {"text": "The staging port is 8090."}}]}, api_key=ADAS_KEY)'
    )
    with running(store, *FLAGS) as server:
        told = run(
            f"{definitions}ada, bob = Wallet(), Wallet()\nADAS_KEY, BOBS_KEY = {keys!r}\n"
            f"{save}\n{block('keys')}print(ada.request('GET', '/wallets')['error']['code'])",
            server,
        )
    assert "The staging port is 8090." in told
    assert told.endswith("invalid_api_key\n")


def test_every_route_stands_on_the_page():
    known = {path for path in DOCUMENT["paths"] if path.startswith(("/grants", "/wallets"))}
    assert len(known) > 3
    for path in known:
        assert f"{path}`" in PAGE or f'"{path}"' in PAGE, path
