"""The jobs of all processes in Redis: add, start, release and recover them.

Blocking, for threads: tickets are RQ jobs, and RQ has no other client. Each step is one script
(`lua_scripts.py`); tickets are issued after it, and `queue_worker.py` finds tickets that are lost
in between. Raises the errors of the package `redis`.

    add -> in line -> ticket in RQ's queue -> begin -> progress ... -> release -> in line, or gone
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from redis import Redis
from rq import Queue
from rq.serializers import JSONSerializer

from memtree.jobs.job_queue import replaces
from memtree_indexer.lua_scripts import COMMON, SCRIPTS
from memtree_indexer.payloads import SHORT, contains, shorts

EMBED, SUMMARIES = "embed", "summaries"
STAGES = (EMBED, SUMMARIES)
PAYLOAD_SECONDS = 3_600  # renewed while a worker lives, see `queue_worker.py`
LEASE = 15  # seconds
MAX_DEATHS = 5
ATTEMPTS = 20  # attempts against concurrent changes of the same tenant's jobs
# Name of the function in tickets. Workers of 0.1.0 import it by this name, so this release still
# writes it; its own workers accept the new name, too, which the next release can write.
RUN = "indexer.redis.rq_job.run"
LIFE, CLOCK = "memtree:life", "memtree:clock"  # see `outbox.py`


@dataclass(frozen=True, slots=True)
class JobName:
    """Name of a job: its stage, its tenant's name in Redis, its id."""

    stage: str
    tenant: str
    id: str


@dataclass(frozen=True, slots=True)
class JobEntry:
    """Entry of a job in Redis. `first`, `last`: short ids at the ends of its work. `since`: unix
    seconds of its first submission; `at`: Redis's own, of the submission of its payload. `owed`:
    given up until the history is posted again. `version`: of the payload."""

    start: str
    end: str
    tokens: int
    count: int
    first: str
    last: str
    backfill: bool
    since: float
    tries: int = 0
    deaths: int = 0
    owed: bool = False
    version: int = 0
    at: float = 0.0

    @classmethod
    def read(cls, data: bytes | str) -> JobEntry:
        """Decode an entry; fields of newer versions of the program are ignored."""
        fields = json.loads(data)
        return cls(**{name: fields[name] for name in cls.__slots__ if name in fields})

    def json(self) -> str:
        return json.dumps({name: getattr(self, name) for name in self.__slots__})


@dataclass(frozen=True, slots=True)
class NewJob:
    """A job to add. `addresses`: of its whole history. `age`: seconds since its submission."""

    stage: str
    tenant: str
    id: str
    entry: JobEntry
    addresses: frozenset[str]
    ids: Sequence[bytes]
    payload: bytes
    age: float = 0.0


@dataclass(frozen=True, slots=True)
class AddedJob:
    """Name of a job in Redis; see `outbox.py` for the other two."""

    id: str
    life: bytes
    version: int


@dataclass(frozen=True, slots=True)
class _Snapshot:
    """A tenant's jobs of a stage at one moment. `ticketed`: those with a ticket, running ones
    first; `now`: unix seconds of Redis."""

    rev: bytes
    entries: Mapping[str, JobEntry]
    ticketed: Sequence[str]
    life: bytes
    now: float


@dataclass(frozen=True, slots=True)
class StartedJob:
    entry: JobEntry
    payload: bytes


@dataclass(frozen=True, slots=True)
class SliceOutcome:
    """Work left after a slice: tokens, and leaves or nodes; seconds before it continues; failed
    attempts in a row; True if it is given up."""

    tokens: int = 0
    count: int = 0
    wait: float = 0.0
    tries: int = 0
    owed: bool = False


