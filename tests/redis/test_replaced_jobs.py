"""Which jobs a new one replaces and what it inherits of them: one table of cases, for jobs in
memory (Python) and for jobs in Redis (Python and Lua)."""

from __future__ import annotations

import time
from dataclasses import dataclass

import pytest

from indexer.jobs import Job, Jobs
from indexer.redis.ledger import EMBED, JobEntry, JobLedger, JobName, NewJob, SliceOutcome
from indexer.redis.payloads import SHORT, job_id, tenant_name
from memtree.conversation.message import Message
from tests.properties.strategies import history_of

TENANT = "alder"
LONG, SHORTER, OTHER = ("abcd", "ab", "xyz")  # histories: a letter is a message


@dataclass(frozen=True)
class Part:
    """A work, named by a letter."""

    id: bytes
    tokens: int = 10


@dataclass(frozen=True)
class Submitted:
    """A job of the history `said`, from the message at `start` on. `failed`: attempts in a row."""

    said: str
    start: int
    work: str
    since: float = 0.0
    failed: int = 0
    given_up: bool = False

    def job(self) -> Job[Part]:
        posted = [Message.of({"role": "user", "content": letter}) for letter in self.said]
        history = history_of(posted, TENANT)
        parts = [Part(letter.encode() * 32) for letter in self.work]
        begin = history.addresses[self.start]
        return Job(TENANT, begin, history, {one.id: one for one in parts}, self.since)


@dataclass(frozen=True)
class Row:
    """A job as it is there in the end."""

    start: bytes
    work: int
    since: float
    tries: int
    given_up: bool


NEW = Submitted(LONG, 2, "CD", since=50.0)


def kept(one, **changed):
    job = one.job()
    row = {"since": one.since, "tries": one.failed, "given_up": one.given_up} | changed
    return Row(job.start, len(job.work), **row)


CASES = {
    "the same place": (Submitted(LONG, 2, "CX", 20.0), {"since": 20.0}, False),
    "an earlier place": (Submitted(LONG, 1, "BCDX", 20.0), {"since": 20.0}, False),
    "a later submission": (Submitted(LONG, 2, "C", 70.0), {"since": 50.0}, False),
    "a shorter history": (Submitted(SHORTER, 1, "BX", 20.0), {"since": 20.0}, False),
    "reverted": (Submitted("abz", 2, "Z", 20.0), {"since": 20.0}, False),
    "beyond what is posted now": (Submitted("abcdefg", 6, "G", 20.0), {}, True),
    "another chat": (Submitted(OTHER, 1, "XY", 20.0), {}, True),
    "another chat with the same work": (Submitted(OTHER, 1, "CD", 20.0), {"since": 20.0}, False),
    "another chat, some work the same": (Submitted(OTHER, 1, "CX", 20.0), {}, True),
    "another chat, more work": (Submitted(OTHER, 1, "CDX", 20.0), {}, True),
    "another chat, ends the same": (Submitted(OTHER, 1, "CXD", 20.0), {}, True),
    "failed before": (Submitted(LONG, 2, "CD", 20.0, 3), {"since": 20.0, "tries": 3}, False),
    "failed at an earlier place": (
        Submitted(LONG, 1, "BCD", 20.0, 3), {"since": 20.0, "tries": 3}, False,
    ),
    "failed in another chat": (Submitted(OTHER, 1, "XY", 20.0, 3), {}, True),
    "given up in another chat": (Submitted(OTHER, 1, "CD", 50.0, given_up=True), {}, True),
    "given up before": (Submitted(LONG, 1, "BCD", 50.0, given_up=True), {}, False),
}  # fmt: skip


def expected(old, inherited, stays):
    rows = [kept(NEW, **inherited), *([kept(old)] if stays else [])]
    return sorted(rows, key=lambda one: one.start)


def in_memory(old, new):
    jobs: Jobs[Job[Part]] = Jobs()
    first = old.job()
    jobs.add(first)
    first.tries = old.failed
    if old.given_up:
        jobs.give_up(first)
    jobs.add(new.job())
    waiting = [Row(one.start, len(one.work), one.since, one.tries, False) for one in jobs]
    owed = [
        Row(start, len(ids), old.since, old.failed, True)
        for (_, start), ids in jobs.given_up.items()
    ]
    return sorted([*waiting, *owed], key=lambda one: one.start)


def in_redis(client, old, new):
    books = JobLedger(client)
    put(books, old)
    if old.failed or old.given_up:
        fail(books, old)
    put(books, new)
    rows = client.hgetall(f"memtree:ledger:{EMBED}:{tenant_name(TENANT)}")
    entries = [JobEntry.read(row) for name, row in rows.items() if name != b"rev"]
    there = [
        Row(bytes.fromhex(one.start), one.count, one.since, one.tries, one.owed) for one in entries
    ]
    return sorted(there, key=lambda one: one.start)


def put(books, submitted):
    one = submitted.job()
    ids = list(one.work)
    entry = JobEntry(
        start=one.start.hex(),
        end=one.history.addresses[-1].hex(),
        tokens=one.tokens,
        count=len(ids),
        first=ids[0][:SHORT].hex(),
        last=ids[-1][:SHORT].hex(),
        backfill=False,
        since=one.since,
    )
    addresses = frozenset(address.hex() for address in one.history.addresses)
    name = tenant_name(TENANT)
    id_ = job_id(TENANT, EMBED, one.start)
    books.add(NewJob(EMBED, name, id_, entry, addresses, ids, b"payload"), time.time())


def fail(books, submitted):
    """A worker begins with it, and does not get on."""
    one = submitted.job()
    name = JobName(EMBED, tenant_name(TENANT), job_id(TENANT, EMBED, one.start))
    begun = books.begin(name, "somebody")
    left = SliceOutcome(one.tokens, len(one.work), 60.0, submitted.failed, submitted.given_up)
    books.release(name, "somebody", begun.entry.version, left)


@pytest.mark.parametrize("case", CASES)
def test_jobs_in_memory_are_replaced_by_the_rule(case):
    old, inherited, stays = CASES[case]
    assert in_memory(old, NEW) == expected(old, inherited, stays)


@pytest.mark.parametrize("case", CASES)
def test_jobs_in_redis_are_replaced_by_the_same_rule(case, clean_server):
    old, inherited, stays = CASES[case]
    with clean_server.client() as client:
        assert in_redis(client, old, NEW) == expected(old, inherited, stays)
