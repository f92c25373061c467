"""Requests and answers of a chat's memories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, UnsetType

from memtree.memories.book import SaveResult
from memtree.memories.checked_fields import canonical_tags
from memtree.memories.draft import Edit, MemoryDraft
from memtree.memories.memory import MemorySource
from memtree.memories.memory_store import MemoryFilter
from memtree.memories.search.ranking import SearchResult
from memtree_proxy.http.decoding import FieldError, OrNull, Posted
from memtree_proxy.wire.memory_rows import ShownRow, nearness, saved, shown_memory
from memtree_proxy.wire.user_memory_bodies import edit_of
from memtree_proxy.wire.values import (
    HITS,
    MAX_ROWS,
    Answer,
    Count,
    Hits,
    Rows,
    Searched,
    Share,
    Shown,
    State,
    Tags,
    Text,
)

MAX_MESSAGE_ID = 1_000  # characters
Category = Literal["fact", "preference", "instruction"]
SourceType = Literal["model", "user"]

# -- posted ----------------------------------------------------------------------------------


class NewChatMemory(Posted, frozen=True, rename="camel"):
    message_id: Annotated[Text, Meta(min_length=1, max_length=MAX_MESSAGE_ID)]
    content: Text
    category: Category | None = None
    tags: Tags | None = None
    standing: bool | None = None

    def draft(self) -> MemoryDraft:
        return MemoryDraft(
            self.content,
            category=self.category,
            tags=canonical_tags(self.tags),
            source_type="user",
            standing=self.standing,
            source=MemorySource(message=self.message_id),
        )


class ChatMemoryEdit(Posted, frozen=True):
    content: Text | None = None
    category: Category | None = None
    tags: Tags | None = None
    standing: bool | None = None

    def check(self) -> None:
        if all(getattr(self, name) is None for name in self.__struct_fields__):
            raise FieldError("content", "category, tags or standing is required")

    def edit(self) -> Edit:
        return edit_of(self.content, self.category, self.tags, self.standing)


class ChatQuery(Posted, frozen=True):
    """Filters of a list or a search; the attributes are named as in `MemoryFilter`."""

    category: Category | None = None
    source_type: SourceType | None = None
    tainted: bool | None = None
    standing: bool | None = None
    conflicts: bool | None = None

    def wanted(self, *, deleted: bool = False) -> MemoryFilter:
        given = {name: getattr(self, name) for name in ChatQuery.__struct_fields__}
        return MemoryFilter(**given, deleted=deleted)


class ChatListing(ChatQuery, frozen=True):
    include: Literal["deleted"] | None = None
    limit: OrNull[Rows] = MAX_ROWS
    cursor: str | None = None


class ChatSearch(ChatQuery, frozen=True, kw_only=True):
    query: Searched
    limit: OrNull[Hits] = HITS


# -- answered --------------------------------------------------------------------------------


class ChatUpdate(Answer, frozen=True, kw_only=True, rename={"text": "content"}):
    id: str
    text: str
    relevance: Share | UnsetType = UNSET
    differs: Sequence[str]


class ChatMemory(Answer, frozen=True, kw_only=True):
    """A memory of a chat."""

    id: str
    content: str
    category: Category | None
    tags: Sequence[str]
    expires_at: str | None
    tainted: bool
    version: int
    source_type: SourceType
    message_id: str | None
    state: State
    standing: bool
    possible_update_of: Sequence[ChatUpdate]
    twins: Sequence[str]
    created_at: str
    updated_at: str
    deleted_at: str | None
    last_confirmed_at: str | None


class SavedChatMemory(ChatMemory, frozen=True, kw_only=True):
    dedup: Literal["deferred"] | UnsetType = UNSET
    degraded: Sequence[str] | UnsetType = UNSET


class FoundChatMemory(ChatMemory, frozen=True, kw_only=True):
    relevance: Share
    weak: bool | UnsetType = UNSET


class ChatMemoryPage(Answer, frozen=True, kw_only=True):
    memories: Sequence[ChatMemory]
    next_cursor: str | None
    total: Count


class ChatMemoryHits(Answer, frozen=True, kw_only=True):
    memories: Sequence[FoundChatMemory]
    degraded: Sequence[str]


def chat_memory(row: ShownRow) -> ChatMemory:
    return _shown(ChatMemory, row)


def saved_chat_memory(row: ShownRow, result: SaveResult) -> SavedChatMemory:
    return _shown(SavedChatMemory, row, saved(result, ChatUpdate))


def found_chat_memories(rows: Sequence[ShownRow], result: SearchResult) -> ChatMemoryHits:
    hits = [
        _shown(FoundChatMemory, row, nearness(hit))
        for row, hit in zip(rows, result.hits, strict=True)
    ]
    return ChatMemoryHits(memories=hits, degraded=result.degraded)


def _shown(kind: type[Shown], row: ShownRow, more: Mapping[str, Any] = {}) -> Shown:
    source = row.memory.source
    own = {"content": row.memory.text, "message_id": (source.message or None) if source else None}
    return shown_memory(kind, row, ChatUpdate, own | dict(more))
