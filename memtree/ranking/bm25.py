"""BM25 over passages: a value that grows with its history, and never rebuilds all postings.

Term statistics come packed from the leaves, so no text is read. Parameters: k1 = 1.2, b = 0.4
(passages are of similar size, so length says less than it does for documents).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

from memtree.text.terms import Terms

K1, B = 1.2, 0.4
_REBUILD_SHARE = 0.2
REBUILD_FLOOR = 20_000

Scores = NDArray[np.float32]
_Batch = tuple[NDArray[np.uint32], NDArray[np.int32], NDArray[np.uint8]]


class Lexicon:
    """Postings of consecutive passages, numbered from 0. Never changed: `extended` returns another
    one, which shares the sorted postings."""

    def __init__(self) -> None:
        self._hashes = np.empty(0, np.uint32)  # sorted by term, then passage
        self._docs = np.empty(0, np.int32)
        self._counts = np.empty(0, np.uint8)
        self._fresh: tuple[_Batch, ...] = ()
        self._lengths = np.empty(0, np.float32)

    def __len__(self) -> int:
        return len(self._lengths)

    @property
    def nbytes(self) -> int:
        fresh = sum(part.nbytes for batch in self._fresh for part in batch)
        kept = (self._hashes, self._docs, self._counts, self._lengths)
        return fresh + sum(part.nbytes for part in kept)

    @property
    def unsorted(self) -> int:
        """Number of batches of postings that are not sorted in yet; a query scans each of them."""
        return len(self._fresh)

    def extended(self, statistics: Iterable[Terms]) -> Lexicon:
        """Return the lexicon with the passages of further leaves."""
        leaves = list(statistics)
        if not leaves:
            return self
        hashes = np.frombuffer(b"".join(leaf.hashes for leaf in leaves), "<u4")
        counts = np.frombuffer(b"".join(leaf.counts for leaf in leaves), np.uint8)
        starts = accumulate((len(leaf.counts) for leaf in leaves), initial=0)
        ends = np.array(
            [start + end for start, leaf in zip(starts, leaves, strict=False) for end in leaf.ends],
            np.int64,
        )
        base, sizes = len(self), np.diff(ends, prepend=0)
        docs = np.repeat(np.arange(base, base + len(ends), dtype=np.int32), sizes)
        totals = np.concatenate(([0], np.cumsum(counts, dtype=np.int64)))
        lengths = (totals[ends] - totals[ends - sizes]).astype(np.float32)
        grown = copy(self)
        grown._lengths = np.concatenate([self._lengths, lengths])
        grown._fresh = (*self._fresh, (hashes.astype(np.uint32, copy=False), docs, counts))
        return grown

    def settled(self) -> Lexicon:
        """Return it with the newest postings sorted into the rest, once there are enough of them to
        slow a query."""
        fresh = sum(len(part[0]) for part in self._fresh)
        if fresh > max(REBUILD_FLOOR, _REBUILD_SHARE * len(self._hashes)) or len(self._fresh) > 32:
            return self._sorted()
        return self

    def scores(self, query: Mapping[int, int]) -> Scores:
        """Return every passage's BM25 score for the query's terms (hash -> count), float32 (n,)."""
        return self.matches(query)[0]

    def matches(self, query: Mapping[int, int]) -> tuple[Scores, float]:
        """Return `scores`, and the score of a passage that is the query itself."""
        total = len(self)
        scores = np.zeros(total, np.float32)
        if not total:
            return scores, 0.0
        mean = max(1.0, float(self._lengths.mean()))
        norms = K1 * (1 - B + B * self._lengths / mean)
        norm, whole = K1 * (1 - B + B * sum(query.values()) / mean), 0.0
        term_postings = []
        for (docs, counts), times in zip(self._postings(list(query)), query.values(), strict=True):
            number = max(1, len(docs))
            weight = min(times, 3) * np.log1p((total - number + 0.5) / (number + 0.5))
            whole += float(weight) * times * (K1 + 1) / (times + norm)
            if len(docs):
                term_postings.append((docs, counts, weight))
        if not term_postings:
            return scores, whole
        ends = list(accumulate((len(docs) for docs, _, _ in term_postings), initial=0))
        docs = np.concatenate([docs for docs, _, _ in term_postings])
        times_in = np.concatenate([counts for _, counts, _ in term_postings]).astype(np.float32)
        weights = np.repeat(np.array([weight for _, _, weight in term_postings]), np.diff(ends))
        gained = weights * times_in * (K1 + 1) / (times_in + norms[docs])
        for low, high in pairwise(ends):  # term by term: a term has each passage once
            scores[docs[low:high]] += gained[low:high]
        return scores, whole

    def _postings(
        self, term_hashes: Sequence[int]
    ) -> Iterator[tuple[NDArray[np.int32], NDArray[np.uint8]]]:
        """Yield the passages and counts of each of these terms, in order."""
        # In the dtype of the hashes, or numpy converts all of them in each search.
        wanted = np.array(term_hashes, np.uint32)
        lows = np.searchsorted(self._hashes, wanted).tolist()
        highs = np.searchsorted(self._hashes, wanted, "right").tolist()
        hashes, fresh_docs, fresh_counts = self._unsorted()
        for at, (low, high) in enumerate(zip(lows, highs, strict=True)):
            docs, counts = self._docs[low:high], self._counts[low:high]
            hit = np.flatnonzero(hashes == wanted[at])
            if len(hit):
                docs = np.concatenate([docs, fresh_docs[hit]])
                counts = np.concatenate([counts, fresh_counts[hit]])
            yield docs, counts

    def _unsorted(self) -> _Batch:
        """Return the postings that are not sorted in yet."""
        if not self._fresh:
            return np.empty(0, np.uint32), np.empty(0, np.int32), np.empty(0, np.uint8)
        hashes, docs, counts = zip(*self._fresh, strict=True)
        return np.concatenate(hashes), np.concatenate(docs), np.concatenate(counts)

    def _sorted(self) -> Lexicon:
        hashes, docs, counts = self._unsorted()
        hashes = np.concatenate([self._hashes, hashes])
        order = np.argsort(hashes, kind="stable")
        made = copy(self)
        made._hashes = hashes[order]
        made._docs = np.concatenate([self._docs, docs])[order]
        made._counts = np.concatenate([self._counts, counts])[order]
        made._fresh = ()
        return made
