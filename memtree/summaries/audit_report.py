"""Report on summaries: a few nodes, and of each the text, the extraction, the model's summary, and
the faults that the check finds in both.

What this file does not do: ask a model, draw (`memtree_proxy.cli.history.audit`, `audit_page`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from memtree.conversation.history import History
from memtree.summaries import batching
from memtree.summaries.checks.check import Problem, check
from memtree.summaries.prompts import Task
from memtree.summaries.replies import Draft
from memtree.text import tokens
from memtree.tree.node import Node, Summary
from memtree.tree.work import NodeWork

# State of the model's summary of a node.
STORED, WRITTEN, REJECTED = "stored", "written now", "rejected"
NONE, WAITING, LIMITED = "none", "waits for its children", "the day's limit is reached"


@dataclass(frozen=True, slots=True)
class Version:
    """One summary, its tokens, and what the check finds in it."""

    headline: str
    body: str
    tokens: int
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One node. `messages`: posted numbers of the first and the last; `text`: (label, text) of a
    leaf's messages, secrets masked, or ("note", headline) of children. `model`: the model's
    summary, or its draft where that was rejected and is known; `state` says which, or why there is
    none. `cost`: (input, output) tokens that the model took for it."""

    level: int
    messages: tuple[int, int]
    tokens: int
    text: tuple[tuple[str, str], ...]
    extraction: Version
    model: Version | None
    state: str
    cost: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class Report:
    """Audit of the summaries of one history. `model`: its recipe, empty where none is configured.
    `calls`, `input`, `output`, `money`: what this report itself has cost."""

    nodes: int
    model: str
    entries: tuple[AuditEntry, ...]
    calls: int = 0
    input: int = 0
    output: int = 0
    money: float = 0.0
    priced: bool = False


def sample(work: Iterable[NodeWork], count: int) -> list[NodeWork]:
    """`count` nodes, the same ones every time: some of every level, evenly over the history.

    Higher levels have one each as long as there are enough, for their nodes are few.
    """
    levels = [
        list(group)
        for _, group in groupby(
            sorted(work, key=lambda node: (node.node.level, node.place)),
            lambda node: node.node.level,
        )
    ]
    first = levels[: max(0, count)]
    sizes = [len(level) - 1 for level in first]
    rest = min(max(0, count) - len(first), sum(sizes))
    more = batching.shares(rest, sizes)
    return [node for level, extra in zip(first, more, strict=True) for node in spread(level, extra)]


def spread(level: Sequence[NodeWork], extra: int) -> list[NodeWork]:
    """1 + `extra` of them, at even distances."""
    count = min(len(level), 1 + extra)
    return [level[(2 * number + 1) * len(level) // (2 * count)] for number in range(count)]


def entry(
    history: History,
    work: NodeWork,
    kind: str,
    first: Mapping[bytes, Node],
    later: Mapping[bytes, Summary],
    state: str,
    draft: Draft | None = None,
) -> AuditEntry:
    """`first`: the nodes with the extraction's summaries; `later`: summaries by the model. `draft`:
    what the model wrote last, where it was rejected."""
    extracted = {id_: node.summary for id_, node in first.items()}
    (task,) = batching.tasks(history, [work], kind, {**extracted, **later})
    (before,) = batching.tasks(history, [work], kind, extracted)
    own, model = extracted[work.id], later.get(work.id)
    if model is not None and model.by_model:
        draft = Draft(model.headline, model.body)
    return AuditEntry(
        work.node.level,
        (history.posted[work.place.first], history.posted[work.place.last]),
        work.tokens,
        tuple(shown(task)),
        version(Draft(own.headline, own.body), before),
        version(draft, task) if draft else None,
        state,
        model.cost if model else (0, 0),
    )


def version(draft: Draft, task: Task) -> Version:
    """A summary with its tokens and the problems that the check finds in it."""
    size = sum(tokens.count_many([draft.headline, draft.body]))
    return Version(draft.headline, draft.body, size, tuple(check(draft, task, tokens.count)))


def shown(task: Task) -> Iterable[tuple[str, str]]:
    """Yield the sources of a summary, as a reader sees them."""
    for (number, role), group in groupby(task.sources, lambda piece: (piece.number, piece.role)):
        yield f"{number} {role}", "".join(piece.text for piece in group)
    for child in task.children:
        yield "note", child.headline
