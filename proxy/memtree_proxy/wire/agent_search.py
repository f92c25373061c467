"""Define requests and answers of searches over agents' memories, single and batched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, NamedTuple

import msgspec

from memtree.errors import BadRequest
from memtree.memories.agents.agent_memory import AgentScopes
from memtree.memories.agents.search import clusters
from memtree.memories.agents.search.agent_search import AgentSearchResult
from memtree.memories.agents.search.answers import NOTHING
from memtree.memories.agents.search.clusters import MemoryCluster
from memtree.memories.agents.search.mentions import named_in
from memtree.memories.agents.search.ranking_many import AgentHit
from memtree.memories.draft import checked_name
from memtree.memories.fields.times import shown as shown_time
from memtree.memories.memory import Memory
from memtree.memories.ports import MemoryFilter
from memtree.memories.scope import ScopeKind
from memtree.memories.search.hits import MemoryHit
from memtree_proxy.access.agent_scope import AGENT, SUBJECT
from memtree_proxy.request import fields
from memtree_proxy.wire.agent_answers import (
    CONFIDENCE,
    MENTIONS,
    data_of,
    kind_of,
    mentions_of,
    time_of,
)
from memtree_proxy.wire.agent_memories import A_MANY, check_subject, scopes_of
from memtree_proxy.wire.answer import LEFT_OUT, Answer, Shown, schema_of_answer, shown
from memtree_proxy.wire.json_schema import (
    BOOLEAN,
    COUNT,
    NULL,
    STRING,
    Json,
    array,
    described,
    either,
    object_of,
    schema,
)
from memtree_proxy.wire.shape import Many, Shape, Type, names, refuse_unknown
from memtree_proxy.wire.types import (
    AN_ID,
    MEMORY_ID,
    QUERY,
    RELEVANCE,
    TAGS,
    TIME,
    TRUE,
    YES_OR_NO,
    clamped,
    one_of,
)

RAW, ANSWER, MAP = "llm", "answer", "map"
MODES = (RAW, "raw", ANSWER, MAP)  # `raw`: the older name of mode `llm`
OWN, SHARED, ALL = SCOPES = ("own", "shared", "all")
ROWS, MAX_ROWS = 10, 100
MAX_MAPPED = clusters.MOST  # memories in one map, also the default
MAX_QUERIES = 10
SUPERSEDED = "include_superseded"
WHOSE = (
    "`own`: the caller's memories, grants are not looked at; `shared`: what grants open, alone; "
    "`all`: both."
)


def _kind(value: object, name: str) -> str | None:
    kind = fields.text(value, name)
    return None if kind is None else checked_name(kind, name)


SEARCHED_KIND = Type({"type": "string", "minLength": 1, "maxLength": 200}, _kind)
SCOPE = one_of(*SCOPES, default=ALL)


class SearchFilters(Shape, frozen=True):
    """Filters of one search. Without `agent_id` they select the user's own memories, and `kind`
    means their category."""

    agent_id: Annotated[str | None, A_MANY, "`*`: every agent; none: the user's own."] = None
    subject_id: Annotated[str, A_MANY, "`*`: every subject."] = ""
    thread_id: Annotated[str | None, AN_ID] = None
    kind: Annotated[str | None, SEARCHED_KIND] = None
    tags: Annotated[tuple[str, ...], TAGS, "All of them."] = ()
    superseded: Annotated[bool, YES_OR_NO] = msgspec.field(default=False, name=SUPERSEDED)

    MORE: ClassVar[Json] = {
        "additionalProperties": False,
        "dependentRequired": {SUBJECT: [AGENT]},
    }

    @classmethod
    def check(cls, given: Mapping[str, Any], place: str) -> None:
        refuse_unknown(cls, given, place.rstrip("."))
        check_subject(given, place)

    def agents(self, tenant: str) -> AgentScopes | None:
        """Return the agents' scopes to search, or None for the user's own memories."""
        if self.agent_id is None:
            return None
        return scopes_of(self.agent_id, self.subject_id, tenant)

    def wanted(self) -> MemoryFilter:
        of_user = self.agent_id is None
        return MemoryFilter(
            category=self.kind if of_user else None,
            kind=None if of_user else self.kind,
            thread_id=self.thread_id,
            tags=self.tags,
            superseded=self.superseded,
        )

    def wanted_of_agents(self) -> MemoryFilter:
        """Return the filter for shared memories, which are agents' even if the search is over the
        user's own."""
        return MemoryFilter(kind=self.kind, thread_id=self.thread_id, tags=self.tags)


class AgentSearch(Shape, frozen=True):
    query: Annotated[str, QUERY]
    filters: SearchFilters | None = None
    limit: Annotated[int, clamped(1, MAX_ROWS), f"{ROWS}, clamped to 1 to {MAX_ROWS}."] = ROWS

    @classmethod
    def check(cls, given: Mapping[str, Any], place: str) -> None:
        if beside := given.keys() & set(names(SearchFilters)):
            name = f"{place}{min(beside)}"
            raise BadRequest(f"{name} belongs in filters", param=name)

    @property
    def where(self) -> SearchFilters:
        return self.filters or SearchFilters()


