"""Keep the passages of one history as arrays, ready to rank, with their speakers and sketches.

A corpus is a value, kept between requests. It grows with its history: for a turn, another one is
made that shares the arrays and has the leaves that became final, and only these are unpacked.
Messages not yet in a final leaf are in the one of their request alone (`with_open`).

Minhash sketches tell which passages share nearly all their terms. A passage has four numbers, each
the least value of one hash over its terms. Two passages of Jaccard similarity J agree in each
number with probability J, so a passage and a version of it with a changed line nearly always agree
in one. Sketches are made from term statistics; no text is read. Source: Broder, "On the resemblance
and containment of documents", 1997.

The speakers of a transcript are counted, to find what one of them says: a question that names a
speaker is mostly answered by that speaker's messages, while the name itself stands in all of these
and in every greeting, and so does not distinguish them.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memtree.ranking.bm25 import Lexicon
from memtree.ranking.vectors import Matrix, Packed, VectorRows, compared, unit, unpack
from memtree.text import terms
from memtree.text.speakers import SpokenBy
from memtree.text.terms import Terms
from memtree.tree.node import Node, NodePlace

Sketches = NDArray[np.uint32]  # (HASHES, n)

HASHES = 4
LOOKED_UP, AGREEING = 3, 2  # numbers that are looked up, and that must agree
MOST = 64  # rows compared per number, in which any number of passages may agree
NOTHING = 0xFFFF_FFFF  # stands in every number of a passage without terms
_FACTORS = np.array([0x9E3779B1, 0x85EBCA6B, 0xC2B2AE35, 0x27D4EB2F], np.uint32)  # odd
_TERMS = np.array([0x165667B1, 0xD3A2646C, 0xFD7046C5, 0xB55A4F09], np.uint32)


def sketches(statistics: Iterable[Terms]) -> Sketches:
    """Compute the sketches of all passages of consecutive leaves, uint32 (4, n)."""
    leaves = list(statistics)
    hashes = np.frombuffer(b"".join(leaf.hashes for leaf in leaves), "<u4").astype(np.uint32)
    ends, base = [], 0
    for leaf in leaves:
        ends += [base + end for end in leaf.ends]
        base += len(leaf.counts)
    made = np.full((HASHES, len(ends)), NOTHING, np.uint32)
    starts = np.array([0, *ends[:-1]], np.int64)[: len(ends)]
    filled = np.flatnonzero(starts < np.array(ends, np.int64))
    if len(filled):
        for row, (factor, term) in enumerate(zip(_FACTORS, _TERMS, strict=True)):
            mixed = hashes * factor + term
            made[row, filled] = np.minimum.reduceat(
                mixed ^ (mixed >> np.uint32(15)), starts[filled]
            )
    return made


class SketchIndex:
    """Index of passages by the numbers of their sketches; passages added after it was built are
    scanned."""

    def __init__(self, columns: Sketches) -> None:
        self.covered = columns.shape[1]
        self._orders = [np.argsort(numbers, kind="stable") for numbers in columns[:LOOKED_UP]]
        self._sorted = [
            numbers[order] for numbers, order in zip(columns, self._orders, strict=False)
        ]

    @property
    def nbytes(self) -> int:
        return sum(part.nbytes for part in (*self._orders, *self._sorted))

    def alike(self, columns: Sketches, row: int) -> list[int]:
        """Return the passages, in order and with itself, that agree with passage `row` in two
        numbers or more. Of the passages that agree in one number, only the last `MOST` are
        compared. A passage without terms has none."""
        if columns[0, row] == NOTHING:
            return []
        row_sets = [np.array([row])]
        for at in range(LOOKED_UP):
            number, numbers = columns[at, row], self._sorted[at]
            low, high = numbers.searchsorted(number), numbers.searchsorted(number, "right")
            behind = np.flatnonzero(columns[at, self.covered :] == number)[-MOST:]
            row_sets.append(self._orders[at][max(low, high - MOST + len(behind)) : high])
            row_sets.append(behind + self.covered)
        others = np.unique(np.concatenate(row_sets))
        if len(others) == 1:
            return [row]
        same = (columns[:, others] == columns[:, row, None]).sum(axis=0)
        found_rows: list[int] = others[same >= AGREEING].tolist()
        return found_rows


NAME_BYTES = 200  # estimate for a tag and its number
TURNS = 5  # messages with a tag that make it a speaker
SHARE = 0.5  # share of messages with a speaker's tag that makes a history a transcript


class Speakers:
    """The speaker of each message, in order. Never changed: `extended` returns others."""

    def __init__(self) -> None:
        self._names: dict[str, int] = {"": 0}
        self._counts = [0]
        self._often: dict[str, int] = {}  # names with `TURNS` messages or more, and their numbers
        self._of = array("i")
        self._tagged = bytearray()  # 1 if the text begins with the name

    def __len__(self) -> int:
        return len(self._of)

    @property
    def nbytes(self) -> int:
        """Estimated size in bytes."""
        return NAME_BYTES * len(self._names) + (self._of.itemsize + 1) * len(self._of)

    def extended(self, spoken: Iterable[SpokenBy]) -> Speakers:
        """Return them with those of further messages."""
        grown = copy(self)
        grown._names, grown._counts = dict(self._names), list(self._counts)
        grown._often, grown._of, grown._tagged = dict(self._often), self._of[:], self._tagged[:]
        for name, tagged in spoken:
            grown._tagged.append(tagged)
            number = grown._names.setdefault(name, len(grown._counts))
            if number == len(grown._counts):
                grown._counts.append(0)
            grown._counts[number] += 1
            if number and grown._counts[number] == TURNS:
                grown._often[name] = number
            grown._of.append(number)
        return grown

    def named(self, query: Collection[int]) -> Mapping[int, frozenset[int]]:
        """Return the speakers that a query names, each with the terms of the name. `query`: its
        terms. A first name is enough. Returns no speakers if the history is no transcript."""
        if not self._is_transcript():
            return {}
        speakers = {}
        for name, number in self._often.items():
            own = list(terms.terms(name))
            if own and own[0] in query:
                speakers[number] = frozenset(own)
        return speakers

    def begins_with_name(self, message: int) -> bool:
        """Return True if a message of a transcript begins with the name of a frequent speaker."""
        return (
            message < len(self)
            and bool(self._tagged[message])
            and self._is_transcript()
            and self._of[message] in set(self._often.values())
        )

    def _is_transcript(self) -> bool:
        turns = sum(self._counts[number] for number in self._often.values())
        return turns >= SHARE * max(1, len(self))

    def says(self, speaker: int, messages: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return a mask of the speaker's messages; False for messages not read yet."""
        by_message = np.zeros(int(messages.max(initial=-1)) + 1, np.int32)
        known = min(len(self), len(by_message))
        by_message[:known] = np.frombuffer(self._of, np.int32, known) if known else 0
        return np.asarray(by_message[messages] == speaker)


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
        self.messages = 0  # that final leaves hold completely
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

    def extended(self, leaves: Sequence[Node], places: Sequence[NodePlace]) -> Corpus:
        """Return the corpus with further final leaves."""
        if not leaves:
            return self
        grown = self._with(leaves, places)
        grown.messages = places[-1].end
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

    def with_leaves(self, nodes: Mapping[bytes, Node]) -> Corpus:
        """Return the corpus with these leaves, by id, in the place of the same with other
        summaries."""
        same = copy(self)
        same.leaves = [nodes.get(leaf.id, leaf) for leaf in self.leaves]
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

    @property
    def has_vectors(self) -> bool:
        """Return True if any passage has its vector."""
        return bool(self._vectored or self._ahead)

    def lacking(self) -> list[int]:
        """Return the indices of the leaves without vectors."""
        return [i for i in range(self._vectored, len(self.leaves)) if i not in self._ahead]

    def with_vectors(self, packed: Mapping[bytes, bytes]) -> Corpus:
        """Return the corpus with vectors packed by `vectors.pack`, keyed by leaf id. Not for
        several threads at once, unless it has none yet."""
        new = [index for index in self.lacking() if self.leaves[index].id in packed]
        if not new:
            return self
        rows, counts = unpack(
            [packed[self.leaves[index].id] for index in new],
            [len(self.leaves[index].passages) for index in new],
            self.dimensions,
        )
        parts = np.split(rows, np.cumsum([own.sum() for own in counts])[:-1])
        arrived: dict[int, tuple[Matrix | Packed, Ints]] = {**self._ahead}
        arrived.update(zip(new, zip(parts, counts, strict=True), strict=True))
        grown, ready = copy(self), []
        while grown._vectored in arrived:
            ready.append(arrived.pop(grown._vectored))
            grown._vectored += 1
        grown._ahead = {
            index: self._ahead.get(index) or (unit(own), counts)
            for index, (own, counts) in arrived.items()
        }
        if ready:
            firsts = len(self._vectors) + _starts(np.concatenate([own for _, own in ready]))
            grown._vectors = self._vectors.extended(np.concatenate([own for own, _ in ready]))
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
        counts = np.bincount(self.message, weights=segments).astype(np.int32)[self.message]
        return SegmentCosines(nearest, meaning, has_vector, counts, float(every.std()), parts)

    def _vectored_parts(self) -> Iterator[tuple[slice, Matrix, Ints]]:
        """Yield runs of passages with vectors: the run, its rows, and each passage's first row."""
        if len(self._rows):
            yield slice(0, len(self._rows)), self._vectors[:], self._rows
        for index, (rows, counts) in self._ahead.items():
            if len(counts):
                yield slice(self._firsts[index], self._firsts[index + 1]), rows, _starts(counts)


def _starts(counts: Ints) -> Ints:
    return np.asarray(np.cumsum(counts) - counts, np.int32)
