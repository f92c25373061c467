"""A warm conversation: what a process keeps of one that grows, shared by the trees of its turns.

A turn adds a few nodes to thousands. All trees of one growing conversation share one set of nodes,
one list of leaves and one corpus, and each tree knows how many of these are its own, so that a turn
costs only its new nodes. A branch that grows from an earlier turn makes a copy once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from memtree.ranking.corpus import Corpus
from memtree.tree.btree import walk
from memtree.tree.node import Frontier, Node, NodePlace, after, node_bytes

PLACE_BYTES = 200  # of a node in a tree, besides the node itself


@dataclass(slots=True, eq=False)
class Conversation:
    """Nodes and leaves are only ever added to. `counts`: leaves below each node. `nbytes`: of the
    nodes. `tops`: the top nodes of its trees that are kept, oldest first. `corpus`: the passages of
    its first leaves."""

    tenant: str
    nodes: dict[bytes, Node] = field(default_factory=dict)
    leaves: list[Node] = field(default_factory=list)
    places: list[NodePlace] = field(default_factory=list)
    counts: dict[bytes, int] = field(default_factory=dict)
    nbytes: int = 0
    corpus: Corpus | None = None
    tops: dict[tuple[bytes, ...], None] = field(default_factory=dict)

    def add(self, nodes: Sequence[Node]) -> None:
        """Add nodes: leaves in their order; inner nodes in any order, but their children must be
        stored or among them."""
        self.nbytes += sum(PLACE_BYTES + node_bytes(node) for node in nodes)
        for leaf in (node for node in nodes if node.is_leaf):
            self.nodes[leaf.id], self.counts[leaf.id] = leaf, 1
            self.leaves.append(leaf)
            self.places.append(after(self.places[-1] if self.places else None, leaf))
        for node in sorted(
            (node for node in nodes if not node.is_leaf), key=lambda node: node.level
        ):
            self.nodes[node.id] = node
            self.counts[node.id] = sum(self.counts[child] for child in node.children)

    def fits(self, frontier: Frontier, leaves: int, made: Sequence[Node]) -> bool:
        """Return True if the nodes `made`, on top of the first `leaves`, lead to that frontier with
        none missing."""
        new = [node for node in made if node.is_leaf]
        if leaves + len(new) != frontier.leaves:
            return False
        place = self.places[leaves - 1] if leaves else NodePlace(0, 0, 0, 0)
        for leaf in new:
            place = after(place, leaf)
        known = {node.id for node in made}
        children = (child for node in made for child in node.children)
        ends = (place.end, place.tail) == (frontier.messages, frontier.tail)
        return ends and all(child in known or child in self.counts for child in children)


class KnownTree(Mapping[bytes, Node]):
    """The nodes of one tree by id; `roots`: the top ones. A look-up may also return a node of a
    later tree of the same conversation: ids are hashes of the content, so it is the same node."""

    __slots__ = ("_nodes", "conversation", "leaves", "roots")

    def __init__(
        self, conversation: Conversation, roots: tuple[bytes, ...], nodes: int, leaves: int
    ) -> None:
        """`nodes`, `leaves`: how many of the conversation's belong to this tree, from the first
        on."""
        self.conversation, self.roots = conversation, roots
        self._nodes, self.leaves = nodes, leaves

    @classmethod
    def of(cls, tenant: str, frontier: Frontier, nodes: Mapping[bytes, Node]) -> KnownTree:
        """Build the tree below a frontier. Raises `KeyError` if a node is missing."""
        conversation = Conversation(tenant)
        conversation.add([node for node, _ in walk(frontier.nodes, nodes)])
        return cls._newest(conversation, frontier)

    @classmethod
    def _newest(cls, conversation: Conversation, frontier: Frontier) -> KnownTree:
        return cls(conversation, frontier.nodes, len(conversation.nodes), len(conversation.leaves))

    def grown(self, tenant: str, frontier: Frontier, made: Sequence[Node]) -> KnownTree:
        """Return the tree below a later frontier of the same conversation; `made`: its nodes that
        this tree lacks, and maybe more, in the order in which they were sealed."""
        if not made:
            return self
        # `made` began before the end of this tree
        if not self.conversation.fits(frontier, self.leaves, made):
            known = {**{id_: self[id_] for id_ in self}, **{node.id: node for node in made}}
            return KnownTree.of(tenant, frontier, known)
        # The empty tree is shared by everybody, so it is never added to.
        tree = self if self.is_newest and self.leaves else self.copied(tenant)
        tree.conversation.add(made)
        return self._newest(tree.conversation, frontier)

    @property
    def is_newest(self) -> bool:
        """Return True if no later tree shares its nodes."""
        shared = self.conversation
        return len(shared.nodes) == self._nodes and len(shared.leaves) == self.leaves

    @property
    def has_vectors(self) -> bool:
        """Return True if every passage of its corpus has its vector."""
        corpus = self.conversation.corpus
        return corpus is not None and corpus.final_leaves >= self.leaves and not corpus.lacking()

    @property
    def corpus_is_ahead(self) -> bool:
        """Return True if the corpus holds leaves of later trees, too."""
        corpus = self.conversation.corpus
        return corpus is not None and corpus.final_leaves > self.leaves

    def leaves_from(self, start: int) -> tuple[list[Node], list[NodePlace]]:
        """Return the leaves from the `start`-th on, and their places."""
        shared = self.conversation
        return shared.leaves[start : self.leaves], shared.places[start : self.leaves]

    def leaf_count(self, id_: bytes) -> int | None:
        """Return the number of leaves below a node; None if it is not known."""
        return self.conversation.counts.get(id_)

    def copied(self, tenant: str) -> KnownTree:
        """Return the same tree in a conversation of its own, without a corpus."""
        shared = self.conversation
        nodes = dict(islice(shared.nodes.items(), self._nodes))
        counts = {id_: shared.counts[id_] for id_ in nodes}
        size = sum(PLACE_BYTES + node_bytes(node) for node in nodes.values())
        leaves, places = self.leaves_from(0)
        own = Conversation(tenant, nodes, leaves, places, counts, size)
        return KnownTree(own, self.roots, self._nodes, self.leaves)

    def __getitem__(self, id_: bytes) -> Node:
        return self.conversation.nodes[id_]

    def __contains__(self, id_: object) -> bool:
        return id_ in self.conversation.nodes

    def __iter__(self) -> Iterator[bytes]:
        # A copy: another request may add nodes meanwhile.
        return iter(list(islice(self.conversation.nodes, self._nodes)))

    def __len__(self) -> int:
        return self._nodes


EMPTY_TREE = KnownTree(Conversation(""), (), 0, 0)


class NodeLayers(Mapping[bytes, Node]):
    """Several sets of nodes as one; if several hold a node, the first set wins."""

    __slots__ = ("_layers",)

    def __init__(self, *layers: Mapping[bytes, Node]) -> None:
        self._layers = layers

    def __getitem__(self, id_: bytes) -> Node:
        for layer in self._layers:
            if id_ in layer:
                return layer[id_]
        raise KeyError(id_)

    def __contains__(self, id_: object) -> bool:
        return any(id_ in layer for layer in self._layers)

    def __iter__(self) -> Iterator[bytes]:
        return iter(dict.fromkeys(id_ for layer in self._layers for id_ in layer))

    def __len__(self) -> int:
        return sum(1 for _ in self)
