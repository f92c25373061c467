"""Lists the conversations of a store, and shows the state, the tree and the plan of each.

All values are made from the store alone. It has no message text, so a conversation is described by
its summaries and counts, and what the model saw of it by places and sizes.

Messages are given by their index in the posted list, as far as it is known: `first` is the number
of messages posted before the first one of the history. Later system messages, which the store does
not know, are not counted. Characters are counted in a message's text without volatile blocks;
tokens are estimated from the passages of the tree.
"""

from __future__ import annotations

import asyncio
import binascii
import struct
from base64 import urlsafe_b64decode, urlsafe_b64encode
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import isnan

from memtree.budget.epoch import REASON_NAMES, Epoch, EpochTurn
from memtree.clock import Clock
from memtree.context.index_lookup import with_summary
from memtree.digests.titles import LONGEST
from memtree.errors import BadRequest, NotFound
from memtree.history.address_chain import DIGEST_BYTES
from memtree.ports.context_store import (
    ContextStore,
    ContinuedTurn,
    ConversationPlace,
    StoredConversation,
)
from memtree.tree.btree import walk
from memtree.tree.node import Frontier, Node
from memtree.unfolding.explain import KEPT, RULE, ExplainedNode, TreeNode, root_node, tree_node
from memtree.unfolding.kept_passages import PinnedPlace, read_places, written
from memtree.unfolding.memory_plan import KeptReason, OutlineNode, TextSpan, kept_reasons
from memtree.unfolding.recall_block import Versions
from memtree.unfolding.work_log import work_kind, work_names, work_outcome

CHARACTERS_A_TOKEN = 4  # used if no passage is known
REACH = 2_000  # newest addresses that are searched for the newest turn, and for its epoch's blocks
_CURSOR = struct.Struct(f">d{DIGEST_BYTES}s")


@dataclass(frozen=True, slots=True)
class StoredTree:
    """`rules`: places of standing requests; only the text shows which are still in force. The
    messages of their spans are indexes in the posted list."""

    nodes: tuple[TreeNode, ...]
    roots: tuple[bytes, ...]
    rules: tuple[TextSpan, ...] = ()


def stored_tree(
    frontier: Frontier, nodes: Mapping[bytes, Node], first: int, messages: int
) -> StoredTree:
    """Return all nodes below a frontier, and one above them if there are several. `messages`: of
    the history, which may end after the frontier. Raises `KeyError` if a node is missing."""
    last = max(messages, frontier.messages + bool(frontier.tail)) - 1
    listed: list[TreeNode] = []
    rules: list[TextSpan] = []
    for node, place in walk(frontier.nodes, nodes):
        ends = max(place.first, min(place.last, last))
        listed.append(tree_node(node, place, (first + place.first, first + ends), sealed=True))
        rules += (TextSpan(first + place.first + at, *span) for at, *span in node.rules)
    if len(frontier.nodes) < 2:
        return StoredTree(tuple(listed), frontier.nodes, tuple(rules))
    root = root_node(frontier.nodes, {node.id: node for node in listed})
    return StoredTree((*listed, root), (root.id,), tuple(rules))


@dataclass(frozen=True, slots=True)
class StoredExcerpt:
    """Characters [start, end) of posted message `message`; `reason` and `rank` as in
    `KeptReason`."""

    message: int
    start: int
    end: int
    tokens: int
    reason: str | None = None
    rank: int | None = None


@dataclass(frozen=True, slots=True)
class StoredRecall:
    """Recall block shown before posted message `message`."""

    message: int
    excerpts: tuple[StoredExcerpt, ...]


@dataclass(frozen=True, slots=True)
class StoredWork:
    """A file or command from the work log, placed as an excerpt is; `kind` and `outcome` as in
    `ExplainedWork`."""

    message: int
    start: int
    end: int
    kind: str
    outcome: str | None


