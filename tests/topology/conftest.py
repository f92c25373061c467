"""One topology for the tests of this folder; every test brings tenants of its own."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest

from tests.deploy.programs import program
from tests.topology import judged
from tests.topology.rigs import Rig, rigged


@pytest.fixture(scope="session")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    program("caddy")
    folder = tmp_path_factory.mktemp("topology")
    with rigged(folder) as made:
        yield made
        pids = processes(str(folder))
        assert pids
    assert processes(str(folder)) == []
    assert {path.suffix for path in folder.iterdir() if path.is_file()} == {".log"}
    assert list(judged.tracebacks(made.logs)) == []


def processes(folder: str) -> list[str]:
    """Those that have a file of this folder open, as all of the topology have their logs."""
    found = subprocess.run(
        ["sh", "-c", f"ls -l /proc/[0-9]*/fd 2>/dev/null | grep -o ' {folder}/[^ ]*'"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return sorted(set(found.stdout.split()))
