"""The tree of a conversation as the store knows it: summaries and places, no text.

Messages are given by their index in the posted list, as far as it is known: `first` is the number
of messages posted before the first one of the history. Later system messages, which the store does
not know, are not counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from memtree.tree.btree import walk
from memtree.tree.node import Frontier, Node
from memtree.unfolding.explain import TreeNode, root_node, tree_node
from memtree.unfolding.memory_plan import TextSpan


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
