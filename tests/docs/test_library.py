"""The examples of docs/library.md, each in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import block

pytestmark = pytest.mark.slow


def printed(name: str, folder: Path) -> list[str]:
    code = block("docs/library.md", name)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=folder, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_ten_lines(tmp_path: Path) -> None:
    assert len([line for line in block("docs/library.md", "ten lines").splitlines() if line]) == 10
    counts, found = printed("ten lines", tmp_path)
    assert counts.startswith("below-threshold ")
    assert found == "['Ann drinks green tea']"
    assert (tmp_path / "memory.db").is_file()


def test_without_a_loop(tmp_path: Path) -> None:
    (line,) = printed("sync", tmp_path)
    assert line.endswith(" 1")


@pytest.mark.clients
def test_langchain(tmp_path: Path) -> None:
    assert printed("langchain", tmp_path) == []
