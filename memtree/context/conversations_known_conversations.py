"""List the conversations in the store, and show the state of each: values made from the store
alone.

The store has no message text, so a conversation is described by its summaries and counts.
"""

from __future__ import annotations

import asyncio
import binascii
import struct
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import isnan

from memtree.context.index_state import with_summary
from memtree.context.stored_plan import PassageSizes, StoredPlan, stored_plan
from memtree.context.stored_tree import StoredTree, stored_tree
from memtree.digests.conversation_title import LONGEST
from memtree.errors import BadRequest, NotFound
from memtree.history.address_chain import DIGEST_BYTES
from memtree.ports.clock import Clock
from memtree.ports.conversations import ConversationPlace, StoredConversation
from memtree.ports.store import ContextStore, ContinuedTurn
from memtree.tree.node import Node
from memtree.unfolding.memory_plan import OutlineNode
from memtree.unfolding.pinned_places import PinnedPlace, read_places, written
from memtree.unfolding.recall_block import Versions

REACH = 2_000  # newest addresses that are searched for the newest turn, and for its epoch's blocks
_CURSOR = struct.Struct(f">d{DIGEST_BYTES}s")


class ConversationState(StrEnum):
    """State of a conversation, as its newest request left it."""

    PACKED = "packed"  # folded, and its epoch is stored
    INDEXED = "indexed"  # has a tree, and was sent whole or folded for a single request
    INDEXING = "indexing"  # the tree covers only its beginning so far


@dataclass(frozen=True, slots=True)
class KnownConversation:
    """`messages`, `tokens`: lower bounds for its history. `last_used`: unix seconds.
    `saved_tokens`: input tokens that memory has saved on its requests, by the log. `title`,
    `client`, `project`: empty if unknown."""

    address: bytes
    title: str
    messages: int
    tokens: int
    last_used: float
    state: ConversationState
    saved_tokens: int
    client: str = ""
    project: str = ""


@dataclass(frozen=True, slots=True)
class ConversationPage:
    """Conversations, newest first. `next_cursor`: for the next page, None on the last."""

    conversations: tuple[KnownConversation, ...]
    next_cursor: str | None


