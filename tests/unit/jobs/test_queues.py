"""Queues and caches: conversations that wait, calls in turn, passages embedded once."""

from __future__ import annotations

import asyncio
import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.errors import StoreUnavailable
from memtree.history.message import Message
from memtree.jobs.extraction_queue import ExtractionJob, ExtractionQueue
from memtree.jobs.job_queue import Jobs, SummaryJob
from memtree.jobs.summary_queue import LEASED_AGAIN, Scheduler
from memtree.memories.scope import Scope
from memtree.memories.user_memories import UserSettings
from memtree.tree.node import Node, NodePlace, NodeWork, Summary
from memtree.tree.summary_batches import CallBatch
from tests.properties.strategies import history_of

# ------------------------------------------------------------------------------------------------
# Conversations that wait: one job each, the newest payload, bounded, tried again, ended.


ME = Scope.of_user("t")
ON = UserSettings(save=True)


class HandClock:
    """`monotonic` is what a test sets, so that no test waits for a pause to be over."""

    def __init__(self) -> None:
        self.at = 0.0

    def now(self) -> float:
        return 1_000_000.0 + self.at

    def monotonic(self) -> float:
        return self.at


class Reader:
    """It keeps the jobs that it is given; `failures`: how many it fails first; `gate`: it waits."""

    def __init__(self, error: Exception | None = None, failures: int = 0) -> None:
        self.jobs: list[ExtractionJob] = []
        self.error, self.failures = error, failures
        self.gate = asyncio.Event()
        self.gate.set()
        self.begun = asyncio.Event()

    async def read(self, job: ExtractionJob) -> None:
        self.begun.set()
        await self.gate.wait()
        self.jobs.append(job)
        if self.error and self.failures:
            self.failures -= 1
            raise self.error


def said(*texts: str) -> list[Message]:
    return [
        Message.of({"role": "user" if at % 2 == 0 else "assistant", "content": text})
        for at, text in enumerate(texts)
    ]


def texts(job: ExtractionJob) -> list[str]:
    return [message.words for message in job.posted]


async def drained(queue: ExtractionQueue) -> None:
    queue.start()
    await queue.join()
    await queue.close()


async def test_a_conversation_that_goes_on_while_it_waits_is_read_once_in_its_newest_form() -> None:
    reader, clock = Reader(), HandClock()
    queue = ExtractionQueue(reader, clock)
    queue.submit(ME, said("I live in Rome"), ON)
    clock.at = 90_000.0
    queue.submit(ME, said("I live in Rome", "Nice", "Thanks"), ON)
    assert len(queue) == 1
    await drained(queue)
    [job] = reader.jobs
    assert texts(job) == ["I live in Rome", "Nice", "Thanks"]
    # Of both payloads it is known when they came: each ended with what was said then.
    assert job.ends == ((1, 1_000_000.0), (3, 1_090_000.0))


async def test_other_conversations_branches_and_users_wait_beside_it() -> None:
    reader = Reader()
    queue = ExtractionQueue(reader, HandClock())
    queue.submit(ME, said("Hi", "Hello", "I live in Rome"), ON)
    queue.submit(ME, said("Hi", "Hello", "I live in Pisa"), ON)  # a branch of the same length
    queue.submit(ME, said("Hi"), ON)  # shorter: what was said in the longer one is not in it
    queue.submit(Scope.of_user("t", "other"), said("Hi", "Hello", "I live in Rome"), ON)
    await drained(queue)
    assert [len(job.posted) for job in reader.jobs] == [3, 3, 1, 3]
    assert [job.scope.owner for job in reader.jobs] == ["", "", "", "other"]


async def test_nothing_is_taken_where_both_switches_are_off_or_after_the_end() -> None:
    reader = Reader()
    queue = ExtractionQueue(reader, HandClock())
    queue.submit(ME, said("I live in Rome"), UserSettings())
    queue.submit(ME, [], ON)
    assert len(queue) == 0
    queue.submit(ME, said("I live in Rome"), UserSettings(history=True))
    await drained(queue)
    queue.submit(ME, said("I live in Pisa"), ON)
    assert len(queue) == 0
    assert len(reader.jobs) == 1


