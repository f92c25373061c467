"""Requests and answers of searches over agents' memories, single and batched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
from msgspec import UNSET, Meta, UnsetType

from memtree.agents import clusters
from memtree.agents.agent_memory import AgentScopes
from memtree.agents.agent_search import AgentHit, AgentSearchResult
from memtree.agents.clusters import MemoryCluster
from memtree.agents.mentions import named_in
from memtree.memories.checked_fields import canonical_tags, shown
from memtree.memories.draft import checked_name
from memtree.memories.memory_store import MemoryFilter
from memtree.memories.scope import ScopeKind
from memtree_proxy.http.auth import AGENT, SUBJECT
from memtree_proxy.http.decoding import FieldError, OrNull, Posted
from memtree_proxy.wire.agent_memory_bodies import (
    Mention,
    data_of,
    kind_of,
    mentions_of,
    scopes_of,
    time_of,
)
from memtree_proxy.wire.values import (
    AgentQuery,
    Answer,
    Count,
    Id,
    Many,
    Name,
    Searched,
    Share,
    Success,
    Tags,
    where_given,
)

RAW, ANSWER, MAP = "llm", "answer", "map"
OWN, SHARED, ALL = "own", "shared", "all"
ROWS, MAX_ROWS = 10, 100
MAX_MAPPED = clusters.MOST  # memories in one map, also the default
MAX_QUERIES = 10

Mode = Literal["llm", "raw", "answer", "map"]  # `raw`: the older name of mode `llm`
Whose = Literal["own", "shared", "all"]

# -- posted ----------------------------------------------------------------------------------


class SearchFilters(Posted, frozen=True):
    """Filters of one search. Without `agent_id` they select the user's own memories, and `kind`
    means their category."""

    agent_id: Many | None = msgspec.field(default=None, name=AGENT)
    subject_id: OrNull[Many] = msgspec.field(default="", name=SUBJECT)
    thread_id: Id | None = msgspec.field(default=None, name="threadId")
    kind: Name | None = None
    tags: Tags | None = None
    include_superseded: OrNull[bool] = False

    def check(self) -> None:
        if self.subject_id and self.agent_id is None:
            raise FieldError(SUBJECT, f"needs {AGENT}, which may be *")

    def agents(self, tenant: str) -> AgentScopes | None:
        """Return the agents' scopes to search, or None for the user's own memories."""
        if self.agent_id is None:
            return None
        return scopes_of(self.agent_id, self.subject_id, tenant)

    def wanted(self, place: str = "") -> MemoryFilter:
        of_user, kind = self.agent_id is None, self._kind(place)
        return MemoryFilter(
            category=kind if of_user else None,
            kind=None if of_user else kind,
            thread_id=self.thread_id,
            tags=canonical_tags(self.tags, f"{place}tags"),
            superseded=self.include_superseded,
        )

    def wanted_of_agents(self, place: str = "") -> MemoryFilter:
        """Return the filter for shared memories, which are agents' even if the search is over the
        user's own."""
        tags = canonical_tags(self.tags, f"{place}tags")
        return MemoryFilter(kind=self._kind(place), thread_id=self.thread_id, tags=tags)

    def _kind(self, place: str) -> str | None:
        return None if self.kind is None else checked_name(self.kind, f"{place}kind")


class AgentSearch(Posted, frozen=True):
    query: Searched
    filters: OrNull[SearchFilters] = SearchFilters()
    limit: OrNull[Annotated[int, Meta(ge=1, le=MAX_ROWS)]] = ROWS


class BatchSearch(Posted, frozen=True):
    queries: Annotated[list[AgentSearch], Meta(min_length=1, max_length=MAX_QUERIES)]
    scope: OrNull[Whose] = "all"


class SearchQuery(AgentQuery, frozen=True, kw_only=True):
    """Query of a single search. `tag`: the same as `tags`. `limit`: a map has more."""

    query: Searched
    thread_id: Id | None = msgspec.field(default=None, name="threadId")
    kind: Name | None = None
    tags: Tags | None = None
    tag: Tags | None = None
    include_superseded: OrNull[bool] = False
    mode: OrNull[Mode] = "llm"
    scope: OrNull[Whose] = "all"
    limit: Annotated[int, Meta(ge=1, le=MAX_MAPPED)] | None = None

    def check(self) -> None:
        super().check()
        if self.mode != MAP and self.limit is not None and self.limit > MAX_ROWS:
            raise FieldError("limit", f"must be an integer of at most {MAX_ROWS}")

    def request(self) -> SearchRequest:
        filters = SearchFilters(
            agent_id=self.agent_id,
            subject_id=self.subject_id or "",
            thread_id=self.thread_id,
            kind=self.kind,
            tags=[*(self.tags or ()), *(self.tag or ())],
            include_superseded=self.include_superseded,
        )
        limit = self.limit or (MAX_MAPPED if self.mode == MAP else ROWS)
        return SearchRequest([AgentSearch(self.query, filters, limit)], self.mode, self.scope)


