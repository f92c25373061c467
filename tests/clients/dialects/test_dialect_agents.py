"""Coding agents that speak Messages or Responses, through the real server; `make agents`.

Each reads over 800 KB in many tool rounds with parallel calls, on the way a 429 and an answer that
breaks off; then the session is continued. Memory must be used and folded several times, the task
done, no request to the model invalid by the rules of its API, and thinking shown only behind what
it was made behind.
"""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from tests import project
from tests.clients.dialects import driven
from tests.clients.dialects.rig import FOLDED, DialectRig, SessionVerdict, dialect_rig, unread
from tests.clients.dialects.rig import MEMORY as MEMORY_TEXT
from tests.clients.dialects.upstream import DialectStep
from tests.clients.driven import MEMORY, Agent, Seat
from tests.made.scripted import Call, Cut, Fail, Say, Step
from tests.programs.tap import NUMBER
from tests.project import DONE, SUMMARY, TASK
from tests.wire.servers import messages_server, responses_server

pytestmark = [pytest.mark.agents, pytest.mark.slow]

FIRST, LATER = range(32), range(32, 38)
SHORT = range(8)
SIZE = 27_000  # characters of a part: no agent cuts a result of this length
LONG = 800_000  # bytes of history
MORE = "Read the parts that came after, too, and write the summary anew. Which limit has part 3?"
MORE_DONE = "The later parts are read as well."
FILES = project.files(len(FIRST) + len(LATER), SIZE)
SMALL = range(130)  # parts of a length that Cline does not cut
SMALL_FILES = project.files(len(SMALL), 6_500)
MODES = ("auto", "stable", "fresh")


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DialectRig]:
    with dialect_rig(tmp_path_factory.mktemp("agents")) as made:
        yield made


@pytest.fixture
def seat(tmp_path: Path, rig: DialectRig, request: pytest.FixtureRequest) -> Seat:
    key = "".join(c for c in request.node.name if c.isalnum())
    return seated(tmp_path, rig.url, f"key-{key}")


def seated(folder: Path, url: str, key: str) -> Seat:
    made = Seat(folder / "home", folder / "project", url, key)
    made.home.mkdir()
    fill(made, FILES)
    for command in ("init -q", "add -A", "-c user.name=t -c user.email=t@localhost commit -qm x"):
        subprocess.run(["git", *command.split()], cwd=made.project, check=True)
    return made


