"""What a process keeps between requests, so that each costs only what is new in it: nodes,
corpora, and which histories went whole.

Nothing here is needed for an answer: all of it is read or built again from the store.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from memtree.conversation.history import History
from memtree.ranking.corpus import Corpus
from memtree.tree.btree import walk
from memtree.tree.node import Frontier, Node, NodePlace

NODES = 16_000  # about 5 kB each: some 7 million tokens of history
CORPORA = 12
CORPUS_PASSAGES = 80_000  # in all; 1.5 kB each with vectors
PASSED = 20_000  # some 200 bytes each
INLINE_LEAVES = 50  # more new leaves than this are unpacked off the event loop


class NodeCache:
    """Decoded nodes by tenant and id; the oldest go first."""

    def __init__(self, limit: int = NODES) -> None:
        self._limit = limit
        self._nodes: OrderedDict[tuple[str, bytes], Node] = OrderedDict()

    def add(self, tenant: str, nodes: Iterable[Node]) -> None:
        for node in nodes:
            self._nodes[tenant, node.id] = node
        while len(self._nodes) > self._limit:
            self._nodes.popitem(last=False)

    @property
    def tenants(self) -> set[str]:
        """Tenants of whom a node is cached."""
        return {tenant for tenant, _ in self._nodes}

    def forget(self, tenant: str) -> None:
        for key in [key for key in self._nodes if key[0] == tenant]:
            del self._nodes[key]

    def below(self, tenant: str, ids: Sequence[bytes]) -> dict[bytes, Node] | None:
        """All nodes from these downwards; None where one is not at hand."""
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
class _Entry:
    tenant: str
    corpus: Corpus
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


_Walked = OrderedDict[tuple[str, tuple[bytes, ...]], list[tuple[Node, NodePlace]]]


class CorpusCache:
    """Corpora by the leaves they begin with; the least recently used go first."""

    def __init__(self, limit: int = CORPORA, passages: int = CORPUS_PASSAGES) -> None:
        self._limit, self._passages = limit, passages
        self._entries: list[_Entry] = []
        self._walked: _Walked = OrderedDict()

    @asynccontextmanager
    async def of(
        self, tenant: str, frontier: Frontier, nodes: Mapping[bytes, Node], dimensions: int
    ) -> AsyncIterator[Corpus]:
        """The corpus of exactly these leaves, held alone while the block runs."""
        leaves = self._leaves_of(tenant, frontier, nodes)
        ids = [leaf.id for leaf, _ in leaves]
        while True:
            entry = self._pick(tenant, ids, dimensions) or _Entry(tenant, Corpus(dimensions))
            async with entry.lock:
                if entry.corpus.begins(ids):  # else it grew with another branch while we waited
                    await _extend(entry.corpus, leaves)
                    self._keep(entry)
                    yield entry.corpus
                    return

    @property
    def tenants(self) -> set[str]:
        """Tenants of whom a corpus, or a list of leaves, is cached."""
        return {entry.tenant for entry in self._entries} | {tenant for tenant, _ in self._walked}

    def forget(self, tenant: str) -> None:
        """Whoever holds a corpus keeps it until its block ends."""
        self._entries = [entry for entry in self._entries if entry.tenant != tenant]
        for key in [key for key in self._walked if key[0] == tenant]:
            del self._walked[key]

    def _leaves_of(
        self, tenant: str, frontier: Frontier, nodes: Mapping[bytes, Node]
    ) -> list[tuple[Node, NodePlace]]:
        """Leaves in order and their places; a request asks twice for one frontier."""
        leaves = self._walked.get((tenant, frontier.nodes))
        if leaves is None:
            walked = walk(frontier.nodes, nodes)
            leaves = [(node, place) for node, place in walked if node.is_leaf]
            self._walked[tenant, frontier.nodes] = leaves
            while len(self._walked) > self._limit:
                self._walked.popitem(last=False)
        return leaves

    def _pick(self, tenant: str, ids: Sequence[bytes], dimensions: int) -> _Entry | None:
        """What was begun before the dimensions were known has no vectors, and gets none."""
        mine = [e for e in self._entries if e.tenant == tenant]
        fitting = [e for e in mine if e.corpus.dimensions == dimensions and e.corpus.begins(ids)]
        return max(fitting, key=lambda e: len(e.corpus.leaves), default=None)

    def _keep(self, entry: _Entry) -> None:
        self._entries = [kept for kept in self._entries if kept is not entry] + [entry]
        while len(self._entries) > 1 and (
            len(self._entries) > self._limit
            or sum(len(kept.corpus) for kept in self._entries) > self._passages
        ):
            self._entries.pop(0)


async def _extend(corpus: Corpus, leaves: Sequence[tuple[Node, NodePlace]]) -> None:
    """`leaves`: all of them; those that the corpus has already come first."""
    fresh = leaves[len(corpus.leaves) :]
    nodes, places = [leaf for leaf, _ in fresh], [place for _, place in fresh]
    if len(fresh) > INLINE_LEAVES:
        await asyncio.to_thread(corpus.extend, nodes, places)
    else:
        corpus.extend(nodes, places)


class PassedHistories:
    """Addresses of histories that went whole, by their tenant; the oldest go first."""

    def __init__(self, limit: int = PASSED) -> None:
        self._limit = limit
        self._tenants: OrderedDict[bytes, str] = OrderedDict()

    def add(self, posted: History) -> None:
        self._tenants[posted.addresses[-1]] = posted.tenant
        while len(self._tenants) > self._limit:
            self._tenants.popitem(last=False)

    def longest(self, posted: History) -> int:
        """Messages of the longest prefix that went whole; 0 where none did."""
        lengths = range(len(posted), 0, -1)
        return next((i for i in lengths if posted.addresses[i] in self._tenants), 0)

    def forget(self, tenant: str) -> None:
        for address in [at for at, whose in self._tenants.items() if whose == tenant]:
            del self._tenants[address]
