"""Answers about trees, and about which nodes were selected for an answer and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from msgspec import UNSET, UnsetType

from memtree.context.stored_tree import StoredTree
from memtree.unfolding.explain import Explanation, TreeNode, TreeView
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
        return cls(
            chars=UNSET if node.chars is None else node.chars,
            id=node.id.hex(),
            level=node.level,
            children=hexes(node.children),
            messages=(node.first, node.last),
            tokens=node.tokens,
            headline=node.headline,
            body=node.body,
            anchors=node.anchors,
            summary="model" if node.by_model else "extracted",
            sealed=node.sealed,
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
