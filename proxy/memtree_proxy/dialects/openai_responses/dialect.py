"""OpenAI's Responses API as a `Dialect`."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from memtree.config import Settings
from memtree.dialects.openai_responses import history
from memtree.dialects.openai_responses.history import ResponsesHistory
from memtree.dialects.openai_responses.items.input_items import INPUT, ItemCache, KnownInputs
from memtree.dialects.tool_definitions import ToolGroup
from memtree.wire.json_body import Body
from memtree_proxy.dialects.openai_responses import offer, tool_round
from memtree_proxy.dialects.openai_responses.errors import ResponsesErrors
from memtree_proxy.dialects.openai_responses.final import ResponsesReply
from memtree_proxy.dialects.openai_responses.stream import ResponsesStream
from memtree_proxy.server_tools.calls import ToolRound
from memtree_proxy.server_tools.offer import Offer


class OpenAIResponses:
    """`/responses`."""

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
        return offer.of(body, groups, defined)

    def stream(self, names: frozenset[str]) -> ResponsesStream:
        return ResponsesStream(names)

    def whole(self, names: frozenset[str]) -> ResponsesReply:
        return ResponsesReply(names)

    def results(self, asked: ToolRound, texts: Sequence[str]) -> list[bytes]:
        """The results of a round's calls, as raw items behind `asked.items`."""
        return tool_round.results(asked.calls, texts)

    @property
    def nbytes(self) -> int:
        return self._items.nbytes + self._known.nbytes

    def forget(self) -> None:
        """Forget all kept histories, since they hold text."""
        self._items.forget()
        self._known.forget()
