"""Defines the requests and answers of agents' memories.

Requests make, change, delete and list memories. Answers show single memories, pages, and what was
stored.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
from msgspec import UNSET, Meta, UnsetType

from memtree.agents.agent_book import MOST_TOGETHER, AgentBookPage, StructuredDraft
from memtree.agents.agent_extraction import AgentExtractionReport
from memtree.agents.agent_memory import (
    ALL,
    AgentScopes,
    LocatedMemory,
    StructuredResult,
    WriteOutcome,
)
from memtree.agents.agent_messages import AgentMessage
from memtree.agents.mentions import named_in, when
from memtree.agents.structured_memory import checked_data
from memtree.errors import BadRequest, SecretRejected
from memtree.memories.checked_fields import (
    EXPIRES_AT,
    TTL,
    canonical_tags,
    expiry,
    lifetime,
    milliseconds,
    refuse_secrets,
    shown,
)
from memtree.memories.draft import Edit
from memtree.memories.memory import UNSET as STAYS
from memtree.memories.memory import EntityMention, Memory, Unset
from memtree.memories.memory_store import ANY, MemoryFilter
from memtree.memories.scope import Scope, ScopeKind
from memtree.ports.models import Usage
from memtree_proxy.http.auth import AGENT, SUBJECT, single_scope
from memtree_proxy.http.decoding import FieldError, OrNull, Posted
from memtree_proxy.wire.user_memory_bodies import SkippedText
from memtree_proxy.wire.values import (
    AgentQuery,
    Answer,
    Count,
    Id,
    Kind,
    Many,
    Rows,
    Share,
    State,
    Success,
    Tags,
    copied,
    distinct,
    where_given,
)

MAX_MESSAGE_ID = 200  # characters
MAX_MODEL = 200
MAX_POSTED = 131_072  # bytes of the data of a memory: JSON may escape each character as six
DEFAULT_LISTED = 100
_MEMORY_ID = re.compile(r"[A-Za-z0-9._~:@-]{1,200}")

Ids = Annotated[list[str], Meta(min_length=1, max_length=MOST_TOGETHER)]


class RequestContext(NamedTuple):
    """Context in which fields are read. `now`: unix seconds. `secrets`: tags may hold secrets."""

    now: float
    secrets: bool


def scopes_of(agent: str, subject: str, tenant: str) -> AgentScopes:
    """Return the scopes that an agent and a subject name; `*` stands for all of either."""
    return AgentScopes(tenant, None if agent == ALL else agent, None if subject == ALL else subject)


def known_ids(ids: Sequence[str]) -> list[str]:
    """Drop repeated strings, and those that cannot be ids: no memory has them."""
    return [id_ for id_ in distinct(ids) if _MEMORY_ID.fullmatch(id_)]


def _tags(posted: Sequence[str] | None, name: str, by: RequestContext) -> tuple[str, ...]:
    tags = canonical_tags(posted, name)
    _refuse_secrets(tags, name, by)
    return tags


def _refuse_secrets(texts: Sequence[str], name: str, by: RequestContext) -> None:
    try:
        for text in () if by.secrets else texts:
            refuse_secrets(text)
    except SecretRejected as error:
        raise SecretRejected(f"{name}: {error.message}", param=name) from None


# -- making ----------------------------------------------------------------------------------


class _WithEnd(Posted, frozen=True, kw_only=True):
    """Object with an expiry: `ttl` or `expiresAt`, not both."""

    ttl: str | None = None
    expires_at: float | None = msgspec.field(default=None, name=EXPIRES_AT)

    def ends(self, now: float, place: str = "", otherwise: float | None = None) -> float | None:
        """Return when it ends. `otherwise`: what holds where it says nothing. Raises
        `BadRequest`."""
        given = {TTL: self.ttl, EXPIRES_AT: self.expires_at}
        return lifetime(given, now, otherwise=otherwise, place=place)


class NewAgentMemory(_WithEnd, frozen=True, kw_only=True):
    kind: Kind
    data: msgspec.Raw
    id: OrNull[Id] = ""
    tags: Tags | None = None

    def draft(self, by: RequestContext, place: str, otherwise: float | None) -> StructuredDraft:
        """Return the memory as a draft. `otherwise`: expiry for a memory that sets none itself.
        Raises `BadRequest` and `SecretRejected`."""
        _refuse_secrets((self.kind,), f"{place}kind", by)
        name = f"{place}data"
        if len(self.data) > MAX_POSTED:
            raise BadRequest(f"{name} has {len(self.data)} bytes", param=name)
        try:
            data = msgspec.json.decode(self.data)
        except (msgspec.DecodeError, RecursionError) as error:
            raise BadRequest(f"{name} is not valid JSON: {error}", param=name) from error
        return StructuredDraft(
            self.kind,
            checked_data(data, name),
            self.id,
            tags=_tags(self.tags, f"{place}tags", by),
            expires=self.ends(by.now, place, otherwise),
        )


class ConversationMessage(Posted, frozen=True, kw_only=True):
    id: OrNull[Annotated[str, Meta(min_length=1, max_length=MAX_MESSAGE_ID)]] = ""
    role: Literal["user", "assistant", "system", "human", "ai"]
    content: str


class _OfAgent(_WithEnd, frozen=True, kw_only=True):
    agent_id: Many = msgspec.field(name=AGENT)
    subject_id: OrNull[Many] = msgspec.field(default="", name=SUBJECT)
    thread_id: Id | None = msgspec.field(default=None, name="threadId")

    def scope(self, tenant: str) -> Scope:
        return single_scope(scopes_of(self.agent_id, self.subject_id, tenant))

    def drafts(self, by: RequestContext) -> list[StructuredDraft]:
        ends = self.ends(by.now)
        memories: Sequence[NewAgentMemory] = getattr(self, "memories") or ()  # noqa: B009
        return [memory.draft(by, f"memories[{at}].", ends) for at, memory in enumerate(memories)]


_Memories = Annotated[list[NewAgentMemory], Meta(min_length=1, max_length=MOST_TOGETHER)]


class NewAgentMemoryBatch(_OfAgent, frozen=True, kw_only=True):
    memories: _Memories


class NewAgentMemories(_OfAgent, frozen=True, kw_only=True):
    """Body that saves memories or a conversation. `schemas`: kinds that memories of the
    conversation may have, None for all. `force`: read messages again. `model`: to be asked at the
    caller's upstream, or empty."""

    memories: _Memories | None = None
    conversation: Annotated[list[ConversationMessage], Meta(min_length=1)] | None = None
    schemas: Annotated[list[Kind], Meta(max_length=MOST_TOGETHER)] | None = None
    force: OrNull[bool] = False
    model: OrNull[Annotated[str, Meta(min_length=1, max_length=MAX_MODEL)]] = ""

    def check(self) -> None:
        if (self.memories is None) == (self.conversation is None):
            rule = "is required" if self.memories is None else "exclude each other"
            raise FieldError("memories", f"or conversation {rule}")

    def messages(self, most: int) -> list[AgentMessage]:
        posted = self.conversation or []
        if len(posted) > most:
            name = "conversation"
            raise BadRequest(f"{name} must have at most {most} elements", param=name)
        return [AgentMessage(item.role, item.content, item.id) for item in posted]