class JobLedger:
    """The jobs in Redis, through one client. `who`: name of the calling worker thread."""

    def __init__(self, client: Redis) -> None:
        self.client: Any = client  # its type stubs assume text where it returns bytes
        self._life = secrets.token_hex(8)  # a new name for the lifetime of an empty Redis
        self._scripts = {
            name: client.register_script(COMMON + text) for name, text in SCRIPTS.items()
        }

    # -- proxies -----------------------------------------------------------------------------

    def add(self, new: NewJob, now: float, wait: float = 0.0) -> AddedJob:
        """Add a job in the place of those that it replaces; `wait`: seconds that a new job waits
        for more work.

        A job that waited for Redis in one process may come after a newer one of the same
        conversation from another. The newer one stays: the late job is dropped if the newer one has
        all its work, and stored beside it otherwise.
        """
        for _ in range(ATTEMPTS):
            jobs = self._snapshot(new.stage, new.tenant)
            at = jobs.now - new.age
            alike = {id_: old for id_, old in jobs.entries.items() if self._replaces(new, id_, old)}
            newer = {id_ for id_, old in alike.items() if old.at > at and not old.owed}
            for id_ in newer:
                if contains(self._work(id_), shorts(new.ids)):
                    return AddedJob(id_, jobs.life, alike[id_].version)
            added = self._add(
                new, jobs, {id_: alike[id_] for id_ in alike.keys() - newer}, at, (now, wait)
            )
            if added is not None:
                return added
        raise TimeoutError("a tenant's jobs change too often")

    def _add(
        self,
        new: NewJob,
        jobs: _Snapshot,
        replaced: Mapping[str, JobEntry],
        at: float,
        due: tuple[float, float],
    ) -> AddedJob | None:
        """Add the job; None if the jobs have changed since the snapshot. `due`: as `now` and
        `wait`."""
        free = new.id in replaced or new.id not in jobs.entries
        own = new.id if free else secrets.token_hex(16)
        # A running job continues with the new payload, so that no other worker starts.
        id_ = next((each for each in (*jobs.ticketed, own) if each in replaced), own)
        name = JobName(new.stage, new.tenant, id_)
        since = [old.since for old in replaced.values() if not old.owed]
        entry = replace(new.entry, since=min([new.entry.since, *since]), at=at)
        answer = self._call(
            "ADD", name, entry.json(), jobs.rev, json.dumps(list(replaced)), new.payload,
            shorts(new.ids), PAYLOAD_SECONDS, *due, self._life,
        )  # fmt: skip
        if answer is None:
            return None
        moved, given, version, life = answer
        if moved:
            self._drop_ticket(name)
            self._give(name.stage, name.tenant, [name.id.encode(), b"i"])
        self._give(new.stage, new.tenant, given)
        return AddedJob(id_, life, version)

    def forget(self, stage: str, tenant: str, addresses: Iterable[str] | None) -> set[str]:
        """Drop jobs of histories that end at one of these addresses, or all; returns their ids."""
        which = JobName(stage, tenant, "1" if addresses is None else "0")
        gone, given = self._call("FORGET", which, *(addresses or ()))
        self._give(stage, tenant, given)
        return {id_.decode() for id_ in gone}

    # -- workers -----------------------------------------------------------------------------

    def begin(self, name: JobName, who: str) -> StartedJob | None:
        """Start a job; None if there is nothing to do, or another worker holds the lease."""
        what, entry, payload, given = self._call("BEGIN", name, who, LEASE)
        self._give(name.stage, name.tenant, given)
        return StartedJob(JobEntry.read(entry), payload) if what == b"ok" else None

    def progress(self, name: JobName, who: str, version: int, left: SliceOutcome) -> bool:
        """Report progress; returns False if `who` no longer holds the job."""
        return bool(self._call("PROGRESS", name, who, version, left.tokens, left.count))

    def hold(self, name: JobName, who: str) -> bool:
        """Renew a lease; returns False if another worker holds it."""
        return bool(self._call("HOLD", name, who, LEASE))

    def forgot(self, tenant: str) -> bytes:
        """Return a value that changes whenever something of the tenant is deleted."""
        return bytes(self.client.get(f"memtree:forgot:{tenant}") or b"")

    def leased(self, names: Sequence[JobName]) -> set[JobName]:
        """Return those jobs whose lease a worker holds."""
        held = self.client.mget([f"memtree:lease:{name.id}" for name in names]) if names else []
        return {name for name, who in zip(names, held, strict=True) if who}

    def prolong(self) -> None:
        """Renew the expiry of the payloads of waiting jobs."""
        for stage, tenant in self.tenants():
            self._call("TIDY", JobName(stage, tenant, ""))
            with self.client.pipeline(transaction=False) as pipe:
                for id_ in self.client.hkeys(f"memtree:ledger:{stage}:{tenant}"):
                    pipe.expire(f"memtree:payload:{id_.decode()}", PAYLOAD_SECONDS)
                    pipe.expire(f"memtree:work:{id_.decode()}", PAYLOAD_SECONDS)
                pipe.execute()

    def release(self, name: JobName, who: str, version: int, left: SliceOutcome) -> None:
        """Return a job with the work left. Ignored if another worker holds the lease."""
        given = self._call(
            "RELEASE", name, who, version, left.tokens, left.count, left.tries, int(left.owed),
            time.time(), left.wait,
        )  # fmt: skip
        self._give(name.stage, name.tenant, given)

    def recover(self, name: JobName) -> None:
        """Queue a job again whose worker died or whose ticket was lost."""
        self._drop_ticket(name)
        self._give(name.stage, name.tenant, self._call("RECOVER", name, MAX_DEATHS))

    def due(self, now: float) -> None:
        """Queue the jobs that are due."""
        for stage in STAGES:
            for member in self.client.zrangebyscore(f"memtree:later:{stage}", 0, now):
                tenant, id_ = member.decode().split(" ")
                self._give(stage, tenant, self._call("DUE", JobName(stage, tenant, id_)))

    # -- reading -----------------------------------------------------------------------------

    def out(self) -> dict[JobName, bool]:
        """Return the jobs with a ticket, each with True if a worker ever began with that ticket."""
        whose = self.tenants()
        with self.client.pipeline(transaction=False) as pipe:
            for stage, tenant in whose:
                pipe.hgetall(f"memtree:out:{stage}:{tenant}")
            rows = pipe.execute()
        return {
            JobName(stage, tenant, id_.decode()): len(ticket) > 1
            for (stage, tenant), row in zip(whose, rows, strict=True)
            for id_, ticket in row.items()
        }

    def tenants(self) -> list[tuple[str, str]]:
        return [
            (stage, name.decode())
            for stage in STAGES
            for name in self.client.smembers(f"memtree:tenants:{stage}")
        ]

    def queued(self) -> set[str]:
        """Return the jobs whose tickets are in RQ's queues."""
        return {
            id_ for stage in STAGES for queue in self.queues(stage) for id_ in queue.get_job_ids()
        }

    def queues(self, stage: str) -> list[Queue]:
        """Return RQ's queues of a stage, the more urgent one first."""
        return [self._queue(stage, letter) for letter in ("i", "b")]

    # ----------------------------------------------------------------------------------------

    def _snapshot(self, stage: str, tenant: str) -> _Snapshot:
        with self.client.pipeline() as pipe:
            pipe.hgetall(f"memtree:ledger:{stage}:{tenant}")
            pipe.hgetall(f"memtree:out:{stage}:{tenant}")
            pipe.get(LIFE)
            pipe.time()
            rows, out, life, (seconds, micros) = pipe.execute()
        rev = rows.pop(b"rev", b"")
        tickets = sorted(out, key=lambda id_: len(out[id_]), reverse=True)
        entries = {id_.decode(): JobEntry.read(row) for id_, row in rows.items()}
        ticketed = [id_.decode() for id_ in tickets]
        return _Snapshot(rev, entries, ticketed, life or b"", seconds + micros / 1e6)

    def _replaces(self, new: NewJob, id_: str, old: JobEntry) -> bool:
        return replaces(
            new.entry.start, new.addresses, old.start, lambda: self._covers(new, id_, old)
        )

    def _covers(self, new: NewJob, id_: str, old: JobEntry) -> bool:
        """Return True if the new job contains all work of the old one, and the old one was not
        given up."""
        mine = {each[:SHORT].hex() for each in new.ids}
        if old.owed or old.first not in mine or old.last not in mine:
            return False
        return contains(shorts(new.ids), self._work(id_) or b"?")

    def _work(self, id_: str) -> bytes:
        return bytes(self.client.get(f"memtree:work:{id_}") or b"")

    def _call(self, script: str, name: JobName, *more: Any) -> Any:
        return self._scripts[script](args=[name.stage, name.tenant, name.id, *more])

    def _queue(self, stage: str, letter: str) -> Queue:
        urgency = "interactive" if letter == "i" else "backfill"
        return Queue(
            f"memtree:{stage}:{urgency}", connection=self.client, serializer=JSONSerializer
        )

    def _give(self, stage: str, tenant: str, given: Sequence[bytes]) -> None:
        """Issue tickets as RQ jobs, whose arguments are names."""
        for id_, letter in zip(given[::2], given[1::2], strict=True):
            self._queue(stage, letter.decode()).enqueue_call(
                RUN,
                args=(stage, tenant, id_.decode()),
                job_id=id_.decode(),
                timeout=-1,
                result_ttl=0,
                failure_ttl=60,
                description=stage,
            )

    def _drop_ticket(self, name: JobName) -> None:
        for queue in self.queues(name.stage):
            queue.remove(name.id)
