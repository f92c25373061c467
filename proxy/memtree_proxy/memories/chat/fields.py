"""The fields of chat memory's requests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from memtree.errors import BadRequest
from memtree.memories.draft import Edit, MemoryDraft
from memtree.memories.fields.tags import canonical_tags
from memtree.memories.memory import CATEGORIES, UNSET, MemorySource
from memtree.memories.ports import MemoryFilter
from memtree.wire.json_body import Body
from memtree_proxy.memories.fields import (
    HITS,
    MAX_HITS,
    MAX_ROWS,
    limit,
    memory_text,
    required_text,
    searched,
)
from memtree_proxy.memories.user.fields import (
    ListQuery,
    UserSearchQuery,
)
from memtree_proxy.request import fields
from memtree_proxy.request.delete_options import refuse_unknown

SOURCE_TYPES = ("model", "user")
INCLUDED = ("deleted",)
FIELDS = ("content", "category", "tags", "standing")
FILTERS = ("category", "source_type", "tainted", "standing", "conflicts")
MAX_MESSAGE_ID = 1_000  # characters


def new_memory(body: Body, most: int) -> MemoryDraft:
    """Read a new memory. `most`: characters that its content may have. Raises `BadRequest` naming
    the field."""
    refuse_unknown(body.spans, ("messageId", *FIELDS), "field")
    message = required_text(body, "messageId")
    if not 0 < len(message) <= MAX_MESSAGE_ID or "\0" in message:
        raise BadRequest(f"messageId must be 1 to {MAX_MESSAGE_ID} characters", param="messageId")
    return MemoryDraft(
        memory_text(required_text(body, "content"), most, "content"),
        category=_category(body),
        tags=canonical_tags(body.value("tags")),
        source_type="user",
        standing=fields.boolean(body.value("standing"), "standing"),
        source=MemorySource(message=message),
    )


def edit(body: Body, most: int) -> Edit:
    """Raises `BadRequest` where nothing is to be changed."""
    text, category = fields.text(body.value("content"), "content"), _category(body)
    tags, standing = body.value("tags"), fields.boolean(body.value("standing"), "standing")
    refuse_unknown(body.spans, FIELDS, "field")
    if (text, category, tags, standing) == (None, None, None, None):
        raise BadRequest("content is required", param="content")
    return Edit(
        text=UNSET if text is None else memory_text(text, most, "content"),
        category=UNSET if category is None else category,
        tags=UNSET if tags is None else canonical_tags(tags),
        standing=UNSET if standing is None else standing,
    )


def page(query: Mapping[str, str]) -> ListQuery:
    refuse_unknown(query, (*FILTERS, "include", "limit", "cursor"), "query parameter")
    included = fields.choice(query.get("include"), "include", INCLUDED)
    wanted = replace(_filter(query), deleted=included is not None)
    return ListQuery(wanted, limit(query, MAX_ROWS, MAX_ROWS), query.get("cursor"))


def search(query: Mapping[str, str]) -> UserSearchQuery:
    refuse_unknown(query, (*FILTERS, "query", "limit"), "query parameter")
    return UserSearchQuery(searched(query), _filter(query), limit(query, MAX_HITS, HITS))


def _category(body: Body) -> str | None:
    return fields.choice(body.value("category"), "category", CATEGORIES)


def _filter(query: Mapping[str, str]) -> MemoryFilter:
    return MemoryFilter(
        category=fields.choice(query.get("category"), "category", CATEGORIES),
        source_type=fields.choice(query.get("source_type"), "source_type", SOURCE_TYPES),
        tainted=fields.switch(query, "tainted"),
        standing=fields.switch(query, "standing"),
        conflicts=fields.switch(query, "conflicts"),
    )
