"""Extract memories from one conversation: from its messages that were not read before, oldest
first.

    posted messages -> unread messages of the user -> candidates -> memories

The user's switches are checked before each batch, so nothing is stored after they were turned off.
The store marks messages as read; this process remembers the marks. Snapshots of the conversation
are stored as well (`keep_snapshots.py`), if the user wants them.
"""

from __future__ import annotations

import logging
import sys
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from memtree.background.extracting.keep_snapshots import SnapshotKeeper
from memtree.background.extracting.posted_messages import FoundMessage, MessageFacts, PostedMessages
from memtree.background.extracting.queue import ExtractionJob
from memtree.background.extracting.read_messages import ReadMessages
from memtree.conversation.message import Message, Volatile
from memtree.days import day_of
from memtree.memories.extraction.model_prompt import MOST_MESSAGES
from memtree.memories.memory import Memory
from memtree.memories.message_extraction import (
    NOWHERE,
    PER_MESSAGE,
    PER_REQUEST,
    REQUEST_CAP,
    TOLD,
    ExtractionReport,
    MemoryExtraction,
    ReadMessage,
    SkippedText,
    cost,
    within,
)
from memtree.memories.scope import Scope
from memtree.memories.user_memories import UserSettings
from memtree.ports.clock import Clock
from memtree.process.bounded import remember

log = logging.getLogger("memtree.indexer")

BATCH_MESSAGES, BATCH_CHARS = (
    MOST_MESSAGES,
    32_000,
)  # read at once; a killed process loses at most these
SNAPSHOTS = 50  # most for one request; the next request continues
PER_CONVERSATION = 200  # memories of one conversation and day, in this process

VOLATILE = Volatile()

EffectiveSettings = Callable[[Scope], Awaitable[UserSettings]]


@dataclass(slots=True)
class ExtractionTotals:
    """Counts of this process for its metrics: user messages read, memories stored, snapshots that
    were new or changed, and skipped texts by reason."""

    messages: int = 0
    stored: int = 0
    snapshots: int = 0
    skipped: Counter[str] = field(default_factory=Counter)

    def count(self, report: ExtractionReport) -> None:
        self.messages += report.messages
        self.stored += len(report.stored)
        self.skipped.update(skip.reason for skip in report.skipped)


class _DayCount(NamedTuple):
    """Number of memories of one conversation on one day."""

    day: int
    memories: int


