"""Say what a wire dialect has to do for a chat, and hold what all streamed answers share. No I/O.

A dialect reads a posted history as the core's messages, writes an answer back as the API's own
items, and joins several rounds with our tools into one answer.

    body -> Dialect.read -> DialectHistory.messages -> memory -> Answer
    Answer -> DialectHistory.fields -> the changed fields of the same body

The *canonical* messages that the core reads have the shape of OpenAI's chat messages in every
dialect, so that a conversation has the same address in all of them. A dialect decides nothing about
memory; it knows what its API allows.

The `usage` of several rounds is added up:

>>> added({"total_tokens": 3, "prompt_tokens_details": {"cached_tokens": 1}}, {"total_tokens": 4})
{'total_tokens': 7, 'prompt_tokens_details': {'cached_tokens': 1}}
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from memtree.dialects.posted_history import DialectHistory
from memtree.dialects.tool_definitions import ToolGroup
from memtree.errors import MemTreeError
from memtree.history.json_body import Body
from memtree_proxy.dialects.round_calls import StreamedCall, ToolRound
from memtree_proxy.dialects.sse import SseEvents
from memtree_proxy.dialects.tool_offer import Offer


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
    """A streamed answer of several rounds. A subclass decides what the client gets of an event, and
    which calls of our tools a round makes.

    `names`: of our tools. `offered`: True if the present round was offered them; otherwise their
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
    def failed(self, error: Mapping[str, Any]) -> bytes:
        """Return the end of the answer for when a later round cannot begin. `error`: as for
        `ErrorForm`."""

    @abstractmethod
    def _event(self, raw: bytes) -> bytes:
        """Return the client's bytes for one event."""

    @abstractmethod
    def _asked(self) -> ToolRound:
        """Return the calls of our tools in the ended round."""


class WholeReply(ABC):
    """An unstreamed answer made of the answers of several rounds. `names`: of our tools. `offered`:
    True if the current round was offered them. `unanswered`: our calls, made beside the
    client's."""

    def __init__(self, names: frozenset[str], *, offered: bool = True) -> None:
        self.offered = offered
        self.unanswered: list[StreamedCall] = []
        self._names = names
        self._rounds = 0

    @abstractmethod
    def take(self, raw: bytes) -> bytes | ToolRound:
        """Take the body of a round's answer. Returns the body for the client, or the round with its
        calls of our tools."""


class ErrorForm(Protocol):
    """Form in which an API reports errors. An `error` that is a mapping is the `error` object of an
    upstream's answer, or one of the proxy's own with its `status` (`keepalive.named`)."""

    def failed(self, error: Mapping[str, Any]) -> bytes:
        """Return the bytes that end, with this error, a stream that has begun."""
        ...

    def whole(self, error: Mapping[str, Any]) -> bytes:
        """Return the body of an unstreamed answer whose status 200 has already been sent."""
        ...

    def answer(self, error: MemTreeError, request_id: str) -> tuple[int, bytes]:
        """Return the HTTP status and the body for an error of the proxy itself."""
        ...

    def first_error(self, beginning: bytes) -> bool | None:
        """Return True if a stream begins with an error, False if it does not. Returns None if its
        beginning (raw, decoded) does not show it yet: keep-alives, or part of an event."""
        ...


class Dialect(Protocol):
    """A wire dialect. `name`: value of the field `dialect`. `history`: the body's field with the
    history. `output_fields`: fields that limit the answer's length. `sign`: the keep-alive sent
    while a stream waits for memory. `prefix_bound`: thinking is valid only behind the same bytes,
    so between two folds nothing before the newest turn may change."""

    name: str
    history: str
    output_fields: tuple[str, ...]
    sign: bytes
    prefix_bound: bool

    @property
    def errors(self) -> ErrorForm: ...

    def read(self, body: Body, tenant: str, most: int | None = None) -> DialectHistory:
        """Read a posted history. `most`: the most items that a history may have. Raises
        `BadRequest` naming the field."""
        ...

    def offer(
        self, body: Body, groups: tuple[ToolGroup, ...], defined: frozenset[str] | None = None
    ) -> Offer | None:
        """Return the tools that may be offered in this request, None if none fits. `defined`: names
        of our tools that the history already defines."""
        ...

    def stream(self, names: frozenset[str]) -> RoundStream: ...
    def whole(self, names: frozenset[str]) -> WholeReply: ...
    def results(self, round_: ToolRound, texts: Sequence[str]) -> list[bytes]:
        """Return the results of a round's calls, as raw items to follow `round_.items`."""
        ...

    def forget(self) -> None:
        """Drop everything cached from posted text."""
        ...
