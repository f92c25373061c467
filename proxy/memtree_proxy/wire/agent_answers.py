"""Answers of agents' memories: single ones, pages, and what was stored."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET, UnsetType

from memtree.agents.agent_book import AgentBookPage
from memtree.agents.agent_extraction import AgentExtractionReport
from memtree.agents.agent_memory import LocatedMemory, StructuredResult, WriteOutcome
from memtree.agents.mentions import named_in, when
from memtree.memories.lifetime import EXPIRES_AT, milliseconds
from memtree.memories.memory import EntityMention, Memory
from memtree.memories.scope import Scope, ScopeKind
from memtree.memories.times import shown
from memtree.ports.models import Usage
from memtree_proxy.wire.user_memory_bodies import SkippedText
from memtree_proxy.wire.values import Answer, Count, Share, State, Success, where_given


class Mention(Answer, frozen=True, kw_only=True):
    name: str
    type: str


class Metadata(Answer, frozen=True, kw_only=True, rename="camel"):
    agent_id: str | None
    subject_id: str | None
    thread_id: str | None
    tags: Sequence[str]
    confidence: Share
    mentions: Sequence[Mention]
    when: str | None
    expires_at: int | None
    created_at: int
    updated_at: int
    version: int
    source: str
    tainted: bool
    state: State
    is_latest: bool
    supersedes: str | None
    superseded_by: str | None


class AgentMemory(Answer, frozen=True, kw_only=True):
    """A memory of an agent."""

    id: str
    kind: str
    data: dict[str, Any]
    metadata: Metadata


class AgentMemoryAnswer(Success, frozen=True, kw_only=True):
    memory: AgentMemory


class AgentMemoryPage(Success, frozen=True, kw_only=True):
    """Page of memories. None has a group, since groups belong to users."""

    memories: Sequence[AgentMemory]
    groups: Sequence[Any] = ()
    next_cursor: str | None
    total: Count


class BatchUpdated(Success, frozen=True, kw_only=True):
    updated: Count


def kind_of(memory: Memory) -> str:
    """Return the memory's kind, or its category if it has no kind."""
    return memory.kind or memory.category or "general"


def data_of(memory: Memory) -> dict[str, Any]:
    """Return the memory's data, or an object with its text if it has no data."""
    return {"text": memory.text} if memory.data is None else dict(memory.data)


def mentions_of(mentions: Iterable[EntityMention]) -> list[Mention]:
    return [Mention(name=mention.name, type=mention.type) for mention in mentions]


def time_of(memory: Memory) -> str | None:
    """Return the time of the event that the memory tells of, or None if it is unknown."""
    at = when(memory.happened, memory.data)
    return None if at is None else shown(at)


def owner_of(scope: Scope) -> tuple[str | None, str | None]:
    """Return agent and subject of an agent's scope."""
    return (scope.owner, scope.subject or None) if scope.kind is ScopeKind.AGENT else (None, None)


def agent_memory(located: LocatedMemory, now: float, *, alone: bool = False) -> AgentMemory:
    """Show a memory. `now`: unix seconds at which its state holds. `alone`: also show the entities
    that rules find in its text; too slow for each row of a list."""
    memory = located.memory
    agent, subject = owner_of(located.scope)
    metadata = Metadata(
        agent_id=agent,
        subject_id=subject,
        thread_id=memory.thread_id,
        tags=memory.tags,
        confidence=memory.confidence,
        mentions=mentions_of(named_in(memory) if alone else memory.mentions),
        when=time_of(memory),
        expires_at=_end(memory),
        created_at=milliseconds(memory.created),
        updated_at=milliseconds(memory.updated),
        version=memory.version,
        source=memory.source_type,
        tainted=memory.tainted,
        state=memory.state(now).value,
        is_latest=not memory.superseded_by,
        supersedes=memory.supersedes,
        superseded_by=memory.superseded_by,
    )
    return AgentMemory(id=memory.id, kind=kind_of(memory), data=data_of(memory), metadata=metadata)


def agent_page(page: AgentBookPage, now: float) -> AgentMemoryPage:
    return AgentMemoryPage(
        memories=[agent_memory(memory, now) for memory in page.memories],
        next_cursor=page.next_cursor,
        total=page.total,
    )


def _end(memory: Memory) -> int | None:
    return None if memory.expires is None else milliseconds(memory.expires)


# -- what was stored -------------------------------------------------------------------------


class Stored(NamedTuple):
    """Outcome of saving one request's memories. `report`: present if they came from a conversation;
    `usage`: what the model that read it cost."""

    results: Sequence[StructuredResult]
    degraded: Sequence[str] = ()
    report: AgentExtractionReport | None = None
    usage: Usage = Usage()


class CachedTokens(Answer, frozen=True, kw_only=True):
    cached_tokens: Count


class TokenUsage(Answer, frozen=True, kw_only=True):
    prompt_tokens: Count
    completion_tokens: Count
    total_tokens: Count
    prompt_tokens_details: CachedTokens


class StoredRow(Answer, frozen=True, kw_only=True):
    id: str
    kind: str
    metadata: dict[str, Any]
    supersedes: str | UnsetType = UNSET


class StoredMemories(Success, frozen=True, kw_only=True):
    created: Sequence[StoredRow]
    updated: Sequence[StoredRow]
    skipped: Sequence[SkippedText] | UnsetType = UNSET
    messages: Count | UnsetType = UNSET
    usage: TokenUsage | UnsetType = UNSET
    degraded: Sequence[str] | UnsetType = UNSET


def stored_memories(of: Stored) -> StoredMemories:
    made = StoredMemories(
        created=[_row(row) for row in of.results if row.outcome is WriteOutcome.CREATED],
        updated=[_row(row) for row in of.results if row.outcome is not WriteOutcome.CREATED],
        degraded=where_given(of.degraded),
    )
    if of.report is None:
        return made
    return msgspec.structs.replace(
        made,
        skipped=[SkippedText(text=one.shown, reason=str(one.reason)) for one in of.report.skipped],
        messages=of.report.messages,
        usage=_usage(of.usage),
    )


def _row(result: StructuredResult) -> StoredRow:
    end = _end(result.memory)
    return StoredRow(
        id=result.memory.id,
        kind=kind_of(result.memory),
        metadata=data_of(result.memory) | ({} if end is None else {EXPIRES_AT: end}),
        supersedes=where_given(result.superseded),
    )


def _usage(usage: Usage) -> TokenUsage:
    return TokenUsage(
        prompt_tokens=usage.input,
        completion_tokens=usage.output,
        total_tokens=usage.input + usage.output,
        prompt_tokens_details=CachedTokens(cached_tokens=usage.cached),
    )
