"""Requests of agents' memories: new memories, changes, deletions, lists."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Literal, NamedTuple

import msgspec
from msgspec import UNSET, Meta, UnsetType

from memtree.agents.agent_book import MOST_TOGETHER, StructuredDraft
from memtree.agents.agent_memory import ALL, AgentScopes
from memtree.agents.agent_messages import AgentMessage
from memtree.agents.structured_memory import checked_data
from memtree.errors import BadRequest, SecretRejected
from memtree.memories.draft import Edit
from memtree.memories.lifetime import EXPIRES_AT, TTL, expiry, lifetime
from memtree.memories.memory import UNSET as STAYS
from memtree.memories.memory import Unset
from memtree.memories.memory_store import ANY, MemoryFilter
from memtree.memories.scope import Scope
from memtree.memories.secret_check import refuse_secrets
from memtree.memories.tags import canonical_tags
from memtree_proxy.http.decoding import FieldError, OrNull, Posted
from memtree_proxy.http.request_scopes import AGENT, SUBJECT, single_scope
from memtree_proxy.wire.values import AgentQuery, Id, Kind, Many, Rows, Tags, distinct

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


def _decoded(raw: msgspec.Raw, name: str) -> object:
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadRequest(f"{name} is not valid JSON: {error}", param=name) from error


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
        if len(self.data) > MAX_POSTED:
            raise BadRequest(f"{place}data has {len(self.data)} bytes", param=f"{place}data")
        data = checked_data(_decoded(self.data, f"{place}data"), f"{place}data")
        return StructuredDraft(
            self.kind,
            data,
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
