"""A server that cannot begin says why, and nothing else; Ctrl-C while it begins is no error."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from memtree_proxy.server.listener import port_owner
from tests.programs.server import PATIENCE

ROOT = Path(__file__).parents[3]

pytestmark = [pytest.mark.slow, pytest.mark.clients]

COMMAND = [sys.executable, "-m", "memtree_proxy.cli"]


def started(tmp_path: Path, *arguments: str, path: str = "") -> subprocess.Popen[str]:
    env = {k: v for k, v in os.environ.items() if not k.startswith("MEMTREE_")}
    env["MEMTREE_HOME"] = str(tmp_path)
    env["PYTHONPATH"] = os.pathsep.join(filter(None, [path, str(ROOT), env.get("PYTHONPATH")]))
    # A shell's background jobs ignore Ctrl-C and hand that on; what is handled here is not ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return subprocess.Popen(
            [*COMMAND, *arguments], cwd=tmp_path, env=env, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_port_that_is_taken(tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        server = started(tmp_path, "serve", "--port", str(port))
        out, err = server.communicate(timeout=PATIENCE)
        owner = port_owner(port)
    assert owner is not None
    assert (server.returncode, out) == (1, "")
    why = f"the port is in use by {owner}. Stop it"
    assert err.startswith(f"memtree: cannot listen on 127.0.0.1:{port}: {why}")
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []  # no store was opened


@pytest.mark.long
def test_a_port_that_is_none(tmp_path: Path):
    server = started(tmp_path, "serve", "--port", "99999")
    assert server.communicate(timeout=PATIENCE) == (
        "",
        "memtree: port must be at most 65535, not 99999\n",
    )
    assert server.returncode == 1


def test_ctrl_c_while_it_is_being_imported(tmp_path: Path):
    """A module that never comes to its end stands in for a slow one."""
    folder = tmp_path / "modules"
    folder.mkdir()
    (folder / "uvicorn.py").write_text("import time\nprint('here', flush=True)\ntime.sleep(300)\n")
    server = started(tmp_path, "serve", path=str(folder))
    assert server.stdout is not None
    assert server.stdout.readline() == "here\n"
    server.send_signal(signal.SIGINT)
    _, err = server.communicate(timeout=PATIENCE)
    assert (server.returncode, err) == (130, "")


@pytest.mark.long
def test_ctrl_c_while_its_settings_are_read(tmp_path: Path):
    pipe = tmp_path / "memtree.toml"
    os.mkfifo(pipe)  # reading it lasts until somebody has written
    server = started(tmp_path, "serve")
    writer = os.open(pipe, os.O_WRONLY)  # returns once the server reads
    server.send_signal(signal.SIGINT)
    _, err = server.communicate(timeout=PATIENCE)
    os.close(writer)
    assert (server.returncode, err) == (130, "")


@pytest.mark.long
def test_a_store_that_does_not_answer_yet(tmp_path: Path):
    """A database may come later than the server, which says so before it says that it runs."""
    pytest.importorskip("psycopg")
    server = started(
        tmp_path, "serve", "--port", "0", "--upstream", "none", "--embedder", "none",
        "--store", "postgresql://u:secret@127.0.0.1:1/db",
    )  # fmt: skip
    assert server.stderr is not None
    said = [next(line for line in server.stderr if line.startswith("  store "))]
    server.send_signal(signal.SIGINT)
    said += server.communicate(timeout=PATIENCE)
    assert said[0] == (
        "  store     postgresql://127.0.0.1:1/db does not answer: until it does, chats go on "
        "without memory\n"
    )
    assert "secret" not in "".join(said)
    assert "Traceback" not in "".join(said)


COMPILING = """
import asyncio, sys
from memtree.text.rule_sentences import standing_rules
from memtree_proxy.server.serve import compile_phrases

compiled = []
def count(frame, event, arg):
    if event == "call" and frame.f_code.co_name == "_compile":
        compiled.append(frame)

def found():
    compiled.clear()
    sys.setprofile(count)
    for rule in ("Always answer in German.", "Antworte immer auf Deutsch."):
        assert standing_rules(rule)
    sys.setprofile(None)
    return len(compiled)

if sys.argv[1:]:
    asyncio.run(compile_phrases())
print(found())
"""


@pytest.mark.long
@pytest.mark.parametrize(("ahead", "compiles"), [([], True), (["ahead"], False)])
def test_phrases_of_rules_are_compiled_before_a_turn_has_them(ahead: list[str], compiles: bool):
    command = [sys.executable, "-c", COMPILING, *ahead]
    counted = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert (int(counted.stdout) > 0) == compiles
