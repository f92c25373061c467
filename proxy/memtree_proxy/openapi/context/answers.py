"""The JSON of our own answers."""

from __future__ import annotations

from typing import get_args

from memtree.config import MODES
from memtree.ports.store import Receipt
from memtree_proxy.checkups.finding import Level
from memtree_proxy.wire.answer import schema_of_answer
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
from memtree_proxy.wire.tree_answers import EXPLAIN, NODE, TREE
from memtree_proxy.wire.types import ADDRESS_SHAPE

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
_NUMBERS = {"usage": schema("Usage"), "memory": schema("Memory")}

SCHEMAS: dict[str, Json] = {
    "Usage": _USAGE,
    "Memory": _MEMORY,
    "Explain": schema_of_answer(
        EXPLAIN, description="What was chosen and why; only with `explain`."
    ),
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
    "Node": schema_of_answer(NODE),
    "Tree": schema_of_answer(TREE),
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