class KnownConversations:
    """Each method raises store errors."""

    def __init__(self, store: ContextStore, clock: Clock) -> None:
        self._store, self._clock = store, clock

    async def page(self, tenant: str, limit: int, cursor: str | None = None) -> ConversationPage:
        """Return a page of conversations. Raises `BadRequest` for a cursor that this server did not
        make."""
        before = read_cursor(cursor)
        rows = await self._store.conversations(tenant, self._clock.now(), limit + 1, before)
        listed = rows[:limit]
        more = len(rows) > limit
        return ConversationPage(
            tuple(map(shown, listed)), made_cursor(listed[-1].place) if more else None
        )

    async def rename(self, tenant: str, address: bytes, title: str) -> None:
        """Give a conversation a title of its own. Raises `NotFound`."""
        if not await self._store.rename(tenant, address, title, self._clock.now()):
            raise _unknown()

    async def pin(self, tenant: str, address: bytes, places: Iterable[PinnedPlace]) -> None:
        """Pin these places, and no others, in the memory messages of a conversation, from its next
        fold on. Raises `NotFound`."""
        if not await self._store.put_pins(tenant, address, written(places), self._clock.now()):
            raise _unknown()

    async def pins(self, tenant: str, address: bytes) -> tuple[PinnedPlace, ...]:
        """Return the pinned places. Raises `NotFound`."""
        return read_places((await self._known(tenant, address)).pins)

    async def chain(self, tenant: str, address: bytes) -> list[bytes]:
        """Return the newest addresses of the conversation that ends there; none if it is
        unknown."""
        return await self._store.chain(tenant, address, REACH)

    async def tree(self, tenant: str, address: bytes) -> StoredTree:
        """Return the tree of a conversation. Raises `NotFound`."""
        conversation = await self._known(tenant, address)
        stored = await self._store.descendants(tenant, conversation.frontier.nodes)
        nodes = await self._newest(tenant, stored)
        end = conversation.end
        try:
            return await asyncio.to_thread(
                stored_tree, conversation.frontier, nodes, end.first, end.messages
            )
        except KeyError:  # deleted meanwhile
            raise _unknown() from None

    async def plan(self, tenant: str, address: bytes) -> StoredPlan:
        """Return the plan of the newest turn on its chain. Raises `NotFound`."""
        conversation = await self._known(tenant, address)
        chain = await self._store.chain(tenant, address, REACH)
        turn = await self._store.newest_turn(tenant, chain)
        if turn is None:
            return StoredPlan()
        on_chain = set(chain)
        blocks = [
            block
            for at, block in turn.blocks.items()
            if at in on_chain and block.recalled and block.recalled[-1] in turn.turn.recalled
        ]
        versions = await self._versions(tenant, turn)
        nodes = await self._store.descendants(tenant, conversation.frontier.nodes)

        def work() -> StoredPlan:
            sizes = PassageSizes(conversation.frontier, nodes)
            return stored_plan(turn.epoch, blocks, versions, sizes, conversation.end.first)

        try:
            return await asyncio.to_thread(work)
        except KeyError:  # deleted meanwhile
            raise _unknown() from None

    async def _known(self, tenant: str, address: bytes) -> StoredConversation:
        conversation = await self._store.conversation(tenant, address, self._clock.now())
        if conversation is None:
            raise _unknown()
        return conversation

    async def _versions(self, tenant: str, turn: ContinuedTurn) -> Versions:
        """Return the nodes that the plan names, with the summaries that it shows."""
        outline: Sequence[OutlineNode] = turn.epoch.plan.outline
        nodes = await self._store.nodes(tenant, [each.id for each in outline])
        later = [(each.id, each.version) for each in outline if each.version]
        summaries = await self._store.summaries(tenant, later) if later else {}
        return {
            (each.id, each.version): with_summary(
                nodes[each.id], summaries.get((each.id, each.version))
            )
            for each in outline
            if each.id in nodes
        }

    async def _newest(self, tenant: str, nodes: Mapping[bytes, Node]) -> Mapping[bytes, Node]:
        """Return the nodes with the newest version of each summary."""
        later = await self._store.newest_summaries(tenant, list(nodes))
        if not later:
            return nodes
        return {id_: with_summary(node, later.get(id_)) for id_, node in nodes.items()}


def stored_title(stored: StoredConversation) -> str:
    """Return the title that a person typed, or the one made from the first request, numbered if
    several are equal; empty if the user requested nothing in words."""
    number = f" ({stored.ordinal})" if stored.ordinal > 1 else ""
    return stored.own_title or stored.end.title[: LONGEST - len(number)] + number


def shown(stored: StoredConversation) -> KnownConversation:
    """Return a conversation as lists show it."""
    end, frontier, turn = stored.end, stored.frontier, stored.turn
    state = ConversationState.PACKED if turn else ConversationState.INDEXED
    return KnownConversation(
        address=stored.address,
        title=stored_title(stored),
        messages=end.messages or frontier.messages,
        tokens=end.tokens or frontier.tokens,
        last_used=end.used,
        state=state if end.whole else ConversationState.INDEXING,
        saved_tokens=stored.saved,
        client=end.client,
        project=end.project,
    )


def made_cursor(place: ConversationPlace) -> str:
    """
    >>> read_cursor(made_cursor(ConversationPlace(1.5, bytes(32)))).used
    1.5
    """
    return urlsafe_b64encode(_CURSOR.pack(*place)).decode().rstrip("=")


def read_cursor(cursor: str | None) -> ConversationPlace | None:
    """Parse a cursor. Raises `BadRequest` for one that this server did not make."""
    if cursor is None:
        return None
    try:
        padded = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
        place = ConversationPlace(*_CURSOR.unpack(urlsafe_b64decode(padded)))
    except (UnicodeEncodeError, binascii.Error, struct.error):
        place = ConversationPlace(float("nan"), b"")
    if isnan(place.used) or made_cursor(place) != cursor:
        raise BadRequest("cursor must be the next_cursor of an earlier page", param="cursor")
    return place


def _unknown() -> NotFound:
    return NotFound("nothing is known of this address", param="address")
