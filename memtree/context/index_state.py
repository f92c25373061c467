"""Index of one posted history, as far as it is built."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

import msgspec

from memtree.context.answer_state import State
from memtree.context.warm_conversations import EMPTY_TREE, KnownTree, NodeLayers
from memtree.history.chat_history import History
from memtree.tree import growth
from memtree.tree.node import Frontier, Node, NodePlace, Summary, after

# share of the tokens that may lack vectors before an answer is called provisional
PROVISIONAL_SHARE = 0.1


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
        whole = growth.extracted(self.open, self.open_place.first, posted.view)
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
