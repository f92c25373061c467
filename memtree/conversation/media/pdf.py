"""Number of pages of a PDF, from its beginning and its end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from memtree.conversation.media.base64_data import Base64Data

WINDOW = 48 * 1024  # bytes read at either end
PAGE_BYTES = 50_000  # assumed page size of a PDF that hides its page count: few have smaller pages
ROOTS = 40  # nodes of the page tree that are read
REACH = 4_000  # bytes of such a node, before and after its type

_LINEAR = re.compile(rb"/Linearized\b[^>]{0,300}?/N\s+(\d{1,6})\b")
_NODE = re.compile(rb"/Type\s*/Pages\b")
_COUNT = re.compile(rb"/Count\s+(\d{1,6})\b")
_PAGE = re.compile(rb"/Type\s*/Page\b")


def pages(data: Base64Data) -> int | None:
    """Return the number of pages, estimated from the size if the file hides it; None if it is not a
    PDF.

    A PDF for the web gives it at the beginning, others in the root of their page tree, which is
    mostly near one end. Newer files may compress that root.
    """
    head = data.read(0, WINDOW)
    if b"%PDF-" not in head[:1024]:
        return None
    if linear := _LINEAR.search(head[:2048]):
        return max(1, int(linear[1]))
    length = data.length
    tail = data.read(max(WINDOW, length - WINDOW), WINDOW)
    counts = [count for part in (head, tail) for count in _counts(part)]
    if not counts and length <= 2 * WINDOW:
        counts = [sum(len(_PAGE.findall(part)) for part in (head, tail))]
    return max(1, max(counts, default=0) or length // PAGE_BYTES)


def _counts(part: bytes) -> Iterator[int]:
    """Yield the pages below each node of the page tree; the root has the largest number."""
    for node in islice(_NODE.finditer(part), ROOTS):
        first = part.rfind(b"obj", max(0, node.start() - REACH), node.start())
        last = part.find(b"endobj", node.end(), node.end() + REACH)
        yield from map(int, _COUNT.findall(part, max(0, first), last if last > 0 else node.end()))
