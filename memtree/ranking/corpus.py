"""The passages of one history as arrays, ready to rank: append-only, kept between requests.

A corpus grows with its history: a turn adds the leaves that became final, and only these are
unpacked. Messages not yet in a final leaf are added for the length of one request (`with_open`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memtree.ranking.bm25 import Lexicon
from memtree.ranking.sketches import HASHES, Sketches, SketchIndex, sketches
from memtree.ranking.speakers import Speakers
from memtree.ranking.vectors import Matrix, VectorRows, compared, unpack
from memtree.tree.node import Node, NodePlace

Ints = NDArray[np.int32]
LEAF_BYTES = 200  # estimate for a leaf's place and list entries
UNINDEXED = 2_000  # passages of final leaves compared by scanning before the index is rebuilt


@dataclass(frozen=True, slots=True)
class SegmentCosines:
    """Cosines of n passages with a query.

    `nearest`: the cosine of each passage's nearest segment, 0 without a vector. `meaning`: that
    cosine after the history's mean is subtracted from both (`vectors.compared`). `embedded`: True
    if the passage has a vector. `segments`: the number in its whole message. `deviation`: the
    standard deviation of the centred cosines of all segments. `parts`: for each run of passages its
    first passage, the centred cosines of its segments, and the first segment of each passage.
    """

    nearest: Matrix
    meaning: Matrix
    embedded: NDArray[np.bool_]
    segments: Ints
    deviation: float
    parts: Sequence[tuple[int, Matrix, Ints]] = ()

    def of_passage(self, row: int) -> Matrix:
        """Return the centred cosines of a passage's segments; empty without a vector."""
        for first, centred, starts in self.parts:
            if first <= row < first + len(starts):
                low, *end = starts[row - first : row - first + 2].tolist()
                return centred[low : end[0] if end else None]
        return np.empty(0, np.float32)


