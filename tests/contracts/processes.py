"""Processes that begin at once on one store, and of which one may be killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.programs.postgres import wait_for_victims

ROOT = Path(__file__).parents[2]


def child(code: str, *words: object) -> subprocess.Popen[str]:
    """It is told where the project is, and these words; it says "ready" and waits."""
    command = [sys.executable, "-c", code, str(ROOT), *map(str, words)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def begin(*children: subprocess.Popen[str]) -> None:
    """All at once."""
    for each in children:
        assert each.stdout
        assert each.stdout.readline() == "ready\n"
    for each in children:
        assert each.stdin
        each.stdin.write("go\n")
        each.stdin.flush()


def ended(*children: subprocess.Popen[str]) -> list[list[str]]:
    """The words that each has printed when it is done."""
    begin(*children)
    outputs = [each.communicate(timeout=600)[0].split() for each in children]
    assert [each.returncode for each in children] == [0] * len(children)
    return outputs


def killed_in_the_middle(process: subprocess.Popen[str], url: str, pause: float) -> int:
    """How many lines it printed: two, and those of a pause."""
    begin(process)
    assert process.stdout
    told = [process.stdout.readline() for _ in range(2)]
    time.sleep(pause)  # wherever it is then
    os.kill(process.pid, signal.SIGKILL)
    told += process.stdout.read().splitlines(keepends=True)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    wait_for_victims(url)
    return sum(line.endswith("\n") for line in told)
