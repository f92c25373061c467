"""Whose call is next, by itself: no queue, no model, no clock but numbers."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memtree.background.jobs import Jobs, SummaryJob
from memtree.background.summary_scheduler import LEASED_AGAIN, Scheduler
from memtree.conversation.message import Message
from memtree.summaries.batching import CallBatch
from memtree.tree.node import Node, NodePlace, NodeWork, Summary
from tests.properties.strategies import history_of

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
