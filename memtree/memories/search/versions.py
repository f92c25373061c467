"""Of two memories that say the same thing of different times, the newer one comes first.

A query cannot tell "The staging port is 8090" from "The staging port is 8091", and neither can a
ranking: of 105 facts saved in two versions the newer one stood above the older for 18 %. Nothing is
hidden by this: both are found, and the older follows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt

from memtree.text.terms import terms

REACH = 2_000  # characters of a text that are compared
# Shares of what the older one has of score and of the query's words, and how alike the texts are by
# their words. With less, the evidence of more questions sinks than versions are put right.
SCORE, COVERED, ALIKE = 0.7, 0.55, 0.25


@dataclass(frozen=True, slots=True)
class Candidate:
    """A row that was found. `said`: when, in any unit. `covered`: share of the query's weight that
    its words hold."""

    text: str = field(repr=False)
    said: tuple[float, int]
    score: float
    covered: float


def newest_first(
    found: Sequence[Candidate], weigh: Callable[[Sequence[int]], Sequence[float]]
) -> list[int]:
    """The order of these candidates, which are best first: each newer version moves before the
    older one that it follows. `weigh`: the weights of terms, 0 for one that tells nothing apart."""
    texts = [terms(one.text[:REACH]) for one in found]
    held = list(dict.fromkeys(term for text in texts for term in text))
    weights = dict(zip(held, weigh(held), strict=True))
    order = list(range(len(found)))
    at = 0
    while at < len(order):
        older = order[at]
        newer = [
            other
            for other in order[at + 1 :]
            if _may_replace(found[other], found[older])
            and _alike(texts[other], texts[older], weights) >= ALIKE
        ]
        if newer:
            newest = max(newer, key=lambda other: found[other].said)
            order.remove(newest)
            order.insert(at, newest)
        at += 1
    return order


def _may_replace(newer: Candidate, older: Candidate) -> bool:
    return (
        newer.said > older.said
        and newer.score >= SCORE * older.score
        and newer.covered >= COVERED * older.covered
    )


def _alike(one: Mapping[int, int], other: Mapping[int, int], weights: Mapping[int, float]) -> float:
    """The weight of shared terms in that of all, 0 to 1."""
    shared = sum(weights[term] for term in one if term in other)
    whole = sum(map(weights.__getitem__, one)) * sum(map(weights.__getitem__, other))
    return shared / sqrt(whole) if whole else 0.0
