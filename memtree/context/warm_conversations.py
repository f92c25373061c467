"""Keeps growing conversations warm, so that a request costs work only for its new messages.

A turn adds a few nodes to thousands. All trees of one growing conversation share one set of nodes,
one list of leaves and one corpus, and each tree knows how many of these are its own, so that a turn
costs only its new nodes. A branch that grows from an earlier turn makes a copy once.

A process keeps warm conversations between requests, and which histories were sent whole. No answer
depends on these caches: all of it can be read or built again from the store.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from memtree.digests.leaf_work import printed
from memtree.history.chat_history import History
from memtree.process.bounded import CacheLimits, TenantRows
from memtree.ranking.corpus import Corpus
from memtree.text.anchors import token_kind
from memtree.text.terms import is_common
from memtree.tree.btree import walk
from memtree.tree.node import SKETCHED, Frontier, Node, NodePlace, after, node_bytes
from memtree.unfolding.memory_text import line_topic

PLACE_BYTES = 200  # of a node in a tree, besides the node itself
TREES = 100  # most recent trees of one conversation
TREE_BYTES = 3_000  # size of one tree, without its nodes
CONVERSATION_BYTES = 1_000  # size of one conversation, without nodes, trees and corpus
PASSED_BYTES = 290  # a tenant with an address, and its place
INLINE_LEAVES = 50  # more new leaves than this are unpacked off the event loop
_Key = tuple[str, tuple[bytes, ...]]


@dataclass(slots=True, eq=False)
class Conversation:
    """Nodes and leaves that a process keeps of a growing conversation, shared by the trees of its
    turns. They are only ever added to. `counts`: leaves below each node. `sketches`: nodes that
    have only a sketch of their summary. `nbytes`: of the nodes.
    `tops`: the top nodes of its trees that are kept, oldest first. `corpus`: the passages of its
    first leaves."""

    tenant: str
    nodes: dict[bytes, Node] = field(default_factory=dict)
    leaves: list[Node] = field(default_factory=list)
    places: list[NodePlace] = field(default_factory=list)
    counts: dict[bytes, int] = field(default_factory=dict)
    sketches: set[bytes] = field(default_factory=set)
    nbytes: int = 0
    corpus: Corpus | None = None
    tops: dict[tuple[bytes, ...], None] = field(default_factory=dict)

    def add(self, nodes: Sequence[Node]) -> None:
        """Add nodes: leaves in their order; inner nodes in any order, but their children must be
        stored or among them."""
        self.nbytes += sum(PLACE_BYTES + node_bytes(node) for node in nodes)
        self.sketches.update(node.id for node in nodes if node.summary.extraction == SKETCHED)
        for leaf in (node for node in nodes if node.is_leaf):
            self.nodes[leaf.id], self.counts[leaf.id] = leaf, 1
            self.leaves.append(leaf)
            self.places.append(after(self.places[-1] if self.places else None, leaf))
        for node in sorted(
            (node for node in nodes if not node.is_leaf), key=lambda node: node.level
        ):
            self.nodes[node.id] = node
            self.counts[node.id] = sum(self.counts[child] for child in node.children)

    def complete(self, nodes: Mapping[bytes, Node]) -> None:
        """Put these nodes in the place of those that have only a sketch."""
        new = {id_: nodes[id_] for id_ in self.sketches & nodes.keys()}
        self.nbytes += sum(node_bytes(new[id_]) - node_bytes(self.nodes[id_]) for id_ in new)
        self.nodes |= new
        self.sketches -= new.keys()
        self.leaves = [new.get(leaf.id, leaf) for leaf in self.leaves]
        if self.corpus is not None:
            self.corpus = self.corpus.with_leaves(new)

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
        sketches = shared.sketches & nodes.keys()
        own = Conversation(tenant, nodes, leaves, places, counts, sketches, size)
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


class Conversations:
    """Warm conversations, and their trees by tenant and top nodes; the least recently used
    conversation goes first. One that is still in use lives until its request ends."""

    def __init__(self, most: int = CacheLimits.of().conversations) -> None:
        """`most`: bytes. 1,200 tokens of history take some 5 kB in nodes; a passage takes 300
        bytes, and 1,500 for each vector of 384 numbers."""
        self._most = most
        self._trees: dict[_Key, KnownTree] = {}
        self._sizes: OrderedDict[Conversation, int] = OrderedDict()
        self.nbytes = 0

    @property
    def tenants(self) -> set[str]:
        """Return the tenants with warm conversations."""
        return {conversation.tenant for conversation in self._sizes}

    def forget(self, tenant: str | None) -> None:
        """Drop a tenant's conversations; None: all tenants'."""
        for conversation in [each for each in self._sizes if tenant in (None, each.tenant)]:
            self._drop(conversation)

    def tree(self, tenant: str, frontier: Frontier) -> KnownTree | None:
        """Return the tree below a frontier; None if no conversation has all of its nodes."""
        if not frontier.nodes:
            return EMPTY_TREE
        tree = self._trees.get((tenant, frontier.nodes))
        if tree is not None:
            self._sizes.move_to_end(tree.conversation)
            return tree
        for conversation in reversed(self._sizes):
            nodes = conversation.nodes
            if conversation.tenant == tenant and all(id_ in nodes for id_ in frontier.nodes):
                tree = KnownTree.of(tenant, frontier, nodes)
                self._use(tree)
                return tree
        return None

    def nearest(self, tenant: str, frontier: Frontier) -> KnownTree:
        """Return the newest tree of a conversation that has some of the nodes of a frontier; the
        empty tree if there is none."""
        for conversation in reversed(self._sizes):
            nodes = conversation.nodes
            if conversation.tenant == tenant and any(id_ in nodes for id_ in frontier.nodes):
                trees = (self._trees[tenant, roots] for roots in reversed(conversation.tops))
                own = (tree for tree in trees if tree.conversation is conversation)
                return next((tree for tree in own if tree.is_newest), EMPTY_TREE)
        return EMPTY_TREE

    def grown(
        self, tenant: str, earlier: KnownTree, frontier: Frontier, made: Sequence[Node]
    ) -> KnownTree:
        """Return the tree below a frontier, into which an `earlier` one has grown by the nodes
        `made`. Raises `KeyError` if a node is missing."""
        tree = earlier.grown(tenant, frontier, made)
        if made and tree.leaves:
            self._use(tree)
        return tree

    async def corpus(self, tree: KnownTree, dimensions: int) -> Corpus:
        """Return the passages of exactly the leaves of a tree."""
        if not tree.leaves:
            return Corpus(dimensions)
        while True:
            own = self._own(tree)
            if own is None:
                own = tree.copied(tree.conversation.tenant)
                self._use(own)
            tree = own
            known = tree.conversation.corpus
            # One that was created before the dimensions were known has no vectors.
            fits = known if known is not None and known.dimensions == dimensions else None
            nodes, places = tree.leaves_from(fits.final_leaves if fits is not None else 0)
            if fits is not None and not nodes:
                return fits
            base = Corpus(dimensions) if fits is None else fits
            if len(nodes) > INLINE_LEAVES:
                grown = await asyncio.to_thread(base.extended, nodes, places)
            else:
                grown = base.extended(nodes, places)
            if tree.conversation.corpus is known:  # nobody was first
                self._keep(tree, grown)
                return grown

    async def with_vectors(
        self, tree: KnownTree, corpus: Corpus, packed: Mapping[bytes, bytes]
    ) -> Corpus:
        """Return the corpus of a tree with these vectors, by leaf id, and keep them."""
        home = self._own(tree) or tree
        known = home.conversation.corpus
        if known is not None and known.dimensions == corpus.dimensions:
            if len(packed) > INLINE_LEAVES and not known.has_vectors:
                made = await asyncio.to_thread(known.with_vectors, packed)
            else:
                made = known.with_vectors(packed)
            if home.conversation.corpus is known:  # nobody was first
                self._keep(home, made)
            if made.final_leaves == tree.leaves:
                return made
        return corpus.with_vectors(packed)

    def sketched_tokens(self, tenant: str) -> int:
        """Return the tokens of the tenant's leaves that have only a sketch of their summary."""
        return sum(
            conversation.nodes[id_].tokens
            for conversation in self._sizes
            if conversation.tenant == tenant
            for id_ in conversation.sketches
            if conversation.nodes[id_].is_leaf
        )

    def complete(self, tenant: str, nodes: Mapping[bytes, Node]) -> None:
        """Put these nodes in the place of those that have only a sketch of their summary."""
        for conversation in [each for each in self._sizes if each.tenant == tenant]:
            if not conversation.sketches.isdisjoint(nodes):
                conversation.complete(nodes)
                self._weigh(conversation)

    def keep_speakers(self, tree: KnownTree, corpus: Corpus) -> None:
        """Keep the speakers that were read for the corpus of a tree."""
        home = self._own(tree) or tree
        known = home.conversation.corpus
        if known is not None and len(known.speakers) < len(corpus.speakers):
            # some bytes, which the next growth counts
            home.conversation.corpus = known.with_speakers(corpus.speakers)

    def _own(self, tree: KnownTree) -> KnownTree | None:
        """Return the tree, in a conversation whose corpus holds no leaves of later turns; None if
        there is none."""
        if not tree.corpus_is_ahead:
            return tree
        known = self._trees.get((tree.conversation.tenant, tree.roots))
        return None if known is None or known.corpus_is_ahead else known

    def _keep(self, tree: KnownTree, corpus: Corpus) -> Corpus:
        tree.conversation.corpus = corpus
        self._weigh(tree.conversation)
        return corpus

    def _use(self, tree: KnownTree) -> None:
        conversation = tree.conversation
        conversation.tops[tree.roots] = None
        self._trees[conversation.tenant, tree.roots] = tree
        if len(conversation.tops) > TREES:
            self._drop_tree(conversation, next(iter(conversation.tops)))
        self._sizes.setdefault(conversation, 0)
        self._sizes.move_to_end(conversation)
        self._weigh(conversation)

    def _weigh(self, conversation: Conversation) -> None:
        if conversation not in self._sizes:  # it was dropped or forgotten meanwhile
            return
        size = CONVERSATION_BYTES + TREE_BYTES * len(conversation.tops)
        size += conversation.nbytes + (conversation.corpus.nbytes if conversation.corpus else 0)
        self.nbytes += size - self._sizes[conversation]
        self._sizes[conversation] = size
        while self.nbytes > self._most:
            self._drop(next(iter(self._sizes)))

    def _drop(self, conversation: Conversation) -> None:
        self.nbytes -= self._sizes.pop(conversation)
        for roots in list(conversation.tops):
            self._drop_tree(conversation, roots)

    def _drop_tree(self, conversation: Conversation, roots: tuple[bytes, ...]) -> None:
        del conversation.tops[roots]
        tree = self._trees.get((conversation.tenant, roots))
        if tree is not None and tree.conversation is conversation:
            del self._trees[conversation.tenant, roots]


