"""Read fields that requests of several dialects share. A wrong type is a 400 that names the field,
a number out of range is clamped, null means absent."""

from __future__ import annotations

import re
from collections.abc import Mapping

from starlette.datastructures import QueryParams

from memtree.errors import BadRequest
from memtree_proxy.request import fields
from memtree_proxy.wire.types import checked_query

MAX_ROWS = 1_000  # in one list
MAX_HITS, HITS = 100, 5  # in one search: the limit and the default
IF_MATCH_HEADER = "if-match"

_ETAG = re.compile(r'(?:W/)?"([0-9]{1,18})"|([0-9]{1,18})')


def searched(query: Mapping[str, str]) -> str:
    """Return the query text of a search."""
    return checked_query(query.get("query"), "query")


def queried_tags(query: QueryParams) -> list[str] | None:
    """Return the tags in `tag` and `tags`, each split at commas, or None."""
    given = [value for name in ("tag", "tags") for value in query.getlist(name)]
    return [tag for value in given for tag in value.split(",")] or None


def limit(query: Mapping[str, str], most: int, default: int) -> int:
    return fields.integer(query.get("limit"), "limit", 1, most) or default


def if_version(headers: Mapping[str, str]) -> int | None:
    """Return the version in `if-match`, or None if any version may be changed. Raises
    `BadRequest`."""
    value = headers.get(IF_MATCH_HEADER, "*").strip()
    if value == "*":
        return None
    match = _ETAG.fullmatch(value)
    if match is None:
        raise BadRequest('if-match must be one version, as in "3"', param=IF_MATCH_HEADER)
    return int(match[1] or match[2])