# -- changing --------------------------------------------------------------------------------


class AgentMemoryEdit(Posted, frozen=True):
    """Fields to change; at least one is required. `expires_at` None removes the expiry."""

    tags: Tags | None = None
    expires_at: float | UnsetType | None = msgspec.field(default=UNSET, name=EXPIRES_AT)

    def check(self) -> None:
        if self.tags is None and self.expires_at is UNSET:
            raise FieldError("tags", f"or {EXPIRES_AT} is required")

    def edit(self, by: RequestContext, place: str = "") -> Edit:
        ends: float | Unset | None = STAYS
        if self.expires_at is None:
            ends = None
        elif isinstance(self.expires_at, float):
            ends = expiry(self.expires_at, by.now, f"{place}{EXPIRES_AT}")
        tags = STAYS if self.tags is None else _tags(self.tags, f"{place}tags", by)
        return Edit(tags=tags, expires=ends)


class BatchUpdate(Posted, frozen=True):
    ids: Ids
    update: AgentMemoryEdit


class AgentListing(AgentQuery, frozen=True):
    """Query of a list. `tag`: the same as `tags`."""

    thread_id: Id | None = msgspec.field(default=None, name="threadId")
    kind: Kind | None = None
    tags: Tags | None = None
    tag: Tags | None = None
    include_superseded: OrNull[bool] = False
    limit: OrNull[Rows] = DEFAULT_LISTED
    cursor: str | None = None

    def wanted(self) -> MemoryFilter:
        tags = canonical_tags([*(self.tags or ()), *(self.tag or ())])
        return MemoryFilter(
            kind=self.kind,
            thread_id=self.thread_id,
            tags=tags,
            superseded=self.include_superseded,
        )


