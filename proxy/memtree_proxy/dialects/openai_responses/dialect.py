"""OpenAI's Responses API as a `Dialect`, and which of its requests leave a place for our tools.

Tools lead the prompt, and reasoning holds only behind what led to it. So ours are the same bytes in
every request, also in a round that may not call them any more, and stand behind the client's own.
"""

from __future__ import annotations

import dataclasses
import secrets
from collections.abc import Sequence
from typing import Any

from memtree.config import Settings
from memtree.dialects.openai_responses import responses_history as history
from memtree.dialects.openai_responses.items.input_items import INPUT, ItemCache, KnownInputs
from memtree.dialects.openai_responses.responses_history import ResponsesHistory
from memtree.dialects.tool_definitions import ToolGroup
from memtree.wire.json_body import Body
from memtree_proxy.dialects.openai_responses import tool_round
from memtree_proxy.dialects.openai_responses.errors import ResponsesErrors
from memtree_proxy.dialects.openai_responses.final import ResponsesReply
from memtree_proxy.dialects.openai_responses.stream import ResponsesStream
from memtree_proxy.server_tools.calls import ToolRound
from memtree_proxy.server_tools.offer import Offer, OfferForm, posted_choice

# Fields with which the history or the tools lie on the server
_ELSEWHERE = ("previous_response_id", "conversation", "prompt")


def tool_offer(
    body: Body, groups: tuple[ToolGroup, ...], defined: frozenset[str] | None = None
) -> Offer | None:
    """Return the offer of our tools that a request takes; None where they would change what the
    client gets: it forces a call or forbids it, wants an answer of a given form, or one that it
    fetches later. A group is left out where the client has a tool by the name of one of its.
    `defined`: names of ours that stand among tools in the items of its input; None where it hands
    over none there."""
    offer = FORM.offer(body, groups, _plain, posted_choice)
    return offer if offer is None or defined is None else _beside(offer, defined)


def _plain(body: Body) -> bool:
    """Nothing in the request that an answer of several rounds could not keep to."""
    text = body.value("text")
    form = text.get("format") if isinstance(text, dict) else None
    return (
        (form is None or (isinstance(form, dict) and form.get("type") == "text"))
        and body.value("stream") in (None, False, True)
        and body.value("background") in (None, False)
        and all(body.value(name) is None for name in _ELSEWHERE)
    )


def _beside(offer: Offer, defined: frozenset[str]) -> Offer | None:
    """The offer to a client with tools among its items: a name of ours there is the client's."""
    free = tuple(group for group in offer.groups if defined.isdisjoint(group.names))
    return dataclasses.replace(offer, groups=free, alone=False) if free else None


def _definition(function: dict[str, Any]) -> dict[str, Any]:
    """Not `strict`: the API would otherwise make each optional parameter a required one."""
    return {
        "type": "function",
        "name": function["name"],
        "description": function["description"],
        "parameters": function["parameters"],
        "strict": False,
    }


def _names(tool: dict[str, Any]) -> list[str]:
    """Return the names of a tool, and of those in a namespace."""
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
        """The results of a round's calls, as raw items behind `round_.items`."""
        return tool_round.results(round_.calls, texts)

    @property
    def nbytes(self) -> int:
        return self._items.nbytes + self._known.nbytes

    def forget(self) -> None:
        """Forget all kept histories, since they hold text."""
        self._items.forget()
        self._known.forget()
