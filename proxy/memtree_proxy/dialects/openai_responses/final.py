"""The response object of an answer made of several rounds: the last event's, or the unstreamed
body."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from memtree.wire import json_body
from memtree_proxy.dialects.openai_responses import errors, tool_round
from memtree_proxy.dialects.openai_responses.tool_round import AnswerOutput
from memtree_proxy.server_tools.calls import StreamedCall, ToolRound, decoded
from memtree_proxy.server_tools.round_stream import added

Json = dict[str, Any]
Fields = dict[str, msgspec.Raw]

_HEAD = ("id", "created_at", "model")


class FinalResponse:
    """Builder of the response object. `names`: of our tools. It collects what the client has of
    earlier rounds."""

    def __init__(self, names: frozenset[str]) -> None:
        self._names = names
        self._begun: Fields = {}
        self._before: list[bytes] = []  # items sent to the client
        self._used: Any = None  # usage of each earlier round

    def begin(self, response: Fields) -> None:
        """Begin the answer with the head of the first round."""
        self._begun = self._begun or response

    def outputs(self, response: Fields) -> list[AnswerOutput] | None:
        return tool_round.outputs(response.get("output"), self._names)

    def add_round(self, response: Fields, items: Sequence[AnswerOutput], number: int) -> ToolRound:
        """Add a round that another round follows."""
        self.begin(response)
        self._before += [item.raw for item in tool_round.shown(items, later=number > 1)]
        self._used = added(self._used, _value(response, "usage"))
        calls = tool_round.called(items, number)
        stored = _value(response, "store") is not False
        return ToolRound(tool_round.sent_back(items, calls, stored=stored), calls)

    def whole(self, response: Fields, items: Sequence[AnswerOutput], *, later: bool) -> Fields:
        """Return the last round's response with the items and the usage of all rounds, without
        calls of our tools. Its id is the first round's, as the stream said, unless the server
        stores answers: under the first id it stores a call without its result, on which no client
        could build, and the last response holds everything."""
        items = self.outputs(response) or items
        kept = [*self._before, *(item.raw for item in tool_round.shown(items, later=later))]
        head = {name: self._begun[name] for name in _HEAD if later and name in self._begun}
        if _value(response, "store") is True:
            head.pop("id", None)
        whole = {**response, **{name: head[name] for name in head if name in response}}
        whole["output"] = msgspec.Raw(json_body.joined(kept))
        if self._used is not None and isinstance(usage := _value(response, "usage"), dict):
            whole["usage"] = msgspec.Raw(msgspec.json.encode(added(self._used, usage)))
        return whole

    def begun(self) -> Json:
        """Return the response in progress."""
        known = errors.response("", 0)
        for name in self._begun:
            known[name] = _value(self._begun, name)
        known["output"] = [msgspec.Raw(item) for item in self._before]
        return {**known, "usage": self._used}


class ResponsesReply:
    """Builder of an unstreamed answer. The client gets what a streamed one would have added up to;
    a first answer without calls of our tools is passed on byte for byte. `names`: of our tools.
    `offered`: True if the current round was offered our tools."""

    def __init__(self, names: frozenset[str], *, offered: bool = True) -> None:
        self.offered = offered
        self.unanswered: list[StreamedCall] = []  # our calls, made beside the client's
        self._rounds = 0
        self._answer = FinalResponse(names)

    def take(self, raw: bytes) -> bytes | ToolRound:
        """Take the body of a round's answer. Returns the body for the client, or the calls of our
        tools that the model asks for."""
        self._rounds += 1
        try:
            response = msgspec.json.decode(raw, type=Fields)
            status = msgspec.json.decode(response.get("status", b"null"))
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return raw
        items = self._answer.outputs(response)
        if items is None:
            return raw
        follows = tool_round.follows(items, status, offered=self.offered)
        if follows:
            return self._answer.add_round(response, items, self._rounds)
        if follows is None:
            self.unanswered = list(tool_round.called(items, self._rounds))
        if self._rounds == 1 and not any(item.ours for item in items):
            return raw
        return msgspec.json.encode(self._answer.whole(response, items, later=self._rounds > 1))


def _value(response: Fields, name: str) -> Any:
    return decoded(response.get(name, b"null"), object)
