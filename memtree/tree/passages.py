"""A document to passages: the blocks of the tree's chunker, joined until they say enough alone.

A passage is what one line of a prompt holds and what an embedder reads whole: at most 1,000 bytes,
about 250 tokens, and half of that at least where the structure of the text allows it. It ends
where the text itself does: before a heading, else after a paragraph, else after a line or sentence.
Passages cover the text, so that it can be put together from them.

    >>> passages("# Ports\\n\\nStaging listens on 8090.\\n")
    [(0, 34)]
"""

from __future__ import annotations

from memtree.tree import chunking

LEAST, MOST = 500, 1_000  # UTF-8 bytes; less only at the end or before what would be too much


def passages(text: str) -> list[tuple[int, int]]:
    """(start, end) of each, in order. None holds white space alone, unless the text does."""
    spans = list(chunking.text_spans(text, glue=False))
    sizes = [len(text[start:end].encode("utf-8", "surrogatepass")) for start, end, *_ in spans]
    borders = [_border(text, start, border) for start, _, border, _ in spans]
    pieces: list[tuple[int, int]] = []
    first = 0
    while first < len(spans):
        end = _end(sizes, borders, first)
        start, stop = spans[first][0], spans[end - 1][1]
        if pieces and not text[start:stop].strip():
            pieces[-1] = (pieces[-1][0], stop)
        else:
            pieces.append((start, stop))
        first = end
    return pieces


def _border(text: str, start: int, border: int) -> int:
    """A block of code begins and ends as strongly as a heading, for a leaf. Here the sentence that
    says what it is for had better stay with it."""
    if border == chunking.HEADING and not chunking.is_heading(text, start):
        return chunking.PARAGRAPH_BORDER
    return border


def _end(sizes: list[int], borders: list[int], first: int) -> int:
    """Where the passage that begins with block `first` ends: before the strongest border that
    leaves it long enough; of equal ones the last."""
    total, best, strongest = 0, first + 1, -1
    for index in range(first, len(sizes)):
        total += sizes[index]
        if total > MOST and index > first:
            return best
        if index + 1 == len(sizes):
            return index + 1
        border = borders[index + 1] if total >= LEAST else -1
        if border >= strongest:
            best, strongest = index + 1, border
    return best
