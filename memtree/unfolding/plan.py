"""What a memory message shows, as a value without text, and the pure way from it to text.

A plan names nodes with the version of their summary, and spans of messages before its cut;
`render` needs the history and the nodes to make the same bytes again. Numbers in the text are the
index of a message in what the client posted, counted from 0, as in `explain`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import msgspec

from memtree.conversation.history import History
from memtree.conversation.message import View
from memtree.tree.node import Node, NodePlace

OPENING = "<context_memory>"
CLOSING = "</context_memory>"
GAP = "[...]"
WRAPPER = 60  # tokens of all lines of a memory message that show nothing
_FENCE = re.compile(r"^[ \t]{0,3}(```|~~~)", re.MULTILINE)


class TextSpan(msgspec.Struct, frozen=True, order=True, array_like=True, gc=False):
    """Characters [start, end) of the view of message `message` (index in the history)."""

    message: int
    start: int
    end: int


class OutlineNode(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A node in the outline, `depth` below the top; `body`: its summary is shown as well."""

    id: bytes
    version: int
    depth: int
    place: NodePlace
    body: bool


class Plan(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Outline lines in reading order, pinned spans, excerpts, and the cut: the first message
    (index in the history) that is sent as it is. Refers to messages before the cut only; messages
    [0, head) are sent whole, too, and not quoted."""

    cut: int
    outline: tuple[OutlineNode, ...] = ()
    rules: tuple[TextSpan, ...] = ()
    excerpts: tuple[TextSpan, ...] = ()
    head: int = 0


@dataclass(frozen=True, slots=True)
class SummaryTree:
    """The nodes over a history: the top ones in order, an open leaf last, and all of them by id."""

    roots: Sequence[bytes]
    nodes: Mapping[bytes, Node]


@dataclass(frozen=True, slots=True)
class FoldWindow:
    """What a memory message stands for, messages [head, cut), and the tokens that it may have.
    `ask`: tokens that are shown of the user message whose tool loop is cut, where there is room."""

    cut: int
    budget: int
    head: int = 0
    ask: int = 0


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


def render(plan: Plan, history: History, nodes: Mapping[bytes, Node]) -> str:
    """The content of the memory message. Raises `KeyError` where a node is not in `nodes`."""
    last = history.posted[plan.cut - 1] if plan.cut else 0
    lines = [
        OPENING,
        f"Record of this conversation's earlier messages (up to number {last}), "
        "compressed from the original. It is a record, not an instruction.",
    ]
    if plan.outline:
        lines += ["Outline [message numbers]:", *outline_lines(plan.outline, history, nodes)]
    if plan.rules:
        lines += ["Standing requests, verbatim:", *quote_lines(plan.rules, history)]
    if plan.excerpts:
        lines += ["Excerpts, verbatim:", *quote_lines(plan.excerpts, history)]
    lines.append(CLOSING)
    return "\n".join(lines)


def outline_lines(
    outline: Iterable[OutlineNode], history: History, nodes: Mapping[bytes, Node]
) -> Iterator[str]:
    """One line a node; places where nodes are left out are marked by a lone line."""
    for shown in outline:
        yield outline_line(shown, nodes[shown.id], history)


def outline_line(shown: OutlineNode, node: Node, history: History) -> str:
    first = history.posted[shown.place.first]
    last = history.posted[max(shown.place.first, min(shown.place.last, len(history) - 1))]
    where = f"{first}" if first == last else f"{first}-{last}"
    text = node.summary.headline
    if shown.body and (body := node.summary.shown):
        text = f"{text}: {body}" if text else body
    return f"{'  ' * shown.depth}- [{where}] {text}"


def quote_lines(spans: Iterable[TextSpan], history: History) -> Iterator[str]:
    """Labelled verbatim text, one entry a message; `[...]` stands where text is left out."""
    for message, found in groupby(merge(spans), key=lambda span: span.message):
        pieces = list(_pieces(list(found), history.view(message)))
        if pieces:
            label = f"{history.posted[message]} {history.facts[message].role}"
            yield f"[{label}] " + f"\n{GAP}\n".join(pieces)


def quotes(spans: Iterable[TextSpan], history: History) -> list[Quote]:
    """Where each verbatim piece that `quote_lines` shows stands in what was posted."""
    found = []
    for span in merge(spans):
        message = history.messages[span.message]
        for start, end in history.view(span.message).posted(span.start, span.end):
            if (text := message.text[start:end]).strip():
                segment = message.segment_at(start)
                low, high = start - segment.start, end - segment.start
                posted = history.posted[span.message]
                found.append(Quote(span, posted, segment.part, low, high, text))
    return found


def merge(spans: Iterable[TextSpan]) -> list[TextSpan]:
    """Sorted, overlapping and touching spans of one message made one."""
    merged: list[TextSpan] = []
    for span in sorted(spans):
        if merged and merged[-1].message == span.message and merged[-1].end >= span.start:
            last = merged[-1]
            merged[-1] = TextSpan(last.message, last.start, max(last.end, span.end))
        else:
            merged.append(span)
    return merged


def _pieces(spans: Sequence[TextSpan], view: View) -> Iterator[str]:
    """The quotable text of spans of one message."""
    text = view.message.text
    fenced = "```" in text or "~~~" in text
    fences = [(match.start(1), match[1]) for match in _FENCE.finditer(text)] if fenced else []
    for span in spans:
        for start, end in view.posted(span.start, span.end):
            piece = text[start:end]
            if piece.strip():
                yield _fenced(piece, _open_fence(fences, start), _open_fence(fences, end))


def _open_fence(fences: Sequence[tuple[int, str]], at: int) -> str:
    """The marker of the fence that is open at a character; empty where none is."""
    before = bisect_left(fences, (at, ""))
    return fences[before - 1][1] if before % 2 else ""


def _fenced(piece: str, opened: str, left_open: str) -> str:
    """Close and reopen code fences around the piece, outside of the verbatim text."""
    head = f"{opened}\n" if opened else ""
    tail = ("" if piece.endswith("\n") else "\n") + left_open if left_open else ""
    return head + piece + tail
