"""Make one answer of the Messages API of several rounds, and give errors that API's form. No I/O.

    bytes of round 1 -> the part that the client sees, as it arrives
    end of round 1   -> its calls of our tools, or None: the answer has ended
    bytes of round 2 -> the same message continues: one start, block numbers run on, one end

A first round that calls none of our tools passes through byte for byte, pings and unknown events
included. Calls of our tools are held back, and so are the start and the end of a round that is
joined to another. Thinking of later rounds is held back, too: its signatures cover our calls, which
the client never sees, so the API would refuse it if the client sent it back.

An error is a response body, or an event of a stream that has begun:

    {"type": "error", "error": {"type": ..., "message": ...}, "request_id": ...}

Clients react to the type, and to the wording for a prompt that is too long: Claude Code shortens
its history only if it reads exactly those words. An upstream's own words are passed on unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from memtree.dialects.messages_blocks import THINKING_KINDS
from memtree.errors import ContextOverflow, MemTreeError
from memtree.history import json_body
from memtree_proxy.dialects import messages_round, sse
from memtree_proxy.dialects.dialect import RoundStream, WholeReply
from memtree_proxy.dialects.messages_round import AnswerBlock, RoundCalls
from memtree_proxy.dialects.round_calls import ToolRound, decoded
from memtree_proxy.http import error_response

Json = dict[str, Any]

_HEADS = ("ping", "message_start")  # events that come before any content
INVALID, API, OVERLOADED = "invalid_request_error", "api_error", "overloaded_error"
TYPES = {
    400: INVALID,
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    408: "timeout_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: API,
    503: OVERLOADED,
    504: "timeout_error",
    529: OVERLOADED,
}
# `ContextOverflow` as an `error` object, which has no fields for its two numbers
_OVERFLOW = re.compile(r"maximum context length is (\d+) tokens\..{1,40}resulted in (\d+) tokens")
_OVERFLOW_LENGTH = 200
_UNSAID = "The upstream answered with an error that says nothing."


class MessagesErrors:
    """The `ErrorForm` of the Messages API."""

    def answer(self, error: MemTreeError, request_id: str = "") -> tuple[int, bytes]:
        """Return the HTTP status and the body for an error of the proxy itself."""
        status = 400 if isinstance(error, ContextOverflow) else error.status
        said = {**error_response.body(error), "status": error.status}
        return status, _body(_told(said), request_id)

    def whole(self, error: Mapping[str, Any]) -> bytes:
        """Return the body of an answer that is an error."""
        return _body(_told(error))

    def failed(self, error: Mapping[str, Any]) -> bytes:
        """Return the bytes that end, with this error, a stream that has begun."""
        return b"event: error\ndata: " + self.whole(error) + b"\n\n"

    def first_error(self, beginning: bytes) -> bool | None:
        """Return True if a stream begins with an error, False if it does not, None if that cannot
        be decided yet because only comments and pings have arrived. `beginning`: decoded text, cut
        anywhere."""
        return sse.first_error(beginning, lambda said: said.get("type") in _HEADS)


def _body(error: Json, request_id: str = "") -> bytes:
    whole = {"type": "error", "error": error, "request_id": request_id or None}
    return msgspec.json.encode(whole)


def _told(error: Mapping[str, Any]) -> Json:
    """Translate an error into the `error` object of this API. `error`: the proxy's own with its
    `status`, or an upstream's with its status as `code`."""
    message = error.get("message")
    said = message if isinstance(message, str) and message else _UNSAID
    if error.get("code") == ContextOverflow.code and (
        match := _OVERFLOW.search(said[:_OVERFLOW_LENGTH])
    ):
        return {
            "type": INVALID,
            "message": f"prompt is too long: {match[2]} tokens > {match[1]} maximum",
        }
    shown = {"type": _type(error), "message": said}
    details = error.get("details")
    return {**shown, "details": details} if isinstance(details, dict) else shown


def _type(error: Mapping[str, Any]) -> str:
    status = error.get("status")
    if not isinstance(status, int):
        given = error.get("type")
        if isinstance(given, str) and given and given != "upstream_error":
            return given
        status = error.get("code")
    if not isinstance(status, int):
        return API
    return TYPES.get(status, INVALID if 400 <= status < 500 else API)


class _BlockStart(msgspec.Struct):
    content_block: msgspec.Raw


