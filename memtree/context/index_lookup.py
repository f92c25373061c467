"""Finds how much of a history is indexed: in the memory of the process, or in the store.

`IndexState` is the index of one posted history, as far as it is built.

In the store the indexed prefix is found with a bounded number of reads, whatever the history's
length. One read looks up about 64 addresses: the newest ones, and others spread over the history,
because a branch may leave the known part anywhere and the known part may have gaps. Further reads
narrow down between the longest known prefix and the next unknown one.

Not every prefix is stored: a client that drops its oldest message with every request would write a
row for each message each time. A branch between two stored prefixes processes at most `STRIDE`
messages again, whose leaves are stored already.

The process keeps the indexes of the newest histories (`FinishedIndexes`), for requests that repeat
or continue them. The key is the address. A history with nothing left to embed or summarise is
neither read nor grown again; a longer one grows from there. The caller has checked that the turn at
this address is still stored, so a deletion in another process is noticed. Trees belong to warm
conversations and are not kept alive longer than these. No answer depends on this cache.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import NamedTuple

import msgspec

from memtree.clock import DAY, Clock
from memtree.context.answer_state import State
from memtree.context.turn_request import TurnRequest
from memtree.context.warm_conversations import EMPTY_TREE, Conversations, KnownTree, NodeLayers
from memtree.errors import Unavailable
from memtree.history.chat_history import History
from memtree.ports.context_store import TreeStore
from memtree.process import tracing
from memtree.process.bounded import TenantRows
from memtree.tree import extraction, growth
from memtree.tree.btree import walk
from memtree.tree.node import Frontier, Node, NodePlace, Summary, after, node_bytes

log = logging.getLogger("memtree")

# share of the tokens that may lack vectors before an answer is called provisional
PROVISIONAL_SHARE = 0.1

NEWEST, SPREAD, STEPS = 32, 16, 3
STRIDE = 8  # messages; and LEAVES, some 4,000 tokens, if messages are long
LEAVES = 5
TAIL = 3  # messages at the end of a history, each of whose prefixes is stored

NEWEST_PREFIXES = 32  # prefixes that are looked for
LASTING = 60.0  # seconds; then the index is looked up again, so that its use is recorded
MOST = 4 << 20  # bytes: some 500 histories
ID_BYTES = 60  # of a node of the frontier, with its level
ROW = 700


class Trouble(StrEnum):
    """Reason why the index of a history is incomplete."""

    STORE = "store"  # the store cannot be read or written: the tree serves this request alone
    INDEXING = "indexing"  # stage 1 did not reach the end of the history in time


@dataclass(frozen=True, slots=True)
class IndexState:
    """Index of one history: a tree over a prefix, and a leaf that is not final yet.

    `prefix`: messages of the stored prefix that the tree was grown from. `open`: the last leaf,
    while text may still be added to it; it has only terms until `with_open_extracted`. `cut`:
    blocks of the open leaf, or, before the tree has grown, those after the prefix. `unembedded`:
    ids of leaves without vectors, with their tokens; `unsummarised_tokens`: in leaves (or, where
    all leaves are done, in inner nodes) that lack only a model's summary. `cached`: the whole tree
    was in this process's memory. `newer`: nodes with a later version of their summary.
    """

    frontier: Frontier
    tree: KnownTree
    prefix: int = 0
    open: Node | None = None
    cut: growth.OpenBlocks | None = None
    trouble: Trouble | None = None
    unembedded: frozenset[bytes] = frozenset()
    unembedded_tokens: int = 0
    unsummarised_tokens: int = 0
    cached: bool = True
    newer: Mapping[bytes, Node] = field(default_factory=dict)

    @property
    def nodes(self) -> Mapping[bytes, Node]:
        """Return all nodes below the frontier, each with its newest summary that was read."""
        return NodeLayers(self.newer, self.tree) if self.newer else self.tree

    @property
    def whole(self) -> bool:
        """Return True if stage 1 has reached the end of the history."""
        return self.trouble is not Trouble.INDEXING

    @property
    def roots(self) -> tuple[bytes, ...]:
        """Return the top nodes, the open leaf last."""
        return (*self.frontier.nodes, self.open.id) if self.open else self.frontier.nodes

    @property
    def all_nodes(self) -> Mapping[bytes, Node]:
        """Return all nodes, the open leaf included."""
        if self.open is None:
            return self.nodes
        return NodeLayers({self.open.id: self.open}, self.newer, self.tree)

    @property
    def open_place(self) -> NodePlace | None:
        if self.open is None:
            return None
        return after(NodePlace(0, 0, self.frontier.messages, self.frontier.tail), self.open)

    def with_open_extracted(self, posted: History) -> IndexState:
        """Return the index with the open leaf fully extracted, for callers that need more than its
        terms."""
        if self.open is None or self.open_place is None or self.open.summary.extraction:
            return self
        whole = extraction.extracted(self.open, self.open_place.first, posted.view)
        return replace(self, open=whole)

    @property
    def pending_tokens(self) -> int:
        """Return the tokens that stages 2 and 3 have not processed yet."""
        return self.unembedded_tokens + self.unsummarised_tokens

    def state(self, *, by_words: bool = False) -> State:
        """Return the state of an answer made with this index. `by_words`: the embedder failed, so
        passages were ranked without vectors."""
        if self.trouble:
            return State.degraded(self.trouble)
        if by_words:
            return State.NO_EMBEDDER
        if self.unembedded_tokens > PROVISIONAL_SHARE * max(1, self.frontier.tokens):
            return State.PROVISIONAL
        return State.PACKED


NOTHING_INDEXED = IndexState(Frontier(), EMPTY_TREE)


def with_summary(node: Node, summary: Summary | None) -> Node:
    """Return the node with a newer summary and its standing rules."""
    if summary is None:
        return node
    rules = node.rules if summary.rules is None else summary.rules
    return msgspec.structs.replace(node, summary=summary, rules=rules)


class CoveredPrefix(NamedTuple):
    """The longest prefix found; `expires`: the earliest expiry of all found on its chain."""

    length: int
    frontier: Frontier
    expires: float


async def covering(store: TreeStore, history: History) -> CoveredPrefix | None:
    """Return the longest indexed prefix, or None."""
    addresses = history.addresses
    best: CoveredPrefix | None = None
    above = len(history) + 1
    probes = first_probes(len(history))
    for _ in range(STEPS):
        stored = await store.frontiers(history.tenant, [addresses[i] for i in probes])
        hits = {i: stored[addresses[i]] for i in probes if addresses[i] in stored}
        if hits:
            longest = max(hits)
            soonest = min(prefix.expires for prefix in hits.values())
            if best is None or longest > best.length:
                best = CoveredPrefix(longest, hits[longest].frontier, soonest)
        low = best.length if best else 0
        above = min((i for i in probes if i > low), default=above)
        probes = between(low, above)
        if not probes or best is None:
            break
    return best


def first_probes(length: int) -> list[int]:
    """Return the prefix lengths of the first read, longest first: the newest ones, then some at
    doubling and at even distances."""
    spread: set[int] = set(range(max(1, length - NEWEST + 1), length + 1))
    distance = NEWEST
    while distance < length:
        spread.add(_stored(length - distance))
        distance *= 2
    spread.update(_stored(length * part // (SPREAD + 1)) for part in range(1, SPREAD + 1))
    return _ordered(spread)


def between(low: int, high: int) -> list[int]:
    """Return up to 64 prefix lengths strictly between two others."""
    gap = high - low - 1
    if gap <= NEWEST * 2:
        return _ordered(range(low + 1, high))
    spread = (_stored(low + gap * part // (NEWEST * 2)) for part in range(1, NEWEST * 2 + 1))
    return _ordered(length for length in spread if low < length < high)


def thinned(frontiers: Mapping[bytes, Frontier], last: int) -> dict[bytes, Frontier]:
    """Choose which frontiers of a chain are stored. `last`: length of the last prefix; the earlier
    lengths have no gaps. Wherever a turn may be stored (`epoch_turns.beginnings`), a frontier must
    be stored, or a deletion would not find the turn."""
    kept: dict[bytes, Frontier] = {}
    leaves = 0
    for length, (address, frontier) in enumerate(frontiers.items(), last - len(frontiers) + 1):
        far = frontier.leaves // LEAVES > leaves // LEAVES
        if far or length >= last - TAIL or length % STRIDE == 0:
            kept[address] = frontier
        leaves = frontier.leaves
    return kept


def _stored(length: int) -> int:
    """Return the longest prefix up to `length` that is stored wherever the history ends."""
    return length - length % STRIDE


def stored_from(length: int) -> int:
    """Return the shortest prefix of at least `length` that is stored wherever the history ends."""
    return -(-length // STRIDE) * STRIDE


def _ordered(lengths: Iterable[int]) -> list[int]:
    return sorted({length for length in lengths if length > 0}, reverse=True)


class IndexLookup:
    """Finds the longest indexed prefix with its nodes, and keeps it from expiring."""

    def __init__(self, store: TreeStore, clock: Clock) -> None:
        self._store, self._clock = store, clock

    async def find(self, request: TurnRequest, known: Conversations) -> IndexState:
        """Return the stored index of the history; `known`: the process's conversations, which are
        read and added to."""
        tenant = request.tenant
        try:
            with tracing.step("look_up"):
                covered = await covering(self._store, request.posted)
                if covered is None:
                    return NOTHING_INDEXED
                frontier = covered.frontier
                tree = known.tree(tenant, frontier)
                cached = tree is not None
                if tree is None:
                    near = known.nearest(tenant, frontier)
                    read = await self._below(tenant, frontier.nodes, near)
                    walked = walk(frontier.nodes, NodeLayers(read, near))
                    made = [node for node, _ in walked if node.id in read]
                    tree = known.grown(tenant, near, frontier, made)
                await self._renew(request, covered)
                return IndexState(frontier, tree, covered.length, cached=cached)
        except KeyError:
            log.warning("store.node_missing")
            return NOTHING_INDEXED
        except Unavailable as error:
            log.warning("store.unavailable code=%s", error.code)
            return replace(NOTHING_INDEXED, trouble=Trouble.STORE)

    async def _below(self, tenant: str, ids: Sequence[bytes], near: KnownTree) -> dict[bytes, Node]:
        """Return the nodes with these ids and all below them, without those of a tree that this
        process knows: another one made the newest turns of the same conversation."""
        if not near.leaves:
            return await self._store.descendants(tenant, ids)
        read: dict[bytes, Node] = {}
        lacking = [id_ for id_ in ids if id_ not in near]
        while lacking:
            level = await self._store.nodes(tenant, lacking)
            read |= level
            below = (child for node in level.values() for child in node.children)
            lacking = [id_ for id_ in below if id_ not in near and id_ not in read]
        return read

    async def _renew(self, request: TurnRequest, covered: CoveredPrefix) -> None:
        """Extend the expiry of a chain in use; written at most once a day."""
        expires = self._clock.now() + request.ask.expiration_days * DAY
        if covered.expires > expires - DAY:
            return
        chain = request.posted.addresses[1 : covered.length + 1]
        try:
            await self._store.renew(request.tenant, chain, expires, self._clock.now())
        except Unavailable as error:
            log.warning("store.renew_failed code=%s", error.code)


class _IndexRow(NamedTuple):
    """`indexed`: without its nodes and the ids of leaves without vectors. `until`: on the monotonic
    clock."""

    indexed: IndexState
    until: float


class FinishedIndexes(TenantRows[bytes, _IndexRow]):
    """Finished indexes by tenant and address."""

    def __init__(
        self, conversations: Conversations, clock: Clock, most: int = MOST, *, embeds: bool = False
    ) -> None:
        """`most`: bytes of all rows. `embeds`: an index is finished when it has its vectors."""
        super().__init__(most, _size)
        self._conversations, self._clock, self._embeds = conversations, clock, embeds

    def add(self, posted: History, index: IndexState) -> None:
        """Remember the index of a history."""
        if index.whole and index.trouble is None:
            kept = replace(index, tree=EMPTY_TREE, cached=True, unembedded=frozenset())
            row = _IndexRow(kept, self._clock.monotonic() + LASTING)
            self.put((posted.tenant, posted.addresses[-1]), row)

    def find(self, posted: History) -> IndexState | None:
        """Return the index of exactly this history, which an earlier request has indexed to its
        end; None if work is left to do, or it is not cached."""
        row = self._row(posted, len(posted))
        if row is None or row.indexed.pending_tokens:
            return None
        tree = self._conversations.tree(posted.tenant, row.indexed.frontier)
        if tree is None or (self._embeds and tree.leaves and not tree.has_vectors):
            return None
        return replace(row.indexed, tree=tree)

    def before(self, posted: History, length: int) -> IndexState | None:
        """Return the index to grow from: the tree over the first `length` messages; None as in
        `find`, and if more of the history was indexed since, for another model or target: a second
        growth from here would make two conversations of one."""
        row = self._row(posted, length) if length else None
        later = range(max(length + 1, len(posted) - NEWEST_PREFIXES), len(posted))
        if row is None or any(self._row(posted, at) for at in later):
            return None
        frontier = row.indexed.frontier
        tree = self._conversations.tree(posted.tenant, frontier)
        return None if tree is None else IndexState(frontier, tree, length, cut=row.indexed.cut)

    def with_cut(self, posted: History, index: IndexState) -> IndexState:
        """Return the index with the blocks after its prefix, if they are cached. They depend on the
        prefix's text alone, so they never become stale."""
        row = self.get((posted.tenant, posted.addresses[index.prefix]))
        if row is None or row.indexed.frontier != index.frontier:
            return index
        return replace(index, cut=row.indexed.cut)

    def _row(self, posted: History, length: int) -> _IndexRow | None:
        row = self.get((posted.tenant, posted.addresses[length]))
        return None if row is None or self._clock.monotonic() > row.until else row


def _size(_: object, row: _IndexRow) -> int:
    frontier, open_ = row.indexed.frontier, row.indexed.open
    return ROW + ID_BYTES * len(frontier.nodes) + (node_bytes(open_) if open_ else 0)
