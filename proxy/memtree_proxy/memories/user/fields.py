"""The fields of requests about user memories."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import NamedTuple

from starlette.datastructures import QueryParams

from memtree.errors import BadRequest
from memtree.memories.agents.lifetime import EXPIRES_AT, expiry
from memtree.memories.draft import Edit, MemoryDraft
from memtree.memories.fields.tags import canonical_tags
from memtree.memories.fields.times import future_timestamp, timestamp
from memtree.memories.memory import UNSET
from memtree.memories.ports import MemoryFilter
from memtree.memories.users.user_categories import checked_category, user_category
from memtree.wire.json_body import Body
from memtree_proxy.memories.fields import (
    HITS,
    MAX_HITS,
    MAX_ROWS,
    limit,
    memory_text,
    queried_tags,
    required_text,
    searched,
)
from memtree_proxy.request import fields
from memtree_proxy.request.delete_options import refuse_unknown
from memtree_proxy.wire import parameter
from memtree_proxy.wire.curation import (
    A_TIME,
    AGENTS_FILTERS,
    CATEGORY_NAME,
    OF_USERS,
    SOURCE_TYPE,
    memory_filter,
)
from memtree_proxy.wire.json_schema import BOOLEAN, Json
from memtree_proxy.wire.types import CHAT_ID, GIVEN_TAGS

INCLUDED = ("superseded", "expired", "deleted")
# Of another part of the same collection: saving a conversation, or ready memories of an agent.
AGENTS_ONLY = ("conversation", "memories")
_MICROSECOND = 0.000_001  # by so much a time that is shown may miss the stored one, as floats go
SWITCHES = ("tainted", "standing", "conflicts")
LISTED = ("tag", "limit", "cursor", "include", "as_of")  # of a query, beside filters
SEARCHED = ("query", "threshold")
NEW_FIELDS = ("text", "category", "tags", "expires_at", "standing")
EDIT_FIELDS = (*NEW_FIELDS, EXPIRES_AT)


class ListQuery(NamedTuple):
    """`at`: what was remembered then, unix seconds; None: now."""

    wanted: MemoryFilter
    limit: int
    cursor: str | None
    at: float | None = None


class UserSearchQuery(NamedTuple):
    query: str
    wanted: MemoryFilter
    limit: int
    least: float = 0.0
    at: float | None = None


def new_memory(body: Body, most: int, now: float) -> MemoryDraft:
    """`most`: characters of a text. `now`: unix seconds."""
    for name in AGENTS_ONLY:
        if body.fragment(name) not in (None, b"null"):
            raise BadRequest(
                f"{name} needs agentId: it is for agents; a user's memory is made from text",
                param=name,
            )
    refuse_unknown(body.spans, NEW_FIELDS, "field")
    text = memory_text(required_text(body, "text"), most, "text")
    return MemoryDraft(
        text,
        category=_category(body.value("category"), "category") or user_category(text, _day(now)),
        tags=canonical_tags(body.value("tags")),
        source_type="user",
        standing=fields.boolean(body.value("standing"), "standing"),
        expires=future_timestamp(body.value("expires_at"), "expires_at", now),
    )


def edit(body: Body, most: int, now: float) -> Edit:
    """Raises `BadRequest` where nothing is to be changed. Null takes an expiry away. `expiresAt`,
    in milliseconds: as agents' memories have it, for whoever does not know whose memory it is."""
    text = fields.text(body.value("text"), "text")
    category = _category(body.value("category"), "category")
    tags, standing = body.value("tags"), fields.boolean(body.value("standing"), "standing")
    refuse_unknown(body.spans, EDIT_FIELDS, "field")
    stays = body.fragment("expires_at") is None and body.fragment(EXPIRES_AT) is None
    expires = _ends(body, now)
    if stays and (text, category, tags, standing) == (None, None, None, None):
        raise BadRequest("text, category, tags, standing or expires_at is required", param="text")
    return Edit(
        text=UNSET if text is None else memory_text(text, most, "text"),
        category=UNSET if category is None else category,
        tags=UNSET if tags is None else canonical_tags(tags),
        expires=UNSET if stays else expires,
        standing=UNSET if standing is None else standing,
    )


