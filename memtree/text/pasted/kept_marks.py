"""What a user marks with `<keep>` and `</keep>`: passages that are to stay in every memory message.

Only marks in the user's own words count. A mark in code, a quotation, a pasted text or what a
program put into the message marks nothing, and neither does one without its counterpart.

    >>> text = "Go on. <keep>Port 8443 is taken.</keep> In code: `<keep>x = 1</keep>`"
    >>> [text[start:end] for start, end in kept_marks(text)]
    ['Port 8443 is taken.']
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from memtree.text.pasted.blocks import blocks
from memtree.text.pasted.own_words import LONGEST, without_own
from memtree.text.spans import Span

MOST = 100  # passages of one message, the last ones
OPENING, CLOSING = "<keep>", "</keep>"
_TAG = re.compile(f"{OPENING}|{CLOSING}")
# Stands for a passage where its surroundings are read. It must be a statement: a single word in
# backticks or quotation marks passes for a name in the user's own words.
_STATEMENT = "all of this I keep"
# What begins a comment in code; before a mark a heading is as rare as a comment is likely.
_COMMENTS = ("#", "//", "/*")


def kept_marks(text: str) -> tuple[Span, ...]:
    """Return the spans between the marks of a user's message, in order. Takes linear time."""
    if OPENING not in text or len(text) > LONGEST:
        return ()
    pairs = list(_pairs(text))[-MOST:]
    if not pairs:
        return ()
    own = _are_own(text, pairs)
    inner = (
        _trimmed(text, Span(start + len(OPENING), end - len(CLOSING)))
        for (start, end), is_own in zip(pairs, own, strict=True)
        if is_own
    )
    return tuple(span for span in inner if span.start < span.end)


def _pairs(text: str) -> Iterator[Span]:
    """Yield each closing mark with the last opening one before it, where blocks hold neither."""
    tags = list(_TAG.finditer(text))
    # Without their signs, or they would be elements of markup themselves.
    held = blocks(_TAG.sub(lambda tag: "k" * len(tag[0]), text))
    starts = [span.start for span in held]
    opened: int | None = None
    for tag in tags:
        at = bisect_right(starts, tag.start()) - 1
        if at >= 0 and held[at].end > tag.start():
            continue
        if tag[0] == OPENING:
            opened = tag.start()
        elif opened is not None:
            yield Span(opened, tag.end())
            opened = None


def _are_own(text: str, pairs: Sequence[Span]) -> list[bool]:
    """Return for each passage whether its surroundings are the user's own words. What it holds does
    not matter: a user may mark a line of code."""
    pieces: list[str] = []
    places: list[int] = []
    at = size = 0
    for start, end in pairs:
        pieces += (_TAG.sub("", text[at:start]), _STATEMENT)
        places.append(size + len(pieces[-2]))
        size = places[-1] + len(_STATEMENT)
        at = end
    read = "".join((*pieces, _TAG.sub("", text[at:])))
    others = without_own(read)
    starts = [span.start for span in others]
    found = []
    for place in places:
        held = bisect_right(starts, place + len(_STATEMENT) - 1) - 1
        before = read[read.rfind("\n", 0, place) + 1 : place].strip()
        outside = held < 0 or others[held].end <= place
        found.append(outside and not before.startswith("#") and not before.endswith(_COMMENTS))
    return found


def _trimmed(text: str, span: Span) -> Span:
    inner = text[span.start : span.end]
    start = span.start + len(inner) - len(inner.lstrip())
    return Span(start, start + len(inner.strip()))
