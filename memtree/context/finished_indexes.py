"""Indexes of the newest histories, for requests that repeat or continue them.

The key is the address. A history with nothing left to embed or summarise is neither read nor grown
again; a longer one grows from there. The caller has checked that the turn at this address is still
stored, so a deletion in another process is noticed. Trees belong to warm conversations and are not
kept alive longer than these. No answer depends on this cache.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from memtree.context.caches_caches import Conversations
from memtree.context.conversation import EMPTY_TREE
from memtree.context.index_state import IndexState
from memtree.history.chat_history import History
from memtree.ports.clock import Clock
from memtree.process.bounded import TenantRows
from memtree.tree.node import node_bytes

NEWEST = 32  # prefixes that are looked for
LASTING = 60.0  # seconds; then the index is looked up again, so that its use is recorded
MOST = 4 << 20  # bytes: some 500 histories
ID_BYTES = 60  # of a node of the frontier, with its level
ROW = 700


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
        """Return the index of exactly this history; None if work is left to do, or it is not
        cached."""
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
        later = range(max(length + 1, len(posted) - NEWEST), len(posted))
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
