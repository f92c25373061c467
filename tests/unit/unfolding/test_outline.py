"""Which nodes are opened for an overview."""

from __future__ import annotations

import numpy as np

from memtree.ranking.corpus import Corpus
from memtree.ranking.fusion import Ranking
from memtree.ranking.ranked_history import RankedHistory
from memtree.ranking.speakers import Speakers
from memtree.tree.node import Node, Summary
from memtree.unfolding.outline import OutlineTree
from memtree.unfolding.plan import SummaryTree
from memtree.unfolding.turns import Turns
from tests.unit.unfolding.histories import history

TURNS = Turns(Speakers(), (), 100.0)


def test_branches_of_one_score_are_opened_in_order():
    """The first tops have no room, and nothing tells the others from their children."""
    found = history(*(f"text {n}" for n in range(60)))
    nodes = {}
    roots = []
    for top in range(6):
        leaves = [
            Node(f"{top}{n}".encode() * 8, 0, 9, 2, 0, Summary(f"leaf {top} {n}", "body"))
            for n in range(4)
        ]
        said = "a long line of 7 " * 200 if top < 3 else f"top {top}"
        children = tuple(leaf.id for leaf in leaves)
        roots.append(
            Node(f"top{top}".encode() * 4, 1, 36, 8, 0, Summary(said, "body"), children=children)
        )
        nodes |= {node.id: node for node in (*leaves, roots[-1])}
    empty = np.zeros(0, np.float32)
    ranked = RankedHistory(found, Corpus(1), Ranking(empty, empty, None), frozenset())
    tree = OutlineTree(ranked, SummaryTree([root.id for root in roots], nodes), empty, 60, TURNS)
    tree.widen(300)
    shown = [nodes[line.id].summary.headline for line in tree.lines()]
    assert shown[:2] == ["top 3", "leaf 3 0"]
    assert "top 5" in shown
