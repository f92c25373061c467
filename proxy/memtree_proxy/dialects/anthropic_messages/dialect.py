"""Anthropic's Messages API as a `Dialect`."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from memtree.config import Settings
from memtree.dialects.anthropic_messages import history
from memtree.dialects.anthropic_messages.canonical.posted_request import Cache, KnownRequests
from memtree.dialects.anthropic_messages.history import MessagesHistory
from memtree.dialects.tool_definitions import ToolGroup
from memtree.dialects.translation_cache import TranslationCache
from memtree.wire.json_body import Body
from memtree_proxy.dialects.anthropic_messages import offer, tool_round
from memtree_proxy.dialects.anthropic_messages.errors import MessagesErrors
from memtree_proxy.dialects.anthropic_messages.stream import MessagesStream
from memtree_proxy.dialects.anthropic_messages.whole import MessagesReply
from memtree_proxy.server_tools.calls import ToolRound
from memtree_proxy.server_tools.offer import Offer


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
        """Raises `BadRequest` naming the field. `most`: items that a history may have."""
        return history.read(body, tenant, self._translated, most, self._known)

    def offer(
        self, body: Body, groups: tuple[ToolGroup, ...], defined: frozenset[str] | None = None
    ) -> Offer | None:
        return offer.of(body, groups)

    def stream(self, names: frozenset[str]) -> MessagesStream:
        return MessagesStream(names)

    def whole(self, names: frozenset[str]) -> MessagesReply:
        return MessagesReply(names)

    def results(self, asked: ToolRound, texts: Sequence[str]) -> list[bytes]:
        """The results of a round's calls, as raw items behind `asked.items`."""
        return tool_round.results(asked.calls, texts)

    @property
    def nbytes(self) -> int:
        return self._translated.nbytes + self._known.nbytes

    def forget(self) -> None:
        """Drop what is cached of posted text."""
        self._translated.forget()
        self._known.forget()
