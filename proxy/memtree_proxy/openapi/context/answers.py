"""The JSON of our own answers."""

from __future__ import annotations

from typing import get_args

from memtree.config import MODES
from memtree.conversation.addresses.address_chain import NODE_ID_BYTES
from memtree.ports.store import Receipt
from memtree.tree.node import KIND_NAMES
from memtree_proxy.checkups.finding import Level
from memtree_proxy.wire.json_schema import (
    BOOLEAN,
    COUNT,
    NULL,
    STRING,
    Json,
    array,
    described,
    either,
    object_of,
    schema,
)
from memtree_proxy.wire.types import ADDRESS_SHAPE

_ID: Json = {"type": "string", "pattern": f"^[0-9a-f]{{{2 * NODE_ID_BYTES}}}$"}
_RANGE = described(
    array(COUNT, minItems=2, maxItems=2), "Index of the first and of the last posted message."
)
_SCORES: Json = {"type": "object", "additionalProperties": {"type": "number"}}

_USAGE = object_of(
    {
        "prompt_tokens": described(COUNT, "Tokens that were posted."),
        "completion_tokens": described(COUNT, "Tokens that were returned."),
        "total_tokens": described(COUNT, "Both."),
        "prompt_tokens_details": object_of(
            {"cached_tokens": described(COUNT, "Posted tokens that memory replaces; 0: none.")}
        ),
        "raw_prompt_tokens": described(COUNT, "The same as `prompt_tokens`."),
    },
    description="Tokens as MemTree counts them.",
)
_MEMORY = object_of(
    {
        "address": described(
            ADDRESS_SHAPE, "The hash of the history, by which it can be forgotten."
        ),
        "state": described(STRING, "What memory did: as the header `x-memtree-state`."),
        "reason": described(
            either(STRING, NULL),
            "Why, where the state alone does not say: as the header `x-memtree-reason`.",
        ),
        "indexed_tokens": described(COUNT, "Tokens of the history that lie in the tree."),
        "indexed_messages": described(COUNT, "Messages of the history that lie in the tree."),
        "pending_tokens": described(
            COUNT, "Tokens that wait for their embeddings, or for a model's summary."
        ),
        "epoch": described(either(STRING, NULL), "The fold that this answer belongs to."),
        "mode": described({"type": "string", "enum": list(MODES)}, "The mode that was in effect."),
        "outline_tokens": described(COUNT, "Tokens of the unfolded tree."),
        "recent_tokens": described(COUNT, "Tokens of the messages that are whole."),
        "recall_tokens": described(COUNT, "Tokens that were recalled for questions."),
        "saved_tokens": described(
            {"type": "integer"},
            "Saved so far against sending everything, in uncached input tokens at the prices in "
            "effect; negative where folding has not paid yet.",
        ),
        "excerpts": described(COUNT, "Passages that are quoted verbatim."),
    },
    description="What memory knows, and what it made of this request.",
)
_PLACE: dict[str, Json] = {
    "message": described(COUNT, "Index of the posted message."),
    "part": described(
        STRING,
        "The string in that message: `content`, `content[i]` or "
        "`tool_calls[i].function.arguments`.",
    ),
    "start": described(COUNT, "First code point in that string."),
    "end": described(COUNT, "Code point after the last."),
}
_SHA256: Json = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
_RULE: dict[str, Json] = {
    **_PLACE,
    "sha256": described(_SHA256, "Of the slice in UTF-8."),
    "replaces": described(
        either(COUNT, NULL), "Message of the rule that this one corrects or takes back."
    ),
}
OUTLINE_NODE = object_of(
    {
        "id": _ID,
        "level": COUNT,
        "messages": _RANGE,
        "depth": COUNT,
        "body": BOOLEAN,
        "headline": STRING,
        "version": COUNT,
    }
)
RANK = described(
    either(COUNT, NULL),
    "Place of its best passage among all that were ranked for the question, from 1; 255: or "
    "further back; null: it was not ranked.",
)
WORK: dict[str, Json] = {
    "kind": {"type": "string", "enum": ["created", "edited", "deleted", "changed", "run"]},
    "outcome": described(
        either({"type": "string", "enum": ["passed", "failed"]}, NULL),
        "How the last run of a command ended; null where that is not known.",
    ),
}
_EXPLAIN = object_of(
    {
        "nodes": array(
            OUTLINE_NODE,
            description="Nodes of the tree that are shown.",
        ),
        "excerpts": array(
            object_of(
                {
                    **_PLACE,
                    "sha256": described(
                        _SHA256, "Of the slice in UTF-8, which also stands in the answer."
                    ),
                    "tokens": COUNT,
                    "scores": _SCORES,
                    "reason": STRING,
                    "rank": RANK,
                    "path": described(array(STRING), "Ids of the nodes above it, the top first."),
                    "also": described(array(COUNT), "Messages that say the same."),
                    "run": described(
                        either(COUNT, NULL),
                        "Excerpts of one run stand under one label; null: a rule, or kept.",
                    ),
                    "newer_than": described(
                        either(COUNT, NULL),
                        "The older message that differs on the same matter; null: none is known.",
                    ),
                }
            ),
            description="Passages that are quoted.",
        ),
        "candidates": array(
            object_of(
                {
                    **_PLACE,
                    "tokens": COUNT,
                    "kind": {"type": "string", "enum": list(KIND_NAMES)},
                    "scores": _SCORES,
                }
            ),
            description="The best passages that were left out.",
        ),
        "rules": array(
            object_of(
                {**_RULE, "pinned": described(BOOLEAN, "The memory message shows it as a rule.")}
            ),
            description="Standing rules of the user that hold, the newest first.",
        ),
        "spent": described(
            {"type": "object", "additionalProperties": {"type": "integer"}},
            "Tokens of the memory message by kind: `excerpts`, `labels`, `lines`, `rules`, `log`, "
            "`kept`, `head`, and `joints`, which may be negative; they add up to the message's. "
            "Beside them `reserved`: what an epoch keeps for its next requests.",
        ),
        "log": array(
            object_of(
                {
                    **_PLACE,
                    "sha256": described(_SHA256, "Of the slice in UTF-8."),
                    **WORK,
                }
            ),
            description="Files and commands that the log of what was done names.",
        ),
        "cut_lines": described(
            COUNT, "Signs left out of quotations, lest a line pass for one of the record."
        ),
    },
    description="What was chosen and why; only with `explain`.",
)

