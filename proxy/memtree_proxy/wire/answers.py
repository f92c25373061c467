"""Build the answers of memory routes: JSON that is never cached, with the memory's version as
ETag."""

from __future__ import annotations

import msgspec
from starlette.responses import Response

from memtree.memories.memory import Memory
from memtree_proxy.wire.values import Answer, Counted, Success


def answer(made: Answer, status: int = 200, of: Memory | None = None) -> Response:
    """Build a JSON response. `of`: the memory whose version becomes the ETag."""
    response = Response(msgspec.json.encode(made), status, media_type="application/json")
    response.headers["cache-control"] = "no-store"
    if of is not None:
        response.headers["etag"] = f'"{of.version}"'
    return response


def counted(count: int) -> Response:
    """Answer a dry run with the number of memories that would be deleted."""
    return answer(Counted(count=count))


def done() -> Response:
    return answer(Success())
