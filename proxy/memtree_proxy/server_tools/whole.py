"""Join the answers of several rounds into one answer that is not streamed. No I/O.

The client gets the sum of a streamed answer: the texts of all rounds, the calls of its own tools,
usage as a sum. A first answer without calls of ours stays unchanged, byte for byte.
"""

from __future__ import annotations

from typing import Any

import msgspec

from memtree_proxy.server_tools.calls import (
    StreamedCall,
    StreamedCalls,
    ToolRound,
    decoded,
    identified,
)
from memtree_proxy.server_tools.round_stream import added
from memtree_proxy.server_tools.stream import LISTS, SEAM, TEXTS, UNFINISHED, AssistantMessage

Json = dict[str, Any]

_HEAD = ("id", "created", "model")


class WholeAnswer:
    """One answer that is not streamed, joined from several rounds. `names`: of our tools.
    `offered`: True if the present round was offered them."""

    def __init__(self, names: frozenset[str], *, offered: bool = True) -> None:
        self.offered = offered
        self._names = names
        self._rounds = 0
        self._head: Json = {}
        self._used: Json | None = None
        self._before: Json = {}  # texts and reasoning of the message in earlier rounds
        self.unanswered: list[StreamedCall] = []  # calls of ours, beside calls of the client

    def take(self, raw: bytes) -> bytes | ToolRound:
        """Take the body of a round's answer. Returns the body for the client, or the round with its
        calls of our tools."""
        self._rounds += 1
        answer = decoded(raw, dict)
        choice = _choice(answer)
        if answer is None or choice is None:
            return raw
        message = choice["message"]
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
            self._head = {name: answer[name] for name in _HEAD if name in answer}
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


def _choice(answer: Json | None) -> Json | None:
    choices = answer.get("choices") if answer else None
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        return None
    return choices[0] if isinstance(choices[0].get("message"), dict) else None


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
