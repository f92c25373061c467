"""Find passages that a user marks with `<keep>` and `</keep>` to stay in every memory message.

Only marks in the user's own words count. A mark in code, in a quotation, in pasted text or in a
program's insertion is ignored, and so is a mark without its counterpart.

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

MOST = 100  # passages of one message: the last ones
OPENING, CLOSING = "<keep>", "</keep>"
_TAG = re.compile(f"{OPENING}|{CLOSING}")
# Replaces a passage while its surroundings are read. It must be a statement, since a single word in
# backticks or quotation marks passes for a name in the user's own words.
_STATEMENT = "all of this I keep"
# Begins a comment in code; before a mark a comment is likelier than a heading.
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
    """Yield each closing mark with the last opening mark before it, if both are outside blocks."""
    tags = list(_TAG.finditer(text))
    # Without angle brackets, or the marks would be markup elements themselves.
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
    """Return for each passage True if its surroundings are the user's own words. Its content does
    not matter: a user may mark a line of code. Behind a question any paragraph looks like a text
    that is handed over, so passages on lines of their own are left out in a second reading."""
    own = _surrounded(text, pairs, [_STATEMENT] * len(pairs))
    alone = [_stands_alone(text, start, end) for start, end in pairs]
    if all(own) or not any(alone):
        return own
    without = _surrounded(text, pairs, ["" if single else _STATEMENT for single in alone])
    again = (single and left for single, left in zip(alone, without, strict=True))
    return [first or second for first, second in zip(own, again, strict=True)]


def _surrounded(text: str, pairs: Sequence[Span], standing: Sequence[str]) -> list[bool]:
    """Return the result of one reading, with the passages replaced by the words in `standing`."""
    pieces: list[str] = []
    places: list[Span] = []
    at = size = 0
    for (start, end), words in zip(pairs, standing, strict=True):
        pieces += (_TAG.sub("", text[at:start]), words)
        first = size + len(pieces[-2])
        size = first + len(words)
        places.append(Span(first, size))
        at = end
    read = "".join((*pieces, _TAG.sub("", text[at:])))
    others = without_own(read)
    starts = [span.start for span in others]
    return [_is_own(read, place, others, starts) for place in places]


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Return True if a passage has its lines to itself and is not indented like code."""
    before = text[text.rfind("\n", 0, start) + 1 : start]
    stop = text.find("\n", end)
    behind = text[end : stop if stop >= 0 else len(text)]
    return not before.strip() and len(before.expandtabs(4)) < 4 and not behind.strip()


def _is_own(read: str, place: Span, others: Sequence[Span], starts: Sequence[int]) -> bool:
    """Return False if words of others cover a place, or reach up to it if it is empty. `starts`:
    those of `others`."""
    before = read[read.rfind("\n", 0, place.start) + 1 : place.start].strip()
    if before.startswith("#") or before.endswith(_COMMENTS):
        return False
    empty = place.start == place.end
    held = bisect_right(starts, place.start - 1 if empty else place.end - 1) - 1
    return held < 0 or others[held].end <= place.start - empty


def _trimmed(text: str, span: Span) -> Span:
    inner = text[span.start : span.end]
    start = span.start + len(inner) - len(inner.lstrip())
    return Span(start, start + len(inner.strip()))
