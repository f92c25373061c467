"""Plan of a memory message, as values without text.

A plan names nodes with the version of their summary, and spans of messages before its cut;
`memory_text.render` needs the history and the nodes to render the same bytes again. Messages are
numbered as in the history; readers see the index of a message in the posted list.

Stored plans are decoded by later versions, too: fields are added at the end only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from memtree.tree.node import Node, NodePlace


class TextSpan(msgspec.Struct, frozen=True, order=True, array_like=True, gc=False):
    """Characters [start, end) of the view of message `message` (index in the history)."""

    message: int
    start: int
    end: int


class OutlineNode(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A node in the outline, `depth` levels below the top; `body`: its summary is shown as well;
    `brief`: only a few words of its headline are shown; `bare`: only its range. `first_day`,
    `last_day`: proleptic ordinals of its first and last message; 0: unknown."""

    id: bytes
    version: int
    depth: int
    place: NodePlace
    body: bool
    brief: bool = False
    bare: bool = False
    first_day: int = 0
    last_day: int = 0


class ExcerptNote(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Note on the excerpt with index `excerpt` of a plan. `also`: messages with the same text,
    apart from white space. `newest`: the last message before the cut, if this excerpt is the newest
    version up to there of a text that older messages contain as well; -1 otherwise. `newer`: the
    message with a newer version, of which this excerpt shows the differences; -1: none. `earlier`:
    an older message that differs on the same matter; -1: none."""

    excerpt: int
    also: tuple[int, ...] = ()
    newest: int = -1
    newer: int = -1
    earlier: int = -1


class WorkSpan(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Characters [start, end) of the view of message `message`; `escaped`: with JSON escapes.
    `mark`: 1 for a line that an edit removed, 2 for a refused edit."""

    message: int
    start: int
    end: int
    escaped: bool = False
    mark: int = 0


class WorkLine(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A line of the work log. `kind` and `counts`: as in `work_log`. `last`: the message of its
    last event. `code`: how the last run of a command ended."""

    kind: int
    name: WorkSpan | None = None
    last: int = -1
    counts: tuple[int, ...] = ()
    code: int = 0
    details: tuple[WorkSpan, ...] = ()


class KeptSpans(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Passages that must stay, in order and disjoint: `spans`, of which the one in message `cut` is
    shortened (-1: none is). `left_out`: messages of passages that did not fit. `tokens`: of the
    lines that show them."""

    spans: tuple[TextSpan, ...] = ()
    left_out: tuple[int, ...] = ()
    cut: int = -1
    tokens: int = 0


NOTHING_KEPT = KeptSpans()


# Reasons for an excerpt; a plan stores the index. New ones are added at the end only.
REASONS = ("", "excerpt", "user", "line", "ask", "card", "trail", "step", "rule", "file", "tail")
LAST_RANK = 255  # stands for this rank and all higher ones


class KeptReason(NamedTuple):
    """`rank`: place of its best passage among all passages ranked for the question, from 1; None:
    not ranked. `reason`: None if it was not stored."""

    reason: str | None = None
    rank: int | None = None


class Plan(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Outline lines in reading order, pinned spans, excerpts, and the cut: the first message (index
    in the history) that is sent unchanged. Refers to messages before the cut only; messages [0,
    head) are also sent whole, and not quoted. Spans are in order and disjoint.

    `corrected`: (index in `rules`, message) of each rule that replaces one of an earlier message.
    `root`: the outline has a line for the whole above it. `reasons`, `ranks`: a byte for each
    excerpt, empty if they are not known; they do not affect what is sent. `pinned`: (first
    message, end) of rounds before the cut that are sent whole, and so not quoted. `named`: a byte
    for each excerpt, 1 if it begins with its speaker's name. `days`: the proleptic ordinal of each
    excerpt's day; 0 if unknown. `work`: lines of the work log. `kept`: passages that the user or
    the client wants to stay.
    """

    cut: int
    outline: tuple[OutlineNode, ...] = ()
    rules: tuple[TextSpan, ...] = ()
    excerpts: tuple[TextSpan, ...] = ()
    head: int = 0
    notes: tuple[ExcerptNote, ...] = ()
    corrected: tuple[tuple[int, int], ...] = ()
    root: bool = False
    reasons: bytes = b""
    ranks: bytes = b""
    pinned: tuple[tuple[int, int], ...] = ()
    named: bytes = b""
    days: tuple[int, ...] = ()
    work: tuple[WorkLine, ...] = ()
    kept: KeptSpans = NOTHING_KEPT

    @property
    def verbatim(self) -> tuple[TextSpan, ...]:
        """Return all quoted spans."""
        return (*self.rules, *self.kept.spans, *self.excerpts)


class RecallPlan(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Plan of a recall block: excerpts, and the nodes directly above them; the rest as in `Plan`.
    Falsy if it shows nothing."""

    excerpts: tuple[TextSpan, ...] = ()
    outline: tuple[OutlineNode, ...] = ()
    notes: tuple[ExcerptNote, ...] = ()
    reasons: bytes = b""
    ranks: bytes = b""
    named: bytes = b""
    days: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.excerpts)

    @property
    def sent(self) -> RecallPlan:
        """Return the part that determines its bytes."""
        return msgspec.structs.replace(self, reasons=b"", ranks=b"")


@dataclass(frozen=True, slots=True)
class SummaryTree:
    """The nodes over a history: the top ones in order, an open leaf last, and all of them by id.
    `newer`: nodes that differ from those in the corpus, None if unknown. `leaf_count`: leaves below
    a node, None if unknown."""

    roots: Sequence[bytes]
    nodes: Mapping[bytes, Node]
    newer: Mapping[bytes, Node] | None = None
    leaf_count: Callable[[bytes], int | None] = lambda _: None


@dataclass(frozen=True, slots=True)
class FoldWindow:
    """Messages that a memory message stands for, [head, cut) without the `pinned` rounds, and its
    token budget. `ask`: tokens shown of the user message whose tool loop is cut, if there is room.
    `brief`: summaries above excerpts are a few words, because there is little room. `log`: tokens
    of the budget for the work log. `kept`: passages that must stay, within the budget, too.
    `tail`: tokens of it for the end of the round before the cut."""

    cut: int
    budget: int
    head: int = 0
    ask: int = 0
    brief: bool = False
    pinned: tuple[tuple[int, int], ...] = ()
    log: int = 0
    kept: KeptSpans = NOTHING_KEPT
    tail: int = 0

    def folds(self, message: int) -> bool:
        """Return True if the memory message stands for this message."""
        pinned = any(start <= message < end for start, end in self.pinned)
        return self.head <= message < self.cut and not pinned


def kept_reasons(plan: Plan | RecallPlan) -> list[KeptReason]:
    r"""Return the reason of each excerpt of a plan.

    >>> kept_reasons(RecallPlan((TextSpan(0, 0, 9), TextSpan(2, 0, 9)), (), (), b"\1\4", b"\7\0"))
    [KeptReason(reason='excerpt', rank=7), KeptReason(reason='ask', rank=None)]
    """
    missing = bytes(len(plan.excerpts))
    codes, ranks = plan.reasons or missing, plan.ranks or missing
    return [
        KeptReason((REASONS[code] if code < len(REASONS) else "") or None, rank or None)
        for code, rank in zip(codes, ranks, strict=False)
    ]


def merge(spans: Iterable[TextSpan]) -> list[TextSpan]:
    """Sort spans, and merge those of one message that touch or overlap."""
    merged: list[TextSpan] = []
    for span in sorted(spans):
        if merged and merged[-1].message == span.message and merged[-1].end >= span.start:
            last = merged[-1]
            merged[-1] = TextSpan(last.message, last.start, max(last.end, span.end))
        else:
            merged.append(span)
    return merged
