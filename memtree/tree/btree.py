"""The persistent, append-only B-tree over leaves: append, seal, walk.

A *spine* is the state that an append needs: for each level the nodes that have no parent yet,
oldest first. When a level holds 13 of them, the oldest 4-12 become one node, cut at the weakest
link between neighbours; waiting for the 13th makes the decision independent of how many arrive at
once. A sealed node never changes, and its id is the hash of its children's, so branches and
sessions of one tenant share subtrees.

    level 2   N
    level 1   n n n n | n n            spine: [[l, l, l], [n, n], [N]]
    level 0   ........  .. .. | l l l  frontier, left to right: N n n l l l
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from memtree.history import address_chain
from memtree.text import terms
from memtree.tree.node import (
    EMPTY,
    MAX_CHILDREN,
    MIN_CHILDREN,
    Frontier,
    Node,
    NodePlace,
    Summary,
    after,
)

SEAL_AT = MAX_CHILDREN + 1

Summarise = Callable[[Sequence[Summary], int], Summary]


class Spine:
    """Nodes without a parent, by level; grows by `append`. `frontier()` is its stored form."""

    def __init__(
        self,
        frontier: Frontier = EMPTY,
        nodes: Mapping[bytes, Node] | None = None,
        sealed: Mapping[bytes, Node] | None = None,
    ) -> None:
        """`nodes` contains the frontier's own nodes. Raises `KeyError` if one is missing. `sealed`:
        nodes that were sealed before and are reused where they match.
        """
        self._sealed = sealed or {}
        self.levels: list[list[Node]] = [[]]
        self.leaves = frontier.leaves
        for id_ in frontier.nodes:
            node = (nodes or {})[id_]
            while len(self.levels) <= node.level:
                self.levels.append([])
            self.levels[node.level].append(node)

    def append(self, leaf: Node, summarise: Summarise) -> list[Node]:
        """Add a final leaf; returns the nodes that were sealed because of it."""
        self.levels[0].append(leaf)
        self.leaves += 1
        sealed: list[Node] = []
        level = 0
        while level < len(self.levels) and len(self.levels[level]) >= SEAL_AT:
            loose = self.levels[level]
            children = loose[: weakest_link(loose)]
            known = self._sealed.get(_parent_id(children)) if self._sealed else None
            parent = known or seal(children, summarise)
            del loose[: len(children)]
            if level + 1 == len(self.levels):
                self.levels.append([])
            self.levels[level + 1].append(parent)
            sealed.append(parent)
            level += 1
        return sealed

    def nodes(self) -> list[Node]:
        """Return the nodes from left to right, so the highest levels first."""
        return [node for level in reversed(self.levels) for node in level]

    def frontier(self) -> Frontier:
        nodes = self.nodes()
        return Frontier(
            nodes=tuple(node.id for node in nodes),
            levels=tuple(node.level for node in nodes),
            messages=sum(node.messages for node in nodes),
            tail=nodes[-1].tail if nodes else 0,
            leaves=self.leaves,
            tokens=sum(node.tokens for node in nodes),
        )


def weakest_link(nodes: Sequence[Node]) -> int:
    """Return how many of the oldest nodes to seal: 4-12, up to the pair that has least in common.
    Looks at the first 13 only. Of equal links the later one is chosen, so that nodes are full.
    """
    profiles = [terms.unprofile(node.profile) for node in nodes[:SEAL_AT]]
    sizes = range(MIN_CHILDREN, min(MAX_CHILDREN, len(nodes) - 1) + 1)
    return min(
        sizes, key=lambda size: (terms.similarity(profiles[size - 1], profiles[size]), -size)
    )


def _parent_id(children: Sequence[Node]) -> bytes:
    return address_chain.node_id("node", children[0].level + 1, [child.id for child in children])


def seal(children: Sequence[Node], summarise: Summarise) -> Node:
    """Make one node over consecutive children of one level."""
    level = children[0].level + 1
    merged = terms.merge(terms.unprofile(child.profile) for child in children)
    return Node(
        id=_parent_id(children),
        level=level,
        tokens=sum(child.tokens for child in children),
        messages=sum(child.messages for child in children),
        tail=children[-1].tail,
        summary=summarise([child.summary for child in children], level),
        profile=terms.profile(merged),
        children=tuple(child.id for child in children),
    )


def walk(
    roots: Iterable[bytes], nodes: Mapping[bytes, Node], start: NodePlace | None = None
) -> Iterator[tuple[Node, NodePlace]]:
    """Yield nodes and their places in reading order, parents before children. Raises `KeyError` if
    a node is missing.
    """
    place = start
    for id_ in roots:
        node = nodes[id_]
        place = after(place, node)
        yield node, place
        yield from walk(node.children, nodes, NodePlace(0, 0, place.first, place.start))