class Corpus:
    """The n passages of a history in reading order. `columns`: int32 (6, n).

    The rows of `columns`, each also a property of that name: `message` (index in the history),
    `start` and `end` (characters of the message's view), `tokens`, `kind` (see
    `tree.node.source_kind`), `leaf` (index in `leaves`).
    """

    def __init__(self, dimensions: int) -> None:
        self.leaves: list[Node] = []
        self.places: list[NodePlace] = []
        self.lexicon = Lexicon()
        self.speakers = Speakers()
        self.columns: NDArray[np.int32] = np.empty((6, 0), np.int32)
        self.sketches: Sketches = np.empty((HASHES, 0), np.uint32)
        self._sketch_index = SketchIndex(self.sketches)
        self._final = 0  # passages of final leaves
        self.dimensions = dimensions
        self._messages = 0
        self.final_leaves = 0
        self.ruled: list[int] = []  # leaves with standing rules
        self._vectors = VectorRows(dimensions)
        self._vectored = 0  # number of leaves, from the first, whose vectors are in `_vectors`
        # By leaf: vectors that arrived before those of an earlier leaf.
        self._ahead: dict[int, tuple[Matrix, Ints]] = {}
        # For each passage with vectors: its first row in `_vectors`.
        self._rows: Ints = np.empty(0, np.int32)
        self._firsts: list[int] = [0]  # first passage of each leaf, and the end

    def _column(self, index: int) -> Ints:
        column: Ints = self.columns[index]
        return column

    def __len__(self) -> int:
        return int(self.columns.shape[1])

    @property
    def nbytes(self) -> int:
        """Estimated size in bytes, without the leaves themselves."""
        ahead = sum(rows.nbytes + counts.nbytes for rows, counts in list(self._ahead.values()))
        held = (
            self.columns,
            self.sketches,
            self._sketch_index,
            self.lexicon,
            self.speakers,
            self._vectors,
            self._rows,
        )
        return ahead + sum(part.nbytes for part in held) + LEAF_BYTES * len(self.leaves)

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

    @property
    def messages(self) -> int:
        """Number of messages that final leaves hold completely."""
        return self._messages

    def begins(self, leaves: Sequence[bytes]) -> bool:
        """Return True if `leaves` (ids) begin with exactly the final leaves of this corpus."""
        return self.final_leaves <= len(leaves) and all(
            known.id == id_
            for known, id_ in zip(self.leaves[: self.final_leaves], leaves, strict=False)
        )

    def extend(self, leaves: Sequence[Node], places: Sequence[NodePlace]) -> None:
        """Add further final leaves."""
        if leaves:
            self._add(leaves, places)
            self._messages = places[-1].end
            self._final, self.final_leaves = len(self), len(self.leaves)
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
            if leaf.rules:
                self.ruled.append(index)
        self.columns = np.concatenate([self.columns, np.array(rows, np.int32).T], axis=1)
        made = sketches(leaf.terms for leaf in leaves)
        self.sketches = np.concatenate([self.sketches, made], axis=1)
        self.leaves.extend(leaves)
        self.places.extend(places)
        self.lexicon.extend(leaf.terms for leaf in leaves)

    def alike(self, row: int) -> list[int]:
        """Return the passages that share nearly all terms with passage `row`, in order and with
        itself; none if it has no terms."""
        if self._final - self._sketch_index.covered > UNINDEXED:
            self._sketch_index = SketchIndex(self.sketches[:, : self._final])
        return self._sketch_index.alike(self.sketches, row)

    @contextmanager
    def with_open(self, leaf: Node | None, place: NodePlace | None) -> Iterator[None]:
        """Add a leaf that is not final yet, and remove it when the block ends."""
        if leaf is None or place is None:
            yield
            return
        columns, sketched = self.columns, self.sketches
        kept, lexicon = len(self.leaves), self.lexicon.mark()
        try:
            self._add([leaf], [place])
            yield
        finally:
            self.columns, self.sketches = columns, sketched
            self.lexicon.reset(lexicon)
            del self.leaves[kept:], self.places[kept:], self._firsts[kept + 1 :]
            while self.ruled and self.ruled[-1] >= kept:
                self.ruled.pop()

    def lacking(self) -> list[int]:
        """Return the indices of the leaves without vectors."""
        return [i for i in range(self._vectored, len(self.leaves)) if i not in self._ahead]

    def add_vectors(self, packed: Mapping[bytes, bytes]) -> None:
        """Add vectors packed by `vectors.pack`, keyed by leaf id."""
        for index in self.lacking():
            leaf = self.leaves[index]
            data = packed.get(leaf.id)
            if data is not None:
                self._ahead[index] = unpack(data, len(leaf.passages), self.dimensions)
        ready = []
        while self._vectored in self._ahead:
            ready.append(self._ahead.pop(self._vectored))
            self._vectored += 1
        if ready:
            counts = np.concatenate([counts for _, counts in ready])
            firsts = len(self._vectors) + _starts(counts)
            self._vectors.extend(np.concatenate([rows for rows, _ in ready]))
            self._rows = np.concatenate([self._rows, firsts])

    def cosines(self, query: Matrix) -> SegmentCosines:
        """Compare a query with all segments: two passes over the vectors."""
        nearest, meaning = np.zeros((2, len(self)), np.float32)
        has_vector = np.zeros(len(self), np.bool_)
        segments = np.zeros(len(self), np.int32)
        mean = self._vectors.mean
        parts = []
        for passages, rows, firsts in self._vectored_parts():
            cosines, centred = compared(rows, query, mean)
            parts.append((passages.start, centred, firsts))
            nearest[passages] = np.maximum.reduceat(cosines, firsts)
            meaning[passages] = np.maximum.reduceat(centred, firsts)
            segments[passages] = np.diff(firsts, append=len(rows))
            has_vector[passages] = True
        every = np.concatenate([centred for _, centred, _ in parts]) if parts else np.zeros(1)
        counts = self._of_message(segments)
        return SegmentCosines(nearest, meaning, has_vector, counts, float(every.std()), parts)

    def _vectored_parts(self) -> Iterator[tuple[slice, Matrix, Ints]]:
        """Yield runs of passages with vectors: the run, its rows, and each passage's first row."""
        if len(self._rows):
            yield slice(0, len(self._rows)), self._vectors[:], self._rows
        for index, (rows, counts) in self._ahead.items():
            if len(counts):
                yield slice(self._firsts[index], self._firsts[index + 1]), rows, _starts(counts)

    def _of_message(self, numbers: Ints) -> Ints:
        """Return for each passage the sum of `numbers`, one per passage, over its whole message."""
        sums = np.bincount(self.message, weights=numbers).astype(np.int32)
        return np.asarray(sums[self.message])


def _starts(counts: Ints) -> Ints:
    return np.asarray(np.cumsum(counts) - counts, np.int32)
