"""A starved command runs to its end, and stands still meanwhile."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from scripts import starved

SCRIPT = str(Path(starved.__file__))
SLEEPS = "import time; start = time.monotonic(); time.sleep({}); print(time.monotonic() - start)"


@pytest.mark.slow
def test_a_command_is_stopped_meanwhile_and_its_status_is_kept(monkeypatch, capfd):
    monkeypatch.setattr(starved, "RUNNING", (0.05, 0.1))
    monkeypatch.setattr(starved, "STOPPED", (0.05, 0.1))
    code = f"{SLEEPS.format(0.5)}; raise SystemExit(7)"
    assert starved.starve([sys.executable, "-c", code], random.Random(1)) == 7
    told = capfd.readouterr().out
    assert "status 7" in told
    stops = int(told.split(" stops")[0].rsplit(" ", 1)[1])
    assert stops > 1


def test_the_first_failing_run_ends_it():
    command = [sys.executable, SCRIPT, "--times", "3", sys.executable, "-c", "raise SystemExit(4)"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 4
    assert ended.stdout.count("status 4") == 1


def test_who_ends_it_ends_its_command():
    inner = "import os, time; print(os.getpid(), flush=True); time.sleep(600)"
    command = [sys.executable, SCRIPT, sys.executable, "-c", inner]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        pid = int(process.stdout.readline())
        process.send_signal(signal.SIGTERM)
        assert process.wait(180) == 128 + signal.SIGTERM
    assert not Path(f"/proc/{pid}").exists()
