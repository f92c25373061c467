"""Tools of ours beside the client's: which requests leave a place for them, and what changes there.

Our definitions are the same bytes in every request and stand behind the client's own tools: within
an epoch the prompt begins with the same bytes, so the provider's cache holds. How an API takes
tools is its `OfferForm`; `of` is the offer of chats.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import msgspec

from memtree.dialects.tool_definitions import ToolGroup
from memtree.errors import BadRequest
from memtree.text import tokens
from memtree.wire.json_body import Body

Json = dict[str, Any]

AUTO = "auto"


@dataclass(frozen=True, slots=True)
class OfferForm:
    """How an API takes tools. `definition`: of a tool of ours, from its name, description and
    parameters. `names`: of one of the client's. `forced`: what `tool_choice` says where any tool
    must be called, so that ours may come before. `none`: its raw value that forbids calls. `stays`:
    ours stay beside the client's in a round that may not call them any more, since they are part of
    what thinking is bound to."""

    definition: Callable[[Json], Json]
    names: Callable[[Json], Iterable[str]]
    forced: frozenset[str]
    none: bytes
    stays: bool = True

    def definitions(self, group: ToolGroup) -> bytes:
        """Raw JSON, with commas between them."""
        return _definitions(self, group)

    def size(self, group: ToolGroup) -> int:
        """Tokens of the definitions."""
        return _size(self, group)

    def offer(
        self,
        body: Body,
        groups: tuple[ToolGroup, ...],
        plain: Callable[[Body], bool],
        choice: Callable[[Body], str],
    ) -> Offer | None:
        """Return the offer that fits a body, None where our tools must not be offered. `plain`:
        whether an answer of several rounds could keep to all that a body asks for. `choice`: what
        it says of calling the client's tools."""
        try:
            if not groups or not plain(body):
                return None
            return _offer(self, body.fragment("tools") or b"null", choice(body), groups)
        except BadRequest:
            return None  # the upstream's to judge


@dataclass(frozen=True, slots=True)
class Offer:
    """Tools of ours that a request offers the model. `posted`: the client's own tools, raw JSON;
    empty where it has none. `groups`: those of ours that stand behind them, in this order. `alone`:
    the client has none elsewhere either."""

    posted: bytes
    groups: tuple[ToolGroup, ...]
    form: OfferForm
    alone: bool = True

    @property
    def size(self) -> int:
        """Tokens of our definitions."""
        return sum(self.form.size(group) for group in self.groups)

    def only(self, among: Container[ToolGroup]) -> Offer | None:
        """Return an offer of those groups alone; None where none is left."""
        groups = tuple(group for group in self.groups if group in among)
        return dataclasses.replace(self, groups=groups) if groups else None

    def fields(self, *, last: bool) -> Mapping[str, bytes]:
        """Return the fields of a request that change; `last`: of a round that may not call ours any
        more. Without tools of the client ours stay, for the prompt to begin as before, and must not
        be called; beside the client's, calls of ours are dropped where they stay."""
        if last and self.posted and not self.form.stays:
            return {}
        ours = b",".join(self.form.definitions(group) for group in self.groups)
        tools = self.posted.rstrip()[:-1] + b"," + ours if self.posted else b"[" + ours
        none = {"tool_choice": self.form.none} if last and self.alone and not self.posted else {}
        return {"tools": tools + b"]", **none}


@lru_cache(maxsize=16)
def _definitions(form: OfferForm, group: ToolGroup) -> bytes:
    made = (form.definition(function) for function in group.functions)
    return b",".join(msgspec.json.encode(definition) for definition in made)


@lru_cache(maxsize=16)
def _size(form: OfferForm, group: ToolGroup) -> int:
    return tokens.count(_definitions(form, group).decode())


@lru_cache(maxsize=64)
def _offer(
    form: OfferForm, posted: bytes, choice: str, groups: tuple[ToolGroup, ...]
) -> Offer | None:
    """Cached: a client sends the same tools with every request."""
    try:
        tools = msgspec.json.decode(posted)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    if tools is None or tools == []:
        return Offer(b"", groups, form) if choice == AUTO else None
    if not isinstance(tools, list) or choice not in {AUTO} | form.forced:
        return None
    if any(not isinstance(tool, dict) for tool in tools):
        return None
    taken = {name for tool in tools for name in form.names(tool)}
    free = tuple(group for group in groups if taken.isdisjoint(group.names))
    return Offer(posted, free, form) if free else None


# -- chats -----------------------------------------------------------------------------------


def of(body: Body, groups: tuple[ToolGroup, ...]) -> Offer | None:
    """Return the offer for a chat. None where our tools would change what the client gets: it
    forces or forbids a call, or it wants several answers, an answer of a given form, or sound. A
    group is left out where the client has a tool with the name of one of its tools."""
    return CHAT.offer(body, groups, _plain, posted_choice)


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


def posted_choice(body: Body) -> str:
    """Return the word of `tool_choice` in OpenAI's APIs; "" where it is no word: a list of allowed
    tools forbids ours."""
    posted = body.value("tool_choice")
    if posted is None:
        return AUTO
    return posted if isinstance(posted, str) else ""


def _chat_tool(function: Json) -> Json:
    return {"type": "function", "function": function}


def _chat_names(tool: Json) -> list[str]:
    inner = tool.get(str(tool.get("type")))
    name = inner.get("name") if isinstance(inner, dict) else tool.get("name")
    return [name] if isinstance(name, str) else []


CHAT = OfferForm(_chat_tool, _chat_names, frozenset({"required", "any"}), b'"none"', stays=False)
