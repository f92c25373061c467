"""The tools by which a model reads what was folded: `memory_search` and `memory_read`."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from memtree.context.answer_details import FoldedReader
from memtree.dialects.tool_definitions import READ, SEARCH
from memtree.errors import BadRequest
from memtree.unfolding.search import EXCERPTS
from memtree_proxy.request import fields
from memtree_proxy.server_tools.calls import ToolHandler

_MAX_NUMBER = 10**12


def handlers(folded: FoldedReader) -> dict[str, ToolHandler]:
    """What answers the calls, by the name of the tool."""

    async def search(arguments: Mapping[str, Any], room: int) -> str:
        query = fields.text(arguments.get("query"), "query")
        if not (query and query.strip()):
            raise BadRequest("query must be a string that is not empty")
        return await folded.search(query, _number(arguments, "limit", EXCERPTS), room)

    async def read(arguments: Mapping[str, Any], room: int) -> str:
        first = _number(arguments, "first", None)
        last = _number(arguments, "last", first)
        start = _number(arguments, "start", 0)
        # A message of megabytes takes a while to be read.
        return await asyncio.to_thread(folded.read, first, last, start, room)

    return {SEARCH: search, READ: read}


def _number(arguments: Mapping[str, Any], name: str, default: int | None) -> int:
    """Raises `BadRequest` where it is no number, or is missing and has no default."""
    number = fields.integer(arguments.get(name), name, -1, _MAX_NUMBER)
    number = default if number is None else number
    if number is None:
        raise BadRequest(f"{name} is missing")
    return number
