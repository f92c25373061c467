"""Stage 1 of one long tail in several parallel runs: split it into stretches, join their results.

A stretch is grown as if a history began with it. Its leaf borders soon coincide with those of the
run before it (half of the time within 550 tokens, at 117 places of a coding session always within
6,000), so that run continues a little beyond its end. Where it ends at a border of the next
stretch, all leaves from there on are the same as if one run had made them, since a leaf depends on
nothing before it; only sealing is done again, mostly with nodes that the stretch has sealed
already.

    tail      |----------------------------------------------|
    first     |----------------------->|       ends at a border that both know
    second                       |-:--:--:-:---:---:--:--:---|

Alternatively it works in several steps one after the other (`in_steps`), so that sealed nodes are
available before the end: a leaf that is not final at the end of a step is then made again in the
next one.

It runs nothing in parallel itself (`background/child_process.py` does), and never guesses: if
borders do not coincide, the joined part ends there, and the rest is grown in one run.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain

from memtree.digests.clauses.clauses import read_lines
from memtree.tree import growth
from memtree.tree.btree import Spine
from memtree.tree.growth import GrownTree, Tail, summarise
from memtree.tree.node import EMPTY, Frontier, Node, NodePlace, after

OVERLAP = 40_000  # bytes of messages, some 8,000 tokens
STEP = 100_000  # bytes of messages: a twentieth of a second, some 50 leaves


@dataclass(frozen=True, slots=True)
class Stretch:
    """Messages [start, end) of a tail, counted from its first, as a separate tail."""

    start: int
    end: int
    tail: Tail


def split(tail: Tail, parts: int, overlap: int = OVERLAP) -> list[Stretch]:
    """Return up to `parts` stretches of about equal size, each extending `overlap` bytes into the
    next."""
    ends = list(accumulate(len(message) for message in tail.messages))
    starts = {bisect_left(ends, ends[-1] * part // parts) + 1 for part in range(1, parts)}
    begins = [0, *sorted(start for start in starts if start < len(ends))]
    stretches = []
    for start, following in zip(begins, [*begins[1:], None], strict=True):
        end = len(ends)
        if following is not None:
            end = min(end, bisect_left(ends, ends[following - 1] + overlap) + 1)
        stretches.append(Stretch(start, end, _part(tail, start, end)))
    return stretches


def _part(tail: Tail, start: int, end: int) -> Tail:
    first = tail if not start else replace(tail, frontier=EMPTY, loose={}, known=0)
    return replace(
        first,
        cut=None,
        messages=tail.messages[start:end],
        digests=tail.digests[start:end],
        addresses=tail.addresses[start:end],
    )


def join_next(
    tail: Tail, whole: GrownTree, end: int, stretch: Stretch, part: GrownTree
) -> GrownTree | None:
    """Join the result `part` for the next stretch to the tree of the first `end` messages; None if
    their borders do not coincide."""
    skip = _in_step(whole.frontier, tail.frontier.messages + stretch.start, part)
    return None if skip is None else _added(tail, whole, end, stretch, part, skip)


def in_steps(tail: Tail, size: int = STEP) -> Iterator[GrownTree]:
    """Yield the results of one run in steps of about `size` bytes: each contains what it adds to
    those before. Together (`concat`) they equal the whole."""
    lines = read_lines()
    while True:
        end = reach(tail, size)
        grown = growth.grow(first(tail, end), lines)
        yield grown
        if end == len(tail.messages):
            return
        tail = rest(tail, grown, end)


def reach(tail: Tail, size: int) -> int:
    """Return how many messages to grow at once, so that the steps have about equal sizes of at most
    `size` bytes beyond the known prefix, unless a message is longer."""
    known = max(0, tail.known - tail.frontier.messages)
    ends = list(accumulate(len(message) for message in tail.messages[known:]))
    if not ends:
        return len(tail.messages)
    steps = -(-ends[-1] // size) or 1
    return known + bisect_left(ends, ends[-1] / steps) + 1


def first(tail: Tail, end: int) -> Tail:
    """Return a tail of the first `end` messages."""
    return _part(tail, 0, end)


def rest(tail: Tail, grown: GrownTree, end: int) -> Tail:
    """Return the work left after the first `end` messages of the tail, whose result is `grown`."""
    at = grown.frontier.messages - tail.frontier.messages
    known = _known(tail, grown)
    return replace(
        tail,
        cut=None,
        frontier=grown.frontier,
        loose={id_: known[id_] for id_ in grown.frontier.nodes},
        messages=tail.messages[at:],
        digests=tail.digests[at:],
        addresses=tail.addresses[at:],
        known=max(tail.known, tail.frontier.messages + end),
    )


def rest_after(tail: Tail, grown: GrownTree) -> Tail:
    """Return the work left when a run was stopped after the result `grown`."""
    if not grown.frontiers:
        return tail
    newest = list(grown.frontiers)[-1]
    return rest(tail, grown, tail.addresses.index(newest) + 1)


def concat(parts: Sequence[GrownTree]) -> GrownTree:
    """Join the parts of a tree, each grown from the messages that the parts before it left. There
    must be at least one part."""
    frontiers: dict[bytes, Frontier] = {}
    for part in parts:
        frontiers.update(part.frontiers)
    return replace(
        parts[-1], nodes=tuple(chain(*(part.nodes for part in parts))), frontiers=frontiers
    )


def _known(tail: Tail, grown: GrownTree) -> dict[bytes, Node]:
    return {**tail.loose, **{node.id: node for node in grown.nodes}}


def _in_step(frontier: Frontier, start: int, part: GrownTree) -> int | None:
    """Return how many leaves of a stretch that begins with message `start` the frontier covers;
    None if it does not end at one of their borders."""
    border = (frontier.messages - start, frontier.tail)
    place = NodePlace(0, 0, 0, 0)
    for index, leaf in enumerate(_leaves(part)):
        if (place.end, place.tail) == border:
            return index
        place = after(place, leaf)
    return part.frontier.leaves if (place.end, place.tail) == border else None


def _added(
    tail: Tail, whole: GrownTree, end: int, stretch: Stretch, part: GrownTree, skip: int
) -> GrownTree:
    """Return the leaves of `part` after the first `skip`, on top of `whole`."""
    spine = Spine(whole.frontier, _known(tail, whole), {n.id: n for n in part.nodes if n.level})
    leaves = _leaves(part)
    made: list[Node] = []
    frontiers: dict[bytes, Frontier] = {}
    frontier = whole.frontier
    for _ in range(skip):
        next(leaves)
    for index in range(end, stretch.end):
        address = tail.addresses[index]
        final = part.frontiers.get(address, EMPTY).leaves  # as of this message
        if final > skip:
            for _ in range(final - skip):
                leaf = next(leaves)
                made += [leaf, *spine.append(leaf, summarise)]
            skip, frontier = final, spine.frontier()
        if frontier.nodes and tail.frontier.messages + index >= tail.known:
            frontiers[address] = frontier
    return GrownTree(tuple(made), frontiers, frontier, part.open, part.cut)


def _leaves(grown: GrownTree) -> Iterator[Node]:
    return (node for node in grown.nodes if node.is_leaf)
