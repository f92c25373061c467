"""Measure what `relation` says of pairs of memories written by hand (`cases/relation*.txt`), by
class, beside what a raw cosine of 0.85 would say.

The rules were tuned on `relation.txt`; each other file was written when they had been tuned on
those before it. What was found at first sight stands in docs/decisions/0022. No outside data.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.report import Row
from benchmarks.subject import Bench
from memtree.memories.rules.relation import Relation, compare
from memtree.models.local_embedder import SCALE, LocalEmbedder

CASES = Path(__file__).with_name("cases")
FILES = ("relation.txt", "relation_later.txt", "relation_last.txt", "relation_final.txt")
TRIPLES = ("relation_second.txt", "relation_third.txt")  # by another writer
RAW = 0.85
FOUND = 60.0  # percent of the paraphrases


@dataclass(frozen=True, slots=True)
class Pair:
    """`kind`: the section of the file. `same`: whether both say the same."""

    kind: str
    new: str
    old: str
    same: bool


def pairs(*files: str) -> list[Pair]:
    found, kind = [], ""
    for file in files or FILES:
        for line in (CASES / file).read_text("utf-8").splitlines():
            if line.startswith("["):
                kind = line.strip("[]")
            elif line and not line.startswith("#"):
                new, old = line.removeprefix("= ").split(" | ")
                same = kind == "paraphrase" or line.startswith("= ")
                found.append(Pair(kind, new, old, same))
    return found


def triples(*files: str) -> list[Pair]:
    """A text beside the same in other words, and beside both what changes one value."""
    found: list[Pair] = []
    for file in files or TRIPLES:
        for line in (CASES / file).read_text("utf-8").splitlines():
            if line and not line.startswith("#"):
                text, same, changed = line.split(" | ")
                found.append(Pair("paraphrase", same, text, True))
                found += [Pair("one value changed", changed, old, False) for old in (text, same)]
    return found


async def run(bench: Bench) -> tuple[list[Row], list[str]]:
    given = [*pairs(), *triples()]
    embedder = LocalEmbedder()
    rows = await embedder.embed([text for pair in given for text in (pair.new, pair.old)])
    await embedder.close()
    cosines = np.einsum("ij,ij->i", rows[::2], rows[1::2])
    table: list[Row] = []
    for name, same in _classes(given):
        places = [at for at, pair in enumerate(given) if (pair.kind, pair.same) == (name, same)]
        found = Counter(_relation(given[at], float(cosines[at])) for at in places)
        taken = found[Relation.SAME] + found[Relation.DUPLICATE]
        title = (
            f"{name}{', both the same' if same and name != 'paraphrase' else ''} ({len(places)})"
        )
        raw = 100 * sum(cosines[at] >= RAW for at in places) / len(places)
        table.append(_row(f"{title}: taken for a duplicate", 100 * taken / len(places), name, same))
        table += [
            Row(f"{title}: {kind.value}", 100 * found[kind] / len(places), "%")
            for kind in (Relation.POSSIBLE_UPDATE, Relation.OTHER)
        ]
        table.append(Row(f"{title}: raw cosine 0.85", raw, "%"))
    return table, []


def _classes(given: list[Pair]) -> list[tuple[str, bool]]:
    return list(dict.fromkeys((pair.kind, pair.same) for pair in given))


def _relation(pair: Pair, cosine: float) -> Relation:
    return compare(pair.new, pair.old, SCALE.relevance(cosine)).relation


def _row(name: str, share: float, kind: str, same: bool) -> Row:
    if not same:
        return Row(name, share, "%", 0.0, at_most=True)
    return Row(name, share, "%", FOUND if kind == "paraphrase" else None)