class BatchSearch(Shape, frozen=True):
    queries: Annotated[list[AgentSearch], Many(MAX_QUERIES)]
    scope: Annotated[str, SCOPE, WHOSE] = ALL


class SearchRequest(NamedTuple):
    """Request to search agents' memories: a single search in its mode, or several in mode `llm`.
    `scope`: own, shared or all."""

    searches: Sequence[AgentSearch]
    mode: str
    scope: str


# -- answers ---------------------------------------------------------------------------------

CONTEXT: Answer[Memory] = {
    "when": Shown(TIME, time_of, "When what it tells of happens, where that is known.", True),
    "mentions": Shown(
        MENTIONS,
        lambda memory: mentions_of(named_in(memory)),
        "Whom and what it names: by rule, unless whoever extracted it said so.",
    ),
    "tags": Shown(array(STRING), lambda memory: memory.tags),
    "isLatest": Shown(
        BOOLEAN,
        lambda memory: not (memory.superseded_by or memory.duplicate_of),
        "False of one that another took the place of.",
    ),
    "tainted": Shown(
        {**BOOLEAN, **TRUE},
        lambda memory: memory.tainted or LEFT_OUT,
        "Only where it is so: it waits for a person's word.",
        True,
    ),
}
QUALITY: Answer[MemoryHit] = {
    "relevance": Shown(RELEVANCE, lambda hit: round(hit.relevance, 2)),
    "confidence": Shown(CONFIDENCE, lambda hit: round(hit.memory.confidence, 2)),
}
HIT: Answer[AgentHit] = {
    "id": Shown(MEMORY_ID, lambda hit: hit.memory.memory.id),
    "kind": Shown(
        STRING,
        lambda hit: kind_of(hit.memory.memory),
        "The name of its schema; of a user's memory its category.",
    ),
    "quality": Shown(schema_of_answer(QUALITY), lambda hit: shown(QUALITY, hit.memory)),
    "data": Shown(
        {"type": "object"},
        lambda hit: data_of(hit.memory.memory),
        "Its fields; a text that has none is `text`.",
    ),
    "context": Shown(schema_of_answer(CONTEXT), lambda hit: shown(CONTEXT, hit.memory.memory)),
    "source": Shown(
        STRING,
        lambda hit: f"shared:{hit.scope.owner}" if hit.shared else "own",
        "`own`, or `shared:` and the agent whose memory it is.",
    ),
    "agentId": Shown(
        STRING,
        lambda hit: hit.scope.owner if hit.scope.kind is ScopeKind.AGENT else LEFT_OUT,
        "Absent from a user's memories.",
        True,
    ),
    "subjectId": Shown(
        either(STRING, NULL),
        lambda hit: (hit.scope.subject or None) if hit.scope.kind is ScopeKind.AGENT else LEFT_OUT,
        "Null: of nobody in particular.",
        True,
    ),
}
_HITS = array(schema("AgentMemoryHit"), description="The best first.")


class Searched(NamedTuple):
    """Results of one request's searches. `warnings`: why grants opened no memories."""

    results: Sequence[AgentSearchResult]
    warnings: Sequence[str]
    answer: str = ""
    sources: Sequence[str] = ()
    clusters: Sequence[MemoryCluster] = ()

    def degraded(self) -> list[str]:
        return list(dict.fromkeys(name for result in self.results for name in result.degraded))


def _answered(fields: Answer[Searched]) -> Answer[Searched]:
    """Return the table of an answer: these fields, and those that all search answers have."""
    return {
        "success": Shown(TRUE, lambda of: True),
        **fields,
        "searchedAt": Shown(TIME, lambda of: shown_time(of.results[0].at if of.results else 0.0)),
        "degraded": Shown(
            array(STRING),
            lambda of: of.degraded() or LEFT_OUT,
            "There only where words alone ranked, or some memories lack a vector.",
            True,
        ),
        "warnings": Shown(
            array(STRING),
            lambda of: list(of.warnings) or LEFT_OUT,
            "There only where a grant opens nothing: which, and why.",
            True,
        ),
    }


_CLUSTER = object_of(
    {
        "label": described(STRING, "The word that is most typical of it."),
        "memories": array(MEMORY_ID),
        "size": COUNT,
    }
)
HITS = _answered(
    {"memories": Shown(_HITS, lambda of: [shown(HIT, hit) for hit in of.results[0].hits])}
)
GROUNDED = _answered(
    {
        "answer": Shown(STRING, lambda of: of.answer, f"Without sources it is `{NOTHING}`"),
        "sources": Shown(array(MEMORY_ID), lambda of: of.sources, "The memories that it rests on."),
    }
)
MAPPED = _answered(
    {
        "clusters": Shown(
            array(_CLUSTER),
            lambda of: [
                {"label": group.label, "memories": group.memories, "size": len(group.memories)}
                for group in of.clusters
            ],
            "The largest first; each memory stands in one.",
        )
    }
)
MANY_HITS = _answered(
    {
        "results": Shown(
            array(object_of({"memories": array(schema("AgentMemoryHit"))})),
            lambda of: [{"memories": [shown(HIT, hit) for hit in row.hits]} for row in of.results],
            "One a query, in their order.",
        )
    }
)
