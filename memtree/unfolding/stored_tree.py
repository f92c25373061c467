"""The tree of a conversation as the store knows it: summaries and places, no text.

Messages are told by their number among what was posted, as far as that is known: `first` is how
many were posted before the first one of the history. System messages further back, which the store
does not know of, are not counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from memtree.digests.topics import root_summary
from memtree.tree.btree import walk
from memtree.tree.node import Frontier, Node
from memtree.unfolding.explain import TreeNode, root_node, tree_node
from memtree.unfolding.plan import TextSpan


@dataclass(frozen=True, slots=True)
class StoredTree:
    """`rules`: places of standing requests; which of them still hold only the text tells. The
    messages of their spans are posted ones."""

    nodes: tuple[TreeNode, ...]
    roots: tuple[bytes, ...]
    rules: tuple[TextSpan, ...] = ()


def stored_tree(
    frontier: Frontier, nodes: Mapping[bytes, Node], first: int, messages: int
) -> StoredTree:
    """All nodes below a frontier, and one over them where there are several. `messages`: of the
    history, which may end behind the frontier. Raises `KeyError` where a node is missing."""
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


def title(tops: Sequence[bytes], nodes: Mapping[bytes, Node]) -> str:
    """The headline of the root: of the one node that is the whole, or made of those at the top.
    Empty where one of them is missing."""
    summaries = [nodes[id_].summary for id_ in tops if id_ in nodes]
    if not tops or len(summaries) < len(tops):
        return ""
    return summaries[0].headline if len(tops) == 1 else root_summary(summaries)
