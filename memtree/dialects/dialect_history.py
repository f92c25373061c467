"""A posted history as memory sees it, whatever the dialect of its items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from memtree.context.answer import Answer
from memtree.conversation.message import Message
from memtree.dialects.placed_memories import PlacedMemories


class DialectHistory(Protocol):
    """A posted history. `messages`: canonical; the system's that lead the prompt stand first.
    `tools_tokens`, `markers`: tokens and cache markers of what stands in the prompt beside them.
    `defined`: names of tools of ours that its items may define, None where these define no tools.
    `passes`: why the request has to go as it came, "" where it has not. `side`: whether the client
    says that it asks for itself (a compaction, a title); False where it does not say."""

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
        """The fields of the body that change, as raw JSON; empty where nothing does.

        `answer`: what memory sends, None where it has no say. `memories`: those that stand in a
        posted message, where nothing is folded. `more`: items behind the history, the rounds of our
        tools. `no_thinking_before`: a canonical message (index in `messages`) before which no
        thinking may be sent, since the upstream refused it."""
        ...

    def unbound(self, items: Sequence[bytes]) -> list[bytes]:
        """Rounds of our tools (`more`), as they may stand behind another prompt than the one that
        led to them."""
        ...
