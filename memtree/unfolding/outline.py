"""The part of the tree that an answer shows: a path of summaries, siblings as headlines.

Greedy from the top: a node opens into its children while the budget lasts, the best descendant
first; opened siblings stay headlines.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from memtree.conversation.history import History
from memtree.ranking.ranked_history import RankedHistory
from memtree.text import tokens
from memtree.tree.node import Node, NodePlace, after
from memtree.unfolding.plan import OutlineNode, SummaryTree, outline_line

SPARE = 6  # tokens; with less left nothing more is opened


def outline(
    ranked: RankedHistory, tree: SummaryTree, fused: NDArray[np.float32], cut: int, budget: int
) -> Iterator[OutlineNode]:
    """Lines in reading order that cost at most `budget` tokens. `fused`: the score of each passage,
    0 where it does not count."""
    leaf_scores = np.zeros(len(ranked.corpus.leaves) + 1, np.float32)
    np.maximum.at(leaf_scores, ranked.corpus.leaf, fused)
    return _OpenedTree(ranked.history, tree, leaf_scores, cut).open(budget)


@dataclass(slots=True)
class _Branch:
    node: Node
    place: NodePlace
    depth: int
    leaf: int  # index of its first leaf
    score: float
    shown: bool = False
    body: bool = False
    children: list[_Branch] = field(default_factory=list)


class _OpenedTree:
    """The part of the tree that is looked at; children are made when a node opens."""

    def __init__(
        self, history: History, tree: SummaryTree, leaf_scores: NDArray[np.float32], cut: int
    ) -> None:
        self._history, self._nodes, self._scores = history, tree.nodes, leaf_scores
        self._cut = cut
        self._leaves: dict[bytes, int] = {}
        self._tops = self._branches(tree.roots, None, 0, 0)

    def open(self, budget: int) -> Iterator[OutlineNode]:
        left = self._show(sorted(self._tops, key=lambda b: (-b.node.level, -b.score)), budget)
        heap = [(-b.score, i, b) for i, b in enumerate(self._tops) if b.shown]
        heapq.heapify(heap)
        tick = len(heap)
        while heap and left > SPARE:
            _, _, branch = heapq.heappop(heap)
            cost = self._body_cost(branch)
            if cost > left:
                continue
            branch.body = True
            left -= cost
            if branch.node.is_leaf:
                continue
            outer = NodePlace(0, 0, branch.place.first, branch.place.start)
            branch.children = self._branches(
                branch.node.children, outer, branch.depth + 1, branch.leaf
            )
            left = self._show(sorted(branch.children, key=lambda b: -b.score), left)
            for child in branch.children:
                if child.shown:
                    tick += 1
                    heapq.heappush(heap, (-child.score, tick, child))
        for top in self._tops:
            yield from _lines(top)

    def _show(self, branches: Sequence[_Branch], left: int) -> int:
        """Give branches their headline while the budget lasts; returns what is left."""
        for branch in branches:
            shown = OutlineNode(
                branch.node.id, branch.node.summary.version, branch.depth, branch.place, False
            )
            cost = tokens.count(outline_line(shown, branch.node, self._history)) + 1
            if cost <= left:
                branch.shown = True
                left -= cost
        return left

    def _body_cost(self, branch: _Branch) -> int:
        return tokens.count(branch.node.summary.shown) + 1

    def _branches(
        self, ids: Sequence[bytes], before: NodePlace | None, depth: int, leaf: int
    ) -> list[_Branch]:
        """Branches of consecutive nodes that begin where `before` ends."""
        place = before
        branches = []
        for id_ in ids:
            node = self._nodes[id_]
            place = after(place, node)
            leaves = self._leaf_count(id_)
            score = float(self._scores[leaf : leaf + leaves].max(initial=0.0))
            if place.last < self._cut:
                branches.append(_Branch(node, place, depth, leaf, score))
            elif not node.is_leaf:  # straddles the cut: its children before the cut stand for it
                outer = NodePlace(0, 0, place.first, place.start)
                branches += self._branches(node.children, outer, depth, leaf)
            leaf += leaves
        return branches

    def _leaf_count(self, id_: bytes) -> int:
        count = self._leaves.get(id_)
        if count is None:
            node = self._nodes[id_]
            count = 1 if node.is_leaf else sum(self._leaf_count(child) for child in node.children)
            self._leaves[id_] = count
        return count


def _lines(branch: _Branch) -> Iterator[OutlineNode]:
    if branch.shown:
        yield OutlineNode(
            branch.node.id, branch.node.summary.version, branch.depth, branch.place, branch.body
        )
    for child in branch.children:
        yield from _lines(child)
