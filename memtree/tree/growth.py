"""Grow the tree, stage 1 of indexing: chunk, extract, seal. Text alone, no model, no I/O.

`grow` takes the frontier of a prefix and the messages that follow it, and returns the nodes that
become final and, for every message, the frontier of the prefix that ends with it. Growing message
by message gives the same nodes and frontiers as growing at once: a leaf joins the frontier of an
address only when the text of *that* prefix makes it final.

One long tail can be grown in several parallel runs: it is split into stretches, whose results are
joined. A stretch is grown as if a history began with it. Its leaf borders soon coincide with those
of the run before it (half of the time within 550 tokens, at 117 places of a coding session always
within 6,000), so that run continues a little beyond its end. Where it ends at a border of the next
stretch, all leaves from there on are the same as if one run had made them, since a leaf depends on
nothing before it; only sealing is done again, mostly with nodes that the stretch has sealed
already. If borders do not coincide, the joined part ends there, and the rest is grown in one run:
nothing is guessed. The parallel runs themselves are started in `jobs/child_process.py`.

    tail      |----------------------------------------------|
    first     |----------------------->|       ends at a border that both know
    second                       |-:--:--:-:---:---:--:--:---|

A tail can also be grown in several steps one after the other (`in_steps`), so that sealed nodes are
available before the end: a leaf that is not final at the end of a step is then made again in the
next one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate, chain
from typing import NamedTuple

import msgspec

from memtree.digests.clauses import read_lines
from memtree.digests.line_judgements import ReadLines
from memtree.history import address_chain as address
from memtree.history.message import Message, View, Volatile
from memtree.text import terms
from memtree.tree import chunking, extraction
from memtree.tree.btree import Spine
from memtree.tree.chunking import Block
from memtree.tree.node import EMPTY, Frontier, Node, NodePlace, Passage, after

SAMPLE = 5  # leaves, of which one has its summary at once in a sparse tail


class OpenBlocks(NamedTuple):
    """An open leaf and the borders before its blocks: on top of the same frontier, further messages
    leave these blocks unchanged."""

    leaf: Node
    borders: bytes


@dataclass(frozen=True, slots=True)
class Tail:
    """Messages from `frontier.messages` on, as plain values that cross a process border.

    `addresses[i]` is the address of the prefix that ends with messages[i]. `known`: the length of
    the prefix whose frontier this is. It may reach beyond `frontier.messages`, because the last
    messages of a prefix only make earlier leaves final; shorter prefixes have another frontier.
    `cut`: blocks of the first of these messages, which are not cut again. `sparse`: one leaf in
    `SAMPLE` gets its summary, since making them takes most of the time of a long tail, and the
    others are made later (`summaries_of`).
    """

    frontier: Frontier
    loose: Mapping[bytes, Node]
    messages: tuple[bytes, ...]
    digests: tuple[bytes, ...]
    addresses: tuple[bytes, ...]
    volatile: tuple[str, ...]
    known: int = 0
    cut: OpenBlocks | None = None
    sparse: bool = False


@dataclass(frozen=True, slots=True)
class GrownTree:
    """Tree after stage 1. `open`: the part that is not final yet as one leaf (None: there is none),
    with only the fields that ranking needs: see `extracted`. `cut`: the blocks of that leaf, for
    the next run (`Tail`); None if they are unknown."""

    nodes: tuple[Node, ...] = ()
    frontiers: Mapping[bytes, Frontier] = ()  # type: ignore[assignment]
    frontier: Frontier = EMPTY
    open: Node | None = None
    cut: OpenBlocks | None = None


def grow(tail: Tail, lines: ReadLines | None = None) -> GrownTree:
    """Grow the tree over the messages of a tail. `lines`: lines read in other messages of the same
    history."""
    first = tail.frontier.messages
    views = _Views(tail.messages, first, Volatile(tail.volatile))
    blocks = _blocks(tail, views)
    lines = lines or read_lines()
    makers = _Leaves(views, tail.digests, first, lines)
    summarised = partial(extraction.summarise, lines=lines)
    spine = Spine(tail.frontier, tail.loose)
    made: list[Node] = []
    changes: list[tuple[int, Frontier]] = []  # (message that made it final, frontier)
    end = 0
    for cut in chunking.cuts(blocks):
        following = blocks[cut.end] if cut.end < len(blocks) else None
        leaf = makers.leaf(blocks[cut.first : cut.end], following, sparse=tail.sparse)
        made += [leaf, *spine.append(leaf, summarised)]
        changes.append((blocks[cut.seen].message, spine.frontier()))
        end = cut.end
    rest = makers.open_leaf(blocks[end:]) if end < len(blocks) else None
    frontiers = dict(_by_address(tail, changes, first))
    last = changes[-1][1] if changes else tail.frontier
    return GrownTree(tuple(made), frontiers, last, rest, _cut(blocks[end:], rest, last))


def _blocks(tail: Tail, views: _Views) -> list[Block]:
    first = tail.frontier.messages
    end = first + len(tail.messages)
    if tail.cut is None:
        return chunking.blocks([views[at] for at in range(first, end)], first, tail.frontier.tail)
    old = chunking.blocks_of(*tail.cut, first)
    new = range(first + tail.cut.leaf.messages, end)
    return old + chunking.blocks([views[at] for at in new], new.start, 0)


def _cut(blocks: Sequence[Block], open_: Node | None, frontier: Frontier) -> OpenBlocks | None:
    """Return the open blocks; None for a leaf that begins within a message, since the text before
    it also determined its blocks."""
    if open_ is None or frontier.tail:
        return None
    borders = chunking.borders_of(blocks, open_)
    return OpenBlocks(open_, borders) if borders else None


class _Views:
    """The views of messages from `first` on, each created on access."""

    def __init__(self, raws: Sequence[bytes], first: int, volatile: Volatile) -> None:
        self._raws, self._first, self._volatile = raws, first, volatile
        self._made: dict[int, View] = {}

    def __getitem__(self, message: int) -> View:
        made = self._made.get(message)
        if made is None:
            made = Message(self._raws[message - self._first]).view(self._volatile)
            self._made[message] = made
        return made


def _by_address(
    tail: Tail, changes: Sequence[tuple[int, Frontier]], first: int
) -> Iterator[tuple[bytes, Frontier]]:
    current, upcoming = tail.frontier, iter([*changes, (1 << 62, EMPTY)])
    message, following = next(upcoming)
    for index, message_address in enumerate(tail.addresses, start=first):
        while message <= index:
            current = following
            message, following = next(upcoming)
        if current.nodes and index >= tail.known:
            yield message_address, current


class _Leaves:
    """Makes leaves from blocks."""

    def __init__(
        self,
        views: _Views,
        digests: Sequence[bytes],
        first: int,
        lines: ReadLines | None,
    ) -> None:
        self._texts = extraction.MessageTexts(views.__getitem__, lines)
        self._digests = digests
        self._first = first

    def leaf(
        self, blocks: Sequence[Block], following: Block | None, *, sparse: bool = False
    ) -> Node:
        """Make a final leaf. `sparse`: most have no summary; the others depend on nothing else."""
        leaf, first = self.open_leaf(blocks, following), blocks[0].message
        if sparse and leaf.id[0] % SAMPLE:
            rules = tuple(extraction.standing_rules(leaf.passages, first, self._texts))
            extract = extraction.LeafExtract(extraction.NOT_YET, rules)
        else:
            extract = extraction.leaf_extract(leaf.passages, first, self._texts)
        return msgspec.structs.replace(
            leaf,
            summary=extract.summary,
            rules=extract.rules,
            profile=terms.profile(terms.merge(block.terms for block in blocks)),
        )

    def open_leaf(self, blocks: Sequence[Block], following: Block | None = None) -> Node:
        """Make a leaf without summary, rules and profile."""
        base = blocks[0].message
        last = blocks[-1]
        whole = following is None or following.message > last.message
        passages = tuple(
            Passage(b.message - base, b.start, b.end, b.tokens, b.kind) for b in blocks
        )
        return Node(
            id=self._id(blocks, passages),
            level=0,
            tokens=sum(block.tokens for block in blocks),
            messages=last.message - base + (1 if whole else 0),
            tail=0 if whole else last.end,
            summary=extraction.NOT_EXTRACTED,
            passages=passages,
            terms=terms.pack(block.terms for block in blocks),
        )

    def _id(self, blocks: Sequence[Block], passages: Sequence[Passage]) -> bytes:
        """Hash the content of the leaf: for each message its digest and the span in it."""
        spans: dict[int, list[int]] = {}
        for block, passage in zip(blocks, passages, strict=True):
            spans.setdefault(block.message, [passage.start, passage.end])[1] = passage.end
        covered = [(self._digests[m - self._first], low, high) for m, (low, high) in spans.items()]
        return address.node_id("leaf", covered)


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
    if skip is None:
        return None
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
                made += [leaf, *spine.append(leaf, extraction.summarise)]
            skip, frontier = final, spine.frontier()
        if frontier.nodes and tail.frontier.messages + index >= tail.known:
            frontiers[address] = frontier
    return GrownTree(tuple(made), frontiers, frontier, part.open, part.cut)


def in_steps(tail: Tail, size: int = STEP) -> Iterator[GrownTree]:
    """Yield the results of one run in steps of about `size` bytes: each contains what it adds to
    those before. Together (`concat`) they equal the whole."""
    lines = read_lines()
    while True:
        end = reach(tail, size)
        grown = grow(first(tail, end), lines)
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


def _leaves(grown: GrownTree) -> Iterator[Node]:
    return (node for node in grown.nodes if node.is_leaf)
