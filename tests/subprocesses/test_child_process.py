"""A run of stage 1 that nobody waits for is stopped, and nothing of it remains."""

from __future__ import annotations

import asyncio
import gc
import os
import threading
from pathlib import Path

import pytest

from memtree.jobs import child_process
from memtree.jobs.growing import INLINE_TOKENS, STRETCH_TOKENS, THREAD_TOKENS, Children, StageOne
from memtree.tree.growth import grow
from tests.programs.loop_clock import LoopClock, settled
from tests.programs.processes import descendants, needs_proc
from tests.properties.strategies import conversation, history_of, tail_of

LARGE = THREAD_TOKENS + 1
GRACE = 1_000.0  # seconds of a clock that the test moves
SHORT_GRACE = 0.05  # of the real one


@pytest.fixture(scope="module")
def tail():
    return tail_of(history_of(conversation(1, 6_000)))


@pytest.fixture(scope="module")
def others():
    return [tail_of(history_of(conversation(seed, 6_000))) for seed in range(2, 5)]


def growing(tail):
    """Return the work of growing a tail in a child, whose result nobody reads."""
    return lambda child: child.grow(tail, 1, print)


class ScriptedChild:
    """In place of a child: grows in this process."""

    def grow(self, tail, _parts, sealed):
        sealed(grow(tail))


class Scripted:
    """In place of `Children`: runs end when they are let go."""

    def __init__(self):
        self.go = asyncio.Event()
        self.begun = 0
        self.stopped = 0

    async def call(self, work):
        self.begun += 1
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.stopped += 1
            raise
        work(ScriptedChild())

    async def close(self):
        self.go.set()


@pytest.fixture
async def clock():
    return LoopClock()


@pytest.fixture
async def scripted():
    return Scripted()


@pytest.fixture
async def builder(scripted):
    one = StageOne(grace=GRACE)
    await one.children.close()
    one.children = scripted
    yield one
    await one.close()


async def left(builder, tail):
    """A request that hangs up."""
    work = asyncio.create_task(builder.grow(tail, LARGE))
    await settled()
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work


async def test_a_run_that_nobody_waits_for_is_stopped_after_the_grace(
    builder, scripted, tail, clock
):
    await left(builder, tail)
    await clock.passes(0.9 * GRACE)
    assert scripted.stopped == 0
    await clock.passes(0.2 * GRACE)
    assert scripted.stopped == 1
    assert not builder.runs


async def test_the_same_request_again_finds_the_run(builder, scripted, tail, clock):
    await left(builder, tail)
    again = asyncio.create_task(builder.grow(tail, LARGE))
    await settled()
    await clock.passes(3 * GRACE)
    scripted.go.set()
    assert await again == grow(tail)
    assert (scripted.begun, scripted.stopped) == (1, 0)


async def test_the_grace_begins_anew_each_time(builder, scripted, tail, clock):
    for _ in range(6):
        await left(builder, tail)
        await clock.passes(GRACE / 2)
    assert (scripted.begun, scripted.stopped) == (1, 0)
    await clock.passes(3 * GRACE)
    assert scripted.stopped == 1


async def test_one_of_two_that_stays_is_enough(builder, scripted, tail, clock):
    stays = asyncio.create_task(builder.grow(tail, LARGE))
    await left(builder, tail)
    await clock.passes(3 * GRACE)
    scripted.go.set()
    assert await stays == grow(tail)
    assert scripted.stopped == 0


async def test_who_comes_while_a_run_is_being_stopped_gets_one_of_his_own(
    builder, scripted, tail, monkeypatch, clock
):
    stop = builder.stop_run
    late = []

    def stop_and_come(key, run):
        stop(key, run)
        late.append(asyncio.create_task(builder.grow(tail, LARGE)))

    monkeypatch.setattr(builder, "stop_run", stop_and_come)
    await left(builder, tail)
    await clock.passes(3 * GRACE)
    scripted.go.set()
    assert await late[0] == grow(tail)
    assert (scripted.begun, scripted.stopped) == (2, 1)


async def test_a_run_that_ends_within_the_grace_is_no_trouble(builder, scripted, tail, clock):
    await left(builder, tail)
    scripted.go.set()
    await settled()
    await clock.passes(3 * GRACE)
    assert scripted.stopped == 0
    assert not builder.runs


