"""Stage 1 gives the same wherever it runs, and a run that is under way is joined."""

from __future__ import annotations

import asyncio
import io
import os
import signal
import subprocess
import sys
from dataclasses import replace

import pytest

from memtree.errors import Unavailable
from memtree.jobs import child_process, growing
from memtree.jobs.growing import INLINE_TOKENS, STRETCH_TOKENS, THREAD_TOKENS, Children, StageOne
from memtree.tree import growth
from memtree.tree.growth import concat, grow, split
from tests.programs.loop_clock import LoopClock
from tests.programs.processes import descendants
from tests.properties.strategies import conversation, history_of, tail_of

SIZES = {
    "inline": INLINE_TOKENS,
    "thread": INLINE_TOKENS + 1,
    "child": THREAD_TOKENS + 1,
    "forks": 3 * STRETCH_TOKENS,
}


# Python 3.12 and later warn of forks beside threads; the child has none, the test run may have.
forking = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


@pytest.fixture
def tail():
    return tail_of(history_of(conversation(1, 6_000)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("where", "children"),
    [
        ("inline", 0),
        ("thread", 0),
        pytest.param("child", 1, marks=[pytest.mark.slow, pytest.mark.long]),
        pytest.param("forks", 1, marks=pytest.mark.slow),
    ],
)
async def test_inline_in_a_thread_in_a_child_and_its_forks_it_is_the_same(tail, where, children):
    builder = StageOne(parts=3)
    try:
        assert await builder.grow(tail, SIZES[where]) == grow(tail)
        assert len(builder.children.idle) == children
    finally:
        await builder.close()


@pytest.mark.slow
@pytest.mark.parametrize("where", ["inline", "thread", "forks"])
async def test_only_a_long_tail_is_grown_with_few_summaries(tail, where, monkeypatch):
    monkeypatch.setattr(growing, "FULL_TOKENS", SIZES["child"])
    builder, few = StageOne(parts=3), replace(tail, sparse=True)
    try:
        whole = grow(few if where == "forks" else tail)
        assert await builder.grow(few, SIZES[where]) == whole
    finally:
        await builder.close()


@pytest.mark.slow
async def test_without_a_child_a_thread_does_it(tail):
    builder = StageOne(child=False)
    assert await builder.grow(tail, SIZES["child"]) == grow(tail)
    assert not builder.children.idle
    await builder.close()


@pytest.mark.slow
async def test_a_run_that_is_under_way_is_joined(tail):
    builder = StageOne(child=False)
    one, other = await asyncio.gather(*(builder.grow(tail, SIZES["thread"]) for _ in range(2)))
    assert one is other
    assert await builder.grow(tail, SIZES["thread"]) is not one


@pytest.mark.slow
async def test_tenants_do_not_join(tail):
    builder = StageOne(child=False)
    foreign = tail_of(history_of(conversation(1, 6_000), tenant="other"))
    one, other = await asyncio.gather(*(builder.grow(t, SIZES["thread"]) for t in (tail, foreign)))
    assert one.nodes == other.nodes
    assert not set(one.frontiers) & set(other.frontiers)


@pytest.mark.slow
async def test_who_gives_up_waiting_does_not_stop_the_others(tail):
    builder = StageOne(child=False)
    patient = asyncio.create_task(builder.grow(tail, SIZES["thread"]))
    hasty = asyncio.create_task(builder.grow(tail, SIZES["thread"]))
    await asyncio.sleep(0)
    hasty.cancel()
    with pytest.raises(asyncio.CancelledError):
        await hasty
    assert await patient == grow(tail)


# ---------------------------------------------------------------- children


@pytest.mark.slow
async def test_a_killed_child_costs_nothing_but_time(tail):
    builder = StageOne(parts=1)
    try:
        await builder.grow(tail, SIZES["child"])
        builder.children.idle[0].kill()
        assert await builder.grow(tail, SIZES["child"]) == grow(tail)
    finally:
        await builder.close()


@pytest.mark.slow
async def test_where_a_child_dies_at_work_a_thread_does_it(tail, monkeypatch, caplog):
    monkeypatch.setattr(child_process, "START", "import sys; sys.stdin.buffer.read(1000)")
    builder = StageOne(parts=2)
    try:
        assert await builder.grow(tail, SIZES["forks"]) == grow(tail)
    finally:
        await builder.close()
    assert "build.child_failed" in caplog.text


@pytest.mark.slow
async def test_children_end_when_nothing_was_to_do_for_a_while(tail):
    children = Children(2, idle_seconds=0.05)
    pieces = []
    await children.call(lambda child: child.grow(tail, 1, pieces.append))
    assert concat(pieces) == grow(tail)
    (one,) = children.idle
    await until(lambda: not children.idle and not one.alive)
    await children.close()


async def test_a_child_is_had_before_it_is_needed_and_given_back(monkeypatch):
    monkeypatch.setattr(child_process, "START", "import time; time.sleep(600)")
    clock = LoopClock()
    children = Children(2, idle_seconds=10_000)
    children.warm()
    children.warm()
    await until(lambda: children.idle)
    (one,) = children.idle
    assert children.take() is one
    children.idle.append(one)
    children.warm()
    await clock.passes(10_001)
    await until(lambda: not children.idle and not one.alive)
    await children.close()


async def test_none_is_started_for_nothing(monkeypatch):
    made = []
    monkeypatch.setattr(Children, "warm", lambda _: made.append(1))
    for child in (False, True):
        builder = StageOne(child=child)
        builder.warm()
        await builder.close()
    assert len(made) == 1


async def test_a_closed_builder_has_no_child(monkeypatch):
    children = Children(2)
    await children.close()
    children.warm()
    assert not children.idle


async def test_where_no_process_can_be_started_the_tail_says_so(monkeypatch, caplog):
    monkeypatch.setattr(child_process.subprocess, "Popen", cannot)
    children = Children(1)
    children.warm()
    await until(lambda: "build.child_failed" in caplog.text)
    assert not children.idle
    await children.close()


def cannot(*_, **__):
    raise OSError


async def test_closing_ends_children_at_work(tail, monkeypatch):
    monkeypatch.setattr(child_process, "START", "import time; time.sleep(600)")
    builder = StageOne(parts=1)
    work = asyncio.create_task(builder.grow(tail, SIZES["child"]))
    await until(lambda: len(builder.children.busy) == 1)
    await builder.close()
    with pytest.raises(Unavailable):
        await work
    with pytest.raises(Unavailable):
        await builder.grow(tail, SIZES["child"])


async def until(true) -> None:
    async with asyncio.timeout(300):
        while not true():  # noqa: ASYNC110  what is waited for has no events
            await asyncio.sleep(0.005)


@pytest.mark.slow
def test_a_child_ends_with_its_parent():
    """However that ends: the system closes its end of the pipe. The child holds the error output
    that both have, so it is gone where that comes to its end."""
    script = (
        "import os, signal; from memtree.jobs.child_process import Child\n"
        "one = Child();"
        "print(one.pid, flush=True); os.kill(os.getpid(), signal.SIGKILL)"
    )
    parent = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, timeout=120, check=False
    )
    assert int(parent.stdout)
    assert parent.returncode == -signal.SIGKILL


