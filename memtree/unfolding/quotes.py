"""Verbatim text: the pieces of a message that a span shows, and how code around them is closed.

A span is split where the posted strings end, around blocks that clients rewrite with each request,
and around our own tags, so that no quoted text can close the message that it stands in.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from memtree.conversation.history import History
from memtree.conversation.message import Message, View
from memtree.unfolding.labels import tells_all
from memtree.unfolding.plan import TextSpan

GAP = "[...]"
_FENCE = re.compile(r"^[ \t]{0,3}(```|~~~)", re.MULTILINE)
_OWN_TAG = re.compile(
    r"</?(?:context_memory|recalled_context|user_memories|retrieved_documents)>", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Quote:
    """A verbatim piece in the rendered text: code points [start, end) of the string that stands at
    `part` (such as `content[0]`) of the posted message with this index; `text` is that piece."""

    span: TextSpan
    posted: int
    part: str
    start: int
    end: int
    text: str


def without_tags(line: str) -> str:
    """A line of a summary without our own tags, which its source may hold."""
    return " ".join(_OWN_TAG.sub("", line).split()) if "<" in line else line


def quotes(spans: Iterable[TextSpan], history: History) -> list[Quote]:
    """Where each verbatim piece that `quoted` shows stands in what was posted."""
    found = []
    for span in spans:
        message = history.messages[span.message]
        for start, end in _shown(span, history.view(span.message)):
            segment = message.segment_at(start)
            low, high = start - segment.start, end - segment.start
            posted = history.posted[span.message]
            text = message.text[start:end]
            found.append(Quote(span, posted, segment.part, low, high, text))
    return found


def first_piece(span: TextSpan, history: History) -> tuple[str, int, int]:
    """Where the first piece of a span stands, quoted or not: part, start and end as in `Quote`.
    ("", 0, 0) where nothing of it was posted as it is."""
    message = history.messages[span.message]
    for start, end in history.view(span.message).posted(span.start, span.end):
        segment = message.segment_at(start)
        return segment.part, start - segment.start, end - segment.start
    return "", 0, 0


def quoted(spans: Sequence[TextSpan], view: View) -> str:
    """The text of spans of one message, in order; `[...]` stands where text is left out. Empty
    where nothing of them can be quoted."""
    return f"\n{GAP}\n".join(_pieces(spans, view))


def _shown(span: TextSpan, view: View) -> Iterator[tuple[int, int]]:
    """The pieces of a span in characters of the posted text; none is blank, or arguments of a call
    that its label tells."""
    text = view.message.text
    for start, end in view.posted(span.start, span.end):
        if text[start : start + 1] == "{" and _is_told(view.message, start):
            continue
        for low, high in _around_tags(text, start, end):
            if text[low:high].strip():
                yield low, high


def _is_told(message: Message, start: int) -> bool:
    segment = message.segment_at(start)
    return segment.kind == "call" and tells_all(message.text[segment.start : segment.end])


def _around_tags(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    for tag in _OWN_TAG.finditer(text, start, end):
        yield start, tag.start()
        start = tag.end()
    yield start, end


def _pieces(spans: Sequence[TextSpan], view: View) -> Iterator[str]:
    text = view.message.text
    fenced = "```" in text or "~~~" in text
    fences = [(match.start(1), match[1]) for match in _FENCE.finditer(text)] if fenced else []
    for span in spans:
        for start, end in _shown(span, view):
            yield _fenced(text[start:end], _open_fence(fences, start), _open_fence(fences, end))


def _open_fence(fences: Sequence[tuple[int, str]], at: int) -> str:
    """The marker of the fence that is open at a character; empty where none is."""
    before = bisect_left(fences, (at, ""))
    return fences[before - 1][1] if before % 2 else ""


def _fenced(piece: str, opened: str, left_open: str) -> str:
    """Close and reopen code fences around the piece, outside of the verbatim text."""
    head = f"{opened}\n" if opened else ""
    tail = ("" if piece.endswith("\n") else "\n") + left_open if left_open else ""
    return head + piece + tail
