"""Protocol of a wire dialect: read a posted history as the core's messages, write an answer back in
its own items, and put the rounds of our own tools into one answer.

    body -> Dialect.read -> DialectHistory.messages -> memory -> Answer
    Answer -> DialectHistory.fields -> the changed fields of the same body

The *canonical* messages that the core reads have the shape of OpenAI's chat messages, whatever was
posted, so that one conversation has one address in all dialects. A dialect decides nothing about
memory; it knows what its API allows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from memtree.dialects.dialect_history import DialectHistory
from memtree.dialects.tool_definitions import ToolGroup
from memtree.errors import MemTreeError
from memtree.wire.json_body import Body
from memtree_proxy.server_tools.calls import StreamedCall, ToolRound
from memtree_proxy.server_tools.offer import Offer


class AnswerStream(Protocol):
    """A streamed answer made of the streams of several rounds (`server_tools.stream.ToolStream` is
    the one of chats). `offered`: whether the present round was offered our tools. `waiting`: bytes
    that are kept back. `asks`: whether another round follows."""

    offered: bool

    @property
    def waiting(self) -> int: ...
    @property
    def asks(self) -> bool: ...
    def unanswered(self) -> list[StreamedCall]: ...
    def feed(self, chunk: bytes) -> bytes: ...
    def end(self) -> tuple[bytes, ToolRound | None]: ...
    def failed(self, error: Mapping[str, Any]) -> bytes:
        """Return the end of the answer where a later round cannot begin; `error` as for
        `ErrorForm`."""
        ...


class WholeReply(Protocol):
    """Reply that is not streamed."""

    offered: bool
    unanswered: list[StreamedCall]

    def take(self, raw: bytes) -> bytes | ToolRound: ...


class ErrorForm(Protocol):
    """How the API tells errors. An `error` that is a mapping is the `error` object of an upstream's
    answer, or one of ours with its `status` (`keepalive.named`)."""

    def failed(self, error: Mapping[str, Any]) -> bytes:
        """Return the bytes that end a stream which has begun, with the error."""
        ...

    def whole(self, error: Mapping[str, Any]) -> bytes:
        """The body of an answer that is not streamed, and has begun with 200."""
        ...

    def answer(self, error: MemTreeError, request_id: str) -> tuple[int, bytes]:
        """Status and body of an error of ours."""
        ...

    def first_error(self, beginning: bytes) -> bool | None:
        """Return True if a stream begins with an error; None where its beginning (raw, decoded)
        does not say so yet, as it holds signs of life or a piece of an event."""
        ...


class Dialect(Protocol):
    """Protocol of a wire dialect. `name`: as the field `dialect` says it. `history`: the field of
    the body that holds the history. `output_fields`: those that say how long the answer may be.
    `sign`: of life, in a stream that waits for memory. `prefix_bound`: what models thought is bound
    to the bytes that stood before it, so that between two folds nothing may change in front of the
    newest turn."""

    name: str
    history: str
    output_fields: tuple[str, ...]
    sign: bytes
    prefix_bound: bool

    @property
    def errors(self) -> ErrorForm: ...

    def read(self, body: Body, tenant: str, most: int | None = None) -> DialectHistory:
        """Raises `BadRequest` naming the field. `most`: items that a history may have."""
        ...

    def offer(
        self, body: Body, groups: tuple[ToolGroup, ...], defined: frozenset[str] | None = None
    ) -> Offer | None:
        """Return the offer of our tools that fits a request, None where none of them fits.
        `defined`: names of our tools that the history already defines."""
        ...

    def stream(self, names: frozenset[str]) -> AnswerStream: ...
    def whole(self, names: frozenset[str]) -> WholeReply: ...
    def results(self, round_: ToolRound, texts: Sequence[str]) -> list[bytes]:
        """The results of a round's calls, as raw items behind `round_.items`."""
        ...

    def forget(self) -> None:
        """Drop what is cached of posted text."""
        ...
