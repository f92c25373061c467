"""Define answers about trees, and about which nodes were selected for an answer and why."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from memtree.conversation.address_chain import NODE_ID_BYTES
from memtree.tree.node import KIND_NAMES
from memtree.unfolding.explain import Explanation, TreeNode, TreeView
from memtree.unfolding.stored_tree import StoredTree
from memtree_proxy.wire.answer import LEFT_OUT, Answer, Shown, rows_of, same
from memtree_proxy.wire.json_schema import (
    BOOLEAN,
    COUNT,
    NULL,
    STRING,
    Json,
    array,
    described,
    either,
    schema,
)


def hexes(ids: Iterable[bytes]) -> list[str]:
    return [id_.hex() for id_ in ids]


_ID: Json = {"type": "string", "pattern": f"^[0-9a-f]{{{2 * NODE_ID_BYTES}}}$"}
_RANGE = described(
    array(COUNT, minItems=2, maxItems=2), "Index of the first and of the last posted message."
)
_SCORES: Json = {"type": "object", "additionalProperties": {"type": "number"}}
_SHA256: Json = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
_NUMBER_OR_NULL = either(COUNT, NULL)
_MESSAGES = Shown[Any](_RANGE, lambda node: [node.first, node.last])
_PLACE: Answer[Any] = {
    "message": same(COUNT, "Index of the posted message."),
    "part": same(
        STRING,
        "The string in that message: `content`, `content[i]` or a string in the arguments of a "
        "call, as in `tool_calls[i].function.arguments.text`.",
    ),
    "start": same(COUNT, "First code point in that string, decoded."),
    "end": same(COUNT, "Code point after the last."),
}
_RULE: Answer[Any] = {
    **_PLACE,
    "sha256": same(_SHA256, "Of the slice in UTF-8."),
    "replaces": same(_NUMBER_OR_NULL, "Message of the rule that this one corrects or takes back."),
}
OUTLINE_NODE: Answer[Any] = {
    "id": same(_ID, made=bytes.hex),
    "level": same(COUNT),
    "messages": _MESSAGES,
    "depth": same(COUNT),
    "body": same(BOOLEAN),
    "headline": same(STRING),
    "version": same(COUNT),
}
RANK = same(
    _NUMBER_OR_NULL,
    "Place of its best passage among all that were ranked for the question, from 1; 255: or "
    "further back; null: it was not ranked.",
)
WORK: Answer[Any] = {
    "kind": same({"type": "string", "enum": ["created", "edited", "deleted", "changed", "run"]}),
    "outcome": same(
        either({"type": "string", "enum": ["passed", "failed"]}, NULL),
        "How the last run of a command ended; null where that is not known.",
    ),
}
_EXCERPT: Answer[Any] = {
    **_PLACE,
    "sha256": same(_SHA256, "Of the slice in UTF-8, which also stands in the answer."),
    "tokens": same(COUNT),
    "scores": same(_SCORES),
    "reason": same(STRING),
    "rank": RANK,
    "path": same(array(STRING), "Ids of the nodes above it, the top first.", hexes),
    "also": same(array(COUNT), "Messages that say the same.", list),
    "run": same(
        _NUMBER_OR_NULL, "Excerpts of one run stand under one label; null: a rule, or kept."
    ),
    "newer_than": same(
        _NUMBER_OR_NULL, "The older message that differs on the same matter; null: none is known."
    ),
}
EXPLAIN: Answer[Explanation] = {
    "nodes": rows_of(OUTLINE_NODE, "Nodes of the tree that are shown."),
    "excerpts": rows_of(_EXCERPT, "Passages that are quoted."),
    "candidates": rows_of(
        {
            **_PLACE,
            "tokens": same(COUNT),
            "kind": same({"type": "string", "enum": list(KIND_NAMES)}),
            "scores": same(_SCORES),
        },
        "The best passages that were left out.",
    ),
    "rules": rows_of(
        {**_RULE, "pinned": same(BOOLEAN, "The memory message shows it as a rule.")},
        "Standing rules of the user that hold, the newest first.",
    ),
    "spent": same(
        {"type": "object", "additionalProperties": {"type": "integer"}},
        "Tokens of the memory message by kind: `excerpts`, `labels`, `lines`, `rules`, `log`, "
        "`kept`, `head`, and `joints`, which may be negative; they add up to the message's. "
        "Beside them `reserved`: what an epoch keeps for its next requests.",
        dict,
    ),
    "log": rows_of(
        {**_PLACE, "sha256": same(_SHA256, "Of the slice in UTF-8."), **WORK},
        "Files and commands that the log of what was done names.",
    ),
    "cut_lines": same(
        COUNT, "Signs left out of quotations, lest a line pass for one of the record."
    ),
}
NODE: Answer[TreeNode] = {
    "chars": Shown(
        array(_NUMBER_OR_NULL, minItems=2, maxItems=2),
        lambda node: LEFT_OUT if node.chars is None else list(node.chars),
        "Of a leaf: where it begins in its first message, and ends in its last one; null: "
        "at its end. Code points of the text.",
        optional=True,
    ),
    "id": same(_ID, made=bytes.hex),
    "level": same(COUNT, "0: a leaf."),
    "children": same(array(_ID), made=hexes),
    "messages": _MESSAGES,
    "tokens": same(COUNT),
    "headline": same(STRING),
    "body": same(STRING),
    "anchors": same(array(STRING), "Names, numbers, files, errors.", list),
    "summary": Shown(
        {"type": "string", "enum": ["extracted", "model"]},
        lambda node: "model" if node.by_model else "extracted",
    ),
    "sealed": same(BOOLEAN, "False: the end of the history, still growing."),
}
_NODES = rows_of(NODE)._replace(schema=array(schema("Node")))
TREE: Answer[TreeView] = {
    "nodes": _NODES,
    "roots": same(array(_ID), made=hexes),
    "rules": rows_of(_RULE, "Standing rules that hold, the newest first."),
    "state": Shown(
        {"type": "string", "enum": ["indexed", "indexing"]},
        lambda tree: "indexed" if tree.whole else "indexing",
        "indexing: the tree does not reach the end of the history yet and may be empty. "
        "Building it took more than 20 seconds and goes on; post the same again.",
    ),
}
SPAN: Answer[Any] = {
    "message": same(COUNT, "Index of the posted message."),
    "start": same(COUNT, "First code point of its text."),
    "end": same(COUNT, "Code point after the last."),
}
# Tree without the fields that need the text of its rules, which is not stored.
STORED_TREE: Answer[StoredTree] = {
    "nodes": _NODES,
    "roots": same(array(STRING), made=hexes),
    "rules": rows_of(
        SPAN, "Where standing requests stand; which of them still hold, only the text tells."
    ),
}
