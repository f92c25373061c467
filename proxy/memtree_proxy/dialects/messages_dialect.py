"""Implement Anthropic's Messages API as a `Dialect`, with the rules for offering our tools.

Tool definitions come first in the prompt, and the signature of each thinking block covers
everything before it. Our tools are therefore the same bytes in every request, even in a round that
may no longer call them. They follow the client's own tools, whose cache marker stays where it was
posted.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any

from memtree.config import Settings
from memtree.dialects import messages_history as history
from memtree.dialects.fragment_caches import TranslationCache
from memtree.dialects.messages_history import MessagesHistory
from memtree.dialects.messages_request import Cache, KnownRequests
from memtree.dialects.tool_definitions import ToolGroup
from memtree.history.json_body import Body
from memtree_proxy.dialects import messages_round
from memtree_proxy.dialects.messages_stream import MessagesErrors, MessagesReply, MessagesStream
from memtree_proxy.dialects.round_calls import ToolRound
from memtree_proxy.dialects.tool_offer import AUTO, Offer, OfferForm

# Fields that keep the history on the server, or ask for something other than a message
_OTHER = ("thread", "compaction", "output_format")


def tool_offer(body: Body, groups: tuple[ToolGroup, ...]) -> Offer | None:
    """Return the tools that may be offered in this request. Returns None where they would change
    the client's answer: it forces or forbids a call, or asks for a given form. A group is left out
    if the client has a tool with the name of one of its tools."""
    return FORM.offer(body, groups, _plain, _choice)


def _plain(body: Body) -> bool:
    """Return True if an answer of several rounds can satisfy everything that the request asks
    for."""
    output = body.value("output_config")
    formed = isinstance(output, dict) and output.get("format") is not None
    return (
        not formed
        and body.value("stream") in (None, False, True)
        and all(body.value(name) is None for name in _OTHER)
    )


def _choice(body: Body) -> str:
    """Return the type of `tool_choice`; `disable_parallel_tool_use` beside it makes no
    difference."""
    choice = body.value("tool_choice")
    if choice is None:
        return AUTO
    kind = choice.get("type") if isinstance(choice, dict) else None
    return kind if isinstance(kind, str) else ""


def _definition(function: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": function["name"],
        "description": function["description"],
        "input_schema": function["parameters"],
    }


def _names(tool: dict[str, Any]) -> list[str]:
    name = tool.get("name")
    return [name] if isinstance(name, str) else []


FORM = OfferForm(_definition, _names, frozenset({"any"}), b'{"type":"none"}')


class AnthropicMessages:
    """The `Dialect` of Anthropic's Messages API (`POST /v1/messages`)."""

    name = "messages"
    history = "messages"
    output_fields: tuple[str, ...] = ("max_tokens",)
    sign = b'event: ping\ndata: {"type": "ping"}\n\n'

    prefix_bound = True

    def __init__(self, settings: Settings) -> None:
        self.errors = MessagesErrors()
        self._translated: Cache = TranslationCache(
            secrets.randbits(32), settings.cache_limits.message_translations * 3 // 4
        )
        self._known = KnownRequests(settings.cache_limits.message_translations // 4)

    def read(self, body: Body, tenant: str, most: int | None = None) -> MessagesHistory:
        """Read a posted history. `most`: the most items that a history may have. Raises
        `BadRequest` naming the field."""
        return history.read(body, tenant, self._translated, most, self._known)

    def offer(
        self, body: Body, groups: tuple[ToolGroup, ...], defined: frozenset[str] | None = None
    ) -> Offer | None:
        return tool_offer(body, groups)

    def stream(self, names: frozenset[str]) -> MessagesStream:
        return MessagesStream(names)

    def whole(self, names: frozenset[str]) -> MessagesReply:
        return MessagesReply(names)

    def results(self, round_: ToolRound, texts: Sequence[str]) -> list[bytes]:
        """Return the results of a round's calls, as raw items to follow `round_.items`."""
        return messages_round.results(round_.calls, texts)

    @property
    def nbytes(self) -> int:
        return self._translated.nbytes + self._known.nbytes

    def forget(self) -> None:
        """Drop everything cached from posted text."""
        self._translated.forget()
        self._known.forget()
