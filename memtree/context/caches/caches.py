"""Caches of a process between requests, so that a request costs work only for its new messages:
nodes, corpora, and which histories were sent whole.

No answer depends on them: all of it can be read or built again from the store.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from memtree.context.caches.known_tree import KnownTree
from memtree.context.caches.rendered_texts import RenderedTexts
from memtree.conversation.history import History
from memtree.process.bounded import SizedRows, TenantRows
from memtree.process.cache_limits import CacheLimits
from memtree.process.threads import in_thread
from memtree.ranking.corpus import Corpus
from memtree.tree.node import Frontier, Node, node_bytes

TREES = 1_000  # most recent frontiers
TREE_BYTES = 3_000  # size of one tree, without its nodes
# one part in this many of the bytes for nodes goes to nodes outside of any known tree
NODES_SHARE = 3
CORPORA = 200  # all corpora of a tenant are scanned each time
ROW_BYTES = 300  # size of a row: a key, its place and its value, without texts and addresses
PASSED_BYTES = 220  # an address, its place, and a tenant
INLINE_LEAVES = 50  # more new leaves than this are unpacked off the event loop


class NodeCache:
    """Decoded nodes by tenant and id, and trees that grew recently, which share their nodes; least
    recently used first out. Nodes in both count twice."""

    def __init__(self, most: int = CacheLimits.of().nodes) -> None:
        """`most`: bytes. 1,200 tokens of history take some 7 kB in nodes and trees together."""
        self._nodes: TenantRows[bytes, Node] = TenantRows(
            most // NODES_SHARE, lambda _, node: ROW_BYTES + node_bytes(node)
        )
        self._most_in_trees = most - most // NODES_SHARE
        self._trees: OrderedDict[tuple[str, tuple[bytes, ...]], KnownTree] = OrderedDict()
        # By the identity of shared nodes: how many trees share them, and their bytes.
        self._shared: dict[int, tuple[int, int]] = {}
        self._in_trees = 0

    def add(self, tenant: str, nodes: Iterable[Node]) -> None:
        for node in nodes:
            self._nodes.put((tenant, node.id), node)

    @property
    def nbytes(self) -> int:
        return self._nodes.nbytes + self._in_trees

    @property
    def tenants(self) -> set[str]:
        """Return the tenants with cached nodes."""
        return self._nodes.tenants | {tenant for tenant, _ in self._trees}

    def forget(self, tenant: str | None) -> None:
        """Drop a tenant's nodes; None: all tenants'."""
        self._nodes.forget(tenant)
        for key in [key for key in self._trees if tenant in (None, key[0])]:
            self._drop(key)

    def tree(self, tenant: str, frontier: Frontier) -> KnownTree | None:
        """Return the tree below a frontier; None if one of its nodes is not cached."""
        tree = self._trees.get((tenant, frontier.nodes))
        if tree is None:
            below = self._below(tenant, frontier.nodes)
            tree = None if below is None else KnownTree.of(frontier, below)
        if tree is not None:
            self._remember(tenant, frontier, tree)
        return tree

    def grown(
        self, tenant: str, earlier: Mapping[bytes, Node], frontier: Frontier, made: Sequence[Node]
    ) -> KnownTree:
        """Return the tree below a frontier, into which an `earlier` one has grown by the nodes
        `made`. Raises `KeyError` if a node is missing."""
        self.add(tenant, made)
        if isinstance(earlier, KnownTree):
            tree = earlier.grown(frontier, made)
        else:
            tree = KnownTree.of(frontier, {**earlier, **{node.id: node for node in made}})
        self._remember(tenant, frontier, tree)
        return tree

    def _remember(self, tenant: str, frontier: Frontier, tree: KnownTree) -> None:
        """Trees of one growing history count once: they share their nodes."""
        key = (tenant, frontier.nodes)
        if self._trees.get(key) is tree:
            self._trees.move_to_end(key)
            return
        self._drop(key)
        self._trees[key] = tree
        trees, before = self._shared.get(id(tree.shared), (0, 0))
        self._shared[id(tree.shared)] = trees + 1, tree.shared_bytes
        self._in_trees += TREE_BYTES + tree.shared_bytes - before
        while len(self._trees) > TREES or self._in_trees > self._most_in_trees:
            self._drop(next(iter(self._trees)))

    def _drop(self, key: tuple[str, tuple[bytes, ...]]) -> None:
        tree = self._trees.pop(key, None)
        if tree is None:
            return
        trees, size = self._shared.pop(id(tree.shared))
        if trees > 1:
            self._shared[id(tree.shared)] = trees - 1, size
        self._in_trees -= TREE_BYTES + (size if trees == 1 else 0)

    def _below(self, tenant: str, ids: Sequence[bytes]) -> dict[bytes, Node] | None:
        """Return all nodes from these downwards; None if one is not cached."""
        below: dict[bytes, Node] = {}
        waiting = list(ids)
        while waiting:
            id_ = waiting.pop()
            node = self._nodes.get((tenant, id_))
            if node is None:
                return None
            below[id_] = node
            waiting.extend(node.children)
        return below


@dataclass(slots=True)
class _CorpusUse:
    """`tree`: the corpus holds its leaves, or at least the first of them. `size`: bytes at its last
    use."""

    tenant: str
    tree: KnownTree
    size: int = 0
    is_broken: bool = False
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    def begins(self, corpus: Corpus, tree: KnownTree) -> bool:
        """Return True if the corpus holds exactly the first leaves of a tree."""
        held = corpus.final_leaves
        if self.is_broken or held > tree.leaves:
            return False
        if self.tree.shares_with(tree) or not held:
            return True
        leaves, _ = tree.leaves_from(0)
        if leaves[0].id != corpus.leaves[0].id:  # nearly always different for another history
            return False
        return corpus.begins([leaf.id for leaf in leaves[:held]])


class CorpusCache:
    """Corpora by the leaves they begin with; least recently used first out. A corpus that is still
    referenced is found even after it was dropped: a request that opens it again gets the vectors
    already read."""

    def __init__(self, most: int = CacheLimits.of().corpora) -> None:
        """`most`: bytes. A passage takes 300, and 1,500 for each vector of 384 numbers. The tree of
        its leaves counts as well: a corpus keeps it alive after the node cache has dropped it."""
        self._most = most
        self._kept: list[Corpus] = []
        self._uses: WeakKeyDictionary[Corpus, _CorpusUse] = WeakKeyDictionary()

    @asynccontextmanager
    async def of(self, tenant: str, tree: KnownTree, dimensions: int) -> AsyncIterator[Corpus]:
        """Yield the corpus of exactly the leaves of a tree, locked while the block runs."""
        while True:
            corpus = self._pick(tenant, tree, dimensions)
            if corpus is None:
                corpus = Corpus(dimensions)
            use = self._uses.get(corpus) or _CorpusUse(tenant, tree)
            async with use.lock:
                if use.begins(corpus, tree):  # False if it grew with another branch while we waited
                    use.tree = tree
                    try:
                        await _extend(corpus, tree)
                    except BaseException:  # some of the leaves may have been added
                        use.is_broken = True  # others may wait for it
                        self._drop(corpus)
                        raise
                    self._keep(corpus, use)
                    try:
                        yield corpus
                    finally:
                        self._weigh(corpus)  # it may have received vectors
                    return

    @property
    def tenants(self) -> set[str]:
        """Return the tenants with cached corpora."""
        return {use.tenant for use in self._uses.values()}

    @property
    def nbytes(self) -> int:
        """Bytes held by all kept corpora."""
        return sum(self._uses[corpus].size for corpus in self._kept)

    def forget(self, tenant: str | None) -> None:
        """Drop a tenant's corpora; None: all tenants'. A corpus in use lives until its block
        ends."""
        for corpus, use in list(self._uses.items()):
            if tenant in (None, use.tenant):
                self._drop(corpus)

    def _pick(self, tenant: str, tree: KnownTree, dimensions: int) -> Corpus | None:
        """Pick the corpus to extend. One that was created before the dimensions were known has no
        vectors, and gets none. Corpora of the same growing history are tried first: they need no
        comparison leaf by leaf."""
        mine = [
            (corpus, use)
            for corpus, use in list(self._uses.items())
            if use.tenant == tenant and corpus.dimensions == dimensions
        ]
        mine.sort(key=lambda each: not each[1].tree.shares_with(tree))
        best: Corpus | None = None
        for corpus, use in mine:
            if best is not None and corpus.final_leaves <= best.final_leaves:
                continue
            if use.begins(corpus, tree):
                best = corpus
        return best

    def _drop(self, corpus: Corpus) -> None:
        self._uses.pop(corpus, None)
        self._kept = [kept for kept in self._kept if kept is not corpus]

    def _keep(self, corpus: Corpus, use: _CorpusUse) -> None:
        self._uses[corpus] = use
        self._kept = [kept for kept in self._kept if kept is not corpus] + [corpus]
        self._weigh(corpus)

    def _weigh(self, corpus: Corpus) -> None:
        use = self._uses.get(corpus)
        if use is not None:  # None if it was forgotten meanwhile
            use.size = ROW_BYTES + corpus.nbytes + use.tree.shared_bytes
        while len(self._kept) > CORPORA or self.nbytes > self._most:
            self._kept.pop(0)


async def _extend(corpus: Corpus, tree: KnownTree) -> None:
    """Add the tree's further leaves to the corpus, which has the first ones already."""
    nodes, places = tree.leaves_from(corpus.final_leaves)
    if len(nodes) > INLINE_LEAVES:
        await in_thread(corpus.extend, nodes, places)
    else:
        corpus.extend(nodes, places)


