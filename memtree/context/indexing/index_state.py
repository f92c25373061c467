"""Index of one posted history."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

import msgspec

from memtree.context.caches.known_tree import EMPTY_TREE, KnownTree, NodeLayers
from memtree.context.state import State
from memtree.conversation.history import History
from memtree.ranking.corpus import Corpus
from memtree.tree import growth
from memtree.tree.node import Frontier, Node, NodePlace, Summary, after

PROVISIONAL_SHARE = 0.1  # of the tokens may lack vectors before an answer is called provisional


class Trouble(StrEnum):
    """Why the index of a history is not what it should be."""

    STORE = "store"  # it cannot be read or kept: the tree serves this request alone
    INDEXING = "indexing"  # stage 1 did not reach the end of the history in time


@dataclass(frozen=True, slots=True)
class IndexState:
    """Index of one history: a tree over a prefix, and a leaf that is not final yet.

    `prefix`: messages of the stored prefix that the tree was grown from. `open`: the last leaf,
    while text may still be added to it; its words alone, until `with_open_extracted`. `cut`: its
    blocks, or, before it has grown, those behind the prefix. `unembedded`: ids of leaves without
    vectors, with their tokens; `unsummarised_tokens`: in leaves (or, where all leaves are done, in
    inner nodes) that lack only a model's summary. `cached`: the whole tree was in this process's
    memory. `newer`: nodes with a later version of their summary. `corpus`: kept at hand, with the
    vectors that it got, until the answer is made.
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
    corpus: Corpus | None = field(default=None, compare=False, repr=False)

    @property
    def nodes(self) -> Mapping[bytes, Node]:
        """All below the frontier, each with the newest summary that was asked for."""
        return NodeLayers(self.newer, self.tree) if self.newer else self.tree

    @property
    def whole(self) -> bool:
        """Return True if stage 1 has reached the end of the history."""
        return self.trouble is not Trouble.INDEXING

    @property
    def roots(self) -> tuple[bytes, ...]:
        """Top nodes, the open leaf last."""
        return (*self.frontier.nodes, self.open.id) if self.open else self.frontier.nodes

    @property
    def all_nodes(self) -> Mapping[bytes, Node]:
        """The open leaf included."""
        if self.open is None:
            return self.nodes
        return NodeLayers({self.open.id: self.open}, self.newer, self.tree)

    @property
    def open_place(self) -> NodePlace | None:
        if self.open is None:
            return None
        return after(NodePlace(0, 0, self.frontier.messages, self.frontier.tail), self.open)

    def with_open_extracted(self, posted: History) -> IndexState:
        """Return the index with all of the open leaf, for those who read more of it than its
        words."""
        if self.open is None or self.open_place is None or self.open.summary.extraction:
            return self
        whole = growth.extracted(self.open, self.open_place.first, posted.view)
        return replace(self, open=whole)

    @property
    def pending_tokens(self) -> int:
        """Tokens that stages 2 and 3 have not worked on yet."""
        return self.unembedded_tokens + self.unsummarised_tokens

    def state(self, *, by_words: bool = False) -> State:
        """Return the state of an answer made with this index. `by_words`: the embedder failed, so
        that a query was ranked by words alone."""
        if self.trouble:
            return State.degraded(self.trouble)
        if by_words:
            return State.NO_EMBEDDER
        if self.unembedded_tokens > PROVISIONAL_SHARE * max(1, self.frontier.tokens):
            return State.PROVISIONAL
        return State.PACKED


NOTHING_INDEXED = IndexState(Frontier(), EMPTY_TREE)


def with_summary(node: Node, summary: Summary | None) -> Node:
    """The node with a newer summary, and with the rules that were found anew for it."""
    if summary is None:
        return node
    rules = node.rules if summary.rules is None else summary.rules
    return msgspec.structs.replace(node, summary=summary, rules=rules)