def test_frames_come_over_whole_or_not_at_all(tail):
    pipe = io.BytesIO()
    child_process.send(pipe, tail)
    pipe.seek(0)
    assert child_process.receive(pipe) == tail
    with pytest.raises(EOFError):
        child_process.receive(io.BytesIO(pipe.getvalue()[:-1]))
    with pytest.raises(EOFError):
        child_process.receive(io.BytesIO())


@pytest.mark.slow
def test_the_child_answers_until_its_input_ends(tail, monkeypatch):
    """`main` run here, to see what it does: in a process of its own no coverage is seen."""
    asked, answered = io.BytesIO(), io.BytesIO()
    for _ in range(2):
        child_process.send(asked, (tail, 1))
    asked.seek(0)
    monkeypatch.setattr(child_process.sys, "stdin", Pipe(asked))
    monkeypatch.setattr(child_process.sys, "stdout", Pipe(answered))
    monkeypatch.setattr(child_process.gc, "freeze", lambda: None)
    monkeypatch.setattr(child_process.gc, "set_threshold", lambda _: None)
    monkeypatch.setattr(child_process.signal, "signal", lambda *_: None)
    child_process.main()
    answered.seek(0)
    for _ in range(2):
        pieces = list(iter(lambda: child_process.receive_grown(answered), None))
        assert concat(pieces) == grow(tail)


async def test_a_long_tail_is_worth_a_line(tail, caplog):
    builder = StageOne(child=False)
    with caplog.at_level("INFO"):
        await builder.grow(tail, THREAD_TOKENS)
        await builder.grow(tail, THREAD_TOKENS + 1)
    said = [record.getMessage() for record in caplog.records]
    assert said == [f"build.began tokens={THREAD_TOKENS + 1}"]


@pytest.mark.slow
@forking
@pytest.mark.parametrize("parts", [1, 2, 4])
@pytest.mark.parametrize("overlap", [1, 8_000])
def test_forks_find_what_one_process_finds(tail, monkeypatch, parts, overlap):
    """Forks find the same whether their borders fall in step or not. None of them stays behind as a
    zombie."""
    made, before = [], descendants(os.getpid())
    monkeypatch.setattr(growth, "split", lambda *of: made.extend(split(*of, overlap)) or made)
    assert concat([*child_process.grow(tail, parts)]) == grow(tail)
    assert (len(made) > 1) == (parts > 1)
    assert descendants(os.getpid()) <= before


@pytest.mark.slow
@forking
def test_a_fork_that_fails_is_noticed(tail, monkeypatch):
    def fails(_):
        raise MemoryError

    monkeypatch.setattr(growth, "split", lambda *of: split(*of, 8_000))
    whole = growth.split(tail, 2)[0].tail
    monkeypatch.setattr(growth, "grow", lambda one, *_: grow(one) if one == whole else fails(one))
    with pytest.raises(EOFError):
        list(child_process.grow(tail, 2))


def test_what_is_warmed_up_waits_for_a_tail_that_has_come(tail, monkeypatch):
    """A child that is needed at once compiles what it needs and no more."""
    steps = []
    monkeypatch.setattr(
        child_process.rule_sentences, "warm_up", lambda: (steps.append(at) for at in range(9))
    )
    read, write = os.pipe()
    with open(read, "rb") as asked, open(write, "wb") as end:
        child_process.send(end, (tail, 1))
        monkeypatch.setattr(child_process.sys, "stdin", Pipe(asked))
        assert child_process.warm_up() is None
    assert len(steps) == 1


@pytest.mark.slow
def test_without_forks_the_child_does_it_all(tail, monkeypatch):
    monkeypatch.delattr(child_process.os, "fork")
    assert concat([*child_process.grow(tail, 4)]) == grow(tail)


class Pipe:
    def __init__(self, buffer):
        self.buffer = buffer
