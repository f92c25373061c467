"""One unstreamed answer of the Messages API, made of the answers of several rounds.

The client gets what a streamed answer would have added up to: the blocks of all rounds without
calls of our tools, and without the thinking of later rounds, which it could not send back. A first
answer without such calls is passed on byte for byte.
"""

from __future__ import annotations

from typing import Any

import msgspec

from memtree.dialects.anthropic_messages.content import THINKING
from memtree.wire import json_body
from memtree_proxy.dialects.anthropic_messages import tool_round
from memtree_proxy.dialects.anthropic_messages.tool_round import AnswerBlock, RoundCalls
from memtree_proxy.server_tools.calls import StreamedCall, ToolRound

Json = dict[str, Any]
Fields = dict[str, msgspec.Raw]

_HEAD = ("id", "model")


class MessagesReply:
    """Builder of an unstreamed answer. `names`: of our tools. `offered`: True if the current round
    was offered our tools."""

    def __init__(self, names: frozenset[str], *, offered: bool = True) -> None:
        self.offered = offered
        self.unanswered: list[StreamedCall] = []  # our calls, made beside the client's
        self._names = names
        self._rounds = 0
        self._head: Fields = {}
        self._used: list[Json] = []  # usage of each earlier round
        self._before: list[bytes] = []  # blocks collected for the client

    def take(self, raw: bytes) -> bytes | ToolRound:
        """Take the body of a round's answer. Returns the body for the client, or the calls of our
        tools that the model asks for."""
        self._rounds += 1
        try:
            answer = msgspec.json.decode(raw, type=Fields)
            posted = msgspec.json.decode(answer["content"], type=list[msgspec.Raw])
            blocks = [AnswerBlock.of(bytes(block)) for block in posted]
            reason = msgspec.json.decode(answer.get("stop_reason", b"null"))
            usage = msgspec.json.decode(answer.get("usage", b"null"))
        except (msgspec.DecodeError, UnicodeError, RecursionError, KeyError):
            return raw
        for block in blocks:
            if block.kind == "tool_use" and block.name in self._names:
                block.begin_call()
        used = tool_round.merged(None, usage)
        calls = RoundCalls(blocks)
        shown = self._shown(blocks, posted)
        if calls.followed(reason, offered=self.offered):
            if not calls.theirs:
                return self._asked(answer, blocks, shown, used)
            self.unanswered = list(tool_round.called(blocks, self._rounds))
        if self._rounds == 1 and len(shown) == len(blocks):
            return raw
        whole = answer | {name: self._head[name] for name in self._head if name in answer}
        whole["content"] = msgspec.Raw(json_body.joined([*self._before, *shown]))
        if (why := calls.reason_shown(reason)) != reason:
            whole["stop_reason"] = msgspec.Raw(msgspec.json.encode(why))
        if self._used and isinstance(usage, dict):
            total = tool_round.summed([*self._used, used])
            whole["usage"] = msgspec.Raw(msgspec.json.encode(total))
        return msgspec.json.encode(whole)

    def _shown(self, blocks: list[AnswerBlock], posted: list[msgspec.Raw]) -> list[bytes]:
        hidden = THINKING if self._rounds > 1 else frozenset()
        return [
            bytes(raw)
            for block, raw in zip(blocks, posted, strict=True)
            if block.call is None and block.kind not in hidden
        ]

    def _asked(
        self, answer: Fields, blocks: list[AnswerBlock], shown: list[bytes], used: Json
    ) -> ToolRound:
        if self._rounds == 1:
            self._head = {name: answer[name] for name in _HEAD if name in answer}
        self._before += shown
        self._used.append(used)
        calls = tool_round.called(blocks, self._rounds)
        return ToolRound((tool_round.message(blocks),), calls)
