"""Make one answer of the Responses API of several rounds, and give errors that API's form. No I/O.

    bytes of round 1 -> the part that the client sees, as it arrives
    end of round 1   -> its calls of our tools, or None: the answer has ended
    bytes of round 2 -> the same response continues: item and event numbers run on, one end

A first round that calls none of our tools passes through byte for byte, comments and unknown events
included. Calls of our tools are held back, and so are the beginning and the end of a round that is
joined to another. Reasoning of later rounds waits for the item behind it and is shown or hidden
with it (`responses_round`). The response object is built here for unstreamed answers, too.

An error is a response body, OpenAI's `{"error": {...}}`, or an event of a stream that has begun: a
stream ends with `response.failed`, which holds a whole response object. Codex reads the reason from
nothing else, and retries any error it does not know. The statuses are ones that Codex does not
retry; it would repeat a 413 five times.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from memtree.errors import ContextOverflow, MemTreeError, RequestTooLarge
from memtree.history import json_body
from memtree_proxy.dialects import responses_round, sse
from memtree_proxy.dialects.dialect import RoundStream, WholeReply, added
from memtree_proxy.dialects.responses_round import AnswerOutput
from memtree_proxy.dialects.round_calls import ToolRound, decoded
from memtree_proxy.http import error_response

Json = dict[str, Any]

SERVER, INVALID, RATE = "server_error", "invalid_prompt", "rate_limit_exceeded"
TOO_LONG = (
    "Your input exceeds the context window of this model. "
    "Please adjust your input and try again."
)  # fmt: skip
# Events that come before any output of the model
_HEADS = frozenset(
    {"response.created", "response.queued", "response.in_progress", "keepalive", "ping"}
)
_UNSAID = "The upstream answered with an error that says nothing."


class ResponsesErrors:
    """The `ErrorForm` of the Responses API. `clock`: seconds since 1970."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock

    def answer(self, error: MemTreeError, request_id: str = "") -> tuple[int, bytes]:
        """Return the HTTP status and the body for an error of the proxy itself."""
        status = 400 if isinstance(error, ContextOverflow | RequestTooLarge) else error.status
        said: Json = dict(error_response.body(error, request_id))
        if isinstance(error, ContextOverflow):
            numbers = f" ({error.tokens} tokens > {error.limit} maximum)"
            said |= {"message": TOO_LONG + numbers, "param": "input"}
        return status, msgspec.json.encode({"error": said})

    def whole(self, error: Mapping[str, Any]) -> bytes:
        """Return the body of an answer that is an error."""
        return msgspec.json.encode({"error": error})

    def failed(self, error: Mapping[str, Any]) -> bytes:
        """Return the bytes that end, with this error, a stream of which the client has no event
        yet."""
        now = self._clock()
        name = hashlib.sha256(repr((now, sorted(map(str, error.items())))).encode()).hexdigest()
        begun = begun_response(f"resp_{name[:48]}", int(now))
        return made("response.created", 0, begun) + ended(begun, error, 1)

    def first_error(self, beginning: bytes) -> bool | None:
        """Return True if a stream begins with an error, False if it does not. Returns None if that
        cannot be decided yet, since the head of an answer comes first. `beginning`: decoded text,
        cut anywhere."""
        return sse.first_error(beginning, lambda said: str(said.get("type")) in _HEADS)


