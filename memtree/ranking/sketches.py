"""Minhash sketches of passages: which passages share nearly all their terms.

Four numbers a passage, each the smallest of one hash of its terms. Two passages with a share J of
common terms agree in each number with probability J, so a passage and a version of it with a
changed line nearly always agree in one of them. Made from term statistics, so no text is read.
Source: Broder, "On the resemblance and containment of documents", 1997.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from memtree.text.words.terms import Terms

Sketches = NDArray[np.uint32]  # (HASHES, n)

HASHES = 4
LOOKED_UP, AGREEING = 3, 2  # numbers by which passages are found, and that have to agree
MOST = 64  # rows that agree in one number, of which there may be as many as passages
NOTHING = 0xFFFF_FFFF  # in each number of a passage without terms
_FACTORS = np.array([0x9E3779B1, 0x85EBCA6B, 0xC2B2AE35, 0x27D4EB2F], np.uint32)  # odd
_TERMS = np.array([0x165667B1, 0xD3A2646C, 0xFD7046C5, 0xB55A4F09], np.uint32)


def sketches(statistics: Iterable[Terms]) -> Sketches:
    """Return the sketches of all passages of consecutive leaves, uint32 (4, n)."""
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
    """Finds passages by the numbers of their sketches; those that came after it was made are looked
    through one by one."""

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
        """The passages, in order and itself included, that agree with one in two numbers or more;
        of very many that agree in one number the last `MOST` are looked at. None for a passage
        without terms."""
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
