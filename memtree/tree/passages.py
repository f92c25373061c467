"""Split a document into passages: blocks of the tree's chunker, joined until each is informative by
itself.

A passage fits into one line of a prompt and is read whole by an embedder: at most 1,000 bytes,
about 250 tokens, and at least half of that if the structure of the text allows it. It ends at a
natural border: before a heading, else after a paragraph, else after a line or sentence. Passages
cover the text, so that it can be reassembled from them.

    >>> passages("# Ports\\n\\nStaging listens on 8090.\\n")
    [(0, 34)]
"""

from __future__ import annotations

from memtree.tree import chunking

# UTF-8 bytes; fewer only at the end or before a block that would exceed `MOST`
LEAST, MOST = 500, 1_000


def passages(text: str) -> list[tuple[int, int]]:
    """Return (start, end) of each passage, in order. None is white space only, unless the text
    is."""
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
    """Return the strength of a border. For a leaf, a block of code begins and ends as strongly as a
    heading; here the sentence that introduces it should stay with it."""
    if border == chunking.HEADING and not chunking.is_heading(text, start):
        return chunking.PARAGRAPH_BORDER
    return border


def _end(sizes: list[int], borders: list[int], first: int) -> int:
    """Return where the passage that begins with block `first` ends: before the strongest border
    that leaves it long enough; of equal ones the last."""
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
