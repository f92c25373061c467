"""Show what the model saw of a conversation, as far as the store knows: places and sizes, no text.

Messages are numbered as in `unfolding/stored_tree.py`. Characters are counted in a message's text
without volatile blocks; tokens are estimated from the passages of the tree.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from memtree.budget.epoch import REASON_NAMES, Epoch, EpochTurn
from memtree.tree.btree import walk
from memtree.tree.node import Frontier, Node
from memtree.unfolding.explain import KEPT, RULE, ExplainedNode
from memtree.unfolding.memory_plan import KeptReason, TextSpan, kept_reasons
from memtree.unfolding.recall_block import Versions
from memtree.unfolding.work_log import work_kind, work_names, work_outcome

CHARACTERS_A_TOKEN = 4  # used if no passage is known


@dataclass(frozen=True, slots=True)
class StoredExcerpt:
    """Characters [start, end) of posted message `message`; `reason` and `rank` as in
    `KeptReason`."""

    message: int
    start: int
    end: int
    tokens: int
    reason: str | None = None
    rank: int | None = None


@dataclass(frozen=True, slots=True)
class StoredRecall:
    """Recall block shown before posted message `message`."""

    message: int
    excerpts: tuple[StoredExcerpt, ...]


@dataclass(frozen=True, slots=True)
class StoredWork:
    """A file or command from the work log, placed as an excerpt is; `kind` and `outcome` as in
    `ExplainedWork`."""

    message: int
    start: int
    end: int
    kind: str
    outcome: str | None


@dataclass(frozen=True, slots=True)
class StoredEpoch:
    """`created`: unix seconds; `messages`: number of posted messages when it began."""

    id: bytes
    created: float
    messages: int
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class StoredPlan:
    """`epoch`: None if nothing was folded. `cut`: the first posted message that is sent
    unchanged."""

    epoch: StoredEpoch | None = None
    cut: int = 0
    nodes: tuple[ExplainedNode, ...] = ()
    excerpts: tuple[StoredExcerpt, ...] = ()
    rules: tuple[StoredExcerpt, ...] = ()
    recall: tuple[StoredRecall, ...] = ()
    log: tuple[StoredWork, ...] = ()


class PassageSizes:
    """Token counts of spans, by the passages of the leaves below a frontier."""

    def __init__(self, frontier: Frontier, nodes: Mapping[bytes, Node]) -> None:
        """Raises `KeyError` if a node is missing."""
        self._passages: dict[int, list[tuple[int, int, int]]] = {}  # by message: end, start, tokens
        for node, place in walk(frontier.nodes, nodes):
            for each in node.passages:
                listed = self._passages.setdefault(place.first + each.message, [])
                listed.append((each.end, each.start, each.tokens))

    def tokens(self, span: TextSpan) -> int:
        """Return the estimated tokens of a span."""
        listed = self._passages.get(span.message, [])
        total, covered = 0.0, 0
        for end, start, tokens in listed[bisect_left(listed, (span.start + 1, 0, 0)) :]:
            shared = min(end, span.end) - max(start, span.start)
            if shared <= 0:
                break
            total += tokens * shared / (end - start)
            covered += shared
        rest = max(0, span.end - span.start - covered) / CHARACTERS_A_TOKEN
        return max(1, round(total + (0 if listed else rest)))


def stored_plan(
    epoch: Epoch,
    blocks: Iterable[EpochTurn],
    versions: Versions,
    sizes: PassageSizes,
    first: int,
) -> StoredPlan:
    """Build the plan as the store shows it. `blocks`: turns of this conversation that have a recall
    block. `versions`: of the nodes that the plan names; a lost one is left out. `first`: how many
    messages were posted before the history."""
    plan = epoch.plan

    def excerpts(
        spans: Sequence[TextSpan], kept: Sequence[KeptReason]
    ) -> tuple[StoredExcerpt, ...]:
        return tuple(
            StoredExcerpt(first + span.message, span.start, span.end, sizes.tokens(span), *why)
            for span, why in zip(spans, kept, strict=False)
        )

    nodes = []
    for shown in plan.outline:
        node = versions.get((shown.id, shown.version))
        if node is not None:
            last = max(shown.place.first, min(shown.place.last, plan.cut - 1))
            nodes.append(
                ExplainedNode(
                    shown.id,
                    node.level,
                    first + shown.place.first,
                    first + last,
                    shown.depth,
                    shown.body,
                    node.summary.headline,
                    shown.version,
                )
            )
    return StoredPlan(
        epoch=StoredEpoch(
            epoch.id, epoch.created, first + epoch.start, REASON_NAMES.get(epoch.reason)
        ),
        cut=first + plan.cut,
        nodes=tuple(nodes),
        excerpts=(
            *excerpts(plan.kept.spans, [KEPT] * len(plan.kept.spans)),
            *excerpts(plan.excerpts, kept_reasons(plan)),
        ),
        rules=excerpts(plan.rules, [RULE] * len(plan.rules)),
        recall=tuple(
            StoredRecall(first + turn.recalled[-1], excerpts(turn.block, kept_reasons(turn.recall)))
            for turn in sorted(blocks, key=lambda turn: turn.recalled)
            if turn.block
        ),
        log=tuple(
            StoredWork(
                first + name.message, name.start, name.end, work_kind(line), work_outcome(line)
            )
            for line, name in work_names(plan)
        ),
    )
