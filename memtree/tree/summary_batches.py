"""Plan the calls of stage 3: which nodes a model summarises next, and what it is shown of each.

Several nodes of one kind go into one call, because the instructions are paid once a call. A node is
ready when all its children have their summaries; parents go before leaves, so that a subtree is
finished soon after its last leaf, and share calls with leaves, so that a parent that is ready alone
does not pay for the instructions alone.

    level 1     n        n        n: ready when its leaves are done
    level 0  l l l l  l l . .     first call: l l l l; second: n l l

To claim, pay, ask and judge is left to `memtree/jobs/summary_calls.py`.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from memtree.history.chat_history import History
from memtree.tree.btree import walk
from memtree.tree.node import Node, NodePlace, NodeWork, Summary, after, source_kind
from memtree.tree.summary_prompts import KINDS, SourcePiece, Task, leaf_task, node_task
from memtree.tree.summary_replies import Draft

KEPT = 64_000  # nodes, some 200 bytes each: thirty histories of a million tokens


class CompletedSummaries:
    """Ids of the nodes that have a model's summary, by tenant; finds those of a tree that lack one.

    A cache of the process, so that a warm turn need not ask the store: bounded, least recently used
    first out; what is not in it is asked again. A node gets its summary after all its children, so
    the tree below a completed node is complete, and a turn looks only at the topmost nodes."""

    def __init__(self, kept: int = KEPT) -> None:
        self._kept = kept
        self._ids: OrderedDict[tuple[str, bytes], None] = OrderedDict()

    def add(self, tenant: str, ids: Iterable[bytes]) -> None:
        for id_ in ids:
            self._ids[tenant, id_] = None
            self._ids.move_to_end((tenant, id_))
        while len(self._ids) > self._kept:
            self._ids.popitem(last=False)

    def discard(self, tenant: str, ids: Iterable[bytes]) -> None:
        for id_ in ids:
            self._ids.pop((tenant, id_), None)

    def forget(self, tenant: str | None) -> None:
        """Forget a tenant's nodes; None: all tenants'."""
        for key in [key for key in self._ids if tenant in (None, key[0])]:
            del self._ids[key]

    def lacking(
        self, tenant: str, roots: Sequence[bytes], nodes: Mapping[bytes, Node]
    ) -> list[Node]:
        """The nodes of a tree that are not known to be complete, in no order. It runs in every
        turn: half a microsecond a node. Raises `KeyError` where a node is missing."""
        known, missing = self._ids, []
        waiting = list(roots)
        while waiting:
            id_ = waiting.pop()
            if (tenant, id_) in known:
                known.move_to_end((tenant, id_))
                continue
            node = nodes[id_]
            missing.append(node)
            waiting += node.children
        return missing

    def work(
        self, tenant: str, roots: Sequence[bytes], nodes: Mapping[bytes, Node]
    ) -> list[NodeWork]:
        """Return these nodes with their places, in reading order, parents before children."""
        lacking: list[NodeWork] = []
        waiting = _placed(roots, None, nodes)
        while waiting:
            node = waiting.pop()
            if (tenant, node.id) in self._ids:
                continue
            lacking.append(node)
            start = NodePlace(0, 0, node.place.first, node.place.start)
            waiting += _placed(node.node.children, start, nodes)
        return lacking


def _placed(
    ids: Sequence[bytes], place: NodePlace | None, nodes: Mapping[bytes, Node]
) -> list[NodeWork]:
    """Consecutive nodes, the last one first: the order of a stack."""
    placed = []
    for id_ in ids:
        place = after(place, nodes[id_])
        placed.append(NodeWork(nodes[id_], place))
    return placed[::-1]


# ---------------------------------------------------------------- calls

CALL_TOKENS = 8_000  # of parts in one call: models behind a small window take it
REACH = 4  # times the parts of a call: so many ready nodes are looked at for parts of one kind
SAMPLE = 12  # leaves below a node, about, that say of what kind it is
VERSION = 1  # claims leave out nodes that have a later summary, so a model's is the first one

Kind = Callable[[NodeWork], str]


def ready(
    work: Mapping[bytes, NodeWork], busy: Container[bytes], reach: int | None = None
) -> list[NodeWork]:
    """Those that can be summarised now, higher levels first, else in reading order; the first
    `reach` of them.

    `work`: all that lacks its summary; `busy`: nodes that this process, or another one that holds
    their lease, is summarising.
    """
    candidates = [
        node
        for id_, node in work.items()
        if id_ not in busy and not any(child in work for child in node.node.children)
    ]
    return sorted(candidates, key=lambda node: (-node.node.level, node.place))[:reach]


@dataclass(frozen=True, slots=True)
class CallBatch:
    """The nodes of one call; `full`: no more of them would go in."""

    work: tuple[NodeWork, ...]
    kind: str
    full: bool


def batch(
    ready: Sequence[NodeWork],
    kind: Kind,
    alone: Container[bytes],
    parts: int,
    size: int = CALL_TOKENS,
) -> CallBatch | None:
    """The first full call among nodes that are ready, else the one with the first node.

    `alone`: nodes that get a call of their own. `parts`, `size`: most nodes of a call, and most of
    their tokens (one node may have more). None where nothing is ready.
    """
    by_kind: dict[str, list[NodeWork]] = {}
    for node in ready:
        if node.id in alone:
            return CallBatch((node,), kind(node), True)
        group = by_kind.setdefault(name := kind(node), [])
        if group and sum(each.tokens for each in group) + node.tokens > size:
            return CallBatch(tuple(group), name, True)
        group.append(node)
        if len(group) >= parts:
            return CallBatch(tuple(group), name, True)
    return next((CallBatch(tuple(group), name, False) for name, group in by_kind.items()), None)


class Kinds:
    """The kind of content of the nodes of a tree; of each leaf it is found once.

    Of an inner node it is that of most leaves below it, of a few of them where there are many.
    """

    def __init__(
        self, history: History, nodes: Mapping[bytes, Node], known: dict[bytes, str]
    ) -> None:
        """`known` is added to."""
        self._history, self._nodes, self._known = history, nodes, known

    def of(self, work: NodeWork) -> str:
        if work.id not in self._known:
            self._known[work.id] = self._find(work)
        return self._known[work.id]

    def _find(self, work: NodeWork) -> str:
        if work.node.is_leaf:
            return leaf_task("", sources(self._history, work)).kind
        start = NodePlace(0, 0, work.place.first, work.place.start)
        below = walk(work.node.children, self._nodes, start)
        leaves = [NodeWork(node, place) for node, place in below if node.is_leaf]
        step = max(1, len(leaves) // SAMPLE)
        votes = Counter(self.of(leaf) for leaf in leaves[::step])
        return max(KINDS, key=lambda kind: votes[kind])


def sources(history: History, work: NodeWork) -> list[SourcePiece]:
    """The text of a leaf as it stands in this history, passage by passage."""
    pieces = []
    for passage in work.node.passages:
        index = work.place.first + passage.message
        text = history.view(index).text[passage.start : passage.end]
        kind = source_kind(passage.kind)
        role, name = history.facts[index].role, history.messages[index].name
        pieces.append(SourcePiece(role, history.posted[index], text, kind, name))
    return pieces


def tasks(
    history: History, work: Sequence[NodeWork], kind: str, children: Mapping[bytes, Summary]
) -> list[Task]:
    """Build the tasks of one call, parts numbered from 1. `children`: the newest summaries of all
    children of inner nodes. Secrets are masked."""
    return [
        leaf_task(str(number), sources(history, node), kind)
        if node.node.is_leaf
        else node_task(
            str(number), [children[id_] for id_ in node.node.children], node.node.level, kind
        )
        for number, node in enumerate(work, start=1)
    ]


def written(node: Node, draft: Draft, recipe: str, cost: tuple[int, int], *, both: bool) -> Summary:
    """An accepted draft as the node's summary. `both`: the extraction is shown with it."""
    first = node.summary
    extracted = first.body if both else ""
    return Summary(
        draft.headline, draft.body, first.anchors, VERSION, recipe, cost, extracted, False
    )


def settled(node: Node, recipe: str, cost: tuple[int, int]) -> Summary:
    """The extraction, stored as the final summary of a node whose drafts were rejected, so that the
    model is not asked again."""
    first = node.summary
    return Summary(first.headline, first.body, first.anchors, VERSION, recipe, cost, "", True)


def length(task: Task) -> int:
    """Weight of a task within its call: the characters it has the model read, plus one."""
    text = sum(len(piece.text) for piece in task.sources)
    return 1 + text + sum(len(piece.headline) + len(piece.body) for piece in task.children)


def shares(total: int, weights: Sequence[int]) -> list[int]:
    """`total` divided in proportion; the parts add up to it exactly.

    >>> shares(10, [1, 1, 1])
    [3, 4, 3]
    """
    whole = sum(weights)
    if not whole:
        return [total, *(0 for _ in weights[1:])] if weights else []
    borders = [round(total * part / whole) for part in accumulate(weights)]
    return [end - start for start, end in zip([0, *borders], borders, strict=False)]