async def test_the_oldest_go_where_too_many_or_too_large_ones_wait() -> None:
    reader = Reader()
    queue = ExtractionQueue(reader, HandClock(), max_jobs=3)
    for name in "abcde":
        queue.submit(ME, said(name), ON)
    assert (len(queue), queue.totals.dropped) == (3, 2)
    await drained(queue)
    assert [texts(job) for job in reader.jobs] == [["c"], ["d"], ["e"]]

    reader = Reader()
    queue = ExtractionQueue(reader, HandClock(), max_bytes=1_000)
    queue.submit(ME, said("a" * 600), ON)
    queue.submit(ME, said("b" * 600), ON)
    assert (len(queue), queue.totals.dropped) == (1, 1)
    assert queue.size < 1_000
    queue.submit(ME, said("c" * 5_000), ON)  # alone it may be as large as a request
    await drained(queue)
    assert [texts(job)[0][0] for job in reader.jobs] == ["c"]
    assert queue.size == 0


async def test_a_tenant_has_three_quarters_of_the_queue_so_others_find_room() -> None:
    reader = Reader()
    queue = ExtractionQueue(reader, HandClock(), max_jobs=4)
    for name in "abcd":
        queue.submit(ME, said(name), ON)
    assert (len(queue), queue.totals.dropped) == (3, 1)
    queue.submit(Scope.of_user("u"), said("e"), ON)
    await drained(queue)
    assert [texts(job) for job in reader.jobs] == [["b"], ["c"], ["d"], ["e"]]


async def test_what_fails_is_tried_again_after_a_pause_and_then_given_up() -> None:
    reader, clock = Reader(StoreUnavailable("down"), failures=99), HandClock()
    queue = ExtractionQueue(reader, clock, max_tries=3)
    queue.submit(ME, said("I live in Rome"), ON)
    queue.start()
    for _ in range(3):
        reader.begun.clear()
        clock.at += 1_000.0  # every pause is over
        queue.submit(Scope.of_user("t", f"wakes {clock.at}"), said("x"), ON)
        await reader.begun.wait()
        await asyncio.sleep(0.02)
    await queue.close(patience=0.0)
    assert queue.totals.given_up >= 1
    assert [texts(job) for job in reader.jobs].count(["I live in Rome"]) == 3


async def test_a_failure_of_our_own_keeps_no_other_conversation_from_being_read() -> None:
    reader = Reader(ValueError("with a message's text in it"), failures=1)
    queue = ExtractionQueue(reader, HandClock())
    queue.submit(ME, said("a"), ON)
    queue.submit(ME, said("b"), ON)
    await drained(queue)
    assert [texts(job) for job in reader.jobs] == [["a"], ["b"]]
    assert (queue.totals.read, queue.totals.given_up) == (1, 1)


async def test_the_log_of_a_failure_holds_no_text(caplog) -> None:
    reader = Reader(ValueError("a secret sentence"), failures=1)
    queue = ExtractionQueue(reader, HandClock())
    queue.submit(ME, said("a"), ON)
    await drained(queue)
    assert "ValueError" in caplog.text
    assert "secret sentence" not in caplog.text


async def test_closing_ends_what_is_under_way_and_lets_go_of_all_that_waits() -> None:
    reader = Reader()
    reader.gate.clear()
    queue = ExtractionQueue(reader, HandClock())
    queue.submit(ME, said("a"), ON)
    queue.submit(ME, said("b"), ON)
    queue.start()
    await reader.begun.wait()
    before = asyncio.all_tasks()
    await queue.close(patience=0.01)
    assert reader.jobs == []
    assert (len(queue), queue.size) == (0, 0)
    ended = before - asyncio.all_tasks()
    assert [task.get_name() for task in ended] == ["memory extraction"]
    await queue.join()  # nobody waits for ever


async def test_a_newer_payload_takes_the_place_of_one_that_has_to_wait_after_a_failure() -> None:
    reader, clock = Reader(StoreUnavailable("down"), failures=1), HandClock()
    queue = ExtractionQueue(reader, clock)
    reader.gate.clear()
    queue.submit(ME, said("a"), ON)
    queue.start()
    await reader.begun.wait()
    queue.submit(ME, said("a", "b", "c"), ON)  # while the older one is read
    reader.gate.set()
    await asyncio.sleep(0.02)
    assert (len(reader.jobs), len(queue)) == (1, 1)
    clock.at = 1_000.0
    queue.submit(ME, said("a", "b", "c"), ON)
    await queue.join()
    await queue.close()
    assert [texts(job) for job in reader.jobs] == [["a"], ["a", "b", "c"]]


