"""How many pages a PDF has, from its beginning and its end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from memtree.conversation.media.base64_data import Base64Data

WINDOW = 48 * 1024  # bytes looked at on either side
PAGE_BYTES = 50_000  # of a PDF that does not say: few have smaller pages
ROOTS = 40  # nodes of the tree of pages that are looked at
REACH = 4_000  # bytes of such a node on either side of its type

_LINEAR = re.compile(rb"/Linearized\b[^>]{0,300}?/N\s+(\d{1,6})\b")
_NODE = re.compile(rb"/Type\s*/Pages\b")
_COUNT = re.compile(rb"/Count\s+(\d{1,6})\b")
_PAGE = re.compile(rb"/Type\s*/Page\b")


def pages(data: Base64Data) -> int | None:
    """The number of pages, by size where the file hides it; None where it is no PDF.

    A PDF for the web says it at the beginning, others in the root of their tree of pages, which
    mostly stands near one end. Newer files may pack that root away.
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
    """Pages below each node of the tree of pages; the root has the largest number."""
    for node in islice(_NODE.finditer(part), ROOTS):
        first = part.rfind(b"obj", max(0, node.start() - REACH), node.start())
        last = part.find(b"endobj", node.end(), node.end() + REACH)
        yield from map(int, _COUNT.findall(part, max(0, first), last if last > 0 else node.end()))
