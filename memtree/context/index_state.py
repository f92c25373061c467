"""What is indexed of one posted history."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import msgspec

from memtree.context.answer import Answer
from memtree.tree.node import Frontier, Node, NodePlace, Summary, after

PROVISIONAL_SHARE = 0.1  # of the tokens may lack vectors before an answer is called provisional


@dataclass(slots=True)
class IndexState:
    """What is indexed of one history: a tree over a prefix, and a leaf that is not final yet."""

    frontier: Frontier
    nodes: Mapping[bytes, Node]
    prefix: int = 0  # length of the prefix whose frontier this is
    open: Node | None = None
    trouble: str = ""
    lacking: int = 0  # tokens in leaves without vectors
    unranked: frozenset[bytes] = frozenset()  # these leaves
    owed: int = 0  # tokens in leaves (at last in inner nodes) that only lack a model's summary
    met: bool = True  # all of the tree was at hand in this process
    by_words: bool = False  # a query was ranked by words alone, for the embedder failed

    @property
    def whole(self) -> bool:
        """Stage 1 reached the end of the history."""
        return self.trouble != "indexing"

    @property
    def roots(self) -> tuple[bytes, ...]:
        """Top nodes, the open leaf last."""
        return (*self.frontier.nodes, self.open.id) if self.open else self.frontier.nodes

    @property
    def all_nodes(self) -> Mapping[bytes, Node]:
        """The open leaf included."""
        return {**self.nodes, self.open.id: self.open} if self.open else self.nodes

    @property
    def open_place(self) -> NodePlace | None:
        if self.open is None:
            return None
        return after(NodePlace(0, 0, self.frontier.messages, self.frontier.tail), self.open)

    @property
    def state(self) -> str:
        """`x-memtree-state` of an answer made with it."""
        if self.trouble:
            return f"degraded:{self.trouble}"
        if self.by_words:
            return "degraded:embedder"
        if self.lacking > PROVISIONAL_SHARE * max(1, self.frontier.tokens):
            return "provisional"
        return "packed"

    def told(self, answer: Answer) -> Answer:
        """The answer with the numbers of the index."""
        return replace(
            answer,
            indexed_tokens=self.frontier.tokens,
            indexed_messages=self.frontier.messages,
            pending_tokens=self.lacking + self.owed,
        )


def with_summary(node: Node, summary: Summary | None) -> Node:
    return msgspec.structs.replace(node, summary=summary) if summary else node