# ------------------------------------------------------------------------------------------------
# Whose call is next, by itself: no queue, no model, no clock but numbers.


NOW = 1_000.0


def work_of(letters: str) -> dict[bytes, NodeWork]:
    """A sealed leaf a letter."""
    return {
        letter.encode(): NodeWork(
            Node(letter.encode(), 0, 450, 1, 0, Summary("", "")), NodePlace(0, 0, 0, 0)
        )
        for letter in letters
    }


def a_job(tenant: str = "t", letters: str = "abcd", **fields) -> SummaryJob:
    history = history_of([Message.of({"role": "user", "content": letters})], tenant)
    return SummaryJob(
        tenant, history.addresses[-1], history, work_of(letters), **({"since": NOW} | fields)
    )


def a_batch(job: SummaryJob, letters: str = "", *, full: bool = True) -> CallBatch:
    chosen = [work for work in job.work.values() if not letters or work.id.decode() in letters]
    return CallBatch(tuple(chosen), "text", full)


def call(scheduler: Scheduler, job: SummaryJob, letters: str = "") -> CallBatch:
    """A call for this job begins."""
    batch = a_batch(job, letters)
    busy = scheduler.served(job, NOW)
    assert scheduler.may_start(job, batch, busy, NOW, hurry=False)
    scheduler.started(job, batch)
    return batch


# ---------------------------------------------------------------- turns


def test_nothing_is_picked_of_nothing():
    assert Scheduler().pick([], NOW) is None


def test_the_tenant_with_the_fewest_calls_under_way_comes_first():
    scheduler, large, small = Scheduler(), a_job("large"), a_job("small")
    call(scheduler, large)
    scheduler.ended(small, call(scheduler, small))  # its turn was the last one
    assert scheduler.pick([large, small], NOW) is small


def test_then_the_one_whose_last_turn_is_longest_ago():
    scheduler = Scheduler()
    jobs = [a_job(tenant) for tenant in "abc"]
    for job in jobs:
        scheduler.ended(job, call(scheduler, job))
    scheduler.ended(jobs[0], call(scheduler, jobs[0]))
    assert scheduler.pick(jobs, NOW) is jobs[1]


def test_of_a_tenants_jobs_the_first_one():
    one, other = a_job(), a_job()
    assert Scheduler().pick([other, one], NOW) is other


def test_backfill_comes_last_whoever_had_how_many_turns():
    scheduler, chat, old = Scheduler(), a_job("chat"), a_job("old", backfill=True)
    call(scheduler, chat, "a")
    chat.blocked = 0.0
    assert scheduler.pick([old, chat], NOW) is chat
    assert scheduler.pick([old], NOW) is old


def test_no_more_calls_than_are_allowed():
    scheduler = Scheduler(parallel=2)
    jobs = [a_job(tenant) for tenant in "abc"]
    first = call(scheduler, jobs[0])
    assert scheduler.pick(jobs[1:], NOW) is jobs[1]
    call(scheduler, jobs[1])
    assert scheduler.calls_under_way == 2
    assert scheduler.pick(jobs[2:], NOW) is None
    scheduler.ended(jobs[0], first)
    assert scheduler.pick(jobs[2:], NOW) is jobs[2]


@pytest.mark.parametrize("field", ["not_before", "blocked"])
def test_a_job_is_not_picked_before_its_time(field: str):
    job = a_job()
    setattr(job, field, NOW + 5)
    assert Scheduler().pick([job], NOW + 4.9) is None
    assert Scheduler().pick([job], NOW + 5) is job


def test_a_pause_holds_for_all_and_the_longest_one_counts():
    scheduler, job = Scheduler(), a_job()
    scheduler.pause(NOW + 30)
    scheduler.pause(NOW + 10)
    assert scheduler.paused(NOW + 12) == 18
    assert scheduler.pick([job], NOW + 29) is None
    assert scheduler.wake_times([]) == [NOW + 30]
    assert scheduler.pick([job], NOW + 30) is job
    assert scheduler.paused(NOW + 31) == 0


