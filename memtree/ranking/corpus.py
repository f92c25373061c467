"""The passages of one history as arrays, ready to rank: a value, kept between requests.

A corpus grows with its history: for a turn, another one is made that shares the arrays and has the
leaves that became final, and only these are unpacked. Messages not yet in a final leaf are in the
one of their request alone (`with_open`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
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
UNINDEXED = 2_000  # passages of final leaves compared by scanning before an index is built


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
    """The n passages of a history in reading order. `columns`: int32 (6, n). Never changed, so any
    number of threads may rank it.

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

    def extended(self, leaves: Sequence[Node], places: Sequence[NodePlace]) -> Corpus:
        """Return the corpus with further final leaves."""
        if not leaves:
            return self
        grown = self._with(leaves, places)
        grown._messages = places[-1].end
        grown.final_leaves = len(grown.leaves)
        grown.lexicon = grown.lexicon.settled()
        if len(grown) - self._sketch_index.covered > UNINDEXED:
            grown._sketch_index = SketchIndex(grown.sketches)
        return grown

    def with_open(self, leaf: Node | None, place: NodePlace | None) -> Corpus:
        """Return the corpus with a leaf that is not final yet."""
        return self if leaf is None or place is None else self._with([leaf], [place])

    def with_speakers(self, speakers: Speakers) -> Corpus:
        """Return the corpus with the speakers of its messages."""
        same = copy(self)
        same.speakers = speakers
        return same

    def _with(self, leaves: Sequence[Node], places: Sequence[NodePlace]) -> Corpus:
        rows, firsts, ruled = [], self._firsts[:], self.ruled[:]
        for index, (leaf, place) in enumerate(
            zip(leaves, places, strict=True), start=len(self.leaves)
        ):
            for passage in leaf.passages:
                message = place.first + passage.message
                rows.append(
                    (message, passage.start, passage.end, passage.tokens, passage.kind, index)
                )
            firsts.append(firsts[-1] + len(leaf.passages))
            if leaf.rules:
                ruled.append(index)
        grown = copy(self)
        grown._firsts, grown.ruled = firsts, ruled
        grown.columns = np.concatenate([self.columns, np.array(rows, np.int32).T], axis=1)
        made = sketches(leaf.terms for leaf in leaves)
        grown.sketches = np.concatenate([self.sketches, made], axis=1)
        grown.leaves, grown.places = [*self.leaves, *leaves], [*self.places, *places]
        grown.lexicon = self.lexicon.extended(leaf.terms for leaf in leaves)
        return grown

    def alike(self, row: int) -> list[int]:
        """Return the passages that share nearly all terms with passage `row`, in order and with
        itself; none if it has no terms."""
        return self._sketch_index.alike(self.sketches, row)

    def lacking(self) -> list[int]:
        """Return the indices of the leaves without vectors."""
        return [i for i in range(self._vectored, len(self.leaves)) if i not in self._ahead]

    def with_vectors(self, packed: Mapping[bytes, bytes]) -> Corpus:
        """Return the corpus with vectors packed by `vectors.pack`, keyed by leaf id. Not for
        several threads at once."""
        ahead = {
            index: unpack(data, len(leaf.passages), self.dimensions)
            for index in self.lacking()
            if (data := packed.get((leaf := self.leaves[index]).id)) is not None
        }
        if not ahead:
            return self
        grown, ready = copy(self), []
        grown._ahead = self._ahead | ahead
        while grown._vectored in grown._ahead:
            ready.append(grown._ahead.pop(grown._vectored))
            grown._vectored += 1
        if ready:
            counts = np.concatenate([counts for _, counts in ready])
            firsts = len(self._vectors) + _starts(counts)
            grown._vectors = self._vectors.extended(np.concatenate([rows for rows, _ in ready]))
            grown._rows = np.concatenate([self._rows, firsts])
        return grown

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
