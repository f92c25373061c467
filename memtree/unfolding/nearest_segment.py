"""The segment of a passage that tells what a question asks for.

A passage has two to five segments of some fifty tokens (`ranking.segments`). Quoting one of them
instead of the passage makes room for passages that rank behind it.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from memtree.ranking.segments import segments
from memtree.text import terms, tokens

WORD = 0.1  # of cosine, for each term of the question that a segment holds


def nearest_segment(
    text: str, cosines: NDArray[np.float32], query: Collection[int], least: int = 0
) -> tuple[int, int]:
    """Characters [start, end) of the segment of a passage, white space at its borders left out,
    and of those behind or before it that it needs for `least` tokens. `cosines`: of its segments
    with the question; `query`: the question's terms. The whole text where these are not its
    segments."""
    parts = segments(text)
    if len(parts) != len(cosines):
        return 0, len(text)
    merits = [
        float(cosine) + WORD * sum(term in query for term in terms.terms(part))
        for part, cosine in zip(parts, cosines, strict=True)
    ]
    first = int(np.argmax(merits))
    end = first + 1
    while tokens.count(said := "".join(parts[first:end]).strip()) < least and (
        end < len(parts) or first
    ):
        first, end = (first, end + 1) if end < len(parts) else (first - 1, end)
    start = list(accumulate(map(len, parts), initial=0))[first]
    start += len("".join(parts[first:end])) - len("".join(parts[first:end]).lstrip())
    return start, start + len(said)
