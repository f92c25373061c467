"""Extract memories from a conversation's unread messages, and open its readers from the settings.

    posted messages -> unread messages of the user -> candidates -> memories

Messages are read oldest first. The user's switches are checked before each batch, so nothing is
stored after they were turned off. The store marks messages as read; this process remembers the
marks. Snapshots of the conversation are stored as well (`snapshots.py`), if the user wants them.
"""

from __future__ import annotations

import asyncio
import secrets
import sys
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from memtree.agents.agent_messages import ConversationReaders
from memtree.clock import Clock, day_of
from memtree.config import Settings
from memtree.context.read_histories import MessageCache
from memtree.history.chat_history import MessageInfoCache
from memtree.history.message import Message, Volatile
from memtree.jobs.extraction_queue import ExtractionJob, ExtractionQueue
from memtree.jobs.model_readers import ModelReader, StructuredModelReader
from memtree.jobs.posted_messages import (
    FoundMessage,
    MessageFacts,
    PostedMessages,
    ReadMessages,
    newest_said,
)
from memtree.jobs.snapshots import ModelSnapshots, SnapshotKeeper
from memtree.jobs.spending import (
    AskedModel,
    CountedModel,
    DailyLimits,
    MeteredModel,
    Spending,
    SummaryPrices,
)
from memtree.jobs.summary_stage import open_endpoint, open_summarizer
from memtree.memories.book import MemoryBook
from memtree.memories.memory import Memory
from memtree.memories.memory_curation import NO_WISHES, MemoryForgetting, MemoryWishes, wishes
from memtree.memories.message_extraction import (
    EMBEDDER_PATIENCE,
    NOWHERE,
    PER_MESSAGE,
    PER_REQUEST,
    READ,
    REQUEST_CAP,
    TOLD,
    CandidateReader,
    ExtractionReport,
    MemoryExtraction,
    MemoryRereading,
    ReadMessage,
    RuleReader,
    SkippedText,
    UserMessage,
    cost,
    within,
)
from memtree.memories.model_extraction import MOST_MESSAGES
from memtree.memories.rule_extraction import extract
from memtree.memories.scope import Scope
from memtree.memories.user_memories import UserSettings
from memtree.ports.context_store import Tallies
from memtree.process.bounded import SizedCache, remember
from memtree.stores import Memories

# Read at once; a killed process loses at most these.
BATCH_MESSAGES, BATCH_CHARS = MOST_MESSAGES, 32_000
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


class ConversationExtraction:
    """A `ConversationReader`. `effective`: returns the current settings of a user. `forgetting`:
    obeys what messages ask to forget."""

    def __init__(
        self,
        extraction: MemoryExtraction,
        snapshots: SnapshotKeeper,
        forgetting: MemoryForgetting,
        effective: EffectiveSettings,
        done: ReadMessages,
        *,
        volatile: Volatile = VOLATILE,
        infos: MessageFacts | None = None,
    ) -> None:
        self._extraction, self._snapshots = extraction, snapshots
        self.forgetting = forgetting
        self._effective, self._clock = effective, forgetting.clock
        self._done, self._volatile, self._infos = done, volatile, infos
        # Conversation -> a day, and its number of memories on that day.
        self._kept: OrderedDict[tuple[Scope, bytes], tuple[int, int]] = OrderedDict()
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
        conversation = scope, keys(posted[0].raw)
        report = ExtractionReport()
        for batch in _batches(await whole.unread(self._done, keys)):
            if asks and not (await self._effective(scope)).save:
                break
            undone = await self._extraction.undone(scope, [f.message.digest for f in batch])
            fresh = _once([each for each in batch if each.message.digest in undone])
            by_digest = {each.message.digest: each for each in fresh}
            count = within((each.message for each in fresh), room)
            left = (SkippedText(f.message.text[:TOLD], REQUEST_CAP) for f in fresh[count:])
            report += ExtractionReport(skipped=tuple(left))
            del fresh[count:]
            room -= sum(cost(each.message) for each in fresh)
            for read in await self._extraction.read(scope, [f.message for f in fresh]):
                message = by_digest.pop(read.message.digest)
                report += await self._keep(scope, conversation, whole, message, read, dry_run)
            if not dry_run:  # those left over in `by_digest` could not be read
                for each in batch:
                    if each.message.digest not in by_digest:
                        self._done.add(each.key, each.known)
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
        last_day, before = self._kept.get(conversation, (day, 0))
        before = before if last_day == day else 0
        place = await whole.place(posted_message.index) if read.candidates else NOWHERE
        forgotten = () if dry_run else await self._forgotten(scope, read.message)
        report = await self._extraction.keep(
            scope,
            read,
            place,
            most=min(PER_MESSAGE, max(0, PER_CONVERSATION - before)),
            dry_run=dry_run,
        )
        if not dry_run:
            remember(self._kept, conversation, (day, before + len(report.stored)))
            self.totals.count(report)
        return replace(report, forgotten=forgotten)

    async def _forgotten(self, scope: Scope, message: UserMessage) -> tuple[Memory, ...]:
        """Forget what a message asks to forget, before it is done."""
        wanted = await wishes_of(message)
        obeyed = [
            await self.forgetting.obey(scope, message.digest, about) for about in wanted.forget
        ]
        return tuple(each.gone.memory for each in obeyed if each.gone)

    async def newest(self, posted: Sequence[Message]) -> tuple[UserMessage, MemoryWishes] | None:
        """Return the newest message of a posted history that is the user's, and what it asks of the
        memory; None if there is none, or if it asks nothing."""
        message = await asyncio.to_thread(newest_said, posted, self._volatile)
        wanted = NO_WISHES if message is None else await wishes_of(message)
        return None if message is None or wanted == NO_WISHES else (message, wanted)


