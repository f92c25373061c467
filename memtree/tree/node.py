"""Define the parts of the tree: passages, leaves, nodes, frontiers.

Beside them stand their stored form and size in memory, and the work on nodes that queues hold.

None of these values holds message text beyond the capped extracts of a `Summary`. A position in a
history is relative everywhere, so equal content has equal nodes wherever it stands.

None refers back to its container, so they are excluded from garbage collection (`gc=False`): a
million tokens are 40,000 such values, and a full collection stops every request of the process.

    history text   |-- leaf --|------ leaf ------|-- leaf --|  not yet final ...
    passages       |--|-|-----|---|---|----------|--|-------|
    nodes          [        node (4-12 leaves)           ]
"""

from __future__ import annotations

from dataclasses import dataclass
from sys import getsizeof
from typing import NamedTuple

import msgspec

from memtree.text.terms import Terms


@dataclass(frozen=True, slots=True)
class LeafWork:
    """A leaf that lacks vectors, and the place of its first message in the history."""

    leaf: Node
    first: int

    @property
    def id(self) -> bytes:
        return self.leaf.id

    @property
    def tokens(self) -> int:
        return self.leaf.tokens


NOTE = 90  # tokens of a child's summary in its parent's prompt


def to_read(node: Node) -> int:
    """Return the tokens that a model must read to summarise a node: its text, or its children's
    summaries."""
    return NOTE * len(node.children) if node.children else node.tokens


@dataclass(frozen=True, slots=True)
class NodeWork:
    """A sealed node that lacks a model's summary, and its place in the history."""

    node: Node
    place: NodePlace

    @property
    def id(self) -> bytes:
        return self.node.id

    @property
    def tokens(self) -> int:
        return to_read(self.node)


USER, ASSISTANT, TOOL, CALL, CODE = range(5)  # kinds of passage
KIND_NAMES = ("user", "assistant", "tool", "call", "code")
_SOURCE_KINDS = {CODE: "code", CALL: "call", TOOL: "result"}
MIN_CHILDREN, MAX_CHILDREN = 4, 12  # of an inner node: DESIGN section 1, "node"


def source_kind(kind: int) -> str:
    """Return the name of a passage's kind in summaries.

    >>> [source_kind(kind) for kind in (USER, ASSISTANT, TOOL, CALL, CODE)]
    ['text', 'text', 'result', 'call', 'code']
    """
    return _SOURCE_KINDS.get(kind, "text")


SKETCHED = -1
SKETCH = -2_000  # the versions of sketches with words; renewed extractions are above


class Summary(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Headline (<= 18 tokens), body (capped by level) and anchors of one node.

    Version 0 is extraction: it can be computed again from the posted text. A later version is a
    model's: `by` names the model's recipe, and `cost` the (input, output) tokens that it took,
    rejected attempts with it. `extracted`: the extraction's body, if both are to be shown.
    `extraction`: the version of the extraction that made it (`digests.summarize.VERSION`), 0 if
    none did. A renewed extraction of a stored node has a `version` below 0, a later one a greater
    number: version 0 stays in the node, and a model's is newer than any of them. A sketch stands
    for a version 0 that is still to be made: its `extraction` is `SKETCHED`, and its version, if it
    has words, below that of all others (`SKETCH`).

    `rules`: for a stored leaf with a renewed summary, its standing rules by the present extraction
    (`Node.rules`); None for all others.

    `settled`: all of the model's summaries for the node were rejected, so no further call is made;
    headline and body are the extraction's.
    """

    headline: str
    body: str
    anchors: tuple[str, ...] = ()
    version: int = 0
    by: str = ""
    cost: tuple[int, int] = (0, 0)
    extracted: str = ""
    settled: bool = False
    extraction: int = 0
    rules: tuple[tuple[int, int, int], ...] | None = None

    @property
    def by_model(self) -> bool:
        return self.version > 0 and not self.settled

    @property
    def shown(self) -> str:
        """Return the body as an outline shows it."""
        return f"{self.body} {self.extracted}" if self.extracted else self.body


class Passage(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A run of one message's view text: the unit of ranking and of excerpts.

    `message` counts from the leaf's first message; `start`, `end` are characters of that
    message's view; `kind` is USER, ASSISTANT, TOOL, CALL or CODE.
    """

    message: int
    start: int
    end: int
    tokens: int
    kind: int


class Node(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A leaf (level 0: `passages`, `terms`) or a node over 4-12 children (`children`). `messages`:
    message ends that lie inside. `tail`: covered characters of the following message, 0 at a
    message boundary. `profile`: its most frequent terms, packed as `Terms` are, for the strength of
    links between neighbours.
    """

    id: bytes
    level: int
    tokens: int
    messages: int
    tail: int
    summary: Summary
    profile: tuple[bytes, bytes] = (b"", b"")
    children: tuple[bytes, ...] = ()
    passages: tuple[Passage, ...] = ()
    terms: Terms = Terms()
    rules: tuple[tuple[int, int, int], ...] = ()  # (message, start, end) of standing rules

    @property
    def is_leaf(self) -> bool:
        return self.level == 0


class Frontier(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The nodes that cover a prefix, left to right: what an address points to.

    They cover `messages` whole messages and `tail` characters of the next one's view.
    """

    nodes: tuple[bytes, ...] = ()
    levels: tuple[int, ...] = ()
    messages: int = 0
    tail: int = 0
    leaves: int = 0
    tokens: int = 0


EMPTY = Frontier()


class NodePlace(NamedTuple):
    """Place of a node in one history: it begins at character `start` of message `first` and ends
    before (`end`, `tail`): `end` whole messages from the beginning, plus `tail` characters of the
    next."""

    first: int
    start: int
    end: int
    tail: int

    @property
    def last(self) -> int:
        """Return the last message that it overlaps."""
        return self.end if self.tail else self.end - 1


_node_encoder = msgspec.msgpack.Encoder()
_node_decoder = msgspec.msgpack.Decoder(Node)
_frontier_decoder = msgspec.msgpack.Decoder(Frontier)


def encode(value: Node | Frontier) -> bytes:
    return _node_encoder.encode(value)


def decode_node(data: bytes) -> Node:
    """Decode a node. Raises `msgspec.DecodeError` if the bytes are not a node."""
    return _node_decoder.decode(data)


def decode_frontier(data: bytes) -> Frontier:
    return _frontier_decoder.decode(data)


def after(place: NodePlace | None, node: Node) -> NodePlace:
    """Return the place of `node` if it follows `place` (None: the history's start)."""
    first, start = (place.end, place.tail) if place else (0, 0)
    return NodePlace(first, start, first + node.messages, node.tail)


NODE_BYTES = 800  # a leaf or node with an empty summary
CHILD_BYTES, PASSAGE_BYTES, END_BYTES = 65, 105, 36


def node_bytes(node: Node) -> int:
    """Estimate the bytes that a node takes in memory. The same node always gives the same
    number."""
    summary, terms = node.summary, node.terms
    texts = (summary.headline, summary.body, summary.extracted, *summary.anchors)
    return (
        NODE_BYTES
        + sum(map(getsizeof, texts))
        + CHILD_BYTES * len(node.children)
        + PASSAGE_BYTES * (len(node.passages) + len(node.rules))
        + len(terms.hashes)
        + len(terms.counts)
        + END_BYTES * len(terms.ends)
    )
