"""Which requests leave a place for tools of ours, and what of them changes.

Our definitions are the same bytes in every request and stand behind the client's own tools: within
an epoch the prompt begins with the same bytes, so the provider's cache holds.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Container, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import msgspec

from memtree.errors import BadRequest
from proxy.http.json_body import Body
from proxy.server_tools.definitions import ToolGroup

_FREE = frozenset({"auto"})
_FORCED = frozenset({"required", "any"})  # any of the client's: ours may come before


@dataclass(frozen=True, slots=True)
class Offer:
    """`posted`: the client's own tools, raw JSON; empty where it has none. `groups`: those of ours
    that stand behind them, in this order."""

    posted: bytes
    groups: tuple[ToolGroup, ...]

    @property
    def size(self) -> int:
        """Tokens of our definitions."""
        return sum(group.size for group in self.groups)

    def only(self, among: Container[ToolGroup]) -> Offer | None:
        """The same with those groups alone; None where none is left."""
        groups = tuple(group for group in self.groups if group in among)
        return dataclasses.replace(self, groups=groups) if groups else None

    def fields(self, *, last: bool) -> Mapping[str, bytes]:
        """What changes in a request; `last`: of a round that may not call ours any more. Without
        tools of the client ours stay, for the prompt to begin as before, and must not be called."""
        if last and self.posted:
            return {}
        ours = b",".join(group.definitions for group in self.groups)
        tools = self.posted.rstrip()[:-1] + b"," + ours if self.posted else b"[" + ours
        return {"tools": tools + b"]", **({"tool_choice": b'"none"'} if last else {})}


def of(body: Body, groups: tuple[ToolGroup, ...]) -> Offer | None:
    """None where tools of ours would change what the client gets: it forces a call or forbids it,
    wants several answers, one of a given form or as sound. A group is left out where the client has
    a tool by the name of one of its."""
    try:
        if not groups or not _plain(body):
            return None
        posted = body.fragment("tools") or b"null"
        return _offer(posted, _choice(body), groups)
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
def _offer(posted: bytes, choice: str, groups: tuple[ToolGroup, ...]) -> Offer | None:
    """Cached: a client sends the same tools with every request."""
    try:
        tools = msgspec.json.decode(posted)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    if not tools and tools in (None, []):
        return Offer(b"", groups) if choice in _FREE else None
    if not isinstance(tools, list) or choice not in _FREE | _FORCED:
        return None
    if any(not isinstance(tool, dict) for tool in tools):
        return None
    taken = {name for tool in tools if isinstance(name := _name(tool), str)}
    return Offer(posted, tuple(g for g in groups if taken.isdisjoint(g.names))).only(groups)


def _name(tool: dict[str, Any]) -> Any:
    inner = tool.get(str(tool.get("type")))
    return inner.get("name") if isinstance(inner, dict) else tool.get("name")
