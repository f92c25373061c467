"""What a memory message shows, as values without text.

A plan names nodes with the version of their summary, and spans of messages before its cut;
`memory_text.render` needs the history and the nodes to make the same bytes again. Messages are
counted as in the history; what a reader sees is the index of a message in what the client posted.

What is stored of a plan is decoded by later versions, too: fields are added at the end only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from memtree.tree.node import Node, NodePlace


class TextSpan(msgspec.Struct, frozen=True, order=True, array_like=True, gc=False):
    """Characters [start, end) of the view of message `message` (index in the history)."""

    message: int
    start: int
    end: int


class OutlineNode(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A node in the outline, `depth` below the top; `body`: its summary is shown as well;
    `brief`: not even its headline, but a few words of it."""

    id: bytes
    version: int
    depth: int
    place: NodePlace
    body: bool
    brief: bool = False


class ExcerptNote(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What is said of the excerpt with index `excerpt` of a plan. `also`: messages that hold the
    same text, white space aside. `newest`: the last message before the cut, where it is the newest
    version up to there of what older messages hold as well; -1: it is not.
    `newer`: the message with a newer version, of which this shows what differs; -1: none."""

    excerpt: int
    also: tuple[int, ...] = ()
    newest: int = -1
    newer: int = -1


class Plan(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Outline lines in reading order, pinned spans, excerpts, and the cut: the first message
    (index in the history) that is sent as it is. Refers to messages before the cut only; messages
    [0, head) are sent whole, too, and not quoted. Spans are in order and disjoint.

    `corrected`: (index in `rules`, message) of each rule that replaces one of an earlier message.
    `root`: the outline has a line for the whole above it.
    """

    cut: int
    outline: tuple[OutlineNode, ...] = ()
    rules: tuple[TextSpan, ...] = ()
    excerpts: tuple[TextSpan, ...] = ()
    head: int = 0
    notes: tuple[ExcerptNote, ...] = ()
    corrected: tuple[tuple[int, int], ...] = ()
    root: bool = False


class RecallPlan(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What a recall block shows: excerpts, and the nodes right above them. False where it shows
    nothing."""

    excerpts: tuple[TextSpan, ...] = ()
    outline: tuple[OutlineNode, ...] = ()
    notes: tuple[ExcerptNote, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.excerpts)


@dataclass(frozen=True, slots=True)
class SummaryTree:
    """The nodes over a history: the top ones in order, an open leaf last, and all of them by id."""

    roots: Sequence[bytes]
    nodes: Mapping[bytes, Node]


@dataclass(frozen=True, slots=True)
class FoldWindow:
    """What a memory message stands for, messages [head, cut), and the tokens that it may have.
    `ask`: tokens that are shown of the user message whose tool loop is cut, where there is room.
    `brief`: summaries above excerpts are a few words, because there is little room."""

    cut: int
    budget: int
    head: int = 0
    ask: int = 0
    brief: bool = False


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
