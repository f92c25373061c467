"""Defines the answers of `/context_memory`.

They hold the tokens used, the compressed history, pending jobs, deletions, the tree, and which
nodes were selected for an answer and why.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from memtree import __version__
from memtree.context.context_memory import Answer as MemoryAnswer
from memtree.context.known_conversations import StoredTree
from memtree.ports.context_store import Receipt
from memtree.ports.indexing_stages import Pending, SummaryStatus
from memtree.unfolding.explain import Explanation, TreeNode, TreeView
from memtree_proxy.wire.agent_memory_bodies import CachedTokens, TokenUsage
from memtree_proxy.wire.values import Answer, Count, copied, hexes

WorkKind = Literal["created", "edited", "deleted", "changed", "run"]
Passed = Literal["passed", "failed"]


class Place(Answer, frozen=True, kw_only=True):
    message: Count
    part: str
    start: Count
    end: Count


class Span(Answer, frozen=True, kw_only=True):
    message: Count
    start: Count
    end: Count


class Rule(Place, frozen=True, kw_only=True):
    sha256: str
    replaces: Count | None


class ShownRule(Rule, frozen=True, kw_only=True):
    pinned: bool


class OutlineNode(Answer, frozen=True, kw_only=True):
    id: str
    level: Count
    messages: Sequence[Count]
    depth: Count
    body: bool
    headline: str
    version: Count

    @classmethod
    def of(cls, node: Any) -> OutlineNode:
        return copied(cls, node, id=node.id.hex(), messages=[node.first, node.last])


class ShownExcerpt(Place, frozen=True, kw_only=True):
    sha256: str
    tokens: Count
    scores: Mapping[str, float]
    reason: str
    rank: Count | None
    path: Sequence[str]
    also: Sequence[Count]
    run: Count | None
    newer_than: Count | None


class Candidate(Place, frozen=True, kw_only=True):
    tokens: Count
    kind: str
    scores: Mapping[str, float]


class ShownWork(Place, frozen=True, kw_only=True):
    sha256: str
    kind: WorkKind
    outcome: Passed | None


class Explain(Answer, frozen=True, kw_only=True):
    nodes: Sequence[OutlineNode]
    excerpts: Sequence[ShownExcerpt]
    candidates: Sequence[Candidate]
    rules: Sequence[ShownRule]
    spent: Mapping[str, int]
    log: Sequence[ShownWork]
    cut_lines: Count

    @classmethod
    def of(cls, explanation: Explanation) -> Explain:
        return cls(
            nodes=[OutlineNode.of(node) for node in explanation.nodes],
            excerpts=[
                copied(ShownExcerpt, one, path=hexes(one.path)) for one in explanation.excerpts
            ],
            candidates=[copied(Candidate, one) for one in explanation.candidates],
            rules=[copied(ShownRule, rule) for rule in explanation.rules],
            spent=explanation.spent,
            log=[copied(ShownWork, work) for work in explanation.log],
            cut_lines=explanation.cut_lines,
        )


class Node(Answer, frozen=True, kw_only=True):
    chars: Sequence[Count | None] | UnsetType = UNSET
    id: str
    level: Count
    children: Sequence[str]
    messages: Sequence[Count]
    tokens: Count
    headline: str
    body: str
    anchors: Sequence[str]
    summary: Literal["extracted", "model"]
    sealed: bool

    @classmethod
    def of(cls, node: TreeNode) -> Node:
        return copied(
            cls,
            node,
            chars=UNSET if node.chars is None else node.chars,
            id=node.id.hex(),
            children=hexes(node.children),
            messages=(node.first, node.last),
            summary="model" if node.by_model else "extracted",
        )


class Tree(Answer, frozen=True, kw_only=True):
    nodes: Sequence[Node]
    roots: Sequence[str]
    rules: Sequence[Rule]
    state: Literal["indexed", "indexing"]

    @classmethod
    def of(cls, tree: TreeView) -> Tree:
        return cls(
            nodes=[Node.of(node) for node in tree.nodes],
            roots=hexes(tree.roots),
            rules=[copied(Rule, rule) for rule in tree.rules],
            state="indexed" if tree.whole else "indexing",
        )


class ShownStoredTree(Answer, frozen=True, kw_only=True):
    """Tree without the fields that need the text of its rules, which is not stored."""

    nodes: Sequence[Node]
    roots: Sequence[str]
    rules: Sequence[Span]

    @classmethod
    def of(cls, tree: StoredTree) -> ShownStoredTree:
        return cls(
            nodes=[Node.of(node) for node in tree.nodes],
            roots=hexes(tree.roots),
            rules=[copied(Span, rule) for rule in tree.rules],
        )


class Usage(TokenUsage, frozen=True, kw_only=True):
    raw_prompt_tokens: Count


class Memory(Answer, frozen=True, kw_only=True):
    address: str
    state: str
    reason: str | None
    indexed_tokens: Count
    indexed_messages: Count
    pending_tokens: Count
    epoch: str | None
    mode: Literal["stable", "auto", "fresh"]
    outline_tokens: Count
    recent_tokens: Count
    recall_tokens: Count
    saved_tokens: int
    excerpts: Count


class Compressed(Answer, frozen=True, kw_only=True):
    """`messages`, `input`: the returned history in its dialect, if any."""

    messages: msgspec.Raw | UnsetType = UNSET
    input: msgspec.Raw | UnsetType = UNSET
    usage: Usage
    memory: Memory
    explain: Explain | UnsetType = UNSET


def compressed(
    answer: MemoryAnswer, sent: Mapping[str, bytes], explained: Explanation | None, saved: int
) -> Compressed:
    """`sent`: the returned history, if any, as raw JSON by field name. `saved`: tokens saved in the
    conversation so far."""
    returned = answer.sent_tokens if sent else 0
    usage = Usage(
        prompt_tokens=answer.raw_tokens,
        completion_tokens=returned,
        total_tokens=answer.raw_tokens + returned,
        prompt_tokens_details=CachedTokens(cached_tokens=answer.cached_tokens),
        raw_prompt_tokens=answer.raw_tokens,
    )
    memory = copied(
        Memory,
        answer,
        address=answer.address.hex(),
        reason=answer.reason or None,
        saved_tokens=saved,
    )
    history: dict[str, Any] = {name: msgspec.Raw(raw) for name, raw in sent.items()}
    explain = UNSET if explained is None else Explain.of(explained)
    return Compressed(**history, usage=usage, memory=memory, explain=explain)


class Today(Answer, frozen=True, kw_only=True):
    calls: Count
    input_tokens: Count
    cached_tokens: Count
    output_tokens: Count
    money: float


class Summaries(Answer, frozen=True, kw_only=True):
    state: Literal["off", "ok", "limit_reached", "unavailable"]
    pending_nodes: Count
    today: Today


class Status(Answer, frozen=True, kw_only=True):
    ready: Literal[True] = True
    pending_tokens: Count
    pending_jobs: Count
    summaries: Summaries
    version: str = __version__
    folds_at: Count | UnsetType = UNSET

    @classmethod
    def of(
        cls, pending: Pending, status: SummaryStatus, folds_at: int | UnsetType = UNSET
    ) -> Status:
        summaries = copied(Summaries, status, today=copied(Today, status))
        return cls(
            pending_tokens=pending.tokens,
            pending_jobs=pending.jobs,
            summaries=summaries,
            folds_at=folds_at,
        )


class ShownReceipt(Answer, frozen=True, kw_only=True):
    """The amounts that a deletion removed, or would remove; a dry run counts no jobs."""

    object: Literal["context_memory.deletion"] = "context_memory.deletion"
    scope: Literal["history", "address", "tenant"]
    address: str | None
    addresses: Count
    nodes: Count
    vectors: Count
    summaries: Count
    epochs: Count
    turns: Count
    jobs: Count | UnsetType = UNSET
    deleted_at: str | UnsetType = UNSET
    dry_run: Literal[True] | UnsetType = UNSET

    @classmethod
    def of(cls, receipt: Receipt, deleted_at: str | None, **target: Any) -> ShownReceipt:
        """`deleted_at`: None for a dry run. `target`: the scope and the address."""
        own: dict[str, Any] = {"deleted_at": UNSET if deleted_at is None else deleted_at}
        own |= {"jobs": UNSET, "dry_run": True} if deleted_at is None else {"dry_run": UNSET}
        return copied(cls, receipt, object="context_memory.deletion", **own, **target)
