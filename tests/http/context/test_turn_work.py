"""A turn of a long history costs what is new in it: four times the history is no more work.

In counts of `tests/work_counts.py`, never in time. Of old messages nothing is left to do but one
pass of hashing their bytes, which runs in C, and joining what is known of them, which does too.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import Any

import pytest

from benchmarks.speed.clients.in_process import InProcess, in_process
from benchmarks.speed.clients.sessions import PATHS, steps, written
from memtree.context import context_memory
from memtree.context.indexing import LONG_PATIENCE
from memtree_proxy.http.request_log_writer import BackgroundWriter
from tests.wire.conversations import conversation
from tests.work_counts import Work, counting

SHORT, LONG = 60, 240  # turns
TURNS = 3  # of each kind
WARMING = 2  # requests before those that are counted
WORDS = 10
TARGET = 4_000
# Words that stand nowhere else: ranking finds as little in a long history as in a short one, and as
# much is quoted.
ASKED = "Quokkas juggle xylophones, wombats yodel."
# How much of what is added to the history may show in a count of the turn, the least of some: for
# each message more, and for each byte more where bytes are counted. A turn reads its last round
# again, and quotes more where there is more to quote.
BLOCKS = 10_000
BLOCK_LINES = 1_000  # lines for the items of such a round
MOST = {
    "messages": 0.05,
    "sha256": 0.05,
    "JSON decodes": 0.05,
    "JSON bytes decoded": 0.05,
    "token counts": 0.05,
    "lines": 1.0,
}
SAME = ("thread hops", "store calls", "rankings", "renders")
FIRST = {("chat", "stable"), ("messages", "auto")}  # the other ones: `make test-all`
SLACK = 4  # times: what waits for nobody goes together or apart
KINDS = ("user", "tool", "again")
# Lines of a turn of the long chat, the least of some: some 8,100 and 3,500, of which the row of the
# log is 60 (docs/decisions/0080). A turn of the user has ceilings in `scripts/ceilings.toml`.
CHAT_LINES = {"tool": 10_400, "again": 3_600}


@dataclass(frozen=True, slots=True)
class Turn:
    work: Work
    messages: int
    size: int
    epoch: str

    def count(self, name: str) -> int:
        own = {"messages": self.work.messages, "lines": self.work.lines}
        return own.get(name, self.work.of[name])


async def turns(server: InProcess, dialect: str, mode: str, known: int) -> dict[str, list[Turn]]:
    """A turn of the user, one behind a tool, and that again, each after a settled one."""
    headers = {
        "content-type": "application/json",
        "authorization": f"Bearer {mode} {known}",
        "anthropic-version": "2023-06-01",
        "x-polychat-memory": "on",
        "x-memtree-mode": mode,
    }
    talk = conversation(5, known, WORDS)[:-1]
    tail = [replace(one, asked=(ASKED,)) for one in conversation(8, 8, WORDS)[:-1]]
    asked = [
        (number > 0, (*talk, *tail[:length], one))
        for length, exchange in enumerate(tail)
        for number, one in enumerate(steps(exchange))
    ]
    found: dict[str, list[Turn]] = {kind: [] for kind in KINDS}
    epoch = ""
    for number, (of_tool, shown) in enumerate(asked):
        body = written(dialect, shown)
        kind = KINDS[of_tool]
        if number < WARMING or len(found[kind]) == TURNS:
            answer = await server.post(PATHS[dialect], body, headers)
            await server.runtime.settle()
            epoch = answer.headers.get("x-memtree-epoch", "")
            continue
        turn = await counted(server, PATHS[dialect], body, headers, shown)
        if turn.epoch == epoch:  # a turn that folds more does more
            found[kind].append(turn)
        epoch = turn.epoch
        if len(found[KINDS[2]]) < TURNS:
            again = await counted(server, PATHS[dialect], body, headers, shown)
            found[KINDS[2]].append(again)
    assert all(found.values()), "no turn went on with the epoch before it"
    return found


async def counted(
    server: InProcess, path: str, body: bytes, headers: dict[str, str], shown: Any
) -> Turn:
    with counting(asyncio.get_running_loop()) as work:
        answer = await server.post(path, body, headers)
        await server.runtime.settle()
    assert answer.headers["x-memtree-state"] == "packed"
    said = sum(1 + sum(1 + len(step.calls) for step in one.steps) for one in shown)
    return Turn(work, said, len(body), answer.headers["x-memtree-epoch"])


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that stands still for a while does not make it another turn, and what is written
    every few seconds is in none."""
    monkeypatch.setattr(context_memory, "BUILD_PATIENCE", LONG_PATIENCE)
    begin = BackgroundWriter.__init__
    monkeypatch.setattr(
        BackgroundWriter, "__init__", lambda self, name, unit, pace: begin(self, name, unit, 3_600)
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dialect", "mode"),
    [
        pytest.param(dialect, mode, marks=() if (dialect, mode) in FIRST else pytest.mark.long)
        for dialect in PATHS
        for mode in ("stable", "auto")
    ],
)
async def test_four_times_the_history_is_no_more_work(dialect: str, mode: str) -> None:
    async with in_process(target_tokens=TARGET) as server:
        short = await turns(server, dialect, mode, SHORT)
        long = await turns(server, dialect, mode, LONG)
    problems = []
    for kind in KINDS:
        one, other = short[kind][0], long[kind][0]
        for name in (*MOST, *SAME):
            before, after = (min(t.count(name) for t in side[kind]) for side in (short, long))
            most = SLACK + MOST.get(name, 0) * (other.messages - one.messages)
            if name == "JSON bytes decoded":
                most = BLOCKS + MOST[name] * (other.size - one.size)
            if name == "lines" and kind != "again":
                most += BLOCK_LINES
            if after - before > most:
                problems.append(f"{kind}: {name} {before} -> {after}")
        lines = min(turn.work.lines for turn in long[kind])
        assert lines > 500, "what is counted is there"
        if dialect == "chat" and lines > CHAT_LINES.get(kind, lines):
            problems.append(f"{kind}: {lines} lines")
        assert min(turn.count("xxhash") for turn in long[kind]) > 1
    assert not problems, "\n".join(problems)
