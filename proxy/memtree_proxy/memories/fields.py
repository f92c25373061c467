"""Read headers that requests of several dialects share."""

from __future__ import annotations

import re
from collections.abc import Mapping

from memtree.errors import BadRequest

IF_MATCH_HEADER = "if-match"

_ETAG = re.compile(r'(?:W/)?"([0-9]{1,18})"|([0-9]{1,18})')


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
