"""Verbatim quotations: the pieces of a message that a span shows, closing of code fences around
them, and marks for omitted text.

A span is split at the ends of posted strings, around blocks that clients rewrite with each request,
and around characters by which a line could be mistaken for one of ours (`own_lines`).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

from memtree.conversation.history import History
from memtree.conversation.message import Message, View
from memtree.unfolding.memory_message.call_texts import left_out
from memtree.unfolding.memory_message.labels import shown_line, tells_all
from memtree.unfolding.own_lines import GAP, cut_spans
from memtree.unfolding.plan import TextSpan

_FENCE = re.compile(r"^[ \t]{0,3}(```|~~~)", re.MULTILINE)
# Code that begins where a quotation ends; a line with a path may precede its fence.
_CODE = re.compile(
    r"\s*+(?:(?P<path>[^\s`]{1,120})\n)?[ \t]{0,3}(?P<fence>```|~~~)(?P<info>[^\n`]{0,120})\n"
)
_PATH = re.compile(r"[\w./\\-]{0,60}[./][\w./\\-]{1,60}")


@dataclass(frozen=True, slots=True)
class Quote:
    """A verbatim piece of the rendered text: code points [start, end) of the string at `part` (such
    as `content[0]`) of the posted message with this index; `text` is that piece."""

    span: TextSpan
    posted: int
    part: str
    start: int
    end: int
    text: str


def quotes(spans: Iterable[TextSpan], history: History, *, names: bool = False) -> list[Quote]:
    """Return the posted place of each verbatim piece that `quoted` shows. `names`: the spans are
    names, which are shown even if they are arguments of a call."""
    pieces = []
    for span in spans:
        message = history.messages[span.message]
        for start, end in _shown(span, history.view(span.message), names=names):
            segment = message.segment_at(start)
            low, high = start - segment.start, end - segment.start
            posted = history.posted[span.message]
            text = message.text[start:end]
            pieces.append(Quote(span, posted, segment.part, low, high, text))
    return pieces


def first_piece(span: TextSpan, history: History) -> tuple[str, int, int]:
    """Return the place of a span's first piece, quoted or not: part, start and end as in `Quote`.
    ("", 0, 0) if none of it was posted verbatim."""
    message = history.messages[span.message]
    for start, end in history.view(span.message).posted(span.start, span.end):
        segment = message.segment_at(start)
        return segment.part, start - segment.start, end - segment.start
    return "", 0, 0


def quoted(spans: Sequence[TextSpan], view: View, *, marks: bool = True) -> str:
    """Return the text of spans of one message, in order. `[...]` marks text of the message left out
    between them and, with `marks`, after the last one. Empty if none of them can be quoted."""
    pieces = list(_pieces(spans, view))
    if not pieces:
        return ""
    left_out = [(earlier.end, other.start) for earlier, other in pairwise(spans)]
    left_out.append((spans[-1].end, len(view.text)))
    text = pieces[0][1]
    for (span, piece), (before, _) in zip(pieces[1:], pieces, strict=False):
        start, end = left_out[before]
        seam = gap(view.text[start:end]) if span != before else GAP
        text += f"\n{seam}\n{piece}"
    start, end = left_out[pieces[-1][0]]
    if marks and is_left_out(view, start, end):
        text += f"\n{gap(view.text[start:end])}"
    return text


def is_left_out(view: View, start: int, end: int) -> bool:
    """Return True if characters [start, end) of a view contain text that could be quoted."""
    return any(True for _ in _shown(TextSpan(0, start, end), view)) if start < end else False


def gap(text: str) -> str:
    """Return the mark for omitted text; code is named with its size.

    >>> gap("and so on"), gap("\\nsrc/a.py\\n```python\\nx = 1\\ny = 2\\n```\\n")
    ('[...]', '[... 2 lines of code, src/a.py]')
    """
    code = _CODE.match(text)
    if code is None:
        return GAP
    closed = text.find("\n" + code["fence"], code.end() - 1)
    lines = text.count("\n", code.end(), closed if closed >= 0 else len(text)) + 1
    named = _PATH.fullmatch(code["path"] or "") or _PATH.search(code["info"])
    name = f", {shown_line(named[0], 60)}" if named else ""
    return f"[... {lines} lines of code{name}]"


def _shown(span: TextSpan, view: View, *, names: bool = False) -> Iterator[tuple[int, int]]:
    """Yield the pieces of a span in characters of the posted text, without blank ones and arguments
    of a call that its label already shows."""
    text = view.message.text
    calls = () if names else left_out(view.message)
    for start, end in view.posted(span.start, span.end):
        if text[start : start + 1] == "{" and _is_told(view.message, start):
            continue
        cuts = cut_spans(text, start, end) if names else _cuts(text, start, end, calls)
        for low, high in _between(cuts, start, end):
            if text[low:high].strip():
                yield low, high


def _is_told(message: Message, start: int) -> bool:
    segment = message.segment_at(start)
    return segment.kind == "call" and tells_all(message.text[segment.start : segment.end])


def _between(cuts: Iterable[tuple[int, int]], start: int, end: int) -> Iterator[tuple[int, int]]:
    for low, high in cuts:
        yield start, low
        start = high
    yield start, end


def _cuts(
    text: str, start: int, end: int, calls: Sequence[tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    """Yield the spans of a piece of the posted text that a quotation leaves out, in order:
    characters by which a line could be mistaken for one of ours, and the JSON around the texts of a
    call (`calls`)."""
    done = start
    around = ((max(start, low), min(end, high)) for low, high in calls)
    for low, high in sorted(chain(around, cut_spans(text, start, end))):
        if high > max(low, done):
            yield max(low, done), high
            done = high


def cut_lines(spans: Iterable[TextSpan], history: History) -> int:
    """Return how many characters the quotations of these spans leave out, so that no line can be
    mistaken for one of ours."""
    return sum(
        1
        for span in spans
        for start, end in history.view(span.message).posted(span.start, span.end)
        for _ in cut_spans(history.messages[span.message].text, start, end)
    )


def _pieces(spans: Sequence[TextSpan], view: View) -> Iterator[tuple[int, str]]:
    """Yield the shown pieces, each with the index of its span. If a single character is left out,
    the text continues after it."""
    text = view.message.text
    fenced = "```" in text or "~~~" in text
    fences = [(match.start(1), match[1]) for match in _FENCE.finditer(text)] if fenced else []
    calls = left_out(view.message)
    for at, span in enumerate(spans):
        for first, end in view.posted(span.start, span.end):
            if text[first : first + 1] == "{" and _is_told(view.message, first):
                continue
            kept, start = [], first
            for low, high in chain(_cuts(text, first, end, calls), [(end, end)]):
                kept.append(text[start:low])
                start = high
                if high - low == 1:
                    continue
                piece = "".join(kept)  # up to one of our tags, or the end
                if piece.strip():
                    opened, left_open = _open_fence(fences, first), _open_fence(fences, low)
                    yield at, _fenced(piece, opened, left_open)
                kept, first = [], high


def _open_fence(fences: Sequence[tuple[int, str]], at: int) -> str:
    """Return the marker of the fence that is open at a character; "" if none is."""
    before = bisect_left(fences, (at, ""))
    return fences[before - 1][1] if before % 2 else ""


def _fenced(piece: str, opened: str, left_open: str) -> str:
    """Close and reopen code fences around the piece, outside of the verbatim text."""
    head = f"{opened}\n" if opened else ""
    tail = ("" if piece.endswith("\n") else "\n") + left_open if left_open else ""
    return head + piece + tail
