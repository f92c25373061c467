"""Work of stages 2 and 3 on a node: the values in queues."""

from __future__ import annotations

from dataclasses import dataclass

from memtree.tree.node import Node, NodePlace


@dataclass(frozen=True, slots=True)
class LeafWork:
    """A leaf that lacks vectors, and the place of its first message in the history."""

    leaf: Node
    first: int

    @property
    def id(self) -> bytes:
        return self.leaf.id

    @property
    def tokens(self) -> int:
        return self.leaf.tokens


NOTE = 90  # tokens of a child's summary in its parent's prompt


def to_read(node: Node) -> int:
    """Return the tokens that a model must read to summarise a node: its text, or its children's
    summaries."""
    return NOTE * len(node.children) if node.children else node.tokens


@dataclass(frozen=True, slots=True)
class NodeWork:
    """A sealed node that lacks a model's summary, and its place in the history."""

    node: Node
    place: NodePlace

    @property
    def id(self) -> bytes:
        return self.node.id

    @property
    def tokens(self) -> int:
        return to_read(self.node)
