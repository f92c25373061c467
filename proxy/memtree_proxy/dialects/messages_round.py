"""Hold one round of a Messages API answer, in the form in which it goes back to the model.

That is the assistant message with all its blocks unchanged, thinking and signatures included, then
our tools' results. A round that is sent back whole follows the very prompt that produced it, so its
signatures are valid.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from memtree.history import json_body
from memtree_proxy.dialects.dialect import added
from memtree_proxy.dialects.round_calls import StreamedCall, decoded, parsed

Json = dict[str, Any]

# Stop reasons after which our calls are not answered: the message is incomplete, or the server
# wants it back unchanged.
UNFINISHED = frozenset(
    {"max_tokens", "model_context_window_exceeded", "refusal", "pause_turn", "compaction"}
)
_INPUT = "partial_json"
_LISTS = {"citation": "citations"}  # delta fields whose value is appended to a list
_LAST = frozenset({"signature"})  # delta fields whose value is complete
# Token counts of one round. Claude Code reads the size of the context from the last round's
# counts, if all of them are numbers.
_COUNTS = (
    "input_tokens",
    "output_tokens",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
)


@dataclass(slots=True)
class AnswerBlock:
    """A content block. `fields`: raw JSON as received; `grown`: pieces of text to append and
    `listed`: values to append, both by field. `index`: the upstream's number; `place`: the client's
    number, None if hidden. `call`: the call, if it is of our tools."""

    fields: dict[str, bytes]
    kind: str = ""
    name: str = ""
    index: int = 0
    place: int | None = None
    call: StreamedCall | None = None
    grown: dict[str, list[str]] = field(default_factory=dict)
    listed: dict[str, list[Any]] = field(default_factory=dict)

    @classmethod
    def of(cls, raw: bytes, index: int = 0) -> AnswerBlock:
        """Read a content block. Raises `msgspec.DecodeError` if the bytes are no JSON object."""
        posted = msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
        fields = {name: bytes(value) for name, value in posted.items()}
        return cls(fields, _text(fields.get("type")), _text(fields.get("name")), index)

    def begin_call(self) -> None:
        """Mark the block as a call of our tools."""
        self.call = StreamedCall(id=_text(self.fields.get("id")), name=self.name, ours=True)

    def add(self, delta: Json) -> None:
        for name, value in delta.items():
            if name == "type":
                continue
            if name in _LISTS:
                self.listed.setdefault(_LISTS[name], []).append(value)
            elif isinstance(value, str) and name not in _LAST:
                self.grown.setdefault(name, []).append(value)
            else:
                self.fields[name] = msgspec.json.encode(value)

    @property
    def arguments(self) -> str:
        """Return the input of a call, as the model wrote it."""
        pieces = self.grown.get(_INPUT)
        return "".join(pieces) if pieces else self.fields.get("input", b"{}").decode()

    @property
    def says_nothing(self) -> bool:
        """Return True if the block is a text of white space alone, which the API refuses."""
        if self.kind != "text" or any(piece.strip() for piece in self.grown.get("text", ())):
            return False
        return not _text(self.fields.get("text")).strip()

    def raw(self) -> bytes:
        """Return the whole block as raw JSON, as it goes back to the model."""
        whole = dict(self.fields)
        for name, pieces in self.grown.items():
            if name != _INPUT:
                whole[name] = msgspec.json.encode("".join((_text(whole.get(name)), *pieces)))
        for name, values in self.listed.items():
            whole[name] = msgspec.json.encode([*_list(whole.get(name)), *values])
        if _INPUT in self.grown or (self.call and "input" in whole):
            written = self.arguments
            sound = bool(written.strip()) and parsed(written) is not None
            whole["input"] = written.encode() if sound else b"{}"
        if self.call is not None:
            whole["id"] = msgspec.json.encode(self.call.id)
        return msgspec.json.encode({name: msgspec.Raw(value) for name, value in whole.items()})


def called(blocks: Iterable[AnswerBlock], number: int) -> tuple[StreamedCall, ...]:
    """Return a round's complete calls of our tools. A call that came without an id gets one."""
    calls: list[StreamedCall] = []
    for block in blocks:
        if (call := block.call) is not None:
            call.id = call.id or f"toolu_mem{number:02}{len(calls):04}"
            call.said = [block.arguments]
            calls.append(call)
    return tuple(calls)


def message(blocks: Iterable[AnswerBlock]) -> bytes:
    """Return the assistant message of a round."""
    content = json_body.joined(block.raw() for block in blocks if not block.says_nothing)
    return b'{"role":"assistant","content":' + content + b"}"


def results(calls: Sequence[StreamedCall], texts: Sequence[str]) -> list[bytes]:
    """Return the user message with the results of a round's calls."""
    content = [
        {"type": "tool_result", "tool_use_id": call.id, "content": text}
        for call, text in zip(calls, texts, strict=True)
    ]
    return [msgspec.json.encode({"role": "user", "content": content})]


class RoundCalls:
    """Ownership of a round's calls. `ours`: it has a call of our tools; `theirs`: it has a call of
    the client's tools, which the client must run before the conversation can continue."""

    def __init__(self, blocks: Iterable[AnswerBlock] = ()) -> None:
        self.ours = self.theirs = False
        for block in blocks:
            self.add(block)

    def add(self, block: AnswerBlock) -> None:
        self.ours |= block.call is not None
        self.theirs |= block.kind == "tool_use" and block.call is None

    def followed(self, reason: Any, *, offered: bool) -> bool:
        """Return True if the round has ended with complete calls of our tools that may be
        answered."""
        whole = not (isinstance(reason, str) and reason in UNFINISHED)
        return self.ours and offered and whole

    def reason_shown(self, reason: Any) -> Any:
        """Return the stop reason to show after our calls have been dropped from the answer."""
        return "end_turn" if self.ours and not self.theirs and reason == "tool_use" else reason


def merged(start: Any, delta: Any) -> Json:
    """Merge the usage of one round: values of its last event, unless null, replace those of its
    first."""
    before = start if isinstance(start, dict) else {}
    after = delta if isinstance(delta, dict) else {}
    return {**before, **{name: value for name, value in after.items() if value is not None}}


def summed(rounds: Sequence[Mapping[str, Any]]) -> Json:
    """Sum the usage of several rounds: input, cache and output counts are added. Each round becomes
    an entry of `iterations`; the last entry gives the size of the context."""
    total: Json = {}
    iterations: list[Any] = []
    for usage in rounds:
        total = added(total, {k: v for k, v in usage.items() if k != "iterations"})
        own = usage.get("iterations")
        if isinstance(own, list) and own:
            iterations += own
        else:
            counts = {name: usage.get(name) or 0 for name in _COUNTS}
            made = usage.get("cache_creation")
            iterations.append({"type": "message", **counts, "cache_creation": made})
    return {**total, "iterations": iterations}


def _text(raw: bytes | None) -> str:
    return decoded(raw or b'""', str) or ""


def _list(raw: bytes | None) -> list[Any]:
    return decoded(raw or b"[]", list) or []