@dataclass(frozen=True, slots=True)
class RereadingFirst:
    """A `ConversationReader` that reads the user's memories again before the conversation."""

    rereading: MemoryRereading
    conversations: ConversationExtraction

    async def read(self, job: ExtractionJob) -> None:
        if job.settings.save:
            await self.rereading.once(job.scope)
        await self.conversations.read(job)


async def wishes_of(message: UserMessage) -> MemoryWishes:
    """Return what a message asks of the memory."""
    return await asyncio.to_thread(wishes, message.text[:READ], in_play=message.fiction)


def _once(messages: Sequence[FoundMessage]) -> list[FoundMessage]:
    """Return the first message of each digest."""
    first: dict[bytes, FoundMessage] = {}
    for each in messages:
        first.setdefault(each.message.digest, each)
    return list(first.values())


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


# ---------------------------------------------------------------- opened from the settings

RULES, OFF = "rules", "off"


@dataclass(frozen=True, slots=True)
class ExtractionParts:
    """`queue`: takes conversations in the background; `conversations`: reads one immediately.
    `reader`: extracts memories. `model`: the configured model, which it asks, or None. `caches`: by
    name, for metrics."""

    queue: ExtractionQueue
    conversations: ConversationExtraction
    reader: CandidateReader
    model: MeteredModel | None = None
    closing: tuple[Callable[[], Awaitable[None]], ...] = ()
    caches: Mapping[str, SizedCache] = field(default_factory=dict)

    def readers(
        self, caller: AskedModel | None = None
    ) -> tuple[ConversationReaders, CountedModel | None]:
        """Return the readers of one posted conversation, and the model that they ask, if any: the
        configured one, else the `caller`'s own, which only fills schemas."""
        model = self.model or caller
        if model is None:
            return ConversationReaders(self.reader), None
        counted = CountedModel(model)
        free = ModelReader(counted) if self.model else self.reader
        return ConversationReaders(free, StructuredModelReader(counted)), counted

    async def close(self, patience: float) -> None:
        await self.queue.close(patience)
        for close in self.closing:
            await close()


def open_extraction(
    settings: Settings,
    memories: Memories,
    book: MemoryBook,
    clock: Clock,
    effective: EffectiveSettings,
    new_id: Callable[[], str],
    *,
    infos: MessageInfoCache | None = None,
    tallies: Tallies | None = None,
) -> ExtractionParts:
    """Open the parts without starting them. `tallies`: store of the daily totals of model calls;
    None: no model is used."""
    limits, saving = settings.cache_limits, book.saving
    reader: CandidateReader = RuleReader(extract)
    model: MeteredModel | None = None
    snapshots: ModelSnapshots | None = None
    asks = settings.memories_extraction not in (RULES, OFF) and bool(settings.summary_model)
    if asks and tallies is not None and (summarizer := open_summarizer(settings)) is not None:
        daily, prices = DailyLimits.of(settings), SummaryPrices.of(settings)
        spending = Spending(tallies, clock, prices, daily)
        model = MeteredModel(open_endpoint(settings, 1), spending)
        reader = ModelReader(model)
        snapshots = ModelSnapshots(summarizer, spending)
    keeper = SnapshotKeeper(
        memories,
        saving,
        clock,
        new_id,
        snapshots,
        most=settings.max_memories,
        cache_bytes=limits.snapshots,
    )
    read = ReadMessages(secrets.randbits(32), limits.read_messages)
    own = MessageCache(secrets.randbits(32), limits.read_infos)
    conversations = ConversationExtraction(
        MemoryExtraction(
            memories,
            saving,
            reader,
            clock,
            new_id,
            most=settings.max_memories,
            max_text_chars=settings.max_text_chars,
            patience=max(EMBEDDER_PATIENCE, settings.embedding_seconds),
        ),
        keeper,
        MemoryForgetting(book, memories),
        effective,
        read,
        volatile=Volatile(settings.volatile_tags, settings.preamble_tags),
        infos=MessageFacts(infos, own),
    )
    rereading = RereadingFirst(MemoryRereading(book, memories, memories), conversations)
    queue = ExtractionQueue(rereading, clock, enabled=settings.memories_extraction != OFF)
    closing = (model.close, snapshots.close) if model and snapshots else ()
    caches: dict[str, SizedCache] = {"read_messages": read, "read_infos": own, "snapshots": keeper}
    return ExtractionParts(queue, conversations, reader, model, closing, caches)
