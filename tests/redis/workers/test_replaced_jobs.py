"""Check which jobs a new one replaces and what it inherits of them: one table of cases, for jobs in
memory (Python) and for jobs in Redis (Python and Lua)."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import pytest

from memtree.history.message import Message
from memtree.jobs.job_queue import Job, Jobs
from memtree_indexer.ledger import EMBED, JobEntry, JobLedger, JobName, NewJob, SliceOutcome
from memtree_indexer.payloads import SHORT, job_id, tenant_name
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
    "given up before": (Submitted(LONG, 1, "BCD", 20.0, 6, given_up=True), {}, False),
    "given up at the same place": (Submitted(LONG, 2, "CD", 20.0, 6, given_up=True), {}, False),
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
    return in_ledger(client)


def in_ledger(client):
    rows = client.hgetall(f"memtree:ledger:{EMBED}:{tenant_name(TENANT)}")
    entries = [JobEntry.read(row) for name, row in rows.items() if name != b"rev"]
    there = [
        Row(bytes.fromhex(one.start), one.count, one.since, one.tries, one.owed) for one in entries
    ]
    return sorted(there, key=lambda one: one.start)


def put(books, submitted, age=0.0):
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
    books.add(NewJob(EMBED, name, id_, entry, addresses, ids, b"payload", age), time.time())


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


# ---------------------------------------------------------------- when it is due

WAITS = {
    "failed at the same place": (Submitted(LONG, 2, "CD", failed=3), True),
    "failed at an earlier place": (Submitted(LONG, 1, "BCD", failed=3), True),
    "failed in another chat with the same work": (Submitted(OTHER, 1, "CD", failed=3), True),
    "failed in another chat": (Submitted(OTHER, 1, "XY", failed=3), False),
    "given up": (Submitted(LONG, 1, "BCD", failed=6, given_up=True), False),
    "did not fail": (Submitted(LONG, 1, "BCD"), False),
}


@pytest.mark.parametrize("case", WAITS)
def test_in_memory_it_waits_as_long_as_what_it_replaces(case):
    old, waits = WAITS[case]
    jobs: Jobs[Job[Part]] = Jobs()
    first = old.job()
    jobs.add(first)
    first.not_before = 60.0 if old.failed else 0.0
    if old.given_up:
        jobs.give_up(first)
    new = NEW.job()
    jobs.add(new)
    assert new.not_before == (60.0 if waits else 0.0)


@pytest.mark.parametrize("case", WAITS)
def test_in_redis_it_waits_as_long_as_what_it_replaces(case, clean_server):
    old, waits = WAITS[case]
    with clean_server.client() as client:
        books = JobLedger(client)
        put(books, old)
        if old.failed:
            fail(books, old)
        before = due_times(client)
        put(books, NEW)
        id_ = job_id(TENANT, EMBED, NEW.job().start)
        assert due_times(client).get(id_) == (max(before.values()) if waits else None)


def due_times(client):
    """When jobs go on that wait, by id."""
    waiting = client.zrange(f"memtree:later:{EMBED}", 0, -1, withscores=True)
    return {name.decode().split(" ")[1]: at for name, at in waiting}


# ---------------------------------------------------------------- a late one

LATE = {
    "the newer one has all its work": (Submitted(LONG, 2, "CD"), ["CD"]),
    "it has work of its own": (Submitted("abz", 2, "CZ"), ["CD", "CZ"]),
    "it begins before the newer one": (Submitted(LONG, 1, "BCD"), ["BCD", "CD"]),
    "of another chat": (Submitted(OTHER, 1, "XY"), ["CD", "XY"]),
}


@pytest.mark.parametrize("case", LATE)
def test_what_was_submitted_before_does_not_take_the_place_of_what_is_newer(case, clean_server):
    late, left = LATE[case]
    with clean_server.client() as client:
        books = JobLedger(client)
        put(books, NEW)
        put(books, late, age=10.0)
        works = [client.get(key) for key in client.keys("memtree:work:*")]
        names = sorted("".join(chr(letter) for letter in work[::SHORT]) for work in works)
        assert names == left


def test_what_was_given_up_is_replaced_however_old(clean_server):
    with clean_server.client() as client:
        books = JobLedger(client)
        put(books, NEW)
        fail(books, replace(NEW, failed=6, given_up=True))
        put(books, NEW, age=10.0)
        (row,) = in_ledger(client)
        assert (row.given_up, row.tries) == (False, 0)


# ---------------------------------------------------------------- an answer that was lost


def test_who_asks_again_since_the_answer_was_lost_has_the_job(clean_server):
    """The client repeats a command whose connection broke; Redis may have done it."""
    one = NEW.job()
    name = JobName(EMBED, tenant_name(TENANT), job_id(TENANT, EMBED, one.start))
    with clean_server.client() as client:
        books = JobLedger(client)
        put(books, NEW)
        assert books.begin(name, "somebody")
        assert books.begin(name, "somebody")
        assert books.begin(name, "another") is None
