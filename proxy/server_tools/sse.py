"""Server-sent events out of bytes that come in any pieces; every byte stays.

>>> events = Events()
>>> events.feed(b"data: a\\r"), events.feed(b"\\n\\r\\ndata: b\\n\\nda"), events.rest()
([], [b'data: a\\r\\n\\r\\n', b'data: b\\n\\n'], b'da')
"""

from __future__ import annotations

import re

# WHATWG, server-sent events: "end-of-line = ( cr lf / cr / lf )"; an empty line ends an event. The
# groups are atomic: the CR and the LF of one line's end are no two lines. Where a chunk ends
# between them the LF begins the next event, which a reader takes for an empty line.
_END = re.compile(rb"(?>\r\n|\n|\r)(?>\r\n|\n|\r)")
_LINE = re.compile(rb"\r\n|\n|\r")
_LONGEST_END = 4
DONE = b"[DONE]"


class SseEvents:
    """The events of one stream."""

    def __init__(self) -> None:
        self._buffer = b""

    def feed(self, chunk: bytes) -> list[bytes]:
        """The events that are complete now, each with its end."""
        looked = max(0, len(self._buffer) - _LONGEST_END)
        self._buffer += chunk
        found, start = [], 0
        while end := _END.search(self._buffer, max(start, looked)):
            found.append(self._buffer[start : end.end()])
            start = end.end()
        self._buffer = self._buffer[start:]
        return found

    def rest(self) -> bytes:
        """What came behind the last event, when no more comes."""
        rest, self._buffer = self._buffer, b""
        return rest

    @property
    def waiting(self) -> int:
        """Bytes of an event that is not complete."""
        return len(self._buffer)


def data(event: bytes) -> bytes | None:
    """The data of an event, None where it has none (comments)."""
    lines = [line[5:].removeprefix(b" ") for line in _LINE.split(event) if line[:5] == b"data:"]
    return b"\n".join(lines) if lines else None


def made(value: bytes) -> bytes:
    """An event with this data, which is one line."""
    return b"data: " + value + b"\n\n"
