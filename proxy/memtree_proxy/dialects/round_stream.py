"""The part of a streamed answer of several rounds that all dialects share. No I/O.

A subclass decides what the client gets of an event, and which calls of our tools a round makes.

The `usage` of several rounds, added up.

>>> added({"total_tokens": 3, "prompt_tokens_details": {"cached_tokens": 1}}, {"total_tokens": 4})
{'total_tokens': 7, 'prompt_tokens_details': {'cached_tokens': 1}}
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from memtree_proxy.dialects.round_calls import StreamedCall, ToolRound
from memtree_proxy.dialects.sse import SseEvents


def added(earlier: Any, later: Any) -> Any:
    """Add two usage objects field by field: numbers are summed; of other values the later one is
    kept, if there is one."""
    if isinstance(earlier, dict) and isinstance(later, dict):
        names = [*earlier, *(name for name in later if name not in earlier)]
        return {name: added(earlier.get(name), later.get(name)) for name in names}
    if _is_number(earlier) and _is_number(later):
        return earlier + later
    return earlier if later is None else later


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


class RoundStream(ABC):
    """`names`: of our tools. `offered`: True if the present round was offered them; otherwise their
    calls are dropped. `__init__` begins the first round, so a subclass must first set the fields
    that outlive a round."""

    def __init__(self, names: frozenset[str], *, offered: bool = True) -> None:
        self.offered = offered
        self._names = names
        self._rounds = 0
        self._begin()

    def _begin(self) -> None:
        """Begin a round: a subclass adds its own fields for one."""
        self._rounds += 1
        self._events = SseEvents()
        self._over = False  # set by a finish reason, or an error
        self._asks = False  # set if another round follows
        self._done = False
        self._unanswered: list[StreamedCall] = []

    @property
    def waiting(self) -> int:
        """Return the bytes that are held back until their event is complete."""
        return self._events.waiting

    @property
    def asks(self) -> bool:
        """Return True if another round follows, and this one is complete."""
        return self._asks and self._done

    def unanswered(self) -> list[StreamedCall]:
        """Return complete calls of ours whose results the model will not see, since the client's
        calls beside them end the answer; each is returned once."""
        calls, self._unanswered = self._unanswered, []
        return calls

    def feed(self, chunk: bytes) -> bytes:
        """Add bytes from the upstream and return the bytes for the client."""
        return b"".join(map(self._event, self._events.feed(chunk)))

    def end(self) -> tuple[bytes, ToolRound | None]:
        """End the upstream's stream. Returns the rest for the client, and the round with its calls
        of our tools."""
        rest = self._events.rest()
        last = self._event(rest) if rest else b""
        if not self._asks:
            return last, None
        round_ = self._asked()
        self._begin()
        return last, round_

    @abstractmethod
    def _event(self, raw: bytes) -> bytes:
        """Return the client's bytes for one event."""

    @abstractmethod
    def _asked(self) -> ToolRound:
        """Return the calls of our tools in the ended round."""
