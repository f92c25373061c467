"""The assistant message of one round, assembled to be sent back to the model.

Besides text and calls it keeps the reasoning unchanged, because models that think between calls
require it: DeepSeek refuses a call without its `reasoning_content`, OpenRouter wants
`reasoning_details` unmodified, Gemini its signatures. Other fields are dropped: servers refuse
fields that they do not know.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memtree_proxy.server_tools.calls import StreamedCall

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
        self._parts += _parts(delta.get("content"))
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
        return [_part(part) for part in self._parts]

    def message(self, calls: Sequence[StreamedCall]) -> Json:
        made = [call.message() for call in calls]
        whole = self._fields | {name: "".join(pieces) for name, pieces in self._texts.items()}
        fields = {name: value for name, value in whole.items() if value}
        return {"role": "assistant", "content": self.content, **fields, "tool_calls": made}


def _parts(content: Any) -> list[Any]:
    if isinstance(content, str):
        return [content] if content else []
    return content if isinstance(content, list) else []


def _part(part: Any) -> Any:
    return {"type": "text", "text": part} if isinstance(part, str) else part


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
