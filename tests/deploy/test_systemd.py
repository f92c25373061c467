"""The units: valid, tight, and not so tight that MemTree does not run."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from memtree_proxy.cli.main import build_parser
from tests.deploy.programs import DEPLOY, ROOT, run
from tests.programs.server import PATIENCE, free_port
from tests.programs.sessions import coding

UNITS = DEPLOY / "systemd"
NAMES = {"memtree-proxy@.service": "8787", "memtree-worker@.service": "8801"}
# As MemoryDenyWriteExecute does it: no memory that is written and executed (PR_SET_MDWE).
DENIED = """
import ctypes, os, sys
if ctypes.CDLL(None).prctl(65, 1, 0, 0, 0):
    sys.exit(77)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""


def value(unit: str, name: str) -> str:
    found = re.search(rf"^{name}=(.*)$", (UNITS / unit).read_text("utf-8"), re.MULTILINE)
    assert found, name
    return found[1]


@pytest.fixture
def installed(tmp_path):
    """The units as on a host, but that their program is one that this machine has."""
    if not shutil.which("systemd-analyze"):
        pytest.skip("there is no systemd-analyze")
    for unit, port in NAMES.items():
        text = (UNITS / unit).read_text("utf-8").replace("/opt/memtree/bin/memtree", sys.executable)
        (tmp_path / unit.replace("@", f"@{port}")).write_text(text, "utf-8")
    shutil.copy(UNITS / "memtree.target", tmp_path)
    return sorted(tmp_path.iterdir())


def test_they_are_valid(installed):
    done = run("systemd-analyze", "verify", "--man=no", *installed)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("unit", NAMES)
def test_they_leave_little_room(installed, unit):
    path = next(one for one in installed if one.name.startswith(unit.partition("@")[0]))
    done = run(
        "systemd-analyze", "security", "--offline=true", "--threshold=15", "--no-pager", path
    )
    assert done.returncode == 0, done.stdout[-300:]  # 1.5 of 10, where 10 is no protection


@pytest.mark.parametrize("unit", NAMES)
def test_commands_are_those_of_memtree(unit):
    program, *arguments = value(unit, "ExecStart").replace("%i", NAMES[unit]).split()
    assert program == "/opt/memtree/bin/memtree"
    build_parser().parse_args(arguments)


def test_the_environment_file_is_the_example_s():
    head = (DEPLOY / "memtree.env.example").read_text("utf-8")
    for unit in NAMES:
        assert value(unit, "EnvironmentFile") in head


def test_both_units_are_equally_tight():
    tight = [(UNITS / unit).read_text("utf-8").partition("NoNewPrivileges")[2] for unit in NAMES]
    assert tight[0] == tight[1]


@pytest.mark.long
@pytest.mark.slow
def test_memtree_runs_where_no_memory_may_be_written_and_executed(tmp_path):
    port, log = free_port(), tmp_path / "log"
    command = [
        sys.executable,
        "-c",
        DENIED,
        "-m",
        "memtree_proxy.cli",
        "serve",
        "--upstream",
        "none",
    ]
    options = ["--port", str(port), "--store", f"sqlite:///{tmp_path / 'a.db'}"]
    with log.open("wb") as out:
        process = subprocess.Popen([*command, *options], cwd=ROOT, stdout=out, stderr=out)
    try:
        answered(process, port, log)
        body = {"messages": coding(40_000), "model_context_limit": 128_000}
        url = f"http://127.0.0.1:{port}/v1/context_memory"
        answer = httpx.post(url, json=body, headers={"authorization": "Bearer a"}, timeout=PATIENCE,
                            trust_env=False)  # fmt: skip
        assert answer.status_code == 200, answer.text
        assert answer.json()["usage"]["prompt_tokens"] > 10_000
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE)
    assert process.returncode == 0, log.read_text()


def answered(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    check = [sys.executable, str(DEPLOY / "healthcheck.py"), str(port)]
    while subprocess.run(check, stderr=subprocess.DEVNULL, check=False).returncode:
        if process.poll() == 77:
            pytest.skip("this kernel has no PR_SET_MDWE")
        assert process.poll() is None, log.read_text()
