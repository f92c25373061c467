"""Offer our tools beside the client's: which requests allow it, and which fields change.

Our definitions are the same bytes in every request and come after the client's own tools: within an
epoch the prompt begins with the same bytes, so the provider's cache stays valid. `OfferForm`
describes the form of tools in an API; `of` is the offer for chats.

An upstream's error about a model that supports no tools is recognised here as well.

>>> is_about_tools(400, b'{"error": {"message": "gemma:2b does not support tools"}}')
True
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import msgspec

from memtree.dialects.tool_definitions import ToolGroup
from memtree.errors import BadRequest
from memtree.history.json_body import Body
from memtree.text import tokens

Json = dict[str, Any]

AUTO = "auto"


@dataclass(frozen=True, slots=True)
class OfferForm:
    """Form of tools in an API. `definition`: of a tool of ours, from its name, description and
    parameters. `names`: returns the name of a client's tool. `forced`: the value of `tool_choice`
    that requires a call of any tool, so that ours may be called first. `none`: its raw value that
    forbids calls. `stays`: ours stay beside the client's in a round that may no longer call them,
    since thinking is bound to them."""

    definition: Callable[[Json], Json]
    names: Callable[[Json], Iterable[str]]
    forced: frozenset[str]
    none: bytes
    stays: bool = True

    def size(self, group: ToolGroup) -> int:
        """Return the tokens of the definitions."""
        return _size(self, group)

    def offer(
        self,
        body: Body,
        groups: tuple[ToolGroup, ...],
        plain: Callable[[Body], bool],
        choice: Callable[[Body], str],
    ) -> Offer | None:
        """Return the offer for a body, None if our tools must not be offered. `plain`: returns True
        if an answer of several rounds can satisfy all requirements of a body. `choice`: returns its
        `tool_choice`."""
        try:
            if not groups or not plain(body):
                return None
            return _offer(self, body.fragment("tools") or b"null", choice(body), groups)
        except BadRequest:
            return None  # left for the upstream to judge


@dataclass(frozen=True, slots=True)
class Offer:
    """Our tools in a request. `posted`: the client's own tools, raw JSON; empty if it has none.
    `groups`: ours that follow them, in this order. `alone`: the client has no tools elsewhere
    either."""

    posted: bytes
    groups: tuple[ToolGroup, ...]
    form: OfferForm
    alone: bool = True

    @property
    def size(self) -> int:
        """Return the tokens of our definitions."""
        return sum(self.form.size(group) for group in self.groups)

    def only(self, among: Container[ToolGroup]) -> Offer | None:
        """Return an offer of only those groups; None if none is left."""
        groups = tuple(group for group in self.groups if group in among)
        return replace(self, groups=groups) if groups else None

    def fields(self, *, last: bool) -> Mapping[str, bytes]:
        """Return the changed fields of a request; `last`: of a round that may no longer call our
        tools. If the client has no tools, ours stay, so that the prompt begins as before, and must
        not be called; if they stay beside the client's, calls of ours are dropped."""
        if last and self.posted and not self.form.stays:
            return {}
        ours = b",".join(_definitions(self.form, group) for group in self.groups)
        tools = self.posted.rstrip()[:-1] + b"," + ours if self.posted else b"[" + ours
        none = {"tool_choice": self.form.none} if last and self.alone and not self.posted else {}
        return {"tools": tools + b"]", **none}


@lru_cache(maxsize=16)
def _definitions(form: OfferForm, group: ToolGroup) -> bytes:
    """Return the definitions as raw JSON, separated by commas."""
    made = (form.definition(function) for function in group.functions)
    return b",".join(msgspec.json.encode(definition) for definition in made)


@lru_cache(maxsize=16)
def _size(form: OfferForm, group: ToolGroup) -> int:
    return tokens.count(_definitions(form, group).decode())


@lru_cache(maxsize=64)
def _offer(
    form: OfferForm, posted: bytes, choice: str, groups: tuple[ToolGroup, ...]
) -> Offer | None:
    """Make the offer. Cached, since a client sends the same tools with every request."""
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
    """Return the offer for a chat. None if our tools would change the client's result: if it forces
    or forbids a call, or wants several answers, an answer of a given form, or sound. A group is
    left out if the client has a tool with one of its names."""
    return CHAT.offer(body, groups, _plain, posted_choice)


def _plain(body: Body) -> bool:
    """Return True if an answer of several rounds can satisfy the request."""
    form = body.value("response_format")
    return (
        body.value("n") in (None, 1)
        and body.value("stream") in (None, False, True)
        and body.value("modalities") in (None, ["text"])
        and (form is None or (isinstance(form, dict) and form.get("type") == "text"))
        and all(body.value(name) is None for name in ("functions", "function_call", "prediction"))
    )


def posted_choice(body: Body) -> str:
    """Return the word of `tool_choice` in OpenAI's APIs; "" if it is not a word: a list of allowed
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


STATUSES = frozenset({400, 404, 405, 422, 500, 501})
LONGEST = 16 * 1024  # bytes of an error that are searched

# Ollama, vLLM ("--enable-auto-tool-choice"), llama.cpp ("tools param requires --jinja flag"),
# OpenRouter ("No endpoints found that support tool use"), Gemini ("Function calling is not
# enabled"), DeepSeek ("does not support Function Calling"), and servers that find them too many or
# too long.
_WORDS = re.compile(r"\btools?\b|\btool[_ -]?(?:use|call|choice)|function[_ -]?call", re.IGNORECASE)


def may_be_about_tools(status: int) -> bool:
    """Return True if an answer with this status may be about tools."""
    return status in STATUSES


def is_about_tools(status: int, body: bytes) -> bool:
    """Return True if an error is about tools. `body`: decoded; its beginning is enough."""
    return may_be_about_tools(status) and bool(
        _WORDS.search(body[:LONGEST].decode("utf-8", "replace"))
    )
