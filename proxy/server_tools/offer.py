"""Which requests leave a place for tools of ours, and what of them changes.

Our definitions are the same bytes in every request and stand behind the client's own tools: within
an epoch the prompt begins with the same bytes, so the provider's cache holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import msgspec

from memtree.errors import BadRequest
from memtree.text import tokens
from memtree.unfolding.search import EXCERPTS, MOST_EXCERPTS
from proxy.http.json_body import Body

SEARCH, READ = "memory_search", "memory_read"
NAMES = frozenset({SEARCH, READ})


def _tool(name: str, description: str, required: list[str], **properties: Any) -> dict[str, Any]:
    parameters = {"type": "object", "properties": properties, "required": required}
    function = {"name": name, "description": description, "parameters": parameters}
    return {"type": "function", "function": function}


_DEFINITIONS = (
    _tool(
        SEARCH,
        "Search the earlier part of this conversation, which is only summarised in "
        "<context_memory>. Returns verbatim excerpts with message numbers. Use it when you need a "
        "detail that you do not see; do not use it for anything else.",
        ["query"],
        query={
            "type": "string",
            "description": "What to look for: names, identifiers, words that were used then.",
        },
        limit={
            "type": "integer",
            "minimum": 1,
            "maximum": MOST_EXCERPTS,
            "description": f"Most excerpts to return; {EXCERPTS} by default.",
        },
    ),
    _tool(
        READ,
        "Read earlier messages of this conversation, verbatim, by the numbers that "
        "<context_memory> and memory_search show. What does not fit is cut, with a hint how to "
        "read on.",
        ["first"],
        first={"type": "integer", "minimum": 0, "description": "Number of the first message."},
        last={
            "type": "integer",
            "minimum": 0,
            "description": "Number of the last message; without it one message is read.",
        },
        start={
            "type": "integer",
            "minimum": 0,
            "description": "Characters of the first message to leave out, to read on in it.",
        },
    ),
)
_OWN = b",".join(msgspec.json.encode(tool) for tool in _DEFINITIONS)
_FREE = frozenset({"auto"})
_FORCED = frozenset({"required", "any"})  # any of the client's: ours may come before


@dataclass(frozen=True, slots=True)
class Offer:
    """`tools`: raw JSON, the client's with ours behind them. `alone`: the client has none."""

    tools: bytes
    alone: bool

    def fields(self, *, last: bool) -> Mapping[str, bytes]:
        """What changes in a request; `last`: of a round that may not call ours any more. Without
        tools of the client ours stay, for the prompt to begin as before, and must not be called."""
        if last and not self.alone:
            return {}
        return {"tools": self.tools, **({"tool_choice": b'"none"'} if last else {})}


@cache
def size() -> int:
    """Tokens of our definitions."""
    return tokens.count(_OWN.decode())


def of(body: Body) -> Offer | None:
    """None where tools of ours would change what the client gets: it forces a call or forbids it,
    wants several answers, one of a given form or as sound, or has tools of our names."""
    try:
        if not _plain(body):
            return None
        posted = body.fragment("tools") or b"null"
        return _offer(posted, _choice(body))
    except BadRequest:
        return None  # the upstream's to judge


def _plain(body: Body) -> bool:
    """Nothing in the request that an answer of several rounds could not keep to."""
    form = body.value("response_format")
    return (
        body.value("n") in (None, 1)
        and body.value("stream") in (None, False, True)
        and body.value("modalities") in (None, ["text"])
        and (form is None or (isinstance(form, dict) and form.get("type") == "text"))
        and all(body.value(name) is None for name in ("functions", "function_call", "prediction"))
    )


def _choice(body: Body) -> str:
    choice = body.value("tool_choice")
    if choice is None:
        return "auto"
    return choice if isinstance(choice, str) else ""


@lru_cache(maxsize=64)
def _offer(posted: bytes, choice: str) -> Offer | None:
    """Cached: a client sends the same tools with every request."""
    try:
        tools = msgspec.json.decode(posted)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    if not tools and tools in (None, []):
        return Offer(b"[" + _OWN + b"]", alone=True) if choice in _FREE else None
    if not isinstance(tools, list) or choice not in _FREE | _FORCED:
        return None
    if any(not isinstance(tool, dict) or _name(tool) in NAMES for tool in tools):
        return None
    return Offer(posted.rstrip()[:-1] + b"," + _OWN + b"]", alone=False)


def _name(tool: dict[str, Any]) -> Any:
    inner = tool.get(str(tool.get("type")))
    return inner.get("name") if isinstance(inner, dict) else tool.get("name")
