"""Port of a store that lists the conversations of a tenant.

A *conversation* is an address that no other stored one goes on from: a chat that grew is one, two
branches of a chat are two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from memtree.budget.epoch import EpochTurn
from memtree.tree.node import Frontier


@dataclass(frozen=True, slots=True)
class HistoryEnd:
    """Facts of a history where it ends, beside its frontier, which may end before it.

    `used`: unix seconds of the last request for it. `messages`, `tokens`: of all of it, 0 where
    that is not known. `first`: how many messages were posted before its first one; they are system
    messages. `whole`: False where more was posted behind it, which is not indexed yet. `title`,
    `client`, `project`: of at most 60 characters, empty where that is not known; an empty one
    leaves what is stored of the conversation as it is.
    """

    used: float = 0.0
    messages: int = 0
    tokens: int = 0
    first: int = 0
    whole: bool = True
    title: str = ""
    client: str = ""
    project: str = ""


NOT_TOLD = HistoryEnd()


class ConversationPlace(NamedTuple):
    """Where a conversation stands in a list, newest first."""

    used: float
    address: bytes


class StoredConversation(NamedTuple):
    """`turn`: the newest one at the address, None where there is none. `own_title`: the one that
    somebody typed, else empty. `ordinal`: of the conversation among those of its tenant with the
    same `end.title`, from 1; 0 where it has none. `pins`: as they were put, "" for none. `saved`:
    what memory saved on its requests so far, as the log has them."""

    address: bytes
    end: HistoryEnd
    frontier: Frontier
    turn: EpochTurn | None
    own_title: str = ""
    ordinal: int = 0
    pins: str = ""
    saved: int = 0

    @property
    def place(self) -> ConversationPlace:
        return ConversationPlace(self.end.used, self.address)


class ConversationStore(Protocol):
    """Raises as `TreeStore` does. What expired before `now` (unix seconds) is not there."""

    async def conversations(
        self, tenant: str, now: float, limit: int, before: ConversationPlace | None = None
    ) -> list[StoredConversation]:
        """Return conversations, newest first; `before`: only those behind this place. One read of
        an index, however many conversations there are."""
        ...

    async def conversation(
        self, tenant: str, address: bytes, now: float
    ) -> StoredConversation | None:
        """Return one known address, which others may go on from: of such a one no more is known
        than its frontier and its turn."""
        ...

    async def rename(self, tenant: str, address: bytes, title: str, now: float) -> int:
        """Give the conversations that end at an address or go on from it a title of their own, and
        return how many there are. It stays while a conversation grows, and goes with it."""
        ...

    async def put_pins(self, tenant: str, address: bytes, pins: str, now: float) -> int:
        """Replace the pins of these conversations, as `rename` does their titles. `pins`: opaque,
        without text."""
        ...

    async def pins(self, tenant: str, addresses: Sequence[bytes]) -> list[str]:
        """Return those of the conversations that end at these addresses."""
        ...


def newest_turn(turns: Sequence[EpochTurn]) -> EpochTurn | None:
    """Return the newest of the turns at one address, under several keys."""
    return max(turns, key=lambda turn: (turn.used, turn.epoch), default=None)
