"""Measure what `relation` says of pairs of memories written by hand (`cases/relation*.txt`), by
class, beside what a raw cosine of 0.85 would say.

The rules were tuned on `relation.txt`; each other file was written when they had been tuned on
those before it. What was found at first sight stands in
docs/decisions/archive.md#0022. No outside data.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.report import Row
from benchmarks.subject import Bench
from memtree.memories.relation.relation import Relation, compare
from memtree.memories.search.query import Query, QueryVectors
from memtree.memories.search.vector_bytes import Vector
from memtree.models.local_embedder import MEMORY_SCALE, MULTILINGUAL, LocalEmbedder, MemoryEmbedder

CASES = Path(__file__).parents[1] / "cases"
FILES = ("relation.txt", "relation_later.txt", "relation_last.txt", "relation_final.txt")
TRIPLES = ("relation_second.txt", "relation_third.txt", "relation_fourth.txt")
ABROAD = ("relation_de.txt", "relation_es.txt", "relation_fr.txt")
RAW = 0.85
FOUND, AT_FIRST = 60.0, 45.0  # percent of the paraphrases; of lists by another writer


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
    for file in files or (*TRIPLES, *ABROAD):
        kind = file.partition(".")[0].replace("relation_", "paraphrase, ")
        for line in (CASES / file).read_text("utf-8").splitlines():
            if line and not line.startswith("#"):
                text, same, changed = line.split(" | ")
                found.append(Pair(kind, same, text, True))
                changes = f"{kind}: one value changed"
                found += [Pair(changes, changed, old, False) for old in (text, same)]
    return found


async def run(bench: Bench) -> tuple[list[Row], list[str]]:
    given = [*pairs(), *triples()]
    embedder = MemoryEmbedder(LocalEmbedder(), LocalEmbedder(MULTILINGUAL))
    rows = await embedder.embed([text for pair in given for text in (pair.new, pair.old)])
    cosines = np.einsum("ij,ij->i", rows[::2], rows[1::2])
    vectors = QueryVectors(embedder)
    relevances = []
    for at, pair in enumerate(given):
        query = await vectors.query(pair.new, rows[2 * at], None)
        relevances.append(_relevance(query, rows[2 * at + 1]))
    await vectors.close()
    await embedder.close()
    table: list[Row] = []
    for name, same in _classes(given):
        places = [at for at, pair in enumerate(given) if (pair.kind, pair.same) == (name, same)]
        found = Counter(_relation(given[at], relevances[at]) for at in places)
        taken = found[Relation.SAME] + found[Relation.DUPLICATE]
        both = ", both the same" if same and not name.startswith("paraphrase") else ""
        title = f"{name}{both} ({len(places)})"
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


def _relevance(query: Query, old: Vector) -> float:
    """Return the relevance of a text for another, as a save sees it; 0 where it cannot be read."""
    if query.vector is None:
        return 0.0
    if query.background is None:
        return MEMORY_SCALE.relevance(float(query.vector @ old))
    cosines = query.background.cosines(query.vector, old[None])
    return query.background.scale.relevance(float(cosines[0]))


def _relation(pair: Pair, relevance: float) -> Relation:
    return compare(pair.new, pair.old, relevance).relation


def _row(name: str, share: float, kind: str, same: bool) -> Row:
    if not same:
        return Row(name, share, "%", 0.0, at_most=True)
    if kind.startswith("paraphrase, "):
        return Row(name, share, "%", AT_FIRST)
    return Row(name, share, "%", FOUND if kind == "paraphrase" else None)
