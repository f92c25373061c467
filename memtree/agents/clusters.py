"""Put memories that are near to each other into clusters, without a model, and name each cluster.

The name is the word that is most typical of the cluster.

    near     the relevance of the vectors, on the embedder's scale; by words where one has none
    linked   each with its nearest that are near enough, if it is among their nearest, too; what is
             left alone, with the nearest
    cluster  what links lead to (the components that a union-find gives)

Only the nearest are linked. If all that are near enough were, memories that lie between two topics
would chain everything together. The same memories always give the same clusters.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memtree.agents.agent_search import AgentHit
from memtree.memories.search.vector_bytes import Vector
from memtree.ranking.relevance_scale import RelevanceScale
from memtree.text.terms import STOP_WORDS, terms

MOST = 500  # memories that are clustered
RELEVANT = 0.33  # least relevance to the query
NEAR = 0.74  # relevance between two memories of one topic
# To which one is linked: 200 turns of a talk make some 33 clusters, the largest of 22 to 43; with 4
# it has 40 to 120, with 8 all but a few.
NEAREST = 3
NEAR_WORDS = 0.15  # cosine of the weighted words of two memories of one topic
REACH = 1_000  # characters of a text that are looked at
TERMS = 4_000  # that tell memories apart
LONGEST_LABEL = 40
_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_APOSTROPHES = frozenset("'’")

Matrix = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class ClusteredMemory:
    """`text`: what it says. `vector`: a unit row, None where there is none."""

    id: str
    text: str = field(repr=False)
    vector: Vector | None = None


@dataclass(frozen=True, slots=True)
class MemoryCluster:
    """`memories`: ids, in the order in which they were given."""

    label: str
    memories: tuple[str, ...]


def clusters(
    memories: Sequence[ClusteredMemory], scale: RelevanceScale | None
) -> list[MemoryCluster]:
    """The largest first; of equal ones that whose first memory was given first. Each memory is in
    one cluster, if alone. `scale`: of the embedder, None for none."""
    given = list(memories[:MOST])
    if not given:
        return []
    parts = components(_links(given, scale))
    words = [_words(memory.text) for memory in given]
    held = Counter(word for of_one in words for word in of_one)
    members: dict[int, list[int]] = {}
    for at, part in enumerate(parts.tolist()):
        members.setdefault(part, []).append(at)
    made: list[MemoryCluster] = []
    labels: set[str] = set()
    for of in sorted(members.values(), key=lambda of: -len(of)):
        label = _label([words[at] for at in of], held, len(given), labels)
        labels.add(label.lower())
        made.append(MemoryCluster(label, tuple(given[at].id for at in of)))
    return made


def of_hits(hits: Sequence[AgentHit], scale: RelevanceScale | None) -> list[MemoryCluster]:
    """The clusters of what a search found, best first."""
    return clusters(
        [
            ClusteredMemory(
                hit.memory.memory.id,
                said(hit.memory.memory.data, hit.memory.memory.text),
                hit.vector,
            )
            for hit in hits
        ],
        scale,
    )


def components(links: NDArray[np.bool_]) -> NDArray[np.intp]:
    """For each of n rows the first row that links lead to. `links`: symmetric (n, n)."""
    count = len(links)
    labels = np.arange(count)
    reach = links | np.eye(count, dtype=np.bool_)
    while True:
        nearest = np.where(reach, labels[None, :], count).min(axis=1)
        nearest = nearest[nearest]
        if (nearest == labels).all():
            return labels
        labels = nearest


def _links(memories: Sequence[ClusteredMemory], scale: RelevanceScale | None) -> NDArray[np.bool_]:
    """Tell which are linked. Nearness is in parts of what is near enough: 1 and more is."""
    embedded = np.array([memory.vector is not None for memory in memories])
    near = np.zeros((len(memories), len(memories)), np.float32)
    if scale is None or not embedded.all():
        near = _by_words(memories) / np.float32(NEAR_WORDS)
    if scale is not None and embedded.any():
        rows = np.stack([memory.vector for memory in memories if memory.vector is not None])
        enough = np.float32(scale.cosine(NEAR))
        near[np.ix_(embedded, embedded)] = (rows @ rows.T) / enough
    np.fill_diagonal(near, 0)
    near = np.maximum(near, near.T)  # to the bit: products of matrices need not be symmetric
    linked = near >= 1
    if (count := len(near)) > NEAREST:  # each only with its nearest, of which this is the last
        least = np.partition(near, count - NEAREST, axis=1)[:, count - NEAREST]
        linked &= near >= least[:, None]
    linked &= linked.T
    nearest = near.argmax(axis=1)
    alone = np.flatnonzero(~linked.any(axis=1) & (near.max(axis=1) >= 1))
    linked[alone, nearest[alone]] = linked[nearest[alone], alone] = True
    return linked


def _by_words(memories: Sequence[ClusteredMemory]) -> Matrix:
    """Cosines of weighted terms, those that only one memory holds aside: they link nothing."""
    term_lists = [terms(memory.text[:REACH]) for memory in memories]
    holders = Counter(term for of_one in term_lists for term in of_one)
    linking = (term for term, count in holders.items() if count > 1)
    shared = sorted(linking, key=lambda term: (-holders[term], term))[:TERMS]
    at = {term: place for place, term in enumerate(shared)}
    weights = np.zeros((len(memories), len(shared)), np.float32)
    lengths = np.zeros(len(memories), np.float32)
    for row, of_one in enumerate(term_lists):
        for term in of_one:
            weight = log((len(memories) + 1) / holders[term])
            lengths[row] += weight * weight
            if term in at:
                weights[row, at[term]] = weight
    weights /= np.sqrt(np.maximum(lengths, 1e-9))[:, None]
    return np.asarray(weights @ weights.T, np.float32)


def _words(text: str) -> dict[str, str]:
    """The words of a text that may be a label, by their lower case, each as it first stands."""
    spellings: dict[str, str] = {}
    for word in _WORD.findall(text[:REACH]):
        lower = word.lower()
        telling = 2 < len(word) <= LONGEST_LABEL and not _APOSTROPHES & set(word)
        if telling and lower not in STOP_WORDS:
            spellings.setdefault(lower, word)
    return spellings


def _label(
    members: Sequence[Mapping[str, str]],
    held: Mapping[str, int],
    count: int,
    taken: Collection[str],
) -> str:
    """The word that most of these hold and few others, as most of them write it; of equal ones the
    one that stands first. `taken`: by larger clusters."""
    inside = Counter(word for words in members for word in words)
    if not inside:
        return ""

    def typical(word: str) -> float:
        return inside[word] / len(members) * log((count + 2) / (held[word] + 1))

    best = max(inside, key=lambda word: (word not in taken, typical(word)))
    forms = Counter(words[best] for words in members if best in words)
    return max(forms, key=forms.__getitem__)


def said(data: Mapping[str, Any] | None, text: str) -> str:
    """Return the words of a memory: the values of its data without the names of their fields, which
    are the same in all of a kind; its text where it has no data."""
    if data is None:
        return text
    parts: list[str] = []
    left: list[Any] = [data]
    room = REACH
    while left and room > 0:
        value = left.pop()
        if isinstance(value, Mapping):
            left += reversed(list(value.values())[:REACH])
        elif isinstance(value, list | tuple):
            left += reversed(value[:REACH])
        elif isinstance(value, str):
            parts.append(value[:room])
            room -= len(value) + 1
    return " ".join(parts)