_NODE_FIELDS = (
    *("id", "level", "children", "messages", "tokens", "headline", "body"),
    *("anchors", "summary", "sealed"),
)
_NUMBERS = {"usage": schema("Usage"), "memory": schema("Memory")}

SCHEMAS: dict[str, Json] = {
    "Usage": _USAGE,
    "Memory": _MEMORY,
    "Explain": _EXPLAIN,
    "Compressed": object_of(
        {
            "messages": described(
                array(schema("Message")),
                "The messages for the model: system messages, the memory message "
                "(`<context_memory>` ... `</context_memory>`) where there is one, recent messages.",
            ),
            "input": described(
                either(STRING, array({})), "In the place of `messages`, where `input` was posted."
            ),
            **_NUMBERS,
            "explain": schema("Explain"),
        },
        _NUMBERS,
        anyOf=[{"required": ["messages"]}, {"required": ["input"]}],
    ),
    "Indexed": object_of({**_NUMBERS, "explain": schema("Explain")}, _NUMBERS),
    "Status": object_of(
        {
            "ready": BOOLEAN,
            "pending_tokens": described(
                COUNT, "Tokens of yours that wait for their embeddings, or for a model's summary."
            ),
            "pending_jobs": described(COUNT, "Histories of yours that wait."),
            "summaries": object_of(
                {
                    "state": described(
                        {
                            "type": "string",
                            "enum": ["off", "ok", "limit_reached", "unavailable"],
                        },
                        "off: no model writes summaries. limit_reached: nothing more is asked of "
                        "it on this day (UTC). unavailable: it did not answer lately.",
                    ),
                    "pending_nodes": described(
                        COUNT,
                        "Nodes of the tree that wait for it; those given up until their text "
                        "comes again are counted.",
                    ),
                    "today": object_of(
                        {
                            "calls": COUNT,
                            "input_tokens": COUNT,
                            "cached_tokens": described(COUNT, "Input tokens that were cached."),
                            "output_tokens": COUNT,
                            "money": described(
                                {"type": "number", "minimum": 0},
                                "At the prices that are configured; calls under way count "
                                "with the most that they may cost.",
                            ),
                        }
                    ),
                },
                description="Summaries by a model.",
            ),
            "version": STRING,
        }
    ),
    "Node": object_of(
        {
            "chars": described(
                array(either(COUNT, NULL), minItems=2, maxItems=2),
                "Of a leaf: where it begins in its first message, and ends in its last one; null: "
                "at its end. Code points of the text.",
            ),
            "id": _ID,
            "level": described(COUNT, "0: a leaf."),
            "children": array(_ID),
            "messages": _RANGE,
            "tokens": COUNT,
            "headline": STRING,
            "body": STRING,
            "anchors": described(array(STRING), "Names, numbers, files, errors."),
            "summary": {"type": "string", "enum": ["extracted", "model"]},
            "sealed": described(BOOLEAN, "False: the end of the history, still growing."),
        },
        required=_NODE_FIELDS,
    ),
    "Tree": object_of(
        {
            "nodes": array(schema("Node")),
            "roots": array(_ID),
            "rules": array(
                object_of(_RULE), description="Standing rules that hold, the newest first."
            ),
            "state": described(
                {"type": "string", "enum": ["indexed", "indexing"]},
                "indexing: the tree does not reach the end of the history yet and may be empty. "
                "Building it took more than 20 seconds and goes on; post the same again.",
            ),
        }
    ),
    "Receipt": object_of(
        {
            "object": {"const": "context_memory.deletion"},
            "scope": {"type": "string", "enum": ["history", "address", "tenant"]},
            "address": either(ADDRESS_SHAPE, NULL),
            **dict.fromkeys(Receipt._fields, COUNT),
            "deleted_at": {"type": "string", "format": "date-time"},
            "dry_run": described({"const": True}, "There only where nothing was deleted."),
        },
        ("object", "scope", "address", *(name for name in Receipt._fields if name != "jobs")),
        description="How much was forgotten. What another live conversation needs is not counted: "
        "it stays.",
    ),
    "Health": object_of({"status": {"const": "ok"}, "version": STRING}),
    "HealthDetails": object_of(
        {
            "version": STRING,
            "findings": array(
                object_of(
                    {
                        "part": described(STRING, "Such as `store` or `upstream`."),
                        "level": {"type": "string", "enum": list(get_args(Level))},
                        "text": described(STRING, "What was found, for people."),
                    }
                )
            ),
        }
    ),
}
