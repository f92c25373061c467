"""The OpenAI Node SDK, in all its ways to ask, through the real server.

`make node` installs it. Without node these tests are skipped at the desk and fail in CI.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests import project
from tests.clients.rig import Rig
from tests.made.scripted import MODEL
from tests.programs.server import PATIENCE
from tests.project import DEFINITIONS, DONE, PLAIN, SUMMARY, TASK

pytestmark = [pytest.mark.slow, pytest.mark.clients]

HERE = Path(__file__).parents[1] / "node"
PARTS = range(20)


@pytest.fixture(scope="module")
def node() -> str:
    found = shutil.which("node")
    if found and (HERE / "node_modules" / "openai").is_dir():
        return found
    missing = "the OpenAI Node SDK is not installed: `make node` does it, and needs node and npm"
    if "CI" in os.environ:
        pytest.fail(missing)
    pytest.skip(missing)


@pytest.mark.parametrize(
    "way",
    [
        "stream",
        *(pytest.param(one, marks=pytest.mark.long) for one in ("create", "helper", "runner")),
    ],
)
def test_tool_loop(rig: Rig, node: str, way: str) -> None:
    key = f"node-{way}"
    rig.script(key, project.work(PLAIN, PARTS))
    given = {
        "url": rig.url,
        "key": key,
        "way": way,
        "model": MODEL,
        "task": TASK,
        "tools": DEFINITIONS,
        "files": project.files(len(PARTS), 4_000),
    }
    run = subprocess.run(
        [node, "session.mjs"],
        cwd=HERE,
        input=json.dumps(given),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    result = json.loads(run.stdout)
    assert result["last"] == DONE
    assert result["files"][SUMMARY] == project.summary(PARTS)
    rig.check(key)
