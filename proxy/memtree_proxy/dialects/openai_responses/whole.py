"""One answer of the Responses API that is not streamed, made of the answers of several rounds.

The client gets what a streamed answer would have added up to. A first answer without calls of ours
stays as it is, byte for byte.
"""

from __future__ import annotations

import msgspec

from memtree_proxy.dialects.openai_responses import tool_round
from memtree_proxy.dialects.openai_responses.final import FinalResponse
from memtree_proxy.server_tools.calls import StreamedCall, ToolRound


class ResponsesReply:
    """`names`: of our tools. `offered`: whether the present round was offered them."""

    def __init__(self, names: frozenset[str], *, offered: bool = True) -> None:
        self.offered = offered
        self.unanswered: list[StreamedCall] = []  # of ours, beside calls of the client
        self._rounds = 0
        self._answer = FinalResponse(names)

    def take(self, raw: bytes) -> bytes | ToolRound:
        """The body of an answer: the client's answer, or what it asks of us."""
        self._rounds += 1
        try:
            response = msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
            status = msgspec.json.decode(response.get("status", b"null"))
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return raw
        items = self._answer.outputs(response)
        if items is None:
            return raw
        follows = tool_round.follows(items, status, offered=self.offered)
        if follows:
            return self._answer.asked(response, items, self._rounds)
        if follows is None:
            self.unanswered = list(tool_round.called(items, self._rounds))
        if self._rounds == 1 and not any(item.ours for item in items):
            return raw
        return msgspec.json.encode(self._answer.whole(response, items, later=self._rounds > 1))
