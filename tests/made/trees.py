"""Check whether a tree is sound, and where its nodes stand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from memtree.history import address_chain
from memtree.tree.btree import SEAL_AT
from memtree.tree.node import MAX_CHILDREN, MIN_CHILDREN, Frontier, Node, NodePlace, after


def tree_problems(frontier: Frontier, nodes: Mapping[bytes, Node]) -> list[str]:
    """Everything that is wrong with a tree, one line each; empty when it is sound."""
    missing = [id_.hex() for id_ in frontier.nodes if id_ not in nodes]
    if missing:
        return [f"frontier names unknown node {one}" for one in missing]
    tops = [nodes[id_] for id_ in frontier.nodes]
    problems = []
    if any(one.level < other.level for one, other in pairwise(tops)):
        problems.append("frontier: a node stands left of a higher one")
    problems += _sums("frontier", frontier, tops)
    for level in {node.level for node in tops}:
        if (loose := sum(node.level == level for node in tops)) >= SEAL_AT:
            problems.append(f"frontier: {loose} nodes of level {level} wait for a parent")
    seen: set[bytes] = set()
    for id_ in frontier.nodes:
        problems += _check_node(id_, nodes, seen)
    return problems


def _check_node(id_: bytes, nodes: Mapping[bytes, Node], seen: set[bytes]) -> list[str]:
    if id_ in seen:
        return []
    seen.add(id_)
    node, name = nodes[id_], f"node {id_.hex()}"
    if node.is_leaf:
        return _check_leaf(node)
    problems = [f"{name}: child {c.hex()} is unknown" for c in node.children if c not in nodes]
    if problems:
        return problems
    problems = _check_parent(node, [nodes[child] for child in node.children])
    for child in node.children:
        problems += _check_node(child, nodes, seen)
    return problems


def _check_parent(node: Node, children: Sequence[Node]) -> list[str]:
    """Return what is wrong between a node and its children."""
    name = f"node {node.id.hex()}"
    problems = _sums(name, node, children)
    if not MIN_CHILDREN <= len(children) <= MAX_CHILDREN:
        problems.append(f"{name}: {len(children)} children")
    if any(child.level != node.level - 1 for child in children):
        problems.append(f"{name}: a child is not of level {node.level - 1}")
    if node.id != address_chain.node_id("node", node.level, [child.id for child in children]):
        problems.append(f"{name}: its id is not the hash of its children")
    return problems


def _check_leaf(leaf: Node) -> list[str]:
    """Return what is wrong inside a leaf: its passages must follow each other."""
    name = f"leaf {leaf.id.hex()}"
    problems = []
    if not leaf.passages:
        return [f"{name}: no passages"]
    if len(leaf.terms.ends) != len(leaf.passages):
        problems.append(
            f"{name}: statistics of {len(leaf.terms.ends)} passages, not {len(leaf.passages)}"
        )
    if sum(passage.tokens for passage in leaf.passages) != leaf.tokens:
        problems.append(f"{name}: passages do not add up to its tokens")
    for one, other in pairwise(leaf.passages):
        if other.message == one.message and other.start != one.end:
            problems.append(f"{name}: a gap at character {one.end}")
        if other.message < one.message or (other.message > one.message and other.start):
            problems.append(f"{name}: passages out of order")
    return problems


def _sums(name: str, whole: Node | Frontier, parts: Sequence[Node]) -> list[str]:
    problems = []
    if whole.messages != sum(part.messages for part in parts):
        problems.append(f"{name}: messages do not add up")
    if whole.tokens != sum(part.tokens for part in parts):
        problems.append(f"{name}: tokens do not add up")
    if parts and whole.tail != parts[-1].tail:
        problems.append(f"{name}: its end is not that of its last part")
    return problems


def places(nodes: Iterable[Node], start: NodePlace | None = None) -> list[NodePlace]:
    """Places of consecutive nodes, from the end of `start` or the history's start."""
    found: list[NodePlace] = []
    for node in nodes:
        start = after(start, node)
        found.append(start)
    return found
