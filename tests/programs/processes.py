"""List processes from /proc, for tests of what they leave behind."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.programs.server import PATIENCE

needs_proc = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc")


def descendants(pid: int) -> set[int]:
    """Children of a process, and theirs."""
    found: set[int] = set()
    new = {pid}
    while new:
        for task in Path(f"/proc/{new.pop()}/task").glob("*/children"):
            try:
                children = {int(child) for child in task.read_text().split()} - found
            except (FileNotFoundError, ProcessLookupError):  # it has just ended
                continue
            found |= children
            new |= children
    return found


def alive(pids: set[int]) -> set[int]:
    """Those that run. A zombie does not: only nobody has asked for its end yet."""
    return {pid for pid in pids if _state(pid) not in "ZX"}


def gone(pids: set[int], seconds: float = PATIENCE) -> None:
    """Wait until none of them runs: who ends them does not wait for their end."""
    end = time.monotonic() + seconds
    while left := alive(pids):
        assert time.monotonic() < end, f"still there: {left}"
        time.sleep(0.02)


def _state(pid: int) -> str:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return "X"
    return stat.rpartition(")")[2].split()[0]