@dataclass(frozen=True, slots=True)
class StoredEpoch:
    """`created`: unix seconds; `messages`: number of posted messages when it began."""

    id: bytes
    created: float
    messages: int
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class StoredPlan:
    """`epoch`: None if nothing was folded. `cut`: the first posted message that is sent
    unchanged."""

    epoch: StoredEpoch | None = None
    cut: int = 0
    nodes: tuple[ExplainedNode, ...] = ()
    excerpts: tuple[StoredExcerpt, ...] = ()
    rules: tuple[StoredExcerpt, ...] = ()
    recall: tuple[StoredRecall, ...] = ()
    log: tuple[StoredWork, ...] = ()


class PassageSizes:
    """Token counts of spans, by the passages of the leaves below a frontier."""

    def __init__(self, frontier: Frontier, nodes: Mapping[bytes, Node]) -> None:
        """Raises `KeyError` if a node is missing."""
        self._passages: dict[int, list[tuple[int, int, int]]] = {}  # by message: end, start, tokens
        for node, place in walk(frontier.nodes, nodes):
            for each in node.passages:
                listed = self._passages.setdefault(place.first + each.message, [])
                listed.append((each.end, each.start, each.tokens))

    def tokens(self, span: TextSpan) -> int:
        """Return the estimated tokens of a span."""
        listed = self._passages.get(span.message, [])
        total, covered = 0.0, 0
        for end, start, tokens in listed[bisect_left(listed, (span.start + 1, 0, 0)) :]:
            shared = min(end, span.end) - max(start, span.start)
            if shared <= 0:
                break
            total += tokens * shared / (end - start)
            covered += shared
        rest = max(0, span.end - span.start - covered) / CHARACTERS_A_TOKEN
        return max(1, round(total + (0 if listed else rest)))


def stored_plan(
    epoch: Epoch,
    blocks: Iterable[EpochTurn],
    versions: Versions,
    sizes: PassageSizes,
    first: int,
) -> StoredPlan:
    """Build the plan as the store shows it. `blocks`: turns of this conversation that have a recall
    block. `versions`: of the nodes that the plan names; a lost one is left out. `first`: how many
    messages were posted before the history."""
    plan = epoch.plan

    def excerpts(
        spans: Sequence[TextSpan], kept: Sequence[KeptReason]
    ) -> tuple[StoredExcerpt, ...]:
        return tuple(
            StoredExcerpt(first + span.message, span.start, span.end, sizes.tokens(span), *why)
            for span, why in zip(spans, kept, strict=False)
        )

    nodes = []
    for shown in plan.outline:
        node = versions.get((shown.id, shown.version))
        if node is not None:
            last = max(shown.place.first, min(shown.place.last, plan.cut - 1))
            nodes.append(
                ExplainedNode(
                    shown.id,
                    node.level,
                    first + shown.place.first,
                    first + last,
                    shown.depth,
                    shown.body,
                    node.summary.headline,
                    shown.version,
                )
            )
    return StoredPlan(
        epoch=StoredEpoch(
            epoch.id, epoch.created, first + epoch.start, REASON_NAMES.get(epoch.reason)
        ),
        cut=first + plan.cut,
        nodes=tuple(nodes),
        excerpts=(
            *excerpts(plan.kept.spans, [KEPT] * len(plan.kept.spans)),
            *excerpts(plan.excerpts, kept_reasons(plan)),
        ),
        rules=excerpts(plan.rules, [RULE] * len(plan.rules)),
        recall=tuple(
            StoredRecall(first + turn.recalled[-1], excerpts(turn.block, kept_reasons(turn.recall)))
            for turn in sorted(blocks, key=lambda turn: turn.recalled)
            if turn.block
        ),
        log=tuple(
            StoredWork(
                first + name.message, name.start, name.end, work_kind(line), work_outcome(line)
            )
            for line, name in work_names(plan)
        ),
    )


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
        nodes = await self._store.descendants(tenant, conversation.frontier.nodes)
        if later := await self._store.newest_summaries(tenant, list(nodes)):
            nodes = {id_: with_summary(node, later.get(id_)) for id_, node in nodes.items()}
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
