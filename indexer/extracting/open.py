"""Opens what reads conversations for memories, from the settings."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from indexer.extracting.conversation import ConversationExtraction, EffectiveSettings
from indexer.extracting.keep_snapshots import SnapshotKeeper
from indexer.extracting.model_reader import ModelReader
from indexer.extracting.posted_messages import MessageFacts
from indexer.extracting.queue import ExtractionQueue
from indexer.extracting.read_messages import ReadMessages
from indexer.extracting.snapshot_model import ModelSnapshots
from indexer.summarizing.open import open_endpoint, open_summarizer
from indexer.summarizing.spending import DailyLimits, Spending, SummaryPrices
from memtree.config import Settings
from memtree.conversation.history import MessageInfoCache
from memtree.conversation.message import Volatile
from memtree.conversation.message_cache import MessageCache
from memtree.memories.extracting import CandidateReader, MemoryExtraction, RuleReader
from memtree.memories.extraction.rules import extract
from memtree.memories.saving import MemorySaving
from memtree.ports.clock import Clock
from memtree.ports.store import Tallies
from memtree.stores import Memories

MESSAGES = 20_000  # of which something is remembered, some 300 bytes each
RULES, OFF = "rules", "off"


@dataclass(frozen=True, slots=True)
class ExtractionParts:
    """`queue`: takes conversations; `conversations`: reads one at once. `model`: who finds memories
    where it is no rule."""

    queue: ExtractionQueue
    conversations: ConversationExtraction
    model: ModelReader | None = None
    closing: tuple[Callable[[], Awaitable[None]], ...] = ()

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
    """Not started. `tallies`: where the calls of a model are counted; None: there is no model."""
    reader: CandidateReader = RuleReader(extract)
    model: ModelReader | None = None
    snapshots: ModelSnapshots | None = None
    asks = settings.memories_extraction not in (RULES, OFF) and bool(settings.summary_model)
    if asks and tallies is not None and (summarizer := open_summarizer(settings)) is not None:
        limits, prices = DailyLimits.of(settings), SummaryPrices.of(settings)
        spending = Spending(tallies, clock, prices, limits)
        reader = model = ModelReader(open_endpoint(settings, 1), spending)
        snapshots = ModelSnapshots(summarizer, spending)
    conversations = ConversationExtraction(
        MemoryExtraction(
            memories,
            saving,
            reader,
            clock,
            new_id,
            most=settings.max_memories,
            max_text_chars=settings.max_text_chars,
        ),
        SnapshotKeeper(memories, saving, clock, new_id, snapshots, most=settings.max_memories),
        effective,
        clock,
        ReadMessages(secrets.randbits(32)),
        volatile=Volatile(settings.volatile_tags, settings.preamble_tags),
        infos=MessageFacts(infos, MessageCache(secrets.randbits(32), MESSAGES)),
    )
    queue = ExtractionQueue(conversations, clock, enabled=settings.memories_extraction != OFF)
    closing = (model.close, snapshots.close) if model and snapshots else ()
    return ExtractionParts(queue, conversations, model, closing)
