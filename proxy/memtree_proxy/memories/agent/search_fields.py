"""The fields of searches over agents' memories, one and many."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from starlette.datastructures import QueryParams

from memtree.errors import BadRequest
from memtree.memories.agents.agent_memory import AgentScopes
from memtree.memories.agents.search import clusters
from memtree.memories.draft import checked_name
from memtree.memories.ports import MemoryFilter
from memtree.memories.rules.tags import canonical_tags
from memtree.memories.scope import checked_id
from memtree.wire.json_body import Body
from memtree_proxy.access.agent_scope import (
    AGENT_FIELDS,
    agent_scopes,
    queried_agents,
    refuse_twice,
)
from memtree_proxy.memories.agent.fields import THREAD, refuse_users_filters
from memtree_proxy.memories.fields import checked_query, queried_tags, searched
from memtree_proxy.memories.fields import limit as limit_of
from memtree_proxy.request import fields

RAW, ANSWER, MAP = "llm", "answer", "map"
MODES = (RAW, "raw", ANSWER, MAP)  # `raw`: an older name of `llm`
OWN, SHARED, ALL = SCOPES = ("own", "shared", "all")
ROWS, MAX_ROWS = 10, 100
MAX_MAPPED = clusters.MOST  # memories of a map, and by default
MAX_QUERIES = 10
SUPERSEDED = "include_superseded"
_ONCE = ("query", THREAD, "kind", "limit", "mode", "scope", SUPERSEDED)
_FILTERS = (*AGENT_FIELDS, THREAD, "kind", "tags", SUPERSEDED)


@dataclass(frozen=True, slots=True)
class SearchFields:
    """`agents`: None where the user's own memories are meant, whose `kind` is their category."""

    query: str
    agents: AgentScopes | None
    thread: str | None
    kind: str | None
    tags: tuple[str, ...]
    superseded: bool
    limit: int

    @property
    def wanted(self) -> MemoryFilter:
        of_user = self.agents is None
        return MemoryFilter(
            category=self.kind if of_user else None,
            kind=None if of_user else self.kind,
            thread_id=self.thread,
            tags=self.tags,
            superseded=self.superseded,
        )

    @property
    def wanted_of_agents(self) -> MemoryFilter:
        """The same of memories that are shared: an agent's, whatever is meant by one's own."""
        return MemoryFilter(kind=self.kind, thread_id=self.thread, tags=self.tags)


@dataclass(frozen=True, slots=True)
class AskedSearch:
    """One search with its mode, or several in mode `llm`. `scope`: own, shared or all."""

    searches: tuple[SearchFields, ...]
    mode: str
    scope: str


def search(query: QueryParams, tenant: str) -> AskedSearch:
    """Raises `BadRequest` naming the field."""
    refuse_twice(query, _ONCE)
    refuse_users_filters(query)
    given = {**{name: query.get(name) for name in (THREAD, "kind")}, "tags": queried_tags(query)}
    mode = fields.choice(query.get("mode"), "mode", MODES) or RAW
    most = (MAX_MAPPED, MAX_MAPPED) if mode == MAP else (MAX_ROWS, ROWS)
    return AskedSearch(
        (
            _fields(
                searched(query),
                queried_agents(query, tenant),
                {**given, SUPERSEDED: fields.switch(query, SUPERSEDED)},
                limit_of(query, *most),
            ),
        ),
        mode,
        fields.choice(query.get("scope"), "scope", SCOPES) or ALL,
    )


def batch(body: Body, tenant: str) -> AskedSearch:
    """Raises `BadRequest` naming the field: one search that is wrong refuses all."""
    queries = body.value("queries")
    if not isinstance(queries, list) or not queries:
        raise BadRequest("queries must be a non-empty array", param="queries")
    if len(queries) > MAX_QUERIES:
        raise BadRequest(f"queries must be at most {MAX_QUERIES}", param="queries")
    return AskedSearch(
        tuple(_one(value, tenant, f"queries[{at}].") for at, value in enumerate(queries)),
        RAW,
        fields.choice(body.value("scope"), "scope", SCOPES) or ALL,
    )


def _one(value: object, tenant: str, place: str) -> SearchFields:
    name = place.rstrip(".")
    if not isinstance(value, dict):
        raise BadRequest(f"{name} must be an object", param=name)
    query = checked_query(fields.text(value.get("query"), f"{place}query"), f"{place}query")
    if beside := value.keys() & set(_FILTERS):
        raise BadRequest(
            f"{place}{min(beside)} belongs into filters", param=f"{place}{min(beside)}"
        )
    given = value.get("filters")
    place += "filters"
    if given is not None and not isinstance(given, dict):
        raise BadRequest(f"{place} must be an object", param=place)
    given = given or {}
    if given.keys() - set(_FILTERS):
        raise BadRequest(f"{place} knows only {', '.join(_FILTERS)}", param=place)
    limit = fields.integer(value.get("limit"), f"{name}.limit", 1, MAX_ROWS)
    agents = agent_scopes(given, tenant, f"{place}.")
    return _fields(query, agents, given, limit or ROWS, f"{place}.")


def _fields(
    query: str,
    agents: AgentScopes | None,
    given: Mapping[str, object],
    limit: int,
    place: str = "",
) -> SearchFields:
    thread, kind = given.get(THREAD), fields.text(given.get("kind"), f"{place}kind")
    return SearchFields(
        query,
        agents,
        None if thread is None else checked_id(thread, f"{place}{THREAD}"),
        None if kind is None else checked_name(kind, f"{place}kind"),
        canonical_tags(given.get("tags"), f"{place}tags"),
        fields.boolean(given.get(SUPERSEDED), f"{place}{SUPERSEDED}") or False,
        limit,
    )
