"""Open the readers of conversations from the settings."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from memtree.background.extracting.conversation import ConversationExtraction, EffectiveSettings
from memtree.background.extracting.keep_snapshots import SnapshotKeeper
from memtree.background.extracting.metered_model import AskedModel, CountedModel, MeteredModel
from memtree.background.extracting.model_reader import ModelReader
from memtree.background.extracting.posted_messages import MessageFacts
from memtree.background.extracting.queue import ExtractionQueue
from memtree.background.extracting.read_messages import ReadMessages
from memtree.background.extracting.snapshot_model import ModelSnapshots
from memtree.background.extracting.structured_model_reader import StructuredModelReader
from memtree.background.summarizing.open import open_endpoint, open_summarizer
from memtree.background.summarizing.spending import DailyLimits, Spending, SummaryPrices
from memtree.config import Settings
from memtree.conversation.history import MessageInfoCache
from memtree.conversation.message import Volatile
from memtree.conversation.message_cache import MessageCache
from memtree.memories.agents.extraction.agent_messages import ConversationReaders
from memtree.memories.extraction.rule_extraction import extract
from memtree.memories.message_extraction import (
    EMBEDDER_PATIENCE,
    CandidateReader,
    MemoryExtraction,
    RuleReader,
)
from memtree.memories.saving import MemorySaving
from memtree.ports.clock import Clock
from memtree.ports.store import Tallies
from memtree.process.bounded import SizedCache
from memtree.stores import Memories

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
    saving: MemorySaving,
    clock: Clock,
    effective: EffectiveSettings,
    new_id: Callable[[], str],
    *,
    infos: MessageInfoCache | None = None,
    tallies: Tallies | None = None,
) -> ExtractionParts:
    """Open the parts without starting them. `tallies`: store of the daily totals of model calls;
    None: no model is used."""
    limits = settings.cache_limits
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
        effective,
        clock,
        read,
        volatile=Volatile(settings.volatile_tags, settings.preamble_tags),
        infos=MessageFacts(infos, own),
    )
    queue = ExtractionQueue(conversations, clock, enabled=settings.memories_extraction != OFF)
    closing = (model.close, snapshots.close) if model and snapshots else ()
    caches: dict[str, SizedCache] = {"read_messages": read, "read_infos": own, "snapshots": keeper}
    return ExtractionParts(queue, conversations, reader, model, closing, caches)
