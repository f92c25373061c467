"""The server of the tests themselves."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import psycopg
import pytest

from tests import postgres

ROOT = Path(__file__).parents[2]
KILLED = """
import os, signal, sys
sys.path.insert(0, sys.argv[1])
from tests.postgres import launched
server = launched()
print(server.url, server.data, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.slow
def test_a_killed_test_run_leaves_no_server():
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(ROOT)], stdout=subprocess.PIPE, text=True, check=False
    )
    url, data = done.stdout.split()
    end = time.monotonic() + 60
    while Path(data).exists() and time.monotonic() < end:
        time.sleep(0.05)
    assert not Path(data).parent.exists()
    with pytest.raises(psycopg.OperationalError, match="refused"):
        psycopg.connect(url)


@pytest.mark.parametrize(
    ("variables", "outcome"), [({}, pytest.skip.Exception), ({"CI": "true"}, pytest.fail.Exception)]
)
def test_a_machine_without_a_server(monkeypatch, variables, outcome):
    """Is no reason to be silent."""
    monkeypatch.setattr(postgres.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(postgres.shutil, "which", lambda name: None)
    monkeypatch.setattr(postgres, "DEBIAN", Path("/nowhere"))
    monkeypatch.setattr(postgres.os, "environ", variables)
    with pytest.raises(outcome, match="there is no PostgreSQL"):
        postgres.launched()