def fill(seat: Seat, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = seat.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def told(seat: Seat, **headers: str) -> Seat:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return replace(seat, headers={**MEMORY, **named})


def troubled(agent: Agent, steps: list[Step]) -> list[Step]:
    """A 429 on the way, and an answer that breaks off where the agent asks again after one."""
    cut = () if agent in driven.ENDS_AT_A_CUT else (Cut(),)
    return [*steps[:3], Fail(429, "rate_limit_exceeded", 1), *steps[3:6], *cut, *steps[6:]]


def work(agent: Agent, seat: Seat, parts: range, **more: object) -> list[Step]:
    return [*project.work(agent.tools, parts, f"{seat.project}/", **more)]  # type: ignore[arg-type]


def session(rig: DialectRig, seat: Seat, agent: Agent, *, folds: int = 2) -> SessionVerdict:
    """The task, then the continued one, with all that is to be so in any case."""
    agent.sit(seat)
    small = agent is driven.CLINE_ANTHROPIC
    first, files = (SMALL, SMALL_FILES) if small else (FIRST, FILES)
    fill(seat, files)
    script = rig.script(seat.key, troubled(agent, work(agent, seat, first)), tools_only=True)
    written(seat, first, agent.run(seat, TASK), DONE, script.at)
    last = first
    if agent.go_on:
        last = range(LATER.stop)
        rig.script(seat.key, work(agent, seat, LATER, done=MORE_DONE, anew=True))
        written(seat, LATER, agent.run(seat, MORE, again=True), MORE_DONE, script.at)
    verdict = rig.check(seat.key, folds=folds)
    report(agent.name, rig, verdict)
    assert unread(rig.tap.of(seat.key), files, last) == 0
    assert verdict.biggest > LONG
    return verdict


@pytest.mark.parametrize("agent", driven.ALL, ids=lambda agent: agent.name)
def test_long_task(rig: DialectRig, seat: Seat, agent: Agent) -> None:
    session(rig, told(seat, x_memtree_mode="stable"), agent)


@pytest.mark.parametrize("mode", ["auto", "fresh"])
@pytest.mark.parametrize("agent", [driven.CLAUDE, driven.CODEX], ids=lambda agent: agent.name)
def test_modes(rig: DialectRig, seat: Seat, agent: Agent, mode: str) -> None:
    # What is packed anew for each request has no epochs.
    session(rig, told(seat, x_memtree_mode=mode), agent, folds=0 if mode == "fresh" else 2)


@pytest.mark.parametrize("agent", [driven.CLAUDE, driven.CODEX], ids=lambda agent: agent.name)
def test_recall_tools(rig: DialectRig, seat: Seat, agent: Agent) -> None:
    """The model searches its memory late in a session; what the client has of it is one answer, and
    what it sends next is valid."""
    seat = told(seat, x_memtree_mode="stable", x_memtree_recall_tools="on")
    agent.sit(seat)
    steps = work(agent, seat, FIRST)
    search = Call("memory_search", {"query": "limit of part 3"})
    read = Call("memory_read", {"first": 3, "last": 4})
    looks = Say("I look it up. ", (search, read), reasoning="I forgot it.")
    script = rig.script(seat.key, [*steps[:9], looks, *steps[9:]], tools_only=True)
    written(seat, FIRST, agent.run(seat, TASK), DONE, script.at)
    more = work(agent, seat, LATER, done=MORE_DONE, anew=True)
    rig.script(seat.key, [looks, looks, *more])
    written(seat, LATER, agent.run(seat, MORE, again=True), MORE_DONE, script.at)
    report(agent.name, rig, rig.check(seat.key, alike=False, said=steps))


@pytest.mark.parametrize("agent", [driven.CLAUDE, driven.CODEX], ids=lambda agent: agent.name)
def test_a_window_that_memory_fits(rig: DialectRig, seat: Seat, agent: Agent) -> None:
    """The upstream takes 200 KB; the session has four times as much, and is never compacted."""
    seat = told(seat, x_memtree_mode="stable")
    agent.sit(seat)
    script = rig.script(seat.key, work(agent, seat, FIRST), tools_only=True, window=50_000)
    written(seat, FIRST, agent.run(seat, TASK), DONE, script.at)
    verdict = rig.check(seat.key, alike=False)
    report(agent.name, rig, verdict)
    assert verdict.biggest > LONG
    assert {one.status for one in rig.tap.of(seat.key)} == {200}


def test_claude_compacts_without_memory(rig: DialectRig, seat: Seat) -> None:
    """The upstream's own words reach it: it has its history summarised, and goes on."""
    agent = driven.CLAUDE
    seat = replace(seat, headers={})
    agent.sit(seat)
    steps = work(agent, seat, SHORT)
    script = rig.script(seat.key, steps, tools_only=True, window=50_000)
    run = agent.run(seat, TASK)
    assert run.returncode == 0, run.stdout[-2000:]
    assert script.done
    assert script.compactions >= 1
    assert rig.verdict(seat.key).relayed == []


def test_codex_ends_without_memory(rig: DialectRig, seat: Seat) -> None:
    agent = driven.CODEX
    seat = replace(seat, headers={})
    agent.sit(seat)
    rig.script(seat.key, work(agent, seat, SHORT), tools_only=True, window=50_000)
    run = agent.run(seat, TASK)
    assert run.returncode == 1
    assert "ran out of room" in run.stdout
    assert rig.verdict(seat.key).relayed == []


def test_thinking_that_is_refused(rig: DialectRig, seat: Seat) -> None:
    """An upstream that refuses thinking of the history is asked again without it; the client hears
    of nothing, and the conversation goes on."""
    seat = told(seat, x_memtree_mode="stable")
    agent = driven.CLAUDE
    agent.sit(seat)
    steps: list[DialectStep] = [*work(agent, seat, FIRST)]
    refusal = messages_server.FAULTS["bound thinking"]
    script = rig.script(seat.key, [*steps[:6], refusal, *steps[6:]], tools_only=True)
    written(seat, FIRST, agent.run(seat, TASK), DONE, script.at)
    rig.script(seat.key, work(agent, seat, LATER, done=MORE_DONE, anew=True))
    written(seat, LATER, agent.run(seat, MORE, again=True), MORE_DONE, script.at)
    report(agent.name, rig, rig.check(seat.key))
    posted = rig.tap.of(seat.key)
    assert {one.status for one in posted} == {200}
    assert len(script.seen) == len(posted) + 1
    again = script.seen[7]
    assert again.headers[NUMBER] == script.seen[6].headers[NUMBER]
    assert '"thinking":' in json.dumps(script.seen[6].body["messages"])
    assert '"signature"' not in json.dumps(again.body["messages"])


@pytest.mark.parametrize("agent", [driven.CLAUDE, driven.CODEX], ids=lambda agent: agent.name)
def test_errors_in_streams(rig: DialectRig, seat: Seat, agent: Agent) -> None:
    """An error in the middle of an upstream's stream reaches the client, which asks again."""
    seat = told(seat, x_memtree_mode="stable")
    agent.sit(seat)
    fault: DialectStep = responses_server.failed("rate_limit_exceeded")
    if agent is driven.CLAUDE:
        fault = messages_server.stream_fault("overloaded_error", "Overloaded")
    steps: list[DialectStep] = [*work(agent, seat, FIRST)]
    script = rig.script(seat.key, [*steps[:6], fault, *steps[6:]], tools_only=True)
    written(seat, FIRST, agent.run(seat, TASK), DONE, script.at)
    rig.check(seat.key)


@pytest.mark.parametrize("agent", [driven.CLAUDE, driven.CODEX], ids=lambda agent: agent.name)
def test_a_credential_that_changes(rig: DialectRig, seat: Seat, agent: Agent) -> None:
    """The credential changes as that of a login does: `x-memtree-key` says whose memory it is all
    the same."""
    seat = told(seat, x_memtree_mode="stable", x_memtree_key=f"own-{seat.key}")
    agent.sit(seat)
    script = rig.script(seat.key, work(agent, seat, FIRST), tools_only=True)
    written(seat, FIRST, agent.run(seat, TASK), DONE, script.at)
    rig.check(seat.key)
    other = replace(seat, key=f"{seat.key}-anew")
    agent.sit(other)
    later = rig.script(
        other.key, work(agent, other, LATER, done=MORE_DONE, anew=True), tools_only=True
    )
    written(other, LATER, agent.run(other, MORE, again=True), MORE_DONE, later.at)
    second = rig.check(other.key, folds=1)
    report(agent.name, rig, second)
    assert rig.tap.of(other.key)[0].state in FOLDED
    assert conversations(rig, authorization=f"Bearer own-{seat.key}") >= 1
    assert conversations(rig, authorization=f"Bearer {other.key}") == 0


def conversations(rig: DialectRig, **headers: str) -> int:
    """How many the tenant of these headers has."""
    known = rig.server.get("/context_memory/conversations", **headers).json()
    return len(known["conversations"])


def test_codex_with_the_provider_of_its_own(tmp_path: Path) -> None:
    """It opens a WebSocket, is told to use HTTP, and has memory without a header of ours."""
    agent = driven.CODEX_BUILT_IN
    with dialect_rig(tmp_path, "--mode", "stable", "--memory") as rig:
        seat = seated(tmp_path, f"{rig.server.url}/v1", "key-codex-built-in")
        agent.sit(seat)
        script = rig.script(seat.key, work(agent, seat, FIRST), tools_only=True)
        began = time.monotonic()
        run = agent.run(seat, TASK)
        written(seat, FIRST, run, DONE, script.at)
        print(f"\n{agent.name}: {time.monotonic() - began:.1f} s")
        assert script.broken == []
        assert script.compactions == 0
        assert MEMORY_TEXT in script.seen[-1].raw.decode()


def written(
    seat: Seat, parts: range, run: subprocess.CompletedProcess[str], done: str, at: int
) -> None:
    """The task is done: the file on disk, and the last word in what the agent printed."""
    tail = f"exit code {run.returncode} at step {at}:\n{run.stdout[-3000:]}"
    assert run.returncode == 0, tail
    path = seat.project / SUMMARY
    assert path.exists(), tail
    assert path.read_text("utf-8").strip() == project.summary(parts).strip(), tail
    assert done in run.stdout, tail


def report(name: str, rig: DialectRig, verdict: SessionVerdict) -> None:
    """Print what was seen, for those who run this with -s."""
    print(
        f"\n{name}: {verdict.requests} requests, {verdict.biggest} bytes, {verdict.biggest_sent} "
        f"sent at most, {len(verdict.epochs)} epochs, {dict(verdict.reasons)}, "
        f"problems {len(verdict.problems)}"
    )
    for path in rig.upstream.strangers:
        print(f"  also asked for {path}")
    rig.upstream.strangers.clear()
