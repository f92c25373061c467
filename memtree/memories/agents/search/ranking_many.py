"""Several queries ranked over the rows of one index, and the hits of several indexes in one order.

    own index    -> ranked, newer versions first -> hits with their places' scores \\
    shared index -> ranked, newer versions first -> hits with their places' scores  > by score

Rows of one index are ranked by words whose weights all of them make together: the scopes of one
tenant are one collection. Scopes of another tenant, which grants opened, are ranked for themselves:
a score says how much of the query a row holds and means, on one scale for all indexes, so they
compare; and nobody who shares memories can change the order of one's own, or learn from the order
of his what one's own hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memtree.memories.agents.agent_memory import LocatedMemory
from memtree.memories.memory import SNAPSHOT
from memtree.memories.scope import Scope
from memtree.memories.search.block_rows import BlockRows
from memtree.memories.search.hit_order import MemoryHit, as_hits, newest_hits_first
from memtree.memories.search.query import Query
from memtree.memories.search.ranking import Ranked, ranked
from memtree.memories.search.vector_bytes import Vector
from memtree.ranking.relevance_scale import RelevanceScale


@dataclass(frozen=True, slots=True, eq=False)
class RankedQuery:
    """A query as one index is asked it. `wanted`: numbers that a filter lets through; None: all.
    `most`: rows that are ranked, of relevance `least` or more."""

    query: Query
    most: int
    wanted: NDArray[np.int32] | None = None
    least: float = 0.0


class AgentHit(NamedTuple):
    """`score`: orders the hits of one search. `shared`: another tenant's grant opened it. `vector`:
    a unit row, where it is asked for and there is one."""

    scope: Scope
    memory: MemoryHit
    score: float
    shared: bool = False
    vector: Vector | None = None


def ranked_queries(
    index: BlockRows, queries: Sequence[RankedQuery], scale: RelevanceScale | None, now: float
) -> list[Ranked]:
    """Each as if it were ranked alone, in one pass over the vectors."""
    vectors = [one.query.moved for one in queries if one.query.moved is not None]
    cosines = iter(index.cosines_of_many(vectors)) if len(vectors) > 1 and scale else iter(())
    return [
        ranked(
            index,
            one.query,
            scale,
            now,
            most=one.most,
            least=one.least,
            wanted=one.wanted,
            cosines=next(cosines, None) if one.query.moved is not None else None,
        )
        for one in queries
    ]


def hits(
    index: BlockRows,
    query: Query,
    ranking: Ranked,
    there: Sequence[LocatedMemory],
    *,
    shared: bool = False,
    vectors: bool = False,
) -> list[AgentHit]:
    """Return the ranked hits that are still there, newer versions first. Snapshots are not
    shared."""
    by_number = {
        row.memory.number: row for row in there if not (shared and row.memory.kind == SNAPSHOT)
    }
    best = as_hits(ranking, {number: row.memory for number, row in by_number.items()})
    scores = [hit.score for hit in best]
    rows = index.vectors(ranking.rows) if vectors else {}
    by_row = dict(zip(ranking.numbers.tolist(), ranking.rows.tolist(), strict=True))
    made = []
    for hit, score in zip(newest_hits_first(index, query, best), scores, strict=True):
        number = hit.memory.number
        vector = rows.get(by_row.get(number, -1))
        made.append(AgentHit(by_number[number].scope, hit, score, shared, vector))
    return made


def in_one_order(lists: Sequence[Sequence[AgentHit]], limit: int) -> list[AgentHit]:
    """The best of all lists, each of which keeps its own order: a score is that of the place. Of
    equal ones those of an earlier list come first. A memory that stands in two lists counts once,
    as one's own if it is that, else where it stands best."""
    every = sorted((hit for hits in lists for hit in hits), key=lambda hit: -hit.score)
    counts: dict[tuple[str, int], AgentHit] = {}
    for hit in sorted(every, key=lambda hit: hit.shared):
        counts.setdefault(_identity(hit), hit)
    return [hit for hit in every if counts[_identity(hit)] is hit][:limit]


def _identity(hit: AgentHit) -> tuple[str, int]:
    return hit.scope.tenant, hit.memory.memory.number
