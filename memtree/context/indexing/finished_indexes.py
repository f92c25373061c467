"""Where the newest histories stand in the index, for those that are posted once more, or go on.

They are found by their address. Of a history with nothing left to embed or to summarise nothing is
read or grown again; a longer one grows from there. Who asks has seen in the store that the turn at
this address is still there, so a deletion in another process is noticed. The nodes are those of the
node cache, the corpus is that of its own cache, and neither is kept for longer than there. Nothing
here is needed for an answer.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple
from weakref import ref

from memtree.context.caches.caches import NodeCache
from memtree.context.caches.known_tree import EMPTY_TREE
from memtree.context.indexing.index_state import IndexState
from memtree.conversation.history import History
from memtree.ports.clock import Clock
from memtree.process.bounded import TenantRows
from memtree.ranking.corpus import Corpus
from memtree.tree.node_size import node_bytes

LASTING = 60.0  # seconds: then it is looked up again, so that its use is noted
MOST = 4 << 20  # bytes: some 500 histories
ID_BYTES = 60  # of a node of the frontier, with its level
ROW = 700


class _Row(NamedTuple):
    """`indexed`: without its nodes, its corpus and the ids of what lacks vectors. `corpus`: None
    where there was none. `until`: on the monotonic clock."""

    indexed: IndexState
    corpus: ref[Corpus] | None
    until: float


class FinishedIndexes(TenantRows[bytes, _Row]):
    """By tenant and address."""

    def __init__(self, nodes: NodeCache, clock: Clock, most: int = MOST) -> None:
        """`most`: bytes of all rows."""
        super().__init__(most, _size)
        self._nodes, self._clock = nodes, clock

    def add(self, posted: History, index: IndexState) -> None:
        """Remember what is indexed of a history."""
        if index.whole and index.trouble is None:
            kept = replace(index, tree=EMPTY_TREE, cached=True, corpus=None, unembedded=frozenset())
            corpus = ref(index.corpus) if index.corpus is not None else None
            row = _Row(kept, corpus, self._clock.monotonic() + LASTING)
            self.put((posted.tenant, posted.addresses[-1]), row)

    def find(self, posted: History) -> IndexState | None:
        """Return the index of this very history; None where something is left to do, or it is not
        at hand."""
        row = self._row(posted, len(posted))
        if row is None or row.indexed.pending_tokens:
            return None
        corpus = row.corpus() if row.corpus else None
        if row.corpus and corpus is None:  # one that is made anew has no vectors
            return None
        tree = self._nodes.tree(posted.tenant, row.indexed.frontier)
        return None if tree is None else replace(row.indexed, tree=tree, corpus=corpus)

    def before(self, posted: History, length: int) -> IndexState | None:
        """Return the index to grow on from: the tree over the first `length` messages; None as
        above."""
        row = self._row(posted, length) if length else None
        if row is None:
            return None
        frontier = row.indexed.frontier
        tree = self._nodes.tree(posted.tenant, frontier)
        return None if tree is None else IndexState(frontier, tree, length, cut=row.indexed.cut)

    def with_cut(self, posted: History, index: IndexState) -> IndexState:
        """Return the index with the blocks behind its prefix, where they are at hand. They depend
        on the words of the prefix alone, so they do not get old."""
        row = self.get((posted.tenant, posted.addresses[index.prefix]))
        if row is None or row.indexed.frontier != index.frontier:
            return index
        return replace(index, cut=row.indexed.cut)

    def _row(self, posted: History, length: int) -> _Row | None:
        row = self.get((posted.tenant, posted.addresses[length]))
        return None if row is None or self._clock.monotonic() > row.until else row


def _size(_: object, row: _Row) -> int:
    frontier, open_ = row.indexed.frontier, row.indexed.open
    return ROW + ID_BYTES * len(frontier.nodes) + (node_bytes(open_) if open_ else 0)
