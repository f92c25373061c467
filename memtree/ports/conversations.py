"""Port of a store that lists the conversations of a tenant.

A *conversation* is an address that no other stored address continues: a growing chat is one, two
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
    """Facts about a history at its end, besides its frontier, which may end earlier.

    `used`: unix seconds of the last request for it. `messages`, `tokens`: of all of it, 0 if
    unknown. `first`: how many messages were posted before its first one; they are system messages.
    `whole`: False if further messages were posted that are not indexed yet. `title`, `client`,
    `project`: of at most 60 characters, empty if unknown; an empty one leaves the stored value
    unchanged.
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
    """Position of a conversation in a list, newest first."""

    used: float
    address: bytes


class StoredConversation(NamedTuple):
    """`turn`: the newest one at the address, None if there is none. `own_title`: the one that a
    person typed, else empty. `ordinal`: number among the tenant's conversations with the same
    `end.title`, from 1; 0 without a title. `pins`: as they were stored, "" for none. `saved`: what
    memory has saved on its requests, by the log."""

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
    """Lists conversations. Raises as `TreeStore` does. Those that expired before `now` (unix
    seconds) are treated as absent."""

    async def conversations(
        self, tenant: str, now: float, limit: int, before: ConversationPlace | None = None
    ) -> list[StoredConversation]:
        """Return conversations, newest first; `before`: only those after this position. Reads one
        index, however many conversations there are."""
        ...

    async def conversation(
        self, tenant: str, address: bytes, now: float
    ) -> StoredConversation | None:
        """Return one known address, even if others continue it: for such an address only its
        frontier and its turn are known."""
        ...

    async def rename(self, tenant: str, address: bytes, title: str, now: float) -> int:
        """Give the conversations that end at an address or continue it a title of their own, and
        return how many there are. The title stays while a conversation grows, and is deleted with
        it."""
        ...

    async def put_pins(self, tenant: str, address: bytes, pins: str, now: float) -> int:
        """Replace the pins of these conversations, which are chosen as in `rename`. `pins`: opaque,
        without text."""
        ...

    async def pins(self, tenant: str, addresses: Sequence[bytes]) -> list[str]:
        """Return the pins of the conversations that end at these addresses."""
        ...


def newest_turn(turns: Sequence[EpochTurn]) -> EpochTurn | None:
    """Return the newest of the turns at one address, which may have several keys."""
    return max(turns, key=lambda turn: (turn.used, turn.epoch), default=None)
