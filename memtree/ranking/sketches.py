"""Minhash sketches of passages: which passages share nearly all their terms.

Four numbers a passage, each the smallest of one hash of its terms. Two passages with a share J of
common terms agree in each number with probability J, so a passage and a version of it with a
changed line nearly always agree in one of them. Made from term statistics, so no text is read.
Source: Broder, "On the resemblance and containment of documents", 1997.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from memtree.text.terms import Terms

Sketches = NDArray[np.uint32]  # (HASHES, n)

HASHES = 4
MOST = 64  # rows that agree in one number, of which there may be as many as passages
NOTHING = 0xFFFF_FFFF  # in each number of a passage without terms
_FACTORS = np.array([0x9E3779B1, 0x85EBCA6B, 0xC2B2AE35, 0x27D4EB2F], np.uint32)  # odd
_TERMS = np.array([0x165667B1, 0xD3A2646C, 0xFD7046C5, 0xB55A4F09], np.uint32)


def sketches(statistics: Iterable[Terms]) -> Sketches:
    """Of all passages of consecutive leaves, uint32 (4, n)."""
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


def alike(columns: Sketches, rows: Sequence[int]) -> dict[int, list[int]]:
    """For each of these rows those, in order and itself included, that agree with it in one of the
    first three numbers or more, of each number the last `MOST`; none for a row without terms."""
    asked = np.array(sorted(set(rows)), np.int64)
    asked = asked[columns[0, asked] != NOTHING]
    near: dict[int, set[int]] = {int(row): set() for row in asked}
    for numbers in columns[: HASHES - 1]:
        wanted = numbers[asked]
        hits = np.flatnonzero(np.isin(numbers, wanted))
        by_number: dict[int, list[int]] = {}
        for row, number in zip(hits.tolist(), numbers[hits].tolist(), strict=True):
            by_number.setdefault(number, []).append(row)
        for row, number in zip(asked.tolist(), wanted.tolist(), strict=True):
            near[row].update(by_number[number][-MOST:])
    return {row: sorted({row, *others}) for row, others in near.items()}
