"""OpenAI's Responses API as a `Dialect`, and the rules for which requests may be offered our tools.

Tool definitions come first in the prompt, and reasoning is valid only behind the prompt that led to
it. Our tools are therefore the same bytes in every request, even in a round that may no longer call
them, and follow the client's own.
"""

from __future__ import annotations

import dataclasses
import secrets
from collections.abc import Sequence
from typing import Any

from memtree.config import Settings
from memtree.dialects import responses_history as history
from memtree.dialects.responses_history import ResponsesHistory
from memtree.dialects.responses_items import INPUT, ItemCache, KnownInputs
from memtree.dialects.tool_definitions import ToolGroup
from memtree.history.json_body import Body
from memtree_proxy.dialects import responses_round
from memtree_proxy.dialects.responses_stream import ResponsesErrors, ResponsesReply, ResponsesStream
from memtree_proxy.dialects.round_calls import ToolRound
from memtree_proxy.dialects.tool_offer import Offer, OfferForm, posted_choice

# Fields that keep the history or the tools on the server
_ELSEWHERE = ("previous_response_id", "conversation", "prompt")


def tool_offer(
    body: Body, groups: tuple[ToolGroup, ...], defined: frozenset[str] | None = None
) -> Offer | None:
    """Return the tools that may be offered in this request. Returns None where they would change
    the client's answer: it forces or forbids a call, asks for a given form, or fetches the answer
    later. A group is left out if the client has a tool with the name of one of its tools.
    `defined`: names of our tools defined among the input items; None if no tools are defined
    there."""
    offer = FORM.offer(body, groups, _plain, posted_choice)
    if offer is None or defined is None:
        return offer
    free = tuple(group for group in offer.groups if defined.isdisjoint(group.names))
    return dataclasses.replace(offer, groups=free, alone=False) if free else None


def _plain(body: Body) -> bool:
    """Return True if an answer of several rounds can satisfy everything that the request asks
    for."""
    text = body.value("text")
    form = text.get("format") if isinstance(text, dict) else None
    return (
        (form is None or (isinstance(form, dict) and form.get("type") == "text"))
        and body.value("stream") in (None, False, True)
        and body.value("background") in (None, False)
        and all(body.value(name) is None for name in _ELSEWHERE)
    )


def _definition(function: dict[str, Any]) -> dict[str, Any]:
    """Return a function's definition with `strict` off: the default makes every parameter
    required."""
    return {
        "type": "function",
        "name": function["name"],
        "description": function["description"],
        "parameters": function["parameters"],
        "strict": False,
    }


def _names(tool: dict[str, Any]) -> list[str]:
    """Return the name of a tool, or the names of all tools in a namespace."""
    inner = tool.get("tools")
    tools = (
        [tool, *(part for part in inner if isinstance(part, dict))]
        if isinstance(inner, list)
        else [tool]
    )
    return [name for part in tools if isinstance(name := part.get("name"), str)]


FORM = OfferForm(_definition, _names, frozenset({"required"}), b'"none"')


class OpenAIResponses:
    """The `Dialect` of OpenAI's Responses API (`POST /v1/responses`)."""

    name = "responses"
    history = INPUT
    output_fields: tuple[str, ...] = ("max_output_tokens",)
    sign = b": keep-alive\n\n"
    prefix_bound = True

    def __init__(self, settings: Settings) -> None:
        self.errors = ResponsesErrors()
        self._items = ItemCache(
            secrets.randbits(32), settings.cache_limits.response_translations * 3 // 4
        )
        self._known = KnownInputs(settings.cache_limits.response_translations // 4)

    def read(self, body: Body, tenant: str, most: int | None = None) -> ResponsesHistory:
        return history.read(body, tenant, self._items, most, self._known)

    def offer(
        self, body: Body, groups: tuple[ToolGroup, ...], defined: frozenset[str] | None = None
    ) -> Offer | None:
        return tool_offer(body, groups, defined)

    def stream(self, names: frozenset[str]) -> ResponsesStream:
        return ResponsesStream(names)

    def whole(self, names: frozenset[str]) -> ResponsesReply:
        return ResponsesReply(names)

    def results(self, round_: ToolRound, texts: Sequence[str]) -> list[bytes]:
        """Return the results of a round's calls, as raw items to follow `round_.items`."""
        return responses_round.results(round_.calls, texts)

    @property
    def nbytes(self) -> int:
        return self._items.nbytes + self._known.nbytes

    def forget(self) -> None:
        """Drop all cached histories, since they hold text."""
        self._items.forget()
        self._known.forget()
