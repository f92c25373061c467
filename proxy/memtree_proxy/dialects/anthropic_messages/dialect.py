"""Anthropic's Messages API as a `Dialect`, and which of its requests leave a place for our tools.

Tools lead the prompt, and the signature of each thinking block holds what led to it. So ours are
the same bytes in every request, also in a round that may not call them any more, and stand behind
the client's own tools, whose cache marker stays where it was posted.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any

from memtree.config import Settings
from memtree.dialects.anthropic_messages import messages_history as history
from memtree.dialects.anthropic_messages.canonical.posted_request import Cache, KnownRequests
from memtree.dialects.anthropic_messages.messages_history import MessagesHistory
from memtree.dialects.tool_definitions import ToolGroup
from memtree.dialects.translation_cache import TranslationCache
from memtree.wire.json_body import Body
from memtree_proxy.dialects.anthropic_messages import tool_round
from memtree_proxy.dialects.anthropic_messages.errors import MessagesErrors
from memtree_proxy.dialects.anthropic_messages.stream import MessagesStream
from memtree_proxy.dialects.anthropic_messages.whole import MessagesReply
from memtree_proxy.server_tools.calls import ToolRound
from memtree_proxy.server_tools.offer import AUTO, Offer, OfferForm

# Fields with which the history lies on the server, or the answer is no message
_OTHER = ("thread", "compaction", "output_format")


def tool_offer(body: Body, groups: tuple[ToolGroup, ...]) -> Offer | None:
    """Return the offer of our tools that a request takes; None where they would change what the
    client gets: it forces a call or forbids it, or wants an answer of a given form. A group is left
    out where the client has a tool by the name of one of its."""
    return FORM.offer(body, groups, _plain, _choice)


def _plain(body: Body) -> bool:
    """Nothing in the request that an answer of several rounds could not keep to."""
    output = body.value("output_config")
    formed = isinstance(output, dict) and output.get("format") is not None
    return (
        not formed
        and body.value("stream") in (None, False, True)
        and all(body.value(name) is None for name in _OTHER)
    )


def _choice(body: Body) -> str:
    """`disable_parallel_tool_use` beside the type is no matter."""
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
    """`/messages`."""

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
        """Read a posted history. Raises `BadRequest` naming the field. `most`: items that a history
        may have."""
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
        """The results of a round's calls, as raw items behind `round_.items`."""
        return tool_round.results(round_.calls, texts)

    @property
    def nbytes(self) -> int:
        return self._translated.nbytes + self._known.nbytes

    def forget(self) -> None:
        """Drop what is cached of posted text."""
        self._translated.forget()
        self._known.forget()
