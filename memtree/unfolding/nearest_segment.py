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
from memtree.text import terms

WORD = 0.1  # of cosine, for each term of the question that a segment holds


def nearest_segment(
    text: str, cosines: NDArray[np.float32], query: Collection[int]
) -> tuple[int, int]:
    """Characters [start, end) of the segment of a passage, white space at its borders left out.
    `cosines`: of its segments with the question; `query`: the question's terms. The whole text
    where these are not its segments."""
    parts = segments(text)
    if len(parts) != len(cosines):
        return 0, len(text)
    merits = [
        float(cosine) + WORD * sum(term in query for term in terms.terms(part))
        for part, cosine in zip(parts, cosines, strict=True)
    ]
    best = int(np.argmax(merits))
    start = list(accumulate(map(len, parts), initial=0))[best]
    said = parts[best]
    left = len(said) - len(said.lstrip())
    return start + left, start + len(said.rstrip())
