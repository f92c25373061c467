"""The passages of one history as arrays, ready to rank: append-only, kept between requests.

A corpus grows with its history: a turn adds the leaves that became final, and only these are
unpacked. What is not in a final leaf yet joins for the length of one request (`with_open`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from memtree.ranking.bm25 import Lexicon
from memtree.ranking.vectors import VectorRows, unpack
from memtree.tree.node import Node, NodePlace

Ints = NDArray[np.int32]


class Corpus:
    """Passages in reading order. `columns` are aligned: message, start, end, tokens, kind, leaf.

    `message` is the index in the history, `leaf` the index in `leaves`.
    """

    def __init__(self, dimensions: int) -> None:
        self.leaves: list[Node] = []
        self.places: list[NodePlace] = []
        self.lexicon = Lexicon()
        self.columns: NDArray[np.int32] = np.empty((6, 0), np.int32)
        self.dimensions = dimensions
        self._vectors = VectorRows(dimensions)
        self._vectored = 0  # leaves whose vectors are in the index: always the first ones
        self._late: dict[int, NDArray[np.float32]] = {}  # leaf -> vectors that came out of order
        self._firsts: list[int] = [0]  # first passage of each leaf, and the end

    def _column(self, index: int) -> Ints:
        column: Ints = self.columns[index]
        return column

    def __len__(self) -> int:
        return int(self.columns.shape[1])

    @property
    def message(self) -> Ints:
        return self._column(0)

    @property
    def start(self) -> Ints:
        return self._column(1)

    @property
    def end(self) -> Ints:
        return self._column(2)

    @property
    def tokens(self) -> Ints:
        return self._column(3)

    @property
    def kind(self) -> Ints:
        return self._column(4)

    @property
    def leaf(self) -> Ints:
        return self._column(5)

    def short(self, limit: int) -> NDArray[np.bool_]:
        """Whether each passage belongs to a message of fewer than `limit` tokens."""
        if not len(self):
            return np.zeros(0, np.bool_)
        sizes = np.bincount(self.message, weights=self.tokens)
        return np.asarray(sizes[self.message] < limit)

    def begins(self, leaves: Sequence[bytes]) -> bool:
        """True where this corpus holds exactly the first of these leaves."""
        return len(self.leaves) <= len(leaves) and all(
            known.id == id_ for known, id_ in zip(self.leaves, leaves, strict=False)
        )

    def extend(self, leaves: Sequence[Node], places: Sequence[NodePlace]) -> None:
        """Add further final leaves."""
        if leaves:
            self._add(leaves, places)
            self.lexicon.settle()

    def _add(self, leaves: Sequence[Node], places: Sequence[NodePlace]) -> None:
        rows = []
        for index, (leaf, place) in enumerate(
            zip(leaves, places, strict=True), start=len(self.leaves)
        ):
            for passage in leaf.passages:
                message = place.first + passage.message
                rows.append(
                    (message, passage.start, passage.end, passage.tokens, passage.kind, index)
                )
            self._firsts.append(self._firsts[-1] + len(leaf.passages))
        self.columns = np.concatenate([self.columns, np.array(rows, np.int32).T], axis=1)
        self.leaves.extend(leaves)
        self.places.extend(places)
        self.lexicon.extend(leaf.terms for leaf in leaves)

    @contextmanager
    def with_open(self, leaf: Node | None, place: NodePlace | None) -> Iterator[None]:
        """Hold one more leaf, not final yet, until the block ends."""
        if leaf is None or place is None:
            yield
            return
        columns, kept, lexicon = self.columns, len(self.leaves), self.lexicon.mark()
        try:
            self._add([leaf], [place])
            yield
        finally:
            self.columns = columns
            self.lexicon.reset(lexicon)
            del self.leaves[kept:], self.places[kept:], self._firsts[kept + 1 :]

    def lacking(self) -> list[int]:
        """Leaves without vectors, by index."""
        return [i for i in range(self._vectored, len(self.leaves)) if i not in self._late]

    def add_vectors(self, packed: Mapping[bytes, bytes]) -> None:
        """Vectors by leaf id; those that lie in order join the index."""
        for index in self.lacking():
            data = packed.get(self.leaves[index].id)
            if data is not None:
                self._late[index] = unpack(data, self.dimensions)
        ready = []
        while self._vectored in self._late:
            ready.append(self._late.pop(self._vectored))
            self._vectored += 1
        if ready:
            self._vectors.extend(np.concatenate(ready))

    def cosines(self, query: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Cosine of each passage with the query, and whether it has a vector at all."""
        found = np.zeros(len(self), np.float32)
        known = np.zeros(len(self), np.bool_)
        indexed = len(self._vectors)
        found[:indexed] = self._vectors.cosines(query)
        known[:indexed] = True
        for index, matrix in self._late.items():
            low, high = self._firsts[index], self._firsts[index + 1]
            found[low:high] = matrix @ query
            known[low:high] = True
        return found, known
