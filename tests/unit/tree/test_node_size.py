"""Check what a node takes in memory, estimated within a third."""

from __future__ import annotations

import pytest

from memtree.tree.node import node_bytes
from tests.made.real_sizes import real_size
from tests.properties.strategies import batch, conversation, history_of


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_leaves_and_inner_nodes(seed: int) -> None:
    nodes = batch(history_of(conversation(seed, 30_000))).nodes
    for some in ([n for n in nodes if n.is_leaf], [n for n in nodes if not n.is_leaf]):
        assert len(some) > 2
        estimated = sum(map(node_bytes, some))
        assert 0.67 < estimated / real_size(list(some)) < 1.5
