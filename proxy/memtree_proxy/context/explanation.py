"""Explanations and trees as JSON: the shapes of API section 1."""

from __future__ import annotations

from typing import Any

from memtree.unfolding.explain import (
    ExplainedNode,
    ExplainedRule,
    ExplainedWork,
    Explanation,
    TreeNode,
    TreeView,
)


def explanation_json(explanation: Explanation) -> dict[str, Any]:
    """The `explain` object of an answer."""
    return {
        "nodes": [node_json(node) for node in explanation.nodes],
        "excerpts": [
            {
                "message": excerpt.message,
                "part": excerpt.part,
                "start": excerpt.start,
                "end": excerpt.end,
                "sha256": excerpt.sha256,
                "tokens": excerpt.tokens,
                "scores": excerpt.scores,
                "reason": excerpt.reason,
                "rank": excerpt.rank,
                "path": [node.hex() for node in excerpt.path],
                "also": list(excerpt.also),
                "run": excerpt.run,
                "newer_than": excerpt.newer_than,
            }
            for excerpt in explanation.excerpts
        ],
        "candidates": [
            {
                "message": candidate.message,
                "part": candidate.part,
                "start": candidate.start,
                "end": candidate.end,
                "tokens": candidate.tokens,
                "kind": candidate.kind,
                "scores": candidate.scores,
            }
            for candidate in explanation.candidates
        ],
        "rules": [
            {**_rule_json(rule), "pinned": rule.pinned, "replaces": rule.replaces}
            for rule in explanation.rules
        ],
        "spent": dict(explanation.spent),
        "cut_lines": explanation.cut_lines,
        "log": [
            {**_rule_json(work), "kind": work.kind, "outcome": work.outcome}
            for work in explanation.log
        ],
    }


def node_json(node: ExplainedNode) -> dict[str, Any]:
    """A node of an outline."""
    return {
        "id": node.id.hex(),
        "level": node.level,
        "messages": [node.first, node.last],
        "depth": node.depth,
        "body": node.body,
        "headline": node.headline,
        "version": node.version,
    }


def _rule_json(rule: ExplainedRule | ExplainedWork) -> dict[str, Any]:
    return {
        "message": rule.message,
        "part": rule.part,
        "start": rule.start,
        "end": rule.end,
        "sha256": rule.sha256,
    }


def tree_node_json(node: TreeNode) -> dict[str, Any]:
    """A node of a tree; a leaf has `chars`."""
    chars = {} if node.chars is None else {"chars": list(node.chars)}
    return {
        "id": node.id.hex(),
        "level": node.level,
        "children": [child.hex() for child in node.children],
        "messages": [node.first, node.last],
        "tokens": node.tokens,
        "headline": node.headline,
        "body": node.body,
        "anchors": list(node.anchors),
        "summary": "model" if node.by_model else "extracted",
        "sealed": node.sealed,
        **chars,
    }


def tree_json(tree: TreeView) -> dict[str, Any]:
    """The answer of `/context_memory/tree`."""
    return {
        "nodes": [tree_node_json(node) for node in tree.nodes],
        "roots": [root.hex() for root in tree.roots],
        "rules": [{**_rule_json(rule), "replaces": rule.replaces} for rule in tree.rules],
        "state": "indexed" if tree.whole else "indexing",
    }