class ConversationExtraction:
    """A `ConversationReader`. `effective`: returns the current settings of a user."""

    def __init__(
        self,
        extraction: MemoryExtraction,
        snapshots: SnapshotKeeper,
        effective: EffectiveSettings,
        clock: Clock,
        done: ReadMessages,
        *,
        volatile: Volatile = VOLATILE,
        infos: MessageFacts | None = None,
    ) -> None:
        self._extraction, self._snapshots = extraction, snapshots
        self._effective, self._clock = effective, clock
        self._done, self._volatile, self._infos = done, volatile, infos
        self._kept: OrderedDict[tuple[Scope, bytes], _DayCount] = OrderedDict()
        self.totals = ExtractionTotals()

    async def read(self, job: ExtractionJob) -> None:
        posted = PostedMessages(
            job.scope.tenant, job.posted, self._volatile, ends=job.ends, infos=self._infos
        )
        if job.settings.save:
            await self._memories(job.scope, posted, job.posted, asks=True)
        if job.settings.history and (await self._effective(job.scope)).history:
            await self._snapshots_of(job.scope, posted, asks=True)

    async def extract(
        self,
        scope: Scope,
        posted: Sequence[Message],
        *,
        dry_run: bool = False,
        room: int = PER_REQUEST,
    ) -> tuple[ExtractionReport, list[Memory]]:
        """Extract memories now, on request, whatever the switches say, and store the snapshots that
        are new or changed. `dry_run`: store nothing, and make no snapshots. `room`: see `within`;
        messages beyond it are listed in `skipped`, and the next call reads them. Raises store
        errors, and `Unavailable` if a model fails."""
        ends = ((len(posted), self._clock.now()),)
        whole = PostedMessages(scope.tenant, posted, self._volatile, ends=ends, infos=self._infos)
        report = await self._memories(scope, whole, posted, dry_run=dry_run, room=room)
        return report, [] if dry_run else await self._snapshots_of(scope, whole, SNAPSHOTS)

    async def _snapshots_of(
        self, scope: Scope, whole: PostedMessages, most: int | None = None, *, asks: bool = False
    ) -> list[Memory]:
        kept: list[Memory] = []
        history = await whole.history()
        if history is None:
            return kept
        for window in (await self._snapshots.lacking(scope, history))[:most]:
            if asks and not (await self._effective(scope)).history:
                break
            memory = await self._snapshots.keep(scope, history, window)
            if memory is not None:
                kept.append(memory)
                self.totals.snapshots += 1
        return kept

    async def _memories(
        self,
        scope: Scope,
        whole: PostedMessages,
        posted: Sequence[Message],
        *,
        asks: bool = False,
        dry_run: bool = False,
        room: int = sys.maxsize,
    ) -> ExtractionReport:
        keys = self._done.keys(scope)
        conversation = scope, keys.of(posted[0].raw)
        report = ExtractionReport()
        for batch in _batches(await whole.unread(self._done, keys)):
            if asks and not (await self._effective(scope)).save:
                break
            undone = await self._extraction.undone(scope, [f.message.digest for f in batch])
            fresh = _once([each for each in batch if each.message.digest in undone])
            by_digest = {each.message.digest: each for each in fresh}
            count = within((each.message for each in fresh), room)
            report += _left(fresh[count:])
            del fresh[count:]
            room -= sum(cost(each.message) for each in fresh)
            for read in await self._extraction.read(scope, [f.message for f in fresh]):
                message = by_digest.pop(read.message.digest)
                report += await self._keep(scope, conversation, whole, message, read, dry_run)
            if not dry_run:  # those left over in `by_digest` could not be read
                self._remember([each for each in batch if each.message.digest not in by_digest])
        return report

    async def _keep(
        self,
        scope: Scope,
        conversation: tuple[Scope, bytes],
        whole: PostedMessages,
        posted_message: FoundMessage,
        read: ReadMessage,
        dry_run: bool,
    ) -> ExtractionReport:
        day = day_of(self._clock.now())
        kept = self._kept.get(conversation, _DayCount(day, 0))
        before = kept.memories if kept.day == day else 0
        place = await whole.place(posted_message.index) if read.candidates else NOWHERE
        report = await self._extraction.keep(
            scope,
            read,
            place,
            most=min(PER_MESSAGE, max(0, PER_CONVERSATION - before)),
            dry_run=dry_run,
        )
        if not dry_run:
            remember(self._kept, conversation, _DayCount(day, before + len(report.stored)))
            self.totals.count(report)
        return report

    def _remember(self, messages: Sequence[FoundMessage]) -> None:
        for each in messages:
            self._done.add(each.key, each.known)


def _once(messages: Sequence[FoundMessage]) -> list[FoundMessage]:
    """Return the first message of each digest."""
    first: dict[bytes, FoundMessage] = {}
    for each in messages:
        first.setdefault(each.message.digest, each)
    return list(first.values())


def _left(messages: Sequence[FoundMessage]) -> ExtractionReport:
    """Report messages that are left for the next request."""
    texts = (each.message.text[:TOLD] for each in messages)
    return ExtractionReport(skipped=tuple(SkippedText(text, REQUEST_CAP) for text in texts))


def _batches(messages: Sequence[FoundMessage]) -> Iterator[list[FoundMessage]]:
    batch: list[FoundMessage] = []
    size = 0
    for each in messages:
        length = len(each.message.text)
        if batch and (len(batch) >= BATCH_MESSAGES or size + length > BATCH_CHARS):
            yield batch
            batch, size = [], 0
        batch.append(each)
        size += length
    if batch:
        yield batch
