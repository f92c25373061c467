"""The part of a streamed answer of several rounds that is the same in every dialect. No I/O.

A subclass says what the client gets of an event, and what a round asks of our tools.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from memtree_proxy.server_tools.calls import StreamedCall, ToolRound
from memtree_proxy.server_tools.sse import SseEvents


class RoundStream(ABC):
    """`names`: of our tools. `offered`: whether the present round was offered them; calls that a
    model makes all the same are dropped. `__init__` begins the first round, so a subclass sets the
    fields that outlive a round before it."""

    def __init__(self, names: frozenset[str], *, offered: bool = True) -> None:
        self.offered = offered
        self._names = names
        self._rounds = 0
        self._begin()

    def _begin(self) -> None:
        """Begin a round: a subclass adds the fields that it keeps of one."""
        self._rounds += 1
        self._events = SseEvents()
        self._over = False  # there was a reason to stop, or an error
        self._asks = False  # and another round follows
        self._done = False
        self._unanswered: list[StreamedCall] = []

    @property
    def waiting(self) -> int:
        """Bytes that are kept back until their event is complete."""
        return self._events.waiting

    @property
    def asks(self) -> bool:
        """Return True if another round follows, and this one has said its last word."""
        return self._asks and self._done

    def unanswered(self) -> list[StreamedCall]:
        """Whole calls of ours whose results the model will not see, since the client's calls beside
        them end the answer; each is told once."""
        calls, self._unanswered = self._unanswered, []
        return calls

    def feed(self, chunk: bytes) -> bytes:
        """Take these bytes of the upstream and return what the client gets for them."""
        return b"".join(map(self._event, self._events.feed(chunk)))

    def end(self) -> tuple[bytes, ToolRound | None]:
        """The upstream's stream has ended: the rest, and what the round asks of us."""
        rest = self._events.rest()
        last = self._event(rest) if rest else b""
        if not self._asks:
            return last, None
        round_ = self._asked()
        self._begin()
        return last, round_

    @abstractmethod
    def _event(self, raw: bytes) -> bytes:
        """Return what the client gets of one event."""

    @abstractmethod
    def _asked(self) -> ToolRound:
        """Return the calls of our tools in the round that has ended."""