async def test_a_run_that_fails_with_nobody_there_is_seen(builder, scripted, tail, caplog):
    async def fails(*_):
        await scripted.go.wait()
        raise ValueError

    scripted.grow = fails
    await left(builder, tail)
    assert builder.runs
    scripted.go.set()
    await settled()
    assert not builder.runs
    gc.collect()
    assert "never retrieved" not in caplog.text


async def test_in_a_thread_it_is_left_to_itself(tail):
    builder = StageOne(child=False, grace=0.0)
    work = asyncio.create_task(builder.grow(tail, INLINE_TOKENS + 1))
    await asyncio.sleep(0)
    work.cancel()
    await asyncio.gather(work, return_exceptions=True)
    await asyncio.sleep(0.01)
    assert not builder.runs
    assert await builder.grow(tail, INLINE_TOKENS + 1) == grow(tail)
    await builder.close()


# ---------------------------------------------------------------- real processes


def workers() -> set[int | None]:
    """The builder's own threads; the event loop's come and go."""
    found = threading.enumerate()
    return {thread.ident for thread in found if thread.name.startswith("memtree-build")}


def processes() -> set[int]:
    """Children of this process, and theirs."""
    return descendants(os.getpid())


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def until(true) -> None:
    async with asyncio.timeout(300):
        while not true():  # noqa: ASYNC110  what is waited for has no events
            await asyncio.sleep(0.005)


@needs_proc
async def test_a_child_at_work_is_ended(tail, monkeypatch):
    monkeypatch.setattr(child_process, "START", "import time; time.sleep(600)")
    builder = StageOne(parts=1, grace=SHORT_GRACE)
    before, files = processes(), open_files()
    work = asyncio.create_task(builder.grow(tail, LARGE))
    await until(lambda: builder.children.busy)
    work.cancel()
    await until(lambda: not builder.children.busy and processes() == before)
    assert not builder.children.idle
    assert open_files() == files
    await builder.close()


@needs_proc
async def test_a_run_in_the_queue_is_dropped(tail, others, monkeypatch):
    """Both children are busy; the third never begins, and the fourth has its turn."""
    monkeypatch.setattr(child_process, "START", "import time; time.sleep(600)")
    children = Children(2)
    busy = [asyncio.create_task(children.call(growing(one))) for one in others[:2]]
    await until(lambda: len(children.busy) == 2)
    started = []
    monkeypatch.setattr(Children, "take", lambda self: started.append(1) or child_process.Child())
    waiting = asyncio.create_task(children.call(growing(tail)))
    await asyncio.sleep(0.05)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    for one in busy:
        one.cancel()
    await asyncio.gather(*busy, return_exceptions=True)
    await until(lambda: not children.busy)
    assert not started
    await children.close()


@needs_proc
async def test_forks_end_with_their_child_and_the_next_run_is_right(tail):
    builder = StageOne(parts=3, grace=0.0)
    threads = workers()
    before, files = processes(), open_files()
    long = tail_of(history_of(conversation(1, 400_000)))
    work = asyncio.create_task(builder.grow(long, 3 * STRETCH_TOKENS))
    await until(lambda: len(processes() - before) >= 3)
    made = processes() - before
    work.cancel()
    await until(lambda: not builder.children.busy)
    await until(lambda: not any(Path(f"/proc/{pid}/exe").exists() for pid in made))
    assert await builder.grow(tail, LARGE) == grow(tail)
    await builder.close()
    assert processes() == before
    assert open_files() <= files
    assert workers() <= threads


@needs_proc
@pytest.mark.long
async def test_runs_begun_and_left_at_random_leave_nothing_behind(tail, others, caplog):
    """The race between a run that ends and one that is stopped: no other run loses its child."""
    others_children = processes()
    builder = StageOne(parts=1, grace=0.0)
    await builder.grow(tail, LARGE)
    before = processes() - others_children
    for step in range(16):
        hasty = asyncio.create_task(builder.grow(others[step % 3], LARGE))
        patient = asyncio.create_task(builder.grow(tail, LARGE))
        await asyncio.sleep(step * 0.005)
        hasty.cancel()
        await asyncio.gather(hasty, return_exceptions=True)
        assert await patient == grow(tail)
    assert "build.child_failed" not in caplog.text
    await until(lambda: not builder.children.busy)
    assert len(processes() - before - others_children) <= 2
    await builder.close()
    assert not processes() & before