class AgentFilters(Posted, frozen=True, rename="camel"):
    """Filters in a body. None may be null or empty, since ignoring a filter would match more
    memories."""

    agent_id: Many
    subject_id: Many = ""
    thread_id: Id | UnsetType = UNSET
    kind: Kind | UnsetType = UNSET
    tags: Annotated[Tags, Meta(min_length=1)] | UnsetType = UNSET

    def wanted(self) -> MemoryFilter:
        tags = () if isinstance(self.tags, UnsetType) else canonical_tags(self.tags, "filters.tags")
        if not tags and self.tags is not UNSET:
            raise BadRequest("filters.tags names nothing: leave it out", param="filters.tags")
        return MemoryFilter(kind=self.kind or None, thread_id=self.thread_id or None, tags=tags)


class BatchDeletion(Posted, frozen=True):
    """Body of a batch deletion: `ids`, or filters that select the memories."""

    ids: Ids | None = None
    filters: AgentFilters | None = None
    dry_run: OrNull[bool] = False
    purge: OrNull[bool] = False

    def check(self) -> None:
        if (self.ids is None) == (self.filters is None):
            raise FieldError("ids", "or filters is required, and not both")

    def scopes(self, tenant: str) -> AgentScopes | None:
        """Return the scopes of the filters, or None if `ids` select the memories. Raises
        `BadRequest` if the filters would match every memory."""
        if self.filters is None:
            return None
        scopes = scopes_of(self.filters.agent_id, self.filters.subject_id, tenant)
        if self.filters.wanted() == ANY and scopes.agent is None and not scopes.subject:
            raise BadRequest(
                "filters must name at least one of an agent, a subject, threadId, kind or tags",
                param="filters",
            )
        return scopes

    def wanted(self) -> MemoryFilter:
        wanted = ANY if self.filters is None else self.filters.wanted()
        return replace(wanted, superseded=True, expired=True)


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


def agent_memory(located: LocatedMemory, now: float, *, alone: bool = False) -> AgentMemory:
    """Show a memory. `now`: unix seconds at which its state holds. `alone`: also show the entities
    that rules find in its text; too slow for each row of a list."""
    memory, scope = located.memory, located.scope
    of_agent = scope.kind is ScopeKind.AGENT
    metadata = copied(
        Metadata,
        memory,
        agent_id=scope.owner if of_agent else None,
        subject_id=(scope.subject or None) if of_agent else None,
        mentions=mentions_of(named_in(memory) if alone else memory.mentions),
        when=time_of(memory),
        expires_at=_end(memory),
        created_at=milliseconds(memory.created),
        updated_at=milliseconds(memory.updated),
        source=memory.source_type,
        state=memory.state(now).value,
        is_latest=not memory.superseded_by,
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
    usage = TokenUsage(
        prompt_tokens=of.usage.input,
        completion_tokens=of.usage.output,
        total_tokens=of.usage.input + of.usage.output,
        prompt_tokens_details=CachedTokens(cached_tokens=of.usage.cached),
    )
    return msgspec.structs.replace(
        made,
        skipped=[SkippedText(text=one.shown, reason=str(one.reason)) for one in of.report.skipped],
        messages=of.report.messages,
        usage=usage,
    )


def _row(result: StructuredResult) -> StoredRow:
    end = _end(result.memory)
    return StoredRow(
        id=result.memory.id,
        kind=kind_of(result.memory),
        metadata=data_of(result.memory) | ({} if end is None else {EXPIRES_AT: end}),
        supersedes=where_given(result.superseded),
    )