class SearchRequest(NamedTuple):
    """Request to search agents' memories: a single search in its mode, or several in mode `llm`.
    `scope`: own, shared or all."""

    searches: Sequence[AgentSearch]
    mode: str
    scope: str


# -- answered --------------------------------------------------------------------------------


class HitQuality(Answer, frozen=True, kw_only=True):
    relevance: Share
    confidence: Share


class HitContext(Answer, frozen=True, kw_only=True, rename="camel"):
    when: str | UnsetType = UNSET
    mentions: Sequence[Mention]
    tags: Sequence[str]
    is_latest: bool
    tainted: Literal[True] | UnsetType = UNSET


class AgentMemoryHit(Answer, frozen=True, kw_only=True, rename="camel"):
    id: str
    kind: str
    quality: HitQuality
    data: dict[str, Any]
    context: HitContext
    source: str
    agent_id: str | UnsetType = UNSET
    subject_id: str | UnsetType | None = UNSET


class FoundRow(Answer, frozen=True, kw_only=True):
    memories: Sequence[AgentMemoryHit]


class AgentMemoryHits(Success, frozen=True, kw_only=True, rename="camel"):
    memories: Sequence[AgentMemoryHit]
    searched_at: str
    degraded: Sequence[str] | UnsetType = UNSET
    warnings: Sequence[str] | UnsetType = UNSET


class MemoryAnswer(Success, frozen=True, kw_only=True, rename="camel"):
    answer: str
    sources: Sequence[str]
    searched_at: str
    degraded: Sequence[str] | UnsetType = UNSET
    warnings: Sequence[str] | UnsetType = UNSET


class ShownCluster(Answer, frozen=True, kw_only=True):
    label: str
    memories: Sequence[str]
    size: Count


class MemoryMap(Success, frozen=True, kw_only=True, rename="camel"):
    clusters: Sequence[ShownCluster]
    searched_at: str
    degraded: Sequence[str] | UnsetType = UNSET
    warnings: Sequence[str] | UnsetType = UNSET


class BatchSearchResults(Success, frozen=True, kw_only=True, rename="camel"):
    results: Sequence[FoundRow]
    searched_at: str
    degraded: Sequence[str] | UnsetType = UNSET
    warnings: Sequence[str] | UnsetType = UNSET


class SearchOutcome(NamedTuple):
    """Results of one request's searches. `warnings`: why grants opened no memories."""

    results: Sequence[AgentSearchResult]
    warnings: Sequence[str]

    def fields(self) -> dict[str, Any]:
        """Return the fields that all search answers have."""
        degraded = dict.fromkeys(name for result in self.results for name in result.degraded)
        return {
            "searched_at": shown(self.results[0].at if self.results else 0.0),
            "degraded": where_given(list(degraded)),
            "warnings": where_given(self.warnings),
        }

    def hits(self) -> AgentMemoryHits:
        return AgentMemoryHits(
            memories=[_hit(hit) for hit in self.results[0].hits], **self.fields()
        )

    def answered(self, text: str, sources: Sequence[str]) -> MemoryAnswer:
        return MemoryAnswer(answer=text, sources=sources, **self.fields())

    def mapped(self, groups: Sequence[MemoryCluster]) -> MemoryMap:
        made = [
            ShownCluster(label=group.label, memories=group.memories, size=len(group.memories))
            for group in groups
        ]
        return MemoryMap(clusters=made, **self.fields())

    def batch(self) -> BatchSearchResults:
        rows = [FoundRow(memories=[_hit(hit) for hit in row.hits]) for row in self.results]
        return BatchSearchResults(results=rows, **self.fields())


def _hit(hit: AgentHit) -> AgentMemoryHit:
    memory, of_agent = hit.memory.memory, hit.scope.kind is ScopeKind.AGENT
    return AgentMemoryHit(
        id=memory.id,
        kind=kind_of(memory),
        quality=HitQuality(
            relevance=round(hit.memory.relevance, 2), confidence=round(memory.confidence, 2)
        ),
        data=data_of(memory),
        context=HitContext(
            when=where_given(time_of(memory)),
            mentions=mentions_of(named_in(memory)),
            tags=memory.tags,
            is_latest=not (memory.superseded_by or memory.duplicate_of),
            tainted=where_given(memory.tainted),
        ),
        source=f"shared:{hit.scope.owner}" if hit.shared else "own",
        agent_id=hit.scope.owner if of_agent else UNSET,
        subject_id=(hit.scope.subject or None) if of_agent else UNSET,
    )
