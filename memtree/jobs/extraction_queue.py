"""Keep conversations that wait for extraction: in RAM only, bounded, read by one task.

Submitting costs a request next to nothing: no message is parsed, nothing is awaited. A request
posts its whole conversation, so a newer one replaces the one that waits; a conversation that is
dropped, or lost with the process, comes again with its next request, and messages already read are
known by their digests (`memtree/memories/message_extraction.py`).

The reading itself is done in `conversation_extraction.py`.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from memtree.clock import Clock
from memtree.errors import SummarizerUnavailable, Unavailable
from memtree.history.message import Message
from memtree.history.message_list import size_from
from memtree.jobs.job_queue import TENANT_SHARE, WakeEvents, back_off, surplus
from memtree.memories.scope import Scope
from memtree.memories.user_memories import UserSettings

log = logging.getLogger("memtree.indexer")

MAX_JOBS = 256
MAX_BYTES = 64 * 1024 * 1024
MAX_TRIES = 6
COMPARED = 16  # messages that are compared to recognise a conversation
PAYLOADS = 32  # payloads of one waiting conversation whose arrival time is kept
PATIENCE = 5.0  # seconds that work continues when the process ends


@dataclass(slots=True, eq=False)
class ExtractionJob:
    """A conversation to read. `ends`: (length of the posted history, unix seconds when it came) of
    this payload and of those that it replaced, which tell the day on which a message was said."""

    scope: Scope
    posted: Sequence[Message]
    settings: UserSettings
    size: int  # bytes
    since: float  # monotonic seconds
    ends: tuple[tuple[int, float], ...]
    tries: int = 0
    not_before: float = 0.0  # monotonic seconds

    def continues(self, other: ExtractionJob) -> bool:
        """Return True if this is a continuation of the other conversation. Compares only some of
        the messages, the first and the last among them, since a request waits for it."""
        theirs, ours = other.posted, self.posted
        if other.scope != self.scope or not 0 < len(theirs) <= len(ours):
            return False
        step = max(1, len(theirs) // COMPARED)
        places = (len(theirs) - 1, *range(0, len(theirs), step))
        return all(ours[at].raw == theirs[at].raw for at in places)


class ConversationReader(Protocol):
    """Extracts memories from one conversation and stores them."""

    async def read(self, job: ExtractionJob) -> None:
        """Read a conversation and store its memories. Raises `Unavailable` if the job should be
        repeated later; memories stored before the failure stay."""
        ...


@dataclass(slots=True)
class QueueTotals:
    """Counts since the start: jobs read, jobs dropped because too many waited, jobs given up after
    failures, and seconds of reading."""

    read: int = 0
    dropped: int = 0
    given_up: int = 0
    seconds: float = 0.0


class ExtractionQueue(WakeEvents):
    """Queue of conversations. Call `start` and `close` in a running event loop; jobs submitted
    before `start` wait."""

    def __init__(
        self,
        reader: ConversationReader,
        clock: Clock,
        *,
        max_jobs: int = MAX_JOBS,
        max_bytes: int = MAX_BYTES,
        max_tries: int = MAX_TRIES,
        enabled: bool = True,
    ) -> None:
        """`enabled`: if False, `submit` does nothing."""
        super().__init__()
        self._reader, self._clock = reader, clock
        self._max_jobs, self._max_bytes, self._max_tries = max_jobs, max_bytes, max_tries
        self._waiting: deque[ExtractionJob] = deque()
        self._bytes = 0
        self._closed = not enabled
        self._task: asyncio.Task[None] | None = None
        self.totals = QueueTotals()

    def __len__(self) -> int:
        """Return the number of waiting conversations."""
        return len(self._waiting)

    @property
    def size(self) -> int:
        """Return the bytes of the waiting messages."""
        return self._bytes

    def submit(self, scope: Scope, posted: Sequence[Message], settings: UserSettings) -> None:
        """Queue a conversation for extraction in the background. Never raises."""
        if self._closed or not posted or not (settings.save or settings.history):
            return
        size = size_from(posted)
        ends = ((len(posted), self._clock.now()),)
        job = ExtractionJob(scope, posted, settings, size, self._clock.monotonic(), ends)
        self._put(job)
        tenants = [each for each in self._waiting if each.scope.tenant == scope.tenant]
        self._bound(tenants, TENANT_SHARE)
        self._bound(list(self._waiting))
        self.filled()

    def start(self) -> None:
        self._task = asyncio.create_task(self._run(), name="memory extraction")

    async def close(self, patience: float = PATIENCE) -> None:
        """Accept no more jobs, continue for at most `patience` seconds, then stop: messages not
        read by then come again with the next request of their conversation."""
        self._closed = True
        task, self._task = self._task, None
        if task is not None:
            try:
                async with asyncio.timeout(patience):
                    await self.join()
            except TimeoutError:
                log.info("extraction.stopped jobs_left=%d", len(self._waiting))
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        self._waiting.clear()
        self._bytes = 0
        self._idle.set()

    # -- the jobs ----------------------------------------------------------------------------

    def _put(self, job: ExtractionJob) -> None:
        """Append a job, or put it in the place of the one it continues."""
        for at, old in enumerate(self._waiting):
            if job.continues(old):
                job.since, job.tries, job.not_before = old.since, old.tries, old.not_before
                job.ends = (*old.ends, *job.ends)[-PAYLOADS:]
                self._bytes -= old.size
                self._waiting[at] = job
                break
        else:
            self._waiting.append(job)
        self._bytes += job.size

    def _bound(self, jobs: Sequence[ExtractionJob], share: float = 1.0) -> None:
        """Drop the oldest of these jobs until they fit into a share of the queue."""
        for oldest in surplus(jobs, self._max_jobs * share, self._max_bytes * share):
            self._waiting.remove(oldest)
            self._bytes -= oldest.size
            self.totals.dropped += 1

    def _next(self, now: float) -> ExtractionJob | None:
        """Take out the oldest job that is due."""
        for job in self._waiting:
            if job.not_before <= now:
                self._waiting.remove(job)
                self._bytes -= job.size
                return job
        return None

    async def _run(self) -> None:
        while True:
            now = self._clock.monotonic()
            job = self._next(now)
            if job is None:
                times = [job.not_before for job in self._waiting]
                await self.wait(now, times, idle=not self._waiting)
                continue
            try:
                await self._reader.read(job)
                self.totals.read += 1
            except Unavailable as error:
                wait = error.wait if isinstance(error, SummarizerUnavailable) else 0.0
                self._again(job, error.code, wait)
            except Exception as error:  # noqa: BLE001  no other conversation would be read any more
                # Log only the type: a traceback of code that reads messages may quote them.
                self.totals.given_up += 1
                log.error("extraction.failed error=%s", type(error).__name__)
            self.totals.seconds += self._clock.monotonic() - now

    def _again(self, job: ExtractionJob, code: str, wait: float) -> None:
        """Repeat the job after a pause, or give up: then its conversation's next request submits it
        again."""
        job.tries += 1
        if job.tries >= self._max_tries:
            self.totals.given_up += 1
            log.warning("extraction.given_up code=%s", code)
            return
        job.not_before = self._clock.monotonic() + max(wait, back_off(job.tries))
        log.warning("extraction.delayed code=%s", code)
        for newer in self._waiting:
            if newer.continues(job):
                newer.tries, newer.not_before = job.tries, job.not_before
                newer.ends = (*job.ends, *newer.ends)[-PAYLOADS:]
                return
        self._waiting.append(job)
        self._bytes += job.size
