"""Plan of a memory message, as values without text.

A plan names nodes with the version of their summary, and spans of messages before its cut;
`memory_text.render` needs the history and the nodes to make the same bytes again. Messages are
counted as in the history; what a reader sees is the index of a message in what the client posted.

What is stored of a plan is decoded by later versions, too: fields are added at the end only.
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
    """A node in the outline, `depth` below the top; `body`: its summary is shown as well;
    `brief`: not even its headline, but a few words of it; `bare`: nothing but its range.
    `first_day`, `last_day`: proleptic ordinals of its first and last message; 0: not known."""

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
    """Note on the excerpt with index `excerpt` of a plan. `also`: messages that hold the
    same text, white space aside. `newest`: the last message before the cut, where it is the newest
    version up to there of what older messages hold as well; -1: it is not.
    `newer`: the message with a newer version, of which this shows what differs; -1: none.
    `earlier`: the message that says otherwise on the same matter, and is older; -1: none."""

    excerpt: int
    also: tuple[int, ...] = ()
    newest: int = -1
    newer: int = -1
    earlier: int = -1


class WorkSpan(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Characters [start, end) of the view of message `message`; `escaped`: as JSON spells them.
    `mark`: 1 of a line that an edit removed, 2 of an edit that was refused."""

    message: int
    start: int
    end: int
    escaped: bool = False
    mark: int = 0


class WorkLine(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A line of the work log. `kind` and `counts`: as in `work_log`. `last`: the message of the
    last event that it tells of. `code`: how the last run of a command ended."""

    kind: int
    name: WorkSpan | None = None
    last: int = -1
    counts: tuple[int, ...] = ()
    code: int = 0
    details: tuple[WorkSpan, ...] = ()


class KeptSpans(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Holds what stays whatever is asked, in order and disjoint: `spans`, of which the one in
    message `cut` is cut short (-1: none is). `left_out`: messages of what found no room. `tokens`:
    of the lines that show it."""

    spans: tuple[TextSpan, ...] = ()
    left_out: tuple[int, ...] = ()
    cut: int = -1
    tokens: int = 0


NOTHING_KEPT = KeptSpans()


# Why an excerpt is shown; a plan keeps the number. Others are added at the end only.
REASONS = ("", "excerpt", "user", "line", "ask", "card", "trail", "step", "rule")
LAST_RANK = 255  # and all behind it


class KeptReason(NamedTuple):
    """`rank`: place of its best passage among all that were ranked for the question, from 1;
    None: it was not ranked. `reason`: None where it was not kept."""

    reason: str | None = None
    rank: int | None = None


class Plan(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Outline lines in reading order, pinned spans, excerpts, and the cut: the first message
    (index in the history) that is sent as it is. Refers to messages before the cut only; messages
    [0, head) are sent whole, too, and not quoted. Spans are in order and disjoint.

    `corrected`: (index in `rules`, message) of each rule that replaces one of an earlier message.
    `root`: the outline has a line for the whole above it. `reasons`, `ranks`: a byte for each
    excerpt, none in plans of before they were kept; they change nothing in what is sent. `pinned`:
    (first message, end) of rounds before the cut that are sent whole, and not quoted either.
    `named`: a byte for each excerpt, 1 where it begins with its speaker's name. `days`: the
    proleptic ordinal of each excerpt's day; 0 where nothing gives one.
    `work`: the lines that tell what was done. `kept`: what the user or the client wants to stay.
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
        """All that it quotes."""
        return (*self.rules, *self.kept.spans, *self.excerpts)


class RecallPlan(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Plan of a recall block: excerpts, and the nodes right above them; the rest as in `Plan`.
    False where it shows nothing."""

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
        """The part that makes its bytes."""
        return msgspec.structs.replace(self, reasons=b"", ranks=b"")


@dataclass(frozen=True, slots=True)
class SummaryTree:
    """The nodes over a history: the top ones in order, an open leaf last, and all of them by id.
    `newer`: those that are not as they stand in the corpus, None where that is not known.
    `leaf_count`: leaves below a node, None where that is not known."""

    roots: Sequence[bytes]
    nodes: Mapping[bytes, Node]
    newer: Mapping[bytes, Node] | None = None
    leaf_count: Callable[[bytes], int | None] = lambda _: None


@dataclass(frozen=True, slots=True)
class FoldWindow:
    """Window that a memory message stands for, messages [head, cut) but those of the `pinned`
    rounds, and the tokens that it may have.
    `ask`: tokens that are shown of the user message whose tool loop is cut, where there is room.
    `brief`: summaries above excerpts are a few words, because there is little room. `log`: tokens
    of the budget that the log of what was done may have. `kept`: what stays whatever is asked, in
    the budget, too."""

    cut: int
    budget: int
    head: int = 0
    ask: int = 0
    brief: bool = False
    pinned: tuple[tuple[int, int], ...] = ()
    log: int = 0
    kept: KeptSpans = NOTHING_KEPT

    def folds(self, message: int) -> bool:
        """Return True if it stands for this message."""
        pinned = any(start <= message < end for start, end in self.pinned)
        return self.head <= message < self.cut and not pinned


def kept_reasons(plan: Plan | RecallPlan) -> list[KeptReason]:
    """Return the reason of each excerpt of a plan.

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
    """Sort spans, and join those of one message that touch or overlap."""
    merged: list[TextSpan] = []
    for span in sorted(spans):
        if merged and merged[-1].message == span.message and merged[-1].end >= span.start:
            last = merged[-1]
            merged[-1] = TextSpan(last.message, last.start, max(last.end, span.end))
        else:
            merged.append(span)
    return merged