class PassedHistories(TenantRows[bytes, bool]):
    """Addresses of histories that were sent whole, by tenant; oldest first out."""

    def __init__(self, most: int = CacheLimits.of().passed) -> None:
        """`most`: bytes."""
        super().__init__(most, lambda *_: PASSED_BYTES)

    def add(self, posted: History) -> None:
        """Remember that a history was sent whole."""
        self.put((posted.tenant, posted.addresses[-1]), True)

    def longest(self, posted: History) -> int:
        """Return the number of messages of the longest prefix that was sent whole; 0 if there is
        none."""
        lengths = range(len(posted), 0, -1)
        return next((i for i in lengths if (posted.tenant, posted.addresses[i]) in self), 0)


class TreeCaches(NamedTuple):
    """Caches of a process for trees."""

    conversations: Conversations
    passed: PassedHistories

    @classmethod
    def of(cls, limits: CacheLimits | None = None) -> TreeCaches:
        limits = limits or CacheLimits.of()
        return cls(Conversations(limits.conversations), PassedHistories(limits.passed))


def forget_words() -> None:
    """Empty the caches of the process that hold words and lines of posted text, of all tenants
    together. They are cheap to fill again, so a deletion empties them for everybody."""
    for cached in (line_topic, is_common, token_kind, printed):
        cached.cache_clear()
