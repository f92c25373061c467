"""Read the query parameters of agents' memories, for lists and searches."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from starlette.datastructures import QueryParams

from memtree.errors import BadRequest
from memtree.memories.ports import MemoryFilter
from memtree_proxy.access.agent_scope import AGENT_FIELDS, refuse_twice
from memtree_proxy.memories.fields import limit, queried_tags, searched
from memtree_proxy.request import fields
from memtree_proxy.wire.agent_memories import ListFilters
from memtree_proxy.wire.agent_search import (
    ALL,
    MAP,
    MAX_MAPPED,
    MAX_ROWS,
    MODES,
    RAW,
    ROWS,
    SCOPES,
    SUPERSEDED,
    AgentSearch,
    SearchFilters,
    SearchRequest,
)
from memtree_proxy.wire.shape import names, read

DEFAULT_LISTED, MAX_LISTED = 100, 1_000
USERS_FILTERS = (
    "include", "group_id", "category", "source_type", "tainted", "standing", "conflicts",
    "created_from", "created_before", "threshold",
)  # fmt: skip
_ONCE = (*AGENT_FIELDS, "threadId", "kind", "limit", SUPERSEDED)


class ListQuery(NamedTuple):
    wanted: MemoryFilter
    limit: int
    cursor: str | None


def listed(query: QueryParams) -> ListQuery:
    """Read the query of a list. Raises `BadRequest` naming the parameter."""
    refuse_twice(query, (*_ONCE, "cursor"))
    _refuse_users_filters(query)
    wanted = read(ListFilters, {**query, "tags": queried_tags(query)}).wanted()
    if fields.switch(query, SUPERSEDED):
        wanted = replace(wanted, superseded=True)
    return ListQuery(wanted, limit(query, MAX_LISTED, DEFAULT_LISTED), query.get("cursor"))


def search(query: QueryParams) -> SearchRequest:
    """Read the query of a search. Raises `BadRequest` naming the parameter."""
    refuse_twice(query, (*_ONCE, "query", "mode", "scope"))
    _refuse_users_filters(query)
    mode = fields.choice(query.get("mode"), "mode", MODES) or RAW
    most = (MAX_MAPPED, MAX_MAPPED) if mode == MAP else (MAX_ROWS, ROWS)
    given: dict[str, object] = {name: query.get(name) for name in names(SearchFilters)}
    given |= {"tags": queried_tags(query), SUPERSEDED: fields.switch(query, SUPERSEDED)}
    filters = read(SearchFilters, given)
    scope = fields.choice(query.get("scope"), "scope", SCOPES) or ALL
    return SearchRequest([AgentSearch(searched(query), filters, limit(query, *most))], mode, scope)


def _refuse_users_filters(query: QueryParams) -> None:
    """Raise `BadRequest` for filters of users' memories; ignoring them would match more
    memories."""
    for name in USERS_FILTERS:
        if name in query:
            raise BadRequest(f"{name} and agentId exclude each other", param=name)
