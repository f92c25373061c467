"""Coding agents through the real server, each with a task of many tool rounds; `make agents`.

A session has parallel calls, an upstream that says 429 once and one answer that breaks off; then
it is continued. Memory must be used and folded several times, the task done, every request to the
model valid, and the same requests valid in every mode.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import project
from tests.clients import driven
from tests.clients.driven import Agent, Seat
from tests.clients.rig import Rig, Verdict, rigged
from tests.made.scripted import Cut, Fail, Say, Step
from tests.programs.tap import NUMBER
from tests.project import DONE, SUMMARY, TASK

pytestmark = [pytest.mark.agents, pytest.mark.slow]

TARGET = 8_000
FIRST, LATER = range(24), range(24, 34)
COMPACTED = range(60)  # so many parts that Cline compacts its history once
SIZE = 10_000  # characters of a part: no agent cuts a result of this length
MORE = "Read the parts that came after, too, and write the summary anew. Which limit has part 3?"
MORE_DONE = "The later parts are read as well."
FOLDS = 3


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    with rigged(tmp_path_factory.mktemp("agents"), "--mode", "stable", target=TARGET) as made:
        yield made


@pytest.fixture
def seat(tmp_path: Path, rig: Rig, request: pytest.FixtureRequest) -> Seat:
    key = request.node.name.replace(" ", "")
    made = Seat(tmp_path / "home", tmp_path / "project", rig.url, f"key-{key}")
    made.home.mkdir()
    for name, text in project.files(len(COMPACTED), SIZE).items():
        path = made.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    for command in ("init -q", "add -A", "-c user.name=t -c user.email=t@localhost commit -qm x"):
        subprocess.run(["git", *command.split()], cwd=made.project, check=True)
    return made


def troubled(steps: list[Step]) -> list[Step]:
    """Return the steps with an error and a cut on the way."""
    return [
        *steps[:3],
        Fail(429, "rate_limit_exceeded", retry_after=1),
        *steps[3:6],
        Cut(),
        *steps[6:],
    ]


@pytest.mark.parametrize("agent", driven.WITH_TOOLS, ids=lambda agent: agent.name)
def test_long_task(rig: Rig, seat: Seat, agent: Agent) -> None:
    agent.sit(seat)
    root = f"{seat.project}/"
    script = rig.script(
        seat.key, troubled([*project.work(agent.tools, FIRST, root)]), tools_only=True
    )
    first = agent.run(seat, TASK)
    _written(seat, FIRST, first, DONE, script.at)
    if agent.go_on:
        rig.script(seat.key, [*project.work(agent.tools, LATER, root, done=MORE_DONE, anew=True)])
        second = agent.run(seat, MORE, again=True)
        _written(seat, LATER, second, MORE_DONE, script.at)
    verdict = rig.check(seat.key, target=TARGET)
    report(agent.name, rig, verdict)
    assert len(verdict.epochs) >= FOLDS, verdict.epochs


def test_own_compaction(rig: Rig, seat: Seat) -> None:
    """Where it is left on, Cline has its history summarised and goes on with the summary: that
    request goes as it is, what comes after begins a new chain, and the task comes to its end."""
    agent = driven.CLINE_COMPACTING
    agent.sit(seat)
    steps: list[Step] = [*project.work(agent.tools, COMPACTED, f"{seat.project}/")]
    script = rig.script(seat.key, steps, tools_only=True)
    _written(seat, COMPACTED, agent.run(seat, TASK), DONE, script.at)
    verdict = rig.check(seat.key, target=TARGET)
    report(agent.name, rig, verdict)
    bodies = {one.number: one.body for one in rig.tap.of(seat.key)}
    sides = [seen for seen in script.seen if not seen.body.get("tools")]
    assert sides, "nothing was compacted: the session is too short"
    assert all(seen.body == bodies[int(seen.headers[NUMBER])] for seen in sides)


def test_aider(rig: Rig, seat: Seat) -> None:
    """It has no tools: each answer holds a file anew. The newest message carries rules that are
    gone in the next turn, and the files stand before it. Continued from the file of its history."""
    driven.needed("aider", driven.AIDER)
    texts = {f"notes_{turn:02}.txt": text for turn, text in enumerate(_notes(20))}
    steps: list[Step] = [Say(_edit(name, text)) for name, text in texts.items()]
    rig.script(seat.key, [*steps[:5], Fail(429, "rate_limit_exceeded", 1), *steps[5:]])
    tasks = [f"Write {name} anew, please, in {number} parts." for number, name in enumerate(texts)]
    first = driven.aider(seat, tasks[:12])
    second = driven.aider(seat, tasks[12:], "--restore-chat-history")
    for name, text in texts.items():
        tail = f"{name}:\n{first.stdout[-2000:]}\n{second.stdout[-2000:]}"
        assert (seat.project / name).exists(), tail
        assert (seat.project / name).read_text("utf-8").strip() == text.strip(), tail
    verdict = rig.check(seat.key, target=TARGET)
    report("aider", rig, verdict)


def _notes(count: int) -> list[str]:
    return [
        text for path, text in project.files(count, SIZE // 2, seed=2).items() if "part" in path
    ]


def _edit(name: str, text: str) -> str:
    """A file in the form that aider's format `whole` wants."""
    return f"I write it.\n\n{name}\n```\n{text}```\n"


def _written(
    seat: Seat, parts: range, run: subprocess.CompletedProcess[str], done: str, at: int
) -> None:
    """The task is done: the file on disk, and the last word in what the agent printed."""
    tail = f"exit code {run.returncode} at step {at}:\n{run.stdout[-3000:]}"
    assert run.returncode == 0, tail
    path = seat.project / SUMMARY
    assert path.exists(), tail
    assert path.read_text("utf-8").strip() == project.summary(parts).strip(), tail
    assert done in run.stdout, tail


def report(name: str, rig: Rig, verdict: Verdict) -> None:
    """Print what was seen, for those who run this with -s."""
    print(
        f"\n{name}: {verdict.requests} requests, {len(verdict.epochs)} epochs, "
        f"{dict(verdict.states)}, problems {len(verdict.problems)}"
    )
    for path in rig.upstream.strangers:
        print(f"  also asked for {path}")
    rig.upstream.strangers.clear()
