"""The fields of chat memory's requests, read strictly: a wrong type is a 400 that names the field,
a number out of range is clamped, null means absent."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from memtree.errors import BadRequest, SecretRejected
from memtree.memories.draft import Edit, MemoryDraft, checked_text
from memtree.memories.memory import CATEGORIES, UNSET, MemorySource
from memtree.memories.ports import MemoryFilter
from memtree.memories.rules.tags import canonical_tags
from proxy.http.json_body import Body
from proxy.request import fields

SOURCE_TYPES = ("model", "user")
MAX_MESSAGE_ID = 1_000  # characters
MAX_IDS = 1_000  # of one undelete
MAX_ROWS = 1_000  # of one list
MAX_HITS, HITS = 100, 5  # of one search, and by default
LAST_EVENT_HEADER = "last-event-id"
IF_MATCH_HEADER = "if-match"

_MAX_COUNT = 2**62
_ETAG = re.compile(r'(?:W/)?"([0-9]{1,18})"|([0-9]{1,18})')
_SWITCH = {"true": True, "1": True, "false": False, "0": False}


class PageQuery(NamedTuple):
    wanted: MemoryFilter
    limit: int
    cursor: str | None


class SearchQuery(NamedTuple):
    query: str
    wanted: MemoryFilter
    limit: int


def new_memory(body: Body, most: int) -> MemoryDraft:
    """`most`: characters of a content."""
    message = _required(body, "messageId")
    if not 0 < len(message) <= MAX_MESSAGE_ID or "\0" in message:
        raise BadRequest(f"messageId must be 1 to {MAX_MESSAGE_ID} characters", param="messageId")
    return MemoryDraft(
        content(_required(body, "content"), most),
        category=_category(body),
        tags=canonical_tags(body.value("tags")),
        source_type="user",
        source=MemorySource(message=message),
    )


def edit(body: Body, most: int) -> Edit:
    """Raises `BadRequest` where nothing is to be changed."""
    text, category = fields.text(body.value("content"), "content"), _category(body)
    tags = body.value("tags")
    if text is None and category is None and tags is None:
        raise BadRequest("content is required", param="content")
    return Edit(
        text=UNSET if text is None else content(text, most),
        category=UNSET if category is None else category,
        tags=UNSET if tags is None else canonical_tags(tags),
    )


def content(text: str, most: int) -> str:
    """The text of a memory. Raises `BadRequest`, and `SecretRejected`, naming the field."""
    try:
        return checked_text(text, most, "content")
    except SecretRejected as error:
        raise SecretRejected(f"content: {error.message}", param="content") from None


def ids(body: Body) -> list[str]:
    value = body.value("ids")
    if not isinstance(value, list) or not value or not all(isinstance(one, str) for one in value):
        raise BadRequest("ids must be a non-empty array of strings", param="ids")
    if len(value) > MAX_IDS:
        raise BadRequest(f"ids must be at most {MAX_IDS}", param="ids")
    return list(dict.fromkeys(value))


def page(query: Mapping[str, str]) -> PageQuery:
    limit = fields.integer(query.get("limit"), "limit", 1, MAX_ROWS)
    return PageQuery(_filter(query), limit or MAX_ROWS, query.get("cursor"))


def search(query: Mapping[str, str]) -> SearchQuery:
    asked = query.get("query")
    if asked is None or not asked.strip():
        raise BadRequest("query must be a text that is not empty", param="query")
    limit = fields.integer(query.get("limit"), "limit", 1, MAX_HITS)
    return SearchQuery(asked, _filter(query), limit or HITS)


def purge(query: Mapping[str, str]) -> bool:
    value = query.get("purge")
    if value is None:
        return False
    if value.lower() not in _SWITCH:
        raise BadRequest("purge must be true or false", param="purge")
    return _SWITCH[value.lower()]


def if_version(headers: Mapping[str, str]) -> int | None:
    """The version that a change is meant for, None where any will do."""
    value = headers.get(IF_MATCH_HEADER, "*").strip()
    if value == "*":
        return None
    match = _ETAG.fullmatch(value)
    if match is None:
        raise BadRequest('if-match must be one version, as in "3"', param=IF_MATCH_HEADER)
    return int(match[1] or match[2])


def last_event(headers: Mapping[str, str]) -> int | None:
    """The count after which events are wanted."""
    return fields.integer(headers.get(LAST_EVENT_HEADER), LAST_EVENT_HEADER, 0, _MAX_COUNT)


def _required(body: Body, name: str) -> str:
    value = fields.text(body.value(name), name)
    if value is None:
        raise BadRequest(f"{name} is required", param=name)
    return value


def _category(body: Body) -> str | None:
    return fields.choice(body.value("category"), "category", CATEGORIES)


def _filter(query: Mapping[str, str]) -> MemoryFilter:
    return MemoryFilter(
        category=fields.choice(query.get("category"), "category", CATEGORIES),
        source_type=fields.choice(query.get("source_type"), "source_type", SOURCE_TYPES),
    )
