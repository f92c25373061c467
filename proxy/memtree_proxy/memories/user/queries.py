"""Read the query parameters of users' memories, for lists and searches."""

from __future__ import annotations

from typing import NamedTuple

from starlette.datastructures import QueryParams

from memtree.errors import BadRequest
from memtree.memories.ports import MemoryFilter
from memtree_proxy.memories.fields import HITS, MAX_HITS, MAX_ROWS, limit, queried_tags, searched
from memtree_proxy.request import fields
from memtree_proxy.request.delete_options import refuse_unknown
from memtree_proxy.wire.curation import (
    AGENTS_FILTERS,
    OF_USERS,
    memory_filter,
)
from memtree_proxy.wire.user_memories import not_a_number, number

INCLUDED = ("superseded", "expired", "deleted")
_SWITCHES = ("tainted", "standing", "conflicts")
_LISTED = ("tag", "limit", "cursor", "include")  # parameters other than filters


class UserQuery(NamedTuple):
    """Query of a list or a search. `cursor`: for lists. `text`, `least`: for searches."""

    wanted: MemoryFilter
    limit: int
    cursor: str | None = None
    text: str = ""
    least: float = 0.0


def page(query: QueryParams) -> UserQuery:
    wanted = _which(query)
    refuse_unknown(query, (*OF_USERS, *_LISTED), "query parameter")
    return UserQuery(wanted, limit(query, MAX_ROWS, MAX_ROWS), query.get("cursor"))


def search(query: QueryParams) -> UserQuery:
    wanted = _which(query)
    refuse_unknown(query, (*OF_USERS, *_LISTED, "query", "threshold"), "query parameter")
    text, most = searched(query), limit(query, MAX_HITS, HITS)
    return UserQuery(wanted, most, text=text, least=_least(query))


def _which(query: QueryParams) -> MemoryFilter:
    """Return the filter that the query names."""
    for name in AGENTS_FILTERS:
        if name in query:
            raise BadRequest(f"{name} needs agentId: user memories have a category", param=name)
    if "include_superseded" in query:
        raise BadRequest("include_superseded needs agentId; here it is include=superseded",
                         param="include_superseded")  # fmt: skip
    included = _included(query)
    # Build the fields as a posted filter has them.
    given: dict[str, object] = {name: query.get(name) for name in OF_USERS}
    given |= {name: fields.switch(query, name) for name in _SWITCHES}
    given["tags"] = queried_tags(query)
    return memory_filter(given, "", **{name: name in included for name in INCLUDED})


def _included(query: QueryParams) -> list[str]:
    names = [name.strip() for value in query.getlist("include") for name in value.split(",")]
    for name in names:
        if name not in INCLUDED:
            raise BadRequest(f"include must name only {', '.join(INCLUDED)}", param="include")
    return names


def _least(query: QueryParams) -> float:
    given = query.get("threshold")
    try:
        return 0.0 if given is None else number(float(given[:40]), "threshold", 0.0, 1.0)
    except ValueError:
        raise not_a_number("threshold") from None
