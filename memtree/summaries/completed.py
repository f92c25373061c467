"""Remember which nodes have a model's summary, and find those of a tree that still lack one.

A cache of the process, so that a warm turn need not ask the store: bounded, least recently used
first out; what is not in it is asked again. A node gets its summary after all its children, so the
tree below a completed node is complete, and a turn looks only at the topmost nodes.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence

from memtree.tree.node import Node, NodePlace, NodeWork, after

KEPT = 64_000  # nodes, some 200 bytes each: thirty histories of a million tokens


class CompletedSummaries:
    """Ids of completed nodes by tenant."""

    def __init__(self, kept: int = KEPT) -> None:
        self._kept = kept
        self._ids: OrderedDict[tuple[str, bytes], None] = OrderedDict()

    def add(self, tenant: str, ids: Iterable[bytes]) -> None:
        for id_ in ids:
            self._ids[tenant, id_] = None
            self._ids.move_to_end((tenant, id_))
        while len(self._ids) > self._kept:
            self._ids.popitem(last=False)

    def discard(self, tenant: str, ids: Iterable[bytes]) -> None:
        for id_ in ids:
            self._ids.pop((tenant, id_), None)

    def forget(self, tenant: str) -> None:
        for key in [key for key in self._ids if key[0] == tenant]:
            del self._ids[key]

    def forget_all(self) -> None:
        self._ids.clear()

    def lacking(
        self, tenant: str, roots: Sequence[bytes], nodes: Mapping[bytes, Node]
    ) -> list[Node]:
        """The nodes of a tree that are not known to be complete, in no order. It runs in every
        turn: half a microsecond a node. Raises `KeyError` where a node is missing."""
        known, missing = self._ids, []
        waiting = list(roots)
        while waiting:
            id_ = waiting.pop()
            if (tenant, id_) in known:
                known.move_to_end((tenant, id_))
                continue
            node = nodes[id_]
            missing.append(node)
            waiting += node.children
        return missing

    def work(
        self, tenant: str, roots: Sequence[bytes], nodes: Mapping[bytes, Node]
    ) -> list[NodeWork]:
        """Return these nodes with their places, in reading order, parents before children."""
        lacking: list[NodeWork] = []
        waiting = _placed(roots, None, nodes)
        while waiting:
            node = waiting.pop()
            if (tenant, node.id) in self._ids:
                continue
            lacking.append(node)
            start = NodePlace(0, 0, node.place.first, node.place.start)
            waiting += _placed(node.node.children, start, nodes)
        return lacking


def _placed(
    ids: Sequence[bytes], place: NodePlace | None, nodes: Mapping[bytes, Node]
) -> list[NodeWork]:
    """Consecutive nodes, the last one first: the order of a stack."""
    placed = []
    for id_ in ids:
        place = after(place, nodes[id_])
        placed.append(NodeWork(nodes[id_], place))
    return placed[::-1]
