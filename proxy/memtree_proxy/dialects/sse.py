"""Split a byte stream, in pieces of any size, into server-sent events; no byte is lost.

>>> events = SseEvents()
>>> events.feed(b"data: a\\r"), events.feed(b"\\n\\r\\ndata: b\\n\\nda"), events.rest()
([], [b'data: a\\r\\n\\r\\n', b'data: b\\n\\n'], b'da')
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from memtree_proxy.dialects.round_calls import decoded

# WHATWG, server-sent events: "end-of-line = ( cr lf / cr / lf )"; an empty line ends an event. The
# groups are atomic, so that the CR and the LF of one line end do not count as two. If a chunk ends
# between them, the LF begins the next event; a reader takes it for an empty line.
_END = re.compile(rb"(?>\r\n|\n|\r)(?>\r\n|\n|\r)")
_LINE = re.compile(rb"\r\n|\n|\r")
_LONGEST_END = 4
DONE = b"[DONE]"
_ERRORS = ("error", "response.failed")
_CONTENT = ("type", "choices", "content", "output", "candidates", "response", "data")
_ANSWERED = ("content", "reasoning_content", "tool_calls")
_REASONS, _DETAILS = ("message", "msg", "error_msg"), ("detail", "errors")

Json = Mapping[str, Any]


class SseEvents:
    """The events of one stream."""

    def __init__(self) -> None:
        self._buffer = bytearray()  # grows in place, however small the pieces of an event are

    def feed(self, chunk: bytes) -> list[bytes]:
        """Return the events that are complete now, each with its end."""
        if not self._buffer:  # nearly always a chunk is an event
            only = _END.search(chunk)
            if only is not None and only.end() == len(chunk):
                return [chunk]
        searched = max(0, len(self._buffer) - _LONGEST_END)
        self._buffer += chunk
        events, start = [], 0
        while end := _END.search(self._buffer, max(start, searched)):
            events.append(bytes(self._buffer[start : end.end()]))
            start = end.end()
        del self._buffer[:start]
        return events

    def rest(self) -> bytes:
        """Return the bytes after the last event, once no more come."""
        rest = bytes(self._buffer)
        self._buffer.clear()
        return rest

    @property
    def waiting(self) -> int:
        """Return the bytes of an incomplete event."""
        return len(self._buffer)


def data(event: bytes) -> bytes | None:
    """Return the data of an event, None if it has none (comments)."""
    lines = _LINE.split(event) if b"\r" in event else event.split(b"\n")
    lines = [line[5:].removeprefix(b" ") for line in lines if line[:5] == b"data:"]
    if len(lines) == 1:
        return lines[0]
    return b"\n".join(lines) if lines else None


def made(value: bytes) -> bytes:
    """Return an event with this data, which must be a single line."""
    return b"data: " + value + b"\n\n"


def named(kind: str, value: Mapping[str, Any]) -> bytes:
    """Return an event whose type is also in its `event` field."""
    return b"event: " + kind.encode() + b"\n" + made(msgspec.json.encode(value))


def failed(error: Mapping[str, Any]) -> bytes:
    """Return the end of a stream of chunks that cannot continue."""
    return made(msgspec.json.encode({"error": error})) + made(DONE)


def first_error(beginning: bytes, opens: Callable[[Json], bool]) -> bool | None:
    """Return True if a stream is an error before it has any content; None while undecided: comments
    and events that only open an answer come first. `beginning`: decoded, ends anywhere. `opens`:
    returns True for such an event."""
    for event in SseEvents().feed(beginning):
        payload = data(event)
        if payload is None:
            if event.startswith(b"error:"):  # older servers of llama.cpp
                return True
            continue
        said = decoded(payload, dict) or {}
        if is_error(said):
            return True
        if not opens(said):
            return False
    return None


def is_error(said: Json) -> bool:
    """Return True if an event, or an unstreamed answer of status 200, is an error: it says so, or
    has a reason in place of content, as answers of some gateways have."""
    if said.get("error") or said.get("object") == "error" or said.get("type") in _ERRORS:
        return True
    if isinstance(choices := said.get("choices"), list) and choices:
        return isinstance(choices[0], dict) and _failed_choice(choices[0])
    return not any(map(said.get, _CONTENT)) and _has_reason(said)


def _has_reason(said: Json) -> bool:
    """Return True if there is a reason why there is no content. A message that is an object is one
    of the assistant, as in Ollama's answers."""
    if isinstance(status := said.get("base_resp"), dict) and status.get("status_code"):
        return True
    reasons = (value for value in map(said.get, _REASONS) if isinstance(value, str))
    return any(reasons) or any(map(said.get, _DETAILS))


def _failed_choice(choice: Json) -> bool:
    """Return True if a choice says that there is no answer, as those of OpenRouter and Z.ai may."""
    if choice.get("error"):
        return True
    message = choice.get("message") or choice.get("delta")
    empty = not (isinstance(message, dict) and any(map(message.get, _ANSWERED)))
    return empty and choice.get("finish_reason") == "model_context_window_exceeded"