class PassedHistories:
    """Addresses of histories that were sent whole, by tenant; oldest first out."""

    def __init__(self, most: int = CacheLimits.of().passed) -> None:
        """`most`: bytes."""
        self._tenants: SizedRows[bytes, str] = SizedRows(most, lambda *_: PASSED_BYTES)

    @property
    def nbytes(self) -> int:
        return self._tenants.nbytes

    def add(self, posted: History) -> None:
        self._tenants.put(posted.addresses[-1], posted.tenant)

    def longest(self, posted: History) -> int:
        """Return the number of messages of the longest prefix that was sent whole; 0 if there is
        none."""
        lengths = range(len(posted), 0, -1)
        return next((i for i in lengths if posted.addresses[i] in self._tenants), 0)

    def forget(self, tenant: str | None) -> None:
        """Drop a tenant's addresses; None: all tenants'."""
        self._tenants.drop_where(lambda _, whose: tenant in (None, whose))


@dataclass(frozen=True, slots=True)
class TreeCaches:
    """Caches of a process for trees."""

    nodes: NodeCache = field(default_factory=NodeCache)
    corpora: CorpusCache = field(default_factory=CorpusCache)
    passed: PassedHistories = field(default_factory=PassedHistories)
    texts: RenderedTexts = field(default_factory=RenderedTexts)

    @classmethod
    def of(cls, limits: CacheLimits) -> TreeCaches:
        return cls(
            NodeCache(limits.nodes),
            CorpusCache(limits.corpora),
            PassedHistories(limits.passed),
            RenderedTexts(limits.texts),
        )
