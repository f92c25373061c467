"""Check which nodes are opened for an overview."""

from __future__ import annotations

import msgspec
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


def leaf(name, said, messages, tail=0):
    return Node(name.encode() * 8, 0, 9, messages, tail, Summary(said, "body"))


def widened(found, roots, nodes):
    empty = np.zeros(0, np.float32)
    ranked = RankedHistory(found, Corpus(1), Ranking(empty, empty, None), frozenset())
    tree = SummaryTree([root.id for root in roots], {node.id: node for node in nodes})
    outline = OutlineTree(ranked, tree, empty, len(found), TURNS)
    outline.widen(500)
    names = {node.id: node.summary.headline for node in nodes}
    return ["" if line.bare else names[line.id] for line in outline.lines()]


def test_a_file_that_was_read_is_one_line():
    """The line above tells of the reading, and so does the first part of a message."""
    found = history(*(f"text {n}" for n in range(9)))
    parts = [
        leaf("p1", "lines 1-30 of a.py (Cart)", 0, 50),
        leaf("p2", "lines 31-60 of a.py (Price)", 0, 90),
        leaf("p3", "fix the rounding of Price", 3),
    ]
    above = Node(b"above" * 3, 1, 9, 3, 0, Summary("read shop/a.py", "body"))
    above = msgspec.structs.replace(above, children=tuple(part.id for part in parts))
    assert widened(found, [above], [above, *parts]) == ["read shop/a.py", parts[2].summary.headline]
    alone = widened(found, parts, parts)
    assert alone == [parts[0].summary.headline, parts[2].summary.headline]


def test_a_line_does_not_repeat_the_one_above():
    found = history(*(f"text {n}" for n in range(9)))
    said = "read 8 files in parts/, last p039.txt"
    leaves = [leaf("l1", said, 2), leaf("l2", "add a test for Lexer", 2)]
    above = Node(b"above" * 3, 1, 9, 4, 0, Summary(said, "body"))
    above = msgspec.structs.replace(above, children=tuple(each.id for each in leaves))
    assert widened(found, [above], [above, *leaves]) == [said, "add a test for Lexer"]
