"""Extraction made anew for stored nodes whose summaries an older version of it made.

Leaves first, from the spans of their passages in the posted text; then parents, from their
children's. Neither ids nor borders change, so vectors and a model's summaries stay what they are.

    >>> newest_version() < 0
    True
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from memtree.extraction.summarize import VERSION
from memtree.tree.btree import walk
from memtree.tree.growth import MessageTexts, leaf_extract, summarise
from memtree.tree.node import Frontier, Node, NodePlace, Summary

_BELOW = 1_000  # version 0 is in the node itself, a model's count up from 1


def newest_version() -> int:
    """The version of a summary that today's extraction made anew: below 0, and greater than those
    of extractions before it."""
    return VERSION - _BELOW


def is_outdated(summary: Summary) -> bool:
    """Return True if an older extraction made it. A model's summary is not extraction."""
    return summary.version <= 0 and summary.extraction < VERSION


def outdated(nodes: Iterable[Node]) -> list[bytes]:
    return [node.id for node in nodes if is_outdated(node.summary)]


def in_pieces(
    frontier: Frontier, nodes: Mapping[bytes, Node], wanted: set[bytes], size: int
) -> Iterator[list[tuple[Node, NodePlace]]]:
    """The wanted nodes of a tree with their places, up to `size` at once: leaves in reading order,
    then each level above, so that children come before their parents."""
    placed = [pair for pair in walk(frontier.nodes, nodes) if pair[0].id in wanted]
    placed.sort(key=lambda pair: pair[0].level)  # stable: within a level the order stays
    for at in range(0, len(placed), size):
        yield placed[at : at + size]


def renewed(
    piece: Sequence[tuple[Node, NodePlace]],
    nodes: Mapping[bytes, Node],
    known: Mapping[bytes, Summary],
    texts: MessageTexts,
) -> dict[bytes, Summary]:
    """Summaries of these nodes as extraction makes them today. `known`: those of nodes below them
    that were made anew before."""
    made: dict[bytes, Summary] = {}
    for node, place in piece:
        if node.is_leaf:
            extract = leaf_extract(node.passages, place.first, texts)
            summary = msgspec.structs.replace(extract.summary, rules=extract.rules)
        else:
            below = [made.get(id_) or known.get(id_) or nodes[id_].summary for id_ in node.children]
            summary = summarise(below, node.level)
        made[node.id] = msgspec.structs.replace(summary, version=newest_version())
    return made