def begun_response(id_: str, created_at: int) -> Json:
    """Return a response object that has begun and has no output yet."""
    return {
        "id": id_,
        "object": "response",
        "created_at": created_at,
        "status": "in_progress",
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "max_output_tokens": None,
        "model": "",
        "output": [],
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "reasoning": {"effort": None, "summary": None},
        "store": False,
        "temperature": None,
        "text": {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": [],
        "top_p": None,
        "truncation": "disabled",
        "usage": None,
        "metadata": {},
    }


def ended(begun: Json, error: Mapping[str, Any], number: int) -> bytes:
    """Return the last event of a response that has begun and fails. `number`: the event's sequence
    number."""
    return made("response.failed", number, {**begun, "status": "failed", "error": error_of(error)})


def made(kind: str, number: int, whole: Json) -> bytes:
    return sse.named(kind, {"type": kind, "sequence_number": number, "response": whole})


def error_of(error: Mapping[str, Any]) -> Json:
    """Return the `error` object of a response. `error`: the proxy's own with its `status`, or an
    upstream's with its status, if any, as `code`."""
    message = error.get("message")
    said = message if isinstance(message, str) and message else _UNSAID
    code = error.get("code")
    if code == ContextOverflow.code:
        return {"code": code, "message": said if "status" not in error else TOO_LONG}
    status = error.get("status", code)
    if isinstance(code, str) and not isinstance(error.get("status"), int):
        return {"code": code, "message": said}
    return {"code": _code(status), "message": said}


def _code(status: Any) -> str:
    """Return the code of an error for which no HTTP status can be sent any more: Codex ends the
    turn if the prompt is wrong, and retries for all other codes."""
    if not isinstance(status, int):
        return SERVER
    if status == 429:
        return RATE
    return INVALID if 400 <= status < 500 else SERVER


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
        return responses_round.outputs(response.get("output"), self._names)

    def add_round(self, response: Fields, items: Sequence[AnswerOutput], number: int) -> ToolRound:
        """Add a round that another round follows."""
        self.begin(response)
        self._before += [item.raw for item in responses_round.shown(items, later=number > 1)]
        self._used = added(self._used, _value(response, "usage"))
        calls = responses_round.called(items, number)
        stored = _value(response, "store") is not False
        return ToolRound(responses_round.sent_back(items, calls, stored=stored), calls)

    def whole(self, response: Fields, items: Sequence[AnswerOutput], *, later: bool) -> Fields:
        """Return the last round's response with the items and the usage of all rounds, without
        calls of our tools. Its id is the first round's, as the stream said, unless the server
        stores answers: under the first id it stores a call without its result, on which no client
        could build, and the last response holds everything."""
        items = self.outputs(response) or items
        kept = [*self._before, *(item.raw for item in responses_round.shown(items, later=later))]
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
        known = begun_response("", 0)
        for name in self._begun:
            known[name] = _value(self._begun, name)
        known["output"] = [msgspec.Raw(item) for item in self._before]
        return {**known, "usage": self._used}


class ResponsesReply(WholeReply):
    """A `WholeReply` of the Responses API. The client gets what a streamed one would have added up
    to; a first answer without calls of our tools is passed on byte for byte."""

    def __init__(self, names: frozenset[str], *, offered: bool = True) -> None:
        super().__init__(names, offered=offered)
        self._answer = FinalResponse(names)

    def take(self, raw: bytes) -> bytes | ToolRound:
        self._rounds += 1
        try:
            response = msgspec.json.decode(raw, type=Fields)
            status = msgspec.json.decode(response.get("status", b"null"))
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return raw
        items = self._answer.outputs(response)
        if items is None:
            return raw
        follows = responses_round.follows(items, status, offered=self.offered)
        if follows:
            return self._answer.add_round(response, items, self._rounds)
        if follows is None:
            self.unanswered = list(responses_round.called(items, self._rounds))
        if self._rounds == 1 and not any(item.ours for item in items):
            return raw
        return msgspec.json.encode(self._answer.whole(response, items, later=self._rounds > 1))


def _value(response: Fields, name: str) -> Any:
    return decoded(response.get(name, b"null"), object)


BEGINNINGS = frozenset({"response.created", "response.queued", "response.in_progress"})
ENDS = frozenset({"response.completed", "response.incomplete", "response.failed"})
ADDED, DONE = "response.output_item.added", "response.output_item.done"
_INDEX, _NUMBER = "output_index", "sequence_number"


class _ItemDone(msgspec.Struct):
    item: msgspec.Raw


class _Ended(msgspec.Struct):
    response: Fields


class ResponsesStream(RoundStream):
    """A `RoundStream` of the Responses API."""

    def __init__(self, names: frozenset[str], *, offered: bool = True) -> None:
        self._answer = FinalResponse(names)
        self._changed = False  # something was hidden, so numbers differ from the upstream's
        self._number = 0  # number of the next event
        self._placed = 0  # items sent to the client
        super().__init__(names, offered=offered)

    def _begin(self) -> None:
        super()._begin()
        self._places: dict[int, int | None] = {}  # index for the client, by the upstream's
        self._done_items: dict[int, AnswerOutput] = {}
        self._held: list[tuple[bytes, Json]] = []  # reasoning events held back
        self._held_size = 0
        self._holding: set[int] = set()  # items that these events belong to
        self._of_ours = False  # a call of our tools followed them
        self._response: Fields = {}
        self._broken = False  # the stream reported an error

    @property
    def waiting(self) -> int:
        """Return how many bytes are held back."""
        return self._events.waiting + self._held_size

    def _asked(self) -> ToolRound:
        self._changed = True
        return self._answer.add_round(self._response, self._items(), self._rounds)

    def failed(self, error: Mapping[str, Any]) -> bytes:
        """Return the bytes that end the stream with this error when no further round can begin."""
        return ended(self._answer.begun(), error, self._number)

    # -- one event ---------------------------------------------------------------------------

    def _event(self, raw: bytes) -> bytes:
        data = sse.data(raw)
        if data is None:
            return raw
        if self._asks:
            return b""
        event: Any = decoded(data, object)  # None for `[DONE]`
        kind = event.get("type") if isinstance(event, dict) else None
        if not isinstance(kind, str):
            self._broken |= isinstance(event, dict) and bool(event.get("error"))
            return raw
        if kind in BEGINNINGS:
            return self._begun(raw, event, data)
        if kind in ENDS:
            return self._ended(raw, event, data)
        self._broken |= kind == "error"
        index = event.get(_INDEX)
        if not isinstance(index, int):
            return self._numbered(raw, event)
        return self._of_item(kind, index, raw, event, data)

    def _begun(self, raw: bytes, event: Json, data: bytes) -> bytes:
        if self._rounds > 1:
            return b""
        if (response := _response(data)) is not None:
            self._answer.begin(response)
        return self._numbered(raw, event)

    def _of_item(self, kind: str, index: int, raw: bytes, event: Json, data: bytes) -> bytes:
        """Return an item's event as the client gets it: hidden, held back, or with the client's
        numbers."""
        done = decoded(data, _ItemDone) if kind in (ADDED, DONE) else None
        item = None if done is None else AnswerOutput.of(bytes(done.item), self._names)
        if item is not None and kind == DONE:
            self._done_items[index] = item
        flushed = b"" if index in self._places else self._first_seen(index, item)
        if index in self._holding:
            self._held.append((raw, event))
            self._held_size += len(raw)
            return flushed
        return flushed + self._placed_event(index, raw, event)

    def _first_seen(self, index: int, item: AnswerOutput | None) -> bytes:
        """Decide if an item that begins is shown, and return held-back events that can now be
        sent."""
        self._places[index] = None
        if item is not None and item.ours:
            self._changed = self._of_ours = True
            return b""
        if item is not None and item.reasons and self._rounds > 1:
            if self._of_ours:
                self._drop_held()
            self._holding.add(index)
            return b""
        flushed = self._flush()
        self._place(index)
        return flushed

    def _place(self, index: int) -> None:
        place = self._placed if self._changed else index
        self._places[index] = place
        self._placed = max(self._placed, place + 1)

    def _flush(self) -> bytes:
        """Release the output items held back until a client item follows them."""
        held, holding = self._held, sorted(self._holding)
        self._drop_held()
        for index in holding:
            self._place(index)
        return b"".join(self._placed_event(event[_INDEX], raw, event) for raw, event in held)

    def _drop_held(self) -> None:
        self._held, self._held_size, self._of_ours = [], 0, False
        self._holding.clear()

    # -- numbers -----------------------------------------------------------------------------

    def _placed_event(self, index: int, raw: bytes, event: Json) -> bytes:
        place = self._places.get(index)
        if place is None:
            return b""
        return self._numbered(raw, event, {} if place == index else {_INDEX: place})

    def _numbered(self, raw: bytes, event: Json, changes: Json | None = None) -> bytes:
        """Return an event with its number in the client's sequence."""
        changes = changes or {}
        number = event.get(_NUMBER)
        if isinstance(number, int):
            if self._changed and number != self._number:
                changes = {**changes, _NUMBER: self._number}
            self._number = (self._number if self._changed else number) + 1
        return sse.named(event["type"], {**event, **changes}) if changes else raw

    # -- the end of a round ------------------------------------------------------------------

    def _items(self) -> list[AnswerOutput]:
        """Return the items of the round, from their own events or else from the round's last
        event."""
        if self._done_items:
            return [self._done_items[index] for index in sorted(self._done_items)]
        return self._answer.outputs(self._response) or []

    def _ended(self, raw: bytes, event: Json, data: bytes) -> bytes:
        if self._over:
            return self._numbered(raw, event)
        self._over = True
        self._response = _response(data) or {}
        items = self._items()
        status = "failed" if self._broken else event["type"].removeprefix("response.")
        follows = responses_round.follows(items, status, offered=self.offered)
        if follows:
            self._asks = self._done = True
            return b""
        if follows is None:
            self._unanswered = list(responses_round.called(items, self._rounds))
        hidden = any(item.ours for item in items)
        if (self._rounds == 1 and not hidden) or not self._response:
            return self._numbered(raw, event)
        self._changed = True
        whole = self._answer.whole(self._response, items, later=self._rounds > 1)
        return self._numbered(raw, event, {"response": whole})


def _response(data: bytes) -> Fields | None:
    end = decoded(data, _Ended)
    return None if end is None else end.response
