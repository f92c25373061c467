"""Join the answers of several rounds of chat completions into one answer for the client. No I/O.

    bytes of round 1 -> the client's bytes, as they come
    its end          -> the calls of our tools that it made, or None: the answer has ended
    bytes of round 2 -> the same answer goes on: same id, one role, one end, usage as a sum

A first round that calls none of our tools passes byte for byte, a later one under the head of the
first. Calls of our tools are held back, and so are finish reason, usage and `[DONE]` of a round
that is followed by another. A round that calls the client's tools as well is the last one: the
client must answer those calls, and ours are `unanswered`.

An answer that is not streamed is the sum of a streamed one: the texts of all rounds, the calls of
the client's own tools, usage as a sum. A first answer without calls of ours stays unchanged, byte
for byte.

`AssistantMessage` is the message of one round, assembled to be sent back to the model. Besides text
and calls it keeps the reasoning unchanged, because models that think between calls require it:
DeepSeek refuses a call without its `reasoning_content`, OpenRouter wants `reasoning_details`
unmodified, Gemini its signatures. Other fields are dropped: servers refuse fields that they do not
know.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from memtree_proxy.dialects import sse
from memtree_proxy.dialects.dialect import RoundStream, WholeReply, added
from memtree_proxy.dialects.round_calls import (
    StreamedCall,
    StreamedCalls,
    ToolRound,
    decoded,
    identified,
)

Json = dict[str, Any]
TEXTS = ("reasoning_content", "reasoning", "reasoning_text")
LISTS = ("reasoning_details", "thinking_blocks")
_WHOLE = ("reasoning_opaque", "reasoning_signature", "extra_content", "provider_specific_fields")
_GROWING = ("text", "summary", "thinking")  # fields of a reasoning part that arrive in pieces


class AssistantMessage:
    """One message. `add` takes deltas, `AssistantMessage.of` a complete message."""

    def __init__(self) -> None:
        self._parts: list[Any] = []
        self._fields: Json = {}
        self._texts: dict[str, list[str]] = {}  # pieces, joined at the end

    @classmethod
    def of(cls, message: Json) -> AssistantMessage:
        whole = cls()
        whole.add({name: value for name, value in message.items() if name not in LISTS})
        whole._fields |= {name: message[name] for name in LISTS if message.get(name)}
        return whole

    def add(self, delta: Json) -> None:
        content = delta.get("content")
        if isinstance(content, list):
            self._parts += content
        elif isinstance(content, str) and content:
            self._parts.append(content)
        if len(delta) == 1 and "content" in delta:  # the usual case
            return
        for name in TEXTS:
            if isinstance(delta.get(name), str):
                self._fields.setdefault(name, "")
                self._texts.setdefault(name, []).append(delta[name])
        for name in LISTS:
            if isinstance(delta.get(name), list):
                _extend(self._fields.setdefault(name, []), delta[name])
        for name in _WHOLE:
            if delta.get(name) is not None:
                self._fields[name] = delta[name]

    @property
    def content(self) -> Any:
        """Return a string, or parts if the model answered with some; None for nothing."""
        if all(isinstance(part, str) for part in self._parts):
            return "".join(self._parts) or None
        parts = self._parts
        return [{"type": "text", "text": p} if isinstance(p, str) else p for p in parts]

    def message(self, calls: Sequence[StreamedCall]) -> Json:
        made = [call.message() for call in calls]
        whole = self._fields | {name: "".join(pieces) for name, pieces in self._texts.items()}
        fields = {name: value for name, value in whole.items() if value}
        return {"role": "assistant", "content": self.content, **fields, "tool_calls": made}


def _extend(blocks: list[Any], pieces: list[Any]) -> None:
    """Append pieces of reasoning, merging those of one block. A signature ends its block."""
    for piece in pieces:
        last = blocks[-1] if blocks else None
        if isinstance(piece, dict) and isinstance(last, dict) and _continues(last, piece):
            blocks[-1] = _joined(last, piece)
        else:
            blocks.append(piece)


def _continues(last: Json, piece: Json) -> bool:
    if last.get("type") != piece.get("type") or last.get("index") != piece.get("index"):
        return False
    return not last.get("signature") and any(name in piece for name in (*_GROWING, "signature"))


def _joined(last: Json, piece: Json) -> Json:
    fields = {name: value for name, value in piece.items() if value is not None}
    grown = {
        name: last[name] + fields[name]
        for name in _GROWING
        if isinstance(last.get(name), str) and isinstance(fields.get(name), str)
    }
    return {**last, **fields, **grown}


SEAM = "\n\n"  # between the texts of two rounds
UNFINISHED = ("length", "max_tokens", "content_filter", "error")
_HEAD = ("id", "created", "model", "system_fingerprint")
_CALLING = ("tool_calls", "function_call")


class ToolStream(RoundStream):
    """A `RoundStream` of chat completions."""

    def __init__(self, names: frozenset[str], *, offered: bool = True) -> None:
        self._head: Json = {}
        self._used: Json | None = None  # usage of earlier rounds
        self._role = False  # set once the client has the role
        self._last_character = ""  # of the text sent to the client
        self._blocks = dict.fromkeys(LISTS, 0)  # number of reasoning blocks sent to the client
        super().__init__(names, offered=offered)

    def _begin(self) -> None:
        super()._begin()
        self._calls, self._message = StreamedCalls(self._names), AssistantMessage()
        self._usage: Json | None = None
        self._seam = bool(self._last_character.strip())
        self._offset = dict(self._blocks)

    def _asked(self) -> ToolRound:
        calls = identified(self._calls.ours, self._rounds)
        self._used = added(self._used, self._usage)
        return ToolRound((msgspec.json.encode(self._message.message(calls)),), calls)

    def failed(self, error: Mapping[str, Any]) -> bytes:
        """Return the end of the answer if a later round cannot begin."""
        return sse.failed(error)

    # -- one event ---------------------------------------------------------------------------

    def _event(self, raw: bytes) -> bytes:
        data = sse.data(raw)
        if data is None:
            return raw
        if data.strip() == sse.DONE:
            return self._ended(raw)
        try:
            chunk = msgspec.json.decode(data)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return raw
        if not isinstance(chunk, dict) or chunk.get("error"):
            self._over = True
            return raw
        if self._is_text(chunk):
            return raw
        shown = self._shown(chunk)
        if self._rounds == 1 and shown == chunk:
            return raw
        return sse.made(msgspec.json.encode(shown)) if _tells_something(shown) else b""

    def _is_text(self, chunk: Json) -> bool:
        """Handle a chunk that a first round passes unchanged, as nearly all are: no calls, no end,
        no usage. `_shown` would give the same result more slowly."""
        choice = _first(chunk) if self._rounds == 1 else None
        if choice is None or len(chunk["choices"]) > 1 or choice.get("finish_reason") is not None:
            return False
        delta = choice.get("delta")
        if not isinstance(delta, dict) or delta.get("tool_calls"):
            return False
        if isinstance(chunk.get("usage"), dict):
            return False
        self._head |= {name: chunk[name] for name in _HEAD if chunk.get(name)}
        self._message.add(delta)
        self._continued(delta)
        return True

    def _ended(self, raw: bytes) -> bytes:
        self._done = True
        held_back = [] if self._over else self._end_of_round(None)  # some servers send no reason
        if not held_back:
            return b"" if self._asks else raw
        choice = {"index": 0, "delta": {"tool_calls": held_back}, "finish_reason": None}
        chunk = {**self._head, "object": "chat.completion.chunk", "choices": [choice]}
        return sse.made(msgspec.json.encode(chunk)) + raw

    def _shown(self, chunk: Json) -> Json:
        """Return a chunk as the client gets it."""
        if self._rounds == 1:
            self._head |= {name: chunk[name] for name in _HEAD if chunk.get(name)}
            shown = dict(chunk)
        else:
            shown = chunk | {name: self._head[name] for name in self._head if name in chunk}
        if (choice := _first(chunk)) is not None:
            shown["choices"] = [self._choice(choice)]
        if isinstance(usage := chunk.get("usage"), dict):
            self._usage = usage
            shown["usage"] = None if self._asks else added(self._used, usage)
        return shown

    def _choice(self, choice: Json) -> Json:
        shown = dict(choice)
        delta = choice.get("delta")
        reason = choice.get("finish_reason")
        if isinstance(delta, dict):
            self._message.add(delta)
            shown["delta"] = delta = self._continued(self._without_ours(delta))
        if reason is not None:
            if not self._over and (held_back := self._end_of_round(reason)):
                delta = delta if isinstance(delta, dict) else {}
                calls = [*(delta.get("tool_calls") or ()), *held_back]
                shown["delta"] = {**delta, "tool_calls": calls}
            shown["finish_reason"] = self._reason(reason)
        return shown

    # -- held back ---------------------------------------------------------------------------

    def _without_ours(self, delta: Json) -> Json:
        pieces = delta.get("tool_calls")
        if not isinstance(pieces, list) or not pieces:
            return delta
        if shown := self._calls.take(pieces):
            return {**delta, "tool_calls": shown}
        return {name: value for name, value in delta.items() if name != "tool_calls"}

    def _end_of_round(self, reason: Any) -> list[Any]:
        """Decide if another round follows, since no more calls come. Returns the client's calls
        that were held back until now."""
        self._over = True
        held_back = self._calls.settle()
        ours, theirs = self._calls.ours, self._calls.theirs
        whole = bool(ours) and self.offered and reason not in UNFINISHED
        self._asks = whole and not theirs
        self._unanswered = ours if whole and theirs else []
        return held_back

    def _reason(self, reason: Any) -> Any:
        if self._asks:
            return None
        dropped = self._calls.ours and not self._calls.theirs
        return "stop" if dropped and reason in _CALLING else reason

    # -- continuation ------------------------------------------------------------------------

    def _continued(self, delta: Json) -> Json:
        """Return a delta as a continuation of earlier rounds."""
        later = self._rounds > 1
        if later and self._role and "role" in delta:
            delta = {name: value for name, value in delta.items() if name != "role"}
        self._role |= "role" in delta
        text = delta.get("content")
        if isinstance(text, str) and text:
            if later and self._seam:
                delta = {**delta, "content": SEAM + text}
            self._seam, self._last_character = False, text[-1]
        for name in LISTS:
            if isinstance(blocks := delta.get(name), list):
                delta = {**delta, name: [self._renumbered(name, block) for block in blocks]}
        return delta

    def _renumbered(self, name: str, block: Any) -> Any:
        """Renumber a block of reasoning, since each round counts from 0 again."""
        if not isinstance(block, dict) or not isinstance(index := block.get("index"), int):
            return block
        self._blocks[name] = max(self._blocks[name], self._offset[name] + index + 1)
        return {**block, "index": self._offset[name] + index}


def _tells_something(chunk: Json) -> bool:
    """Return True if a changed chunk still has content for the client."""
    if isinstance(chunk.get("usage"), dict):
        return True
    choice = _first(chunk)
    if choice is None:
        return False
    delta = choice.get("delta")
    filled = isinstance(delta, dict) and any(
        value not in (None, "", []) for value in delta.values()
    )
    return filled or choice.get("finish_reason") is not None


def _first(chunk: Json) -> Json | None:
    """Return the first choice of a chunk, or of an answer, that has one."""
    choices = chunk.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        return None
    return choices[0]


_WHOLE_HEAD = ("id", "created", "model")


class WholeAnswer(WholeReply):
    """A `WholeReply` of chat completions."""

    def __init__(self, names: frozenset[str], *, offered: bool = True) -> None:
        super().__init__(names, offered=offered)
        self._head: Json = {}
        self._used: Json | None = None
        self._before: Json = {}  # texts and reasoning of the message in earlier rounds

    def take(self, raw: bytes) -> bytes | ToolRound:
        self._rounds += 1
        answer = decoded(raw, dict)
        choice = _first(answer) if answer else None
        message = choice.get("message") if choice else None
        if answer is None or choice is None or not isinstance(message, dict):
            return raw
        calls = StreamedCalls(self._names)
        posted = message.get("tool_calls")
        # Complete calls: each item is a call of its own, whatever its index and id.
        shown = calls.whole(posted) if isinstance(posted, list) else []
        reason = choice.get("finish_reason")
        if calls.ours and self.offered and reason not in UNFINISHED:
            if not calls.theirs:
                return self._asked(answer, message, calls)
            self.unanswered = calls.ours
        if not calls.ours and self._rounds == 1:
            return raw
        dropped = calls.ours and not calls.theirs and reason == "tool_calls"
        whole = self._joined({**message, "tool_calls": shown})
        if not shown:
            del whole["tool_calls"]
        choices = [{**choice, "message": whole, "finish_reason": "stop" if dropped else reason}]
        head = {name: self._head[name] for name in self._head if name in answer}
        usage = {"usage": added(self._used, answer["usage"])} if "usage" in answer else {}
        return msgspec.json.encode({**answer, **head, "choices": choices, **usage})

    def _asked(self, answer: Json, message: Json, calls: StreamedCalls) -> ToolRound:
        if self._rounds == 1:
            self._head = {name: answer[name] for name in _WHOLE_HEAD if name in answer}
        self._before = self._joined(message)
        self._used = added(self._used, answer.get("usage"))
        ours = identified(calls.ours, self._rounds)
        said = AssistantMessage.of(message).message(ours)
        return ToolRound((msgspec.json.encode(said),), ours)

    def _joined(self, message: Json) -> Json:
        """Return the message with the content of earlier rounds in front."""
        before = self._before
        joined = message | {"content": _texts(before.get("content"), message.get("content"))}
        for name in (*TEXTS, *LISTS):
            if earlier := before.get(name):
                later = message.get(name)
                alike = type(earlier) is type(later) and isinstance(earlier, str | list)
                joined[name] = earlier + later if alike else earlier
        return joined


def _texts(earlier: Any, later: Any) -> Any:
    """Join two contents: strings with a separator, else parts."""
    if not earlier or not later:
        return earlier or later
    if isinstance(earlier, str) and isinstance(later, str):
        return earlier + (SEAM if earlier[-1].strip() else "") + later
    return [*_as_parts(earlier), *_as_parts(later)]


def _as_parts(content: Any) -> list[Any]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return content if isinstance(content, list) else []
