"""The Node SDKs of Messages and of Responses, in all their ways to ask, through the real server.

`make node` installs them. Without node these tests are skipped at the desk and fail in CI.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests import project
from tests.clients.dialects.rig import DialectRig
from tests.made.scripted import Fail, Say
from tests.programs.server import PATIENCE
from tests.programs.sessions import chat
from tests.project import DEFINITIONS, DONE, PLAIN, SUMMARY, TASK

pytestmark = [pytest.mark.slow, pytest.mark.clients]

HERE = Path(__file__).parents[1] / "node"
PARTS = range(28)
WAYS = [
    ("anthropic.mjs", "@anthropic-ai/sdk", "claude-sonnet-5-5", "create stream helper runner"),
    ("responses.mjs", "openai", "gpt-5.5", "create stream helper"),
]
QUICK = ("stream",)  # of the ways: asked in `make test` too


def node_with(package: str) -> str:
    found = shutil.which("node")
    if found and (HERE / "node_modules" / package).is_dir():
        return found
    missing = f"{package} is not installed: `make node` does it, and needs node and npm"
    if "CI" in os.environ:
        pytest.fail(missing)
    pytest.skip(missing)


@pytest.mark.parametrize(
    ("program", "package", "model", "way"),
    [
        pytest.param(*one, way, marks=[] if way in QUICK else [pytest.mark.long])
        for *one, ways in WAYS
        for way in ways.split()
    ],
)
def test_tool_loop(
    rig: DialectRig, key: str, program: str, package: str, model: str, way: str
) -> None:
    run_session(rig, key, program, package, model, way)
    rig.check(key)


@pytest.mark.long
def test_a_runner_whose_history_the_server_holds(rig: DialectRig, key: str) -> None:
    """The runner holds its history on the server by default: nothing but new messages is posted,
    and goes on as it came."""
    run_session(rig, key, "anthropic.mjs", "@anthropic-ai/sdk", "claude-sonnet-5-5", "threads")
    posted, seen = rig.tap.of(key), rig.upstream.scripts[key].seen
    assert {one.state for one in posted} == {"passed"}
    assert {one.answer_headers["x-memtree-reason"] for one in posted} == {"server-state"}
    assert [one.raw for one in posted] == [one.raw for one in seen]


def run_session(
    rig: DialectRig, key: str, program: str, package: str, model: str, way: str
) -> None:
    rig.script(key, project.work(PLAIN, PARTS))
    given = {
        "url": rig.url,
        "key": key,
        "way": way,
        "model": model,
        "task": TASK,
        "tools": DEFINITIONS,
        "files": project.files(len(PARTS), 4_000),
    }
    run = subprocess.run(
        [node_with(package), program], cwd=HERE, input=json.dumps(given), capture_output=True,
        text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    result = json.loads(run.stdout)
    assert result["last"] == DONE
    assert result["files"][SUMMARY] == project.summary(PARTS)


HISTORY = [*chat(160, words=60), {"role": "user", "content": "What about the river?"}]


def answer(rig: DialectRig, key: str, sdk: str, retries: int, *, memory: bool = True) -> Any:
    headers = {"x-polychat-memory": "on"} if memory else {}
    given = {"url": rig.url, "key": key, "sdk": sdk, "retries": retries, "history": HISTORY,
             "headers": headers}  # fmt: skip
    package = {"anthropic": "@anthropic-ai/sdk"}.get(sdk, sdk)
    run = subprocess.run(
        [node_with(package), "answers.mjs"], cwd=HERE, input=json.dumps(given),
        capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


@pytest.mark.long
@pytest.mark.parametrize("sdk", ["anthropic", "openai"])
def test_a_rate_limit_is_waited_for(rig: DialectRig, key: str, sdk: str) -> None:
    rig.script(key, [Fail(429, "rate_limit_exceeded", 0), Say("It flows.")])
    assert answer(rig, key, sdk, retries=2) == {"text": "It flows."}
    assert rig.verdict(key).problems == []


@pytest.mark.long
@pytest.mark.parametrize(
    ("sdk", "told"),
    [("anthropic", "prompt is too long: "), ("openai", "exceeds the context window")],
)
def test_too_long_without_memory_and_not_with_it(
    rig: DialectRig, key: str, sdk: str, told: str
) -> None:
    rig.script(key, [Say("It flows.")], window=3_500)
    refused = answer(rig, key, sdk, retries=0, memory=False)
    assert (refused["error"], refused["status"]) == ("BadRequestError", 400)
    assert told in refused["message"]
    assert answer(rig, key, sdk, retries=0) == {"text": "It flows."}
    assert rig.verdict(key).invalid == []
