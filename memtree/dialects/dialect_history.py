"""Interface of a posted history, independent of its dialect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from memtree.context.answer import Answer
from memtree.conversation.message import Message
from memtree.dialects.placed_memories import PlacedMemories


class DialectHistory(Protocol):
    """A posted history. `messages`: canonical, with the leading system messages first.
    `tools_tokens`, `markers`: tokens and cache markers in the rest of the prompt. `defined`: names
    of our tools that its items may define, None if they define no tools. `passes`: the reason to
    forward the request unchanged, or "". `side`: True if the client says that it is a request of
    its own (a compaction, a title)."""

    @property
    def messages(self) -> Sequence[Message]: ...
    @property
    def tools_tokens(self) -> int: ...
    @property
    def markers(self) -> int: ...
    @property
    def defined(self) -> frozenset[str] | None: ...
    @property
    def passes(self) -> str: ...
    @property
    def side(self) -> bool: ...

    def fields(
        self,
        answer: Answer | None,
        memories: PlacedMemories | None = None,
        more: Sequence[bytes] = (),
        *,
        no_thinking_before: int = 0,
    ) -> Mapping[str, bytes]:
        """Return the changed fields of the body, as raw JSON; empty if nothing changes.

        `answer`: the history to send, None if context memory changes nothing. `memories`: memories
        to place in a posted message while nothing is folded. `more`: items behind the history:
        rounds of our tools. `no_thinking_before`: the canonical message (index in `messages`)
        before which no thinking may be sent, since the upstream refused it."""
        ...

    def unbound(self, items: Sequence[bytes]) -> list[bytes]:
        """Return rounds of our tools (`more`) in a form that is valid behind another prompt than
        the one they came from."""
        ...
