"""Minhash sketches of passages: which passages share nearly all their terms.

A passage has four numbers, each the least value of one hash over its terms. Two passages of Jaccard
similarity J agree in each number with probability J, so a passage and a version of it with a
changed line nearly always agree in one. Sketches are made from term statistics; no text is read.
Source: Broder, "On the resemblance and containment of documents", 1997.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from memtree.text.terms import Terms

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