class MessagesStream(RoundStream):
    """A `RoundStream` of the Messages API."""

    def __init__(self, names: frozenset[str], *, offered: bool = True) -> None:
        self._used: list[Json] = []  # usage of each earlier round
        self._placed = 0  # blocks sent to the client
        super().__init__(names, offered=offered)

    def _begin(self) -> None:
        super()._begin()
        self._blocks: list[AnswerBlock] = []
        self._by_index: dict[int, AnswerBlock] = {}
        self._calls = RoundCalls()
        self._hidden = self._rounds > 1  # True if block numbers differ from the upstream's
        self._usage: Json = {}

    def _asked(self) -> ToolRound:
        calls = messages_round.called(self._blocks, self._rounds)
        self._used.append(self._usage)
        return ToolRound((messages_round.message(self._blocks),), calls)

    def failed(self, error: Mapping[str, Any]) -> bytes:
        """Return the bytes that end the stream with this error when no further round can begin."""
        return MessagesErrors().failed(error)

    # -- one event ---------------------------------------------------------------------------

    def _event(self, raw: bytes) -> bytes:
        data = sse.data(raw)
        if data is None:
            return raw
        event: Any = decoded(data, object)
        kind = event.get("type") if isinstance(event, dict) else None
        if not isinstance(kind, str):
            if isinstance(event, dict) and event.get("error"):
                self._over, self._asks = True, False
            return raw
        shown = self._shown(kind, event, data)
        if shown is event:
            return raw
        return b"" if shown is None else sse.named(kind, shown)

    def _shown(self, kind: str, event: Json, data: bytes) -> Json | None:
        """Return the event as the client gets it, None to hide it: the same object if nothing
        changes."""
        match kind:
            case "message_start":
                message = event.get("message")
                usage = message.get("usage") if isinstance(message, dict) else None
                self._usage = messages_round.merged(self._usage, usage)
                return event if self._rounds == 1 else None
            case "content_block_start":
                return self._block_started(event, data)
            case "content_block_delta":
                if (block := self._block(event)) and isinstance(event.get("delta"), dict):
                    block.add(event["delta"])
                return self._numbered(event)
            case "content_block_stop":
                return self._numbered(event)
            case "message_delta":
                return self._ended(event)
            case "message_stop":
                self._end_of_round(None)  # a server may give no reason
                self._done = True
                return None if self._asks else event
            case "error":
                self._over, self._asks = True, False
        return event

    def _block_started(self, event: Json, data: bytes) -> Json | None:
        try:
            raw = bytes(msgspec.json.decode(data, type=_BlockStart).content_block)
            block = AnswerBlock.of(raw)
        except (msgspec.DecodeError, RecursionError):  # no block, or one that is no object
            block = AnswerBlock({})
        number = event.get("index")
        block.index = number if isinstance(number, int) else self._placed
        if block.kind == "tool_use" and block.name in self._names:
            block.begin_call()
        if block.call or (self._rounds > 1 and block.kind in THINKING_KINDS):
            self._hidden = True
        else:
            block.place = self._placed if self._hidden else block.index
            self._placed = max(self._placed, block.place + 1)
        if block.fields:
            self._blocks.append(block)
            self._calls.add(block)
        self._by_index[block.index] = block
        return self._numbered(event)

    def _block(self, event: Json) -> AnswerBlock | None:
        index = event.get("index")
        return self._by_index.get(index) if isinstance(index, int) else None

    def _numbered(self, event: Json) -> Json | None:
        """Return an event of a block, with the number by which the client knows the block."""
        block = self._block(event)
        if block is None or block.place == block.index:
            return event
        return None if block.place is None else {**event, "index": block.place}

    # -- the end of a round ------------------------------------------------------------------

    def _ended(self, event: Json) -> Json | None:
        self._usage = messages_round.merged(self._usage, event.get("usage"))
        delta = event.get("delta")
        reason = delta.get("stop_reason") if isinstance(delta, dict) else None
        if reason is not None:
            self._end_of_round(reason)
        if self._asks:
            return None
        shown = event
        if isinstance(delta, dict) and (why := self._calls.reason_shown(reason)) != reason:
            shown = {**shown, "delta": {**delta, "stop_reason": why}}
        if self._used and isinstance(event.get("usage"), dict):
            total = messages_round.summed([*self._used, self._usage])
            counts = {name: value for name, value in total.items() if not isinstance(value, str)}
            shown = {**shown, "usage": counts}
        return shown

    def _end_of_round(self, reason: Any) -> None:
        """Decide, when no more calls can come, if another round follows."""
        if self._over:
            return
        self._over = True
        if self._calls.followed(reason, offered=self.offered):
            self._asks = not self._calls.theirs
            if self._calls.theirs:
                self._unanswered = list(messages_round.called(self._blocks, self._rounds))


Fields = dict[str, msgspec.Raw]

_HEAD = ("id", "model")


class MessagesReply(WholeReply):
    """A `WholeReply` of the Messages API."""

    def __init__(self, names: frozenset[str], *, offered: bool = True) -> None:
        super().__init__(names, offered=offered)
        self._head: Fields = {}
        self._used: list[Json] = []  # usage of each earlier round
        self._before: list[bytes] = []  # blocks collected for the client

    def take(self, raw: bytes) -> bytes | ToolRound:
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
        used = messages_round.merged(None, usage)
        calls = RoundCalls(blocks)
        shown = self._shown(blocks, posted)
        if calls.followed(reason, offered=self.offered):
            if not calls.theirs:
                return self._asked(answer, blocks, shown, used)
            self.unanswered = list(messages_round.called(blocks, self._rounds))
        if self._rounds == 1 and len(shown) == len(blocks):
            return raw
        whole = answer | {name: self._head[name] for name in self._head if name in answer}
        whole["content"] = msgspec.Raw(json_body.joined([*self._before, *shown]))
        if (why := calls.reason_shown(reason)) != reason:
            whole["stop_reason"] = msgspec.Raw(msgspec.json.encode(why))
        if self._used and isinstance(usage, dict):
            total = messages_round.summed([*self._used, used])
            whole["usage"] = msgspec.Raw(msgspec.json.encode(total))
        return msgspec.json.encode(whole)

    def _shown(self, blocks: list[AnswerBlock], posted: list[msgspec.Raw]) -> list[bytes]:
        hidden = THINKING_KINDS if self._rounds > 1 else frozenset()
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
        calls = messages_round.called(blocks, self._rounds)
        return ToolRound((messages_round.message(blocks),), calls)
