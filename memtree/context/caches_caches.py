"""Caches of a process between requests, so that a request costs work only for its new messages:
warm conversations, and which histories were sent whole.

No answer depends on them: all of it can be read or built again from the store.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from memtree.context.conversation import EMPTY_TREE, Conversation, KnownTree
from memtree.history.chat_history import History
from memtree.process.bounded import TenantRows
from memtree.process.cache_limits import CacheLimits
from memtree.ranking.corpus import Corpus
from memtree.tree.node import Frontier, Node

TREES = 100  # most recent trees of one conversation
TREE_BYTES = 3_000  # size of one tree, without its nodes
CONVERSATION_BYTES = 1_000  # size of one conversation, without nodes, trees and corpus
PASSED_BYTES = 290  # a tenant with an address, and its place
INLINE_LEAVES = 50  # more new leaves than this are unpacked off the event loop
_Key = tuple[str, tuple[bytes, ...]]


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
                return self.add(tenant, frontier, nodes)
        return None

    def add(self, tenant: str, frontier: Frontier, nodes: Mapping[bytes, Node]) -> KnownTree:
        """Return the tree below a frontier, of nodes that are at hand. Raises `KeyError` if one is
        missing."""
        tree = KnownTree.of(tenant, frontier, nodes)
        self._use(tree)
        return tree

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
            tree = self._own(tree) or self._branch(tree)
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

    def with_vectors(
        self, tree: KnownTree, corpus: Corpus, packed: Mapping[bytes, bytes]
    ) -> Corpus:
        """Return the corpus of a tree with these vectors, by leaf id, and keep them."""
        home = self._own(tree) or tree
        known = home.conversation.corpus
        if known is not None and known.dimensions == corpus.dimensions:
            known = self._keep(home, known.with_vectors(packed))
            if known.final_leaves == tree.leaves:
                return known
        return corpus.with_vectors(packed)

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

    def _branch(self, tree: KnownTree) -> KnownTree:
        branch = tree.copied(tree.conversation.tenant)
        self._use(branch)
        return branch

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
        return cls(
            Conversations(limits.conversations),
            PassedHistories(limits.passed),
        )
