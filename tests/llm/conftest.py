"""The small model that `make llm` installs, served for the tests of this folder."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SCRIPT = HERE.parents[1] / "scripts" / "small_model.py"


@pytest.fixture(scope="session")
def url() -> Iterator[str]:
    """The model's server, for as long as this process holds its standard input open."""
    command = [str(HERE / ".venv/bin/python"), str(SCRIPT), "serve", str(HERE / ".model")]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        assert server.stdin
        assert server.stdout
        yield server.stdout.readline().strip()
        server.stdin.close()
