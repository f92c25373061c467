"""Answers of memory routes: JSON that nobody keeps, with the version of the memory that it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from starlette.responses import Response

from memtree.memories.book import SaveResult
from memtree.memories.memory import Memory
from memtree.memories.relation.relation import Relation
from memtree.memories.saving.duplicates import NearMemory

Json = dict[str, Any]


def answer(made: Mapping[str, Any], status: int = 200, of: Memory | None = None) -> Response:
    """`of`: the memory that the answer is, whose version is the tag of the answer."""
    response = Response(msgspec.json.encode(made), status, media_type="application/json")
    response.headers["cache-control"] = "no-store"
    if of is not None:
        response.headers["etag"] = f'"{of.version}"'
    return response


def counted(count: int) -> Response:
    """Answer a dry run: how much would be deleted."""
    return answer({"dry_run": True, "count": count})


def updates_json(memory: Memory, text: str) -> list[Json]:
    """The memories that one may replace, until that is settled. `text`: the field of a text."""
    return [{"id": old.id, text: old.text, "differs": old.differs} for old in memory.updates]


def saved(made: Json, result: SaveResult, text: str) -> Response:
    """201 with the memory, or 200 with the one that says the same. `text`: the field of a text."""
    updates = [] if result.existing else _updates(result.near, text)
    more: Json = {"possible_update_of": updates}
    if result.deferred:  # the look for duplicates is still to come
        more["dedup"] = "deferred"
    if result.degraded:
        more["degraded"] = result.degraded
    return answer({**made, **more}, 200 if result.existing else 201, result.memory)


def _updates(near: Sequence[NearMemory], text: str) -> list[Json]:
    """The memories that a new one may replace, the nearest first."""
    return [
        {
            "id": candidate.memory.id,
            text: candidate.memory.text,
            "relevance": round(candidate.relevance, 2),
            "differs": candidate.differs,
        }
        for candidate in near
        if candidate.relation is Relation.POSSIBLE_UPDATE
    ]
