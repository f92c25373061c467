"""Commands and snippets of docs/deployment.md, run as they stand there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys

import pytest

from tests.deploy.programs import ROOT
from tests.programs.postgres import own_postgres, programs_folder
from tests.programs.server import PATIENCE, running
from tests.programs.sessions import coding

GUIDE = (ROOT / "docs" / "deployment.md").read_text("utf-8")
HEADERS = {"authorization": "Bearer somebody"}


def block(name: str) -> str:
    found = re.search(rf"<!-- tested: {name} -->\n```sh\n(.*?)```", GUIDE, re.DOTALL)
    assert found, name
    return found[1]


def sh(commands: str, folder, **env: str) -> str:
    """Runs a block with `memtree` on its path."""
    program = folder / "memtree"
    program.write_text(
        f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m memtree_proxy.cli "$@"\n'
    )
    program.chmod(0o755)
    path = f"{folder}:{env.pop('PATH', '')}:{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-ec", commands], cwd=folder, env=os.environ | env | {"PATH": path},
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def index(server, seed: int) -> None:
    body = {"messages": coding(26_000, seed=seed), "model_context_limit": 128_000}
    server.post("/v1/context_memory", body, **HEADERS).raise_for_status()
    server.settle(HEADERS)


def known(server, seed: int) -> bool:
    """Return True if anything is there to be forgotten."""
    body = {"messages": coding(26_000, seed=seed)}
    return server.post("/v1/context_memory/delete", body, **HEADERS).json()["nodes"] > 0


@pytest.mark.long
@pytest.mark.slow
def test_sqlite_is_backed_up_while_it_runs_and_restored(tmp_path):
    if not shutil.which("sqlite3"):
        pytest.skip("there is no sqlite3")
    store = tmp_path / "memtree.db"
    with running(store, "--embedder", "none") as server:
        index(server, 1)
        sh(block("sqlite-backup"), tmp_path)
        index(server, 2)
    store.write_bytes(b"broken")
    sh(block("sqlite-restore"), tmp_path)
    assert store.stat().st_mode & 0o777 == 0o600
    with running(store, "--embedder", "none") as server:
        assert known(server, 1)
        assert not known(server, 2)  # came after the backup


@pytest.mark.long
@pytest.mark.slow
def test_postgres_is_backed_up_while_it_runs_and_restored(tmp_path):
    tools = str(programs_folder())
    if not shutil.which("pg_dump", path=tools):
        pytest.skip("this PostgreSQL has no pg_dump")
    with own_postgres() as database:
        flags = ("--embedder", "none", "--store", database.url)
        with running(tmp_path / "unused", *flags) as server:
            index(server, 1)
            sh(block("postgres-backup"), tmp_path, PATH=tools, STORE=database.url)
            index(server, 2)
        sh(block("postgres-restore"), tmp_path, PATH=tools, STORE=database.url)
        with running(tmp_path / "unused", *flags) as server:
            assert known(server, 1)
            assert not known(server, 2)  # came after the backup


def test_the_nginx_snippet_is_valid(tmp_path):
    nginx = shutil.which("nginx") or shutil.which("/usr/sbin/nginx")
    if not nginx:
        pytest.skip("there is no nginx")
    (snippet,) = re.findall(r"```nginx\n(.*?)```", GUIDE, re.DOTALL)
    config = tmp_path / "nginx.conf"
    config.write_text(
        f"pid {tmp_path}/pid;\nerror_log stderr;\nevents {{}}\nhttp {{\n{snippet}}}\n", "utf-8"
    )
    done = subprocess.run(
        [nginx, "-t", "-q", "-c", config, "-p", tmp_path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_every_file_that_is_named_exists():
    for text, base in (
        (GUIDE, ROOT / "docs"),
        ((ROOT / "deploy/README.md").read_text(), ROOT / "deploy"),
    ):
        for target in re.findall(r"\]\(([^)#]+)", text):
            assert (base / target).exists(), target
