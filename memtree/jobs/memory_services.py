"""Wire the use cases of saved memories: each is one field, created once per process."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from memtree.agents.whole_user import WholeUser
from memtree.clock import Clock
from memtree.config import Settings
from memtree.history.chat_history import MessageInfoCache
from memtree.jobs.agent_services import AgentServices, open_agent_services
from memtree.jobs.conversation_extraction import ExtractionParts, open_extraction
from memtree.jobs.extraction_queue import PATIENCE, ExtractionQueue
from memtree.memories.book import MemoryBook, MemoryRules
from memtree.memories.document_book import DocumentBook
from memtree.memories.memory_curation import MemoryCuration
from memtree.memories.memory_injection import deadline_of
from memtree.memories.search.scope_search import MemorySearch
from memtree.memories.user_book import UserBook
from memtree.ports.context_store import ProviderObjects, Tallies
from memtree.ports.models import Embedder
from memtree.stores import Memories
from memtree.transfer.file_import import ImportParts
from memtree.transfer.memory_transfer import MemoryTransfer
from memtree.tree.chunking import passages


@dataclass(frozen=True, slots=True)
class MemoryServices:
    """The services for memories of one process, opened together. The opener starts and closes them;
    nothing runs in the background before. `users`: groups, settings and plans; `curation`: the
    past, merging, deleting many. `documents`: of namespaces, for `use_rag`. `extracting`:
    extraction of memories from conversations. `transfer`: export and import of memories as files.
    `whole_user`: all of one user. `objects`: which tenant created which object at the provider."""

    book: MemoryBook
    users: UserBook
    curation: MemoryCuration
    documents: DocumentBook
    extracting: ExtractionParts
    transfer: MemoryTransfer
    agents: AgentServices
    whole_user: WholeUser
    objects: ProviderObjects

    @property
    def extraction(self) -> ExtractionQueue:
        """Return the queue of conversations to extract memories from."""
        return self.extracting.queue

    def start(self) -> None:
        """Start background work."""
        self.book.start()
        self.extracting.queue.start()

    async def close(self, patience: float = PATIENCE) -> None:
        """Close; background work continues for at most `patience` seconds."""
        await self.extracting.close(patience)
        if self.agents.answers:
            await self.agents.answers.close()
        await self.book.close()


def open_memory_services(
    settings: Settings,
    memories: Memories,
    clock: Clock,
    embedder: Embedder | None,
    book: MemoryBook | None = None,
    *,
    infos: MessageInfoCache | None = None,
    tallies: Tallies | None = None,
) -> MemoryServices:
    """Open the services. `book`: None opens one over the same parts. `infos`: cached facts about
    messages. `tallies`: daily totals of model calls; None: memories are extracted by rules."""
    book = book or open_book(settings, memories, clock, embedder)
    quarter = deadline_of(settings.embedding_seconds) / 4  # of a chat's wait for its memories
    saves, now = settings.memories_users == "on", book.clock
    users = UserBook(memories, now, new_group_id, patience=quarter, saves=saves)
    extracting = open_extraction(
        settings, memories, book, clock, users.effective, new_memory_id,
        infos=infos, tallies=tallies,
    )  # fmt: skip
    agents = open_agent_services(settings, memories, clock, book, new_memory_id, tallies)
    parts = ImportParts(
        memories,
        agents.schemas,
        book.saving,
        clock,
        new_memory_id,
        new_group_id,
        max_text_chars=settings.max_text_chars,
        most=settings.max_memories,
        allow_secrets=settings.agent_secrets == "allow",
        most_lines=settings.import_lines,
    )
    curation = MemoryCuration(memories, book)
    return MemoryServices(
        book=book,
        users=users,
        curation=curation,
        documents=DocumentBook(book, memories, memories, clock, new_memory_id, passages),
        extracting=extracting,
        transfer=MemoryTransfer(parts),
        agents=agents,
        whole_user=WholeUser(curation, agents.curation, users),
        objects=memories,
    )


def open_book(
    settings: Settings, memories: Memories, clock: Clock, embedder: Embedder | None
) -> MemoryBook:
    """Open the book that saves and searches memories. Nothing runs in the background until its
    `start`."""
    cache = settings.memories_cache_mb << 20
    search = MemorySearch(memories, embedder, now=clock.now, cache_bytes=cache)
    rules = MemoryRules(
        max_text_chars=settings.max_text_chars,
        most=settings.max_memories,
        deleted_days=settings.deleted_days,
        strict=settings.strict_embedding,
        standing=settings.memories_standing == "on",
        stale_days=settings.memories_stale_days,
    )
    return MemoryBook(
        memories,
        memories,
        search,
        clock,
        new_memory_id,
        embedder=embedder,
        rules=rules,
        patience=settings.embedding_seconds,
    )


def new_memory_id() -> str:
    return f"mem_{secrets.token_hex(12)}"


def new_group_id() -> str:
    return f"grp_{secrets.token_hex(12)}"
