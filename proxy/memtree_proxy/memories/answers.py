"""Build the answers of memory routes: JSON that is never cached, with the memory's version as
ETag."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from starlette.responses import Response

from memtree.memories.book import SaveResult
from memtree.memories.memory import Memory
from memtree_proxy.wire.answer import Answer, shown

Json = dict[str, Any]


def answer(made: Mapping[str, Any], status: int = 200, of: Memory | None = None) -> Response:
    """Build a JSON response. `of`: the memory whose version becomes the ETag."""
    response = Response(msgspec.json.encode(made), status, media_type="application/json")
    response.headers["cache-control"] = "no-store"
    if of is not None:
        response.headers["etag"] = f'"{of.version}"'
    return response


def counted(count: int) -> Response:
    """Answer a dry run with the number of memories that would be deleted."""
    return answer({"dry_run": True, "count": count})


def saved(row: Json, as_: Answer[SaveResult], result: SaveResult) -> Response:
    """Answer 201 with the new memory, or 200 with the stored memory that says the same. `row`: that
    memory's row."""
    made = row | shown(as_, result)
    return answer(made, 200 if result.existing else 201, result.memory)
