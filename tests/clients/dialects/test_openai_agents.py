"""openai-agents, which speaks Responses, in both its ways to run and with a session that it keeps;
`make agents` installs it."""

from __future__ import annotations

import json
import subprocess

import pytest

from tests import project
from tests.clients.dialects.rig import DialectRig
from tests.clients.driven import HERE, needed
from tests.made.scripted import Fail
from tests.project import DONE, PLAIN, SUMMARY, TASK

pytestmark = [pytest.mark.agents, pytest.mark.slow]

PROGRAM = HERE / "sdk" / "session.py"
PYTHON = HERE / "sdk" / ".venv" / "bin" / "python"
FIRST, LATER = range(20), range(20, 32)
SIZE = 27_000
MORE_DONE = "The later parts are read as well."


@pytest.mark.parametrize("way", ["run", "stream"])
def test_two_runs(rig: DialectRig, key: str, way: str) -> None:
    needed("openai-agents", PYTHON)
    steps = [*project.work(PLAIN, FIRST), *project.work(PLAIN, LATER, done=MORE_DONE, anew=True)]
    rig.script(key, [*steps[:4], Fail(429, "rate_limit_exceeded", 0), *steps[4:]])
    files = project.files(len(FIRST) + len(LATER), SIZE)
    given = {"url": rig.url, "key": key, "way": way, "model": "gpt-5.5",
             "tasks": [TASK, "Read the later parts, too."], "files": files}  # fmt: skip
    run = subprocess.run(
        [PYTHON, PROGRAM], input=json.dumps(given), capture_output=True, text=True, timeout=300,
        check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    result = json.loads(run.stdout)
    assert result["last"] == [DONE, MORE_DONE]
    assert result["files"][SUMMARY] == project.summary(LATER)
    verdict = rig.check(key)
    assert verdict.biggest > 800_000
