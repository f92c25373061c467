"""Memory size of a decoded node, for caches that are bounded in bytes."""

from __future__ import annotations

from sys import getsizeof

from memtree.tree.node import Node

NODE_BYTES = 800  # a leaf or node with an empty summary
CHILD_BYTES, PASSAGE_BYTES, END_BYTES = 65, 105, 36


def node_bytes(node: Node) -> int:
    """Estimate the bytes that a node takes in memory. The same node always gives the same
    number."""
    summary, terms = node.summary, node.terms
    texts = (summary.headline, summary.body, summary.extracted, *summary.anchors)
    return (
        NODE_BYTES
        + sum(map(getsizeof, texts))
        + CHILD_BYTES * len(node.children)
        + PASSAGE_BYTES * (len(node.passages) + len(node.rules))
        + len(terms.hashes)
        + len(terms.counts)
        + END_BYTES * len(terms.ends)
    )