@given(st.lists(st.integers(1, 6), min_size=2, max_size=6), st.integers(1, 3))
def test_tenants_get_equal_shares_whatever_their_jobs(counts: list[int], parallel: int):
    """All calls take the same time, and every tenant has more to ask for all the while."""
    scheduler = Scheduler(parallel)
    queue = [a_job(f"t{n}") for n, count in enumerate(counts) for _ in range(count)]
    turns: Counter[str] = Counter({job.tenant: 0 for job in queue})
    running: list[SummaryJob] = []
    for _ in range(8 * len(counts)):
        job = scheduler.pick(queue, NOW)
        if job is None:
            ended = running.pop(0)
            scheduler.ended(ended, a_batch(ended))
            continue
        turns[job.tenant] += 1
        call(scheduler, job, "-")  # a letter that no node has: the job has always more to do
        running.append(job)
    assert max(turns.values()) - min(turns.values()) <= 1


# ---------------------------------------------------------------- waiting for more, or for others


def test_a_call_that_is_not_full_waits_from_its_first_submission():
    scheduler, job = Scheduler(gather=15), a_job(since=NOW - 5)
    batch = a_batch(job, full=False)
    busy = scheduler.served(job, NOW)
    assert not scheduler.may_start(job, batch, busy, NOW, hurry=False)
    assert (job.blocked, scheduler.wake_times([job])) == (NOW + 10, [0.0, NOW + 10])
    busy = scheduler.served(job, NOW + 10)
    assert scheduler.may_start(job, batch, busy, NOW + 10, hurry=False)
    assert job.blocked == 0


def test_in_a_hurry_no_call_waits():
    scheduler, job = Scheduler(), a_job()
    busy = scheduler.served(job, NOW)
    assert scheduler.may_start(job, a_batch(job, full=False), busy, NOW, hurry=True)


def test_a_call_that_is_not_full_waits_for_the_jobs_own_nodes():
    scheduler, job = Scheduler(gather=0), a_job()
    first, rest = call(scheduler, job, "ab"), a_batch(job, "cd", full=False)
    busy = scheduler.served(job, NOW)
    assert busy == {b"a": math.inf, b"b": math.inf}
    assert not scheduler.may_start(job, rest, busy, NOW, hurry=False)
    assert job.blocked == math.inf, "until something ends"
    assert scheduler.wake_times([job]) == [0.0]
    scheduler.ended(job, first)
    busy = scheduler.served(job, NOW)
    assert busy == {}
    assert scheduler.may_start(job, rest, busy, NOW, hurry=False)


def test_nodes_are_under_way_for_their_tenant_alone():
    scheduler, mine, other = Scheduler(gather=0), a_job("mine"), a_job("other")
    call(scheduler, mine)
    assert scheduler.served(other, NOW) == {}
    assert scheduler.may_start(other, a_batch(other, full=False), {}, NOW, hurry=False)


def test_what_another_process_leases_is_looked_at_again():
    scheduler, job = Scheduler(), a_job()
    batch = call(scheduler, job)
    scheduler.leased_elsewhere("t", [b"a"], NOW)
    scheduler.ended(job, batch)
    assert scheduler.served(job, NOW) == {b"a": NOW + LEASED_AGAIN}, "its own nodes are free again"
    assert job.blocked == NOW + LEASED_AGAIN
    assert scheduler.served(job, NOW + LEASED_AGAIN) == {}


def test_jobs_of_a_queue_take_turns_within_their_tenant():
    jobs: Jobs[SummaryJob] = Jobs()
    scheduler, queue = Scheduler(), [a_job("t", letters) for letters in ("ab", "cd", "ef")]
    for job in queue:
        jobs.add(job)
    picked = []
    for _ in range(6):
        job = scheduler.pick(jobs, NOW)
        assert job
        picked.append(job)
        jobs.move_to_end(job)
        scheduler.served(job, NOW)
        job.blocked = 0.0
    assert picked == queue * 2