def _ends(body: Body, now: float) -> float | None:
    at = body.value(EXPIRES_AT)
    if at is None:
        return future_timestamp(body.value("expires_at"), "expires_at", now)
    if body.value("expires_at") is not None:
        raise BadRequest(f"expires_at and {EXPIRES_AT} exclude each other", param=EXPIRES_AT)
    return expiry(at, now)


def page(query: QueryParams) -> ListQuery:
    wanted, at = _which(query)
    refuse_unknown(query, (*OF_USERS, *LISTED), "query parameter")
    return ListQuery(wanted, limit(query, MAX_ROWS, MAX_ROWS), query.get("cursor"), at)


def search(query: QueryParams) -> UserSearchQuery:
    wanted, at = _which(query)
    refuse_unknown(query, (*OF_USERS, *LISTED, *SEARCHED), "query parameter")
    return UserSearchQuery(searched(query), wanted, limit(query, MAX_HITS, HITS), _least(query), at)


def filters() -> list[Json]:
    """List the parameters that say which memories a list or a search shows."""
    shown = {"type": "string", "enum": list(INCLUDED)}
    return [
        parameter.query("group_id", "Members of this group alone.", CHAT_ID),
        parameter.query("category", "Of this category alone.", CATEGORY_NAME.schema),
        parameter.query("tag", "With this tag; may stand several times.", GIVEN_TAGS),
        parameter.query("source_type", "That came this way alone.", SOURCE_TYPE.schema),
        parameter.query("tainted", "That wait for a person's word, or do not.", BOOLEAN),
        parameter.query("standing", "That stand in every prompt, or do not.", BOOLEAN),
        parameter.query("conflicts", "That may replace another one, or may not.", BOOLEAN),
        parameter.query("created_from", "Made at this time or later.", A_TIME.schema),
        parameter.query("created_before", "Made before this time.", A_TIME.schema),
        parameter.query(
            "include", "Those as well; not with `as_of`.", {"type": "array", "items": shown}
        ),
        parameter.query(
            "as_of",
            "What was remembered at this time (a date: at its start, UTC), but for what is "
            "deleted now.",
            A_TIME.schema,
        ),
    ]  # fmt: skip


def _which(query: QueryParams) -> tuple[MemoryFilter, float | None]:
    """The filter, and the time that is asked about."""
    for name in AGENTS_FILTERS:
        if name in query:
            raise BadRequest(f"{name} needs agentId: user memories have a category", param=name)
    if "include_superseded" in query:
        raise BadRequest("include_superseded needs agentId; here it is include=superseded",
                         param="include_superseded")  # fmt: skip
    at = timestamp(query.get("as_of"), "as_of")
    at = None if at is None else at + _MICROSECOND
    wanted = _filter(_queried(query), _included(query))
    if at is not None and (wanted.superseded or wanted.expired or wanted.deleted):
        raise BadRequest("include and as_of exclude each other", param="include")
    return wanted, at


def number(value: object, name: str, low: float, high: float) -> float | None:
    """A number, clamped."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        raise _no_number(name)
    return float(max(low, min(high, value)))


def _least(query: QueryParams) -> float:
    given = query.get("threshold")
    try:
        value = None if given is None else float(given[:40])
    except ValueError:
        raise _no_number("threshold") from None
    return number(value, "threshold", 0.0, 1.0) or 0.0


def _day(now: float) -> date:
    return datetime.fromtimestamp(now, UTC).date()


def _no_number(name: str) -> BadRequest:
    return BadRequest(f"{name} must be a number", param=name)


def _category(value: object, name: str) -> str | None:
    text = fields.text(value, name)
    return None if text is None else checked_category(text, name)


def _queried(query: QueryParams) -> Mapping[str, object]:
    """The filters of a query as a body would give them."""
    given: dict[str, object] = {name: query.get(name) for name in OF_USERS}
    switches = {name: fields.switch(query, name) for name in SWITCHES}
    return {**given, "tags": queried_tags(query), **switches}


def _included(query: QueryParams) -> tuple[str, ...]:
    names = [name.strip() for value in query.getlist("include") for name in value.split(",")]
    for name in names:
        if name not in INCLUDED:
            raise BadRequest(f"include must be of {', '.join(INCLUDED)}", param="include")
    return tuple(names)


def _filter(given: Mapping[str, object], included: tuple[str, ...]) -> MemoryFilter:
    return memory_filter(given, "", **{name: name in included for name in INCLUDED})
