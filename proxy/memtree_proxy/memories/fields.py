"""Fields that requests of several dialects have, read strictly: a wrong type is a 400 that names
the field, a number out of range is clamped, null means absent."""

from __future__ import annotations

import re
from collections.abc import Mapping

from starlette.datastructures import QueryParams

from memtree.errors import BadRequest, SecretRejected
from memtree.memories.draft import checked_text
from memtree.wire.json_body import Body
from memtree_proxy.request import fields
from memtree_proxy.wire.curation import MAX_IDS
from memtree_proxy.wire.types import checked_query

MAX_ROWS = 1_000  # of one list
MAX_HITS, HITS = 100, 5  # of one search, and by default
IF_MATCH_HEADER = "if-match"

_ETAG = re.compile(r'(?:W/)?"([0-9]{1,18})"|([0-9]{1,18})')


def required_text(body: Body, name: str) -> str:
    value = fields.text(body.value(name), name)
    if value is None:
        raise BadRequest(f"{name} is required", param=name)
    return value


def memory_text(text: str, most: int, name: str) -> str:
    """The text of a memory. Raises `BadRequest`, and `SecretRejected`, naming the field."""
    try:
        return checked_text(text, most, name)
    except SecretRejected as error:
        raise SecretRejected(f"{name}: {error.message}", param=name) from None


def ids(body: Body, name: str = "ids", most: int = MAX_IDS) -> list[str]:
    """Without repetitions; they are counted with them."""
    value = body.value(name)
    if not isinstance(value, list) or not value or not all(isinstance(item, str) for item in value):
        raise BadRequest(f"{name} must be a non-empty array of strings", param=name)
    if len(value) > most:
        raise BadRequest(f"{name} must be at most {most}", param=name)
    return list(dict.fromkeys(value))


def searched(query: Mapping[str, str]) -> str:
    """Return the text that a search looks for."""
    return checked_query(query.get("query"), "query")


def queried_tags(query: QueryParams) -> list[str] | None:
    """Return the tags of `tag` and `tags`, with commas between them."""
    given = [value for name in ("tag", "tags") for value in query.getlist(name)]
    return [tag for value in given for tag in value.split(",")] or None


def limit(query: Mapping[str, str], most: int, default: int) -> int:
    return fields.integer(query.get("limit"), "limit", 1, most) or default


def if_version(headers: Mapping[str, str]) -> int | None:
    """The version that a change is meant for, None where any will do."""
    value = headers.get(IF_MATCH_HEADER, "*").strip()
    if value == "*":
        return None
    match = _ETAG.fullmatch(value)
    if match is None:
        raise BadRequest('if-match must be one version, as in "3"', param=IF_MATCH_HEADER)
    return int(match[1] or match[2])
